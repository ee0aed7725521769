# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a packed folder imports itself, the standard library, torch,
triton and, for --default, the installed fp8 only, and has a manifest for each kernel.

usage: check-pack.py DIR [FOLDER OF KERNELS]
"""

import ast
import json
import os
import sys

directory, folder = (sys.argv + ["kernels"])[1:3]
siblings = {name[:-3] for name in os.listdir(directory) if name.endswith(".py")}
known = siblings | {"torch", "triton", "fp8"} | set(sys.stdlib_module_names)
for name in sorted(siblings | {"run"}):
    path = os.path.join(directory, name if name == "run" else name + ".py")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else (
            [node.module] if isinstance(node, ast.ImportFrom) else [])
        for module in modules:
            if module.split(".")[0] not in known:
                sys.exit("%s imports %s, which is neither packed nor there" % (name, module))
kernels = os.listdir(os.path.join(directory, folder))
for name in sorted(kernels):
    if name.endswith(".cubin"):
        with open(os.path.join(directory, folder, name + ".json"), encoding="utf-8") as file:
            print("%s for %s" % (name, json.load(file)["chip"]))
print("%d modules, %d files of kernels" % (len(siblings), len(kernels)))
