# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a packed first hour imports itself and the standard library only, that its zip holds what the folder does, and that every
kernel that pack.json names is there with its manifest, as a cubin of the chip or as PTX.

usage: check-b200-pack.py DIR
"""

import ast
import json
import os
import struct
import sys
import zipfile

directory = sys.argv[1]
modules = sorted(name for name in os.listdir(directory) if name.endswith(".py"))
known = {name[:-3] for name in modules} | set(sys.stdlib_module_names)
for name in modules:
    with open(os.path.join(directory, name), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for module in imported:
            if module.split(".")[0] not in known:
                sys.exit("%s imports %s, which is neither packed nor of the standard library" % (name, module))
print("%d modules, which import one another and the standard library" % len(modules))

with zipfile.ZipFile(directory + ".zip") as archive:
    packed = {name for name in archive.namelist() if not name.endswith("/")}
    base = os.path.basename(directory)
    there = {os.path.join(base, os.path.relpath(os.path.join(root, name), directory)) for root, _, names in os.walk(directory) for name in names}
    if packed != there:
        sys.exit("the zip and the folder differ in %s" % ", ".join(sorted(packed ^ there)))

with open(os.path.join(directory, "pack.json"), encoding="utf-8") as file:
    table = json.load(file)
for chip in table["chips"]:
    rows, place = table["kernels"][chip], os.path.join(directory, chip)
    sums = [row for kind in rows["sums"].values() for row in kind]
    kernels = [row["name"] for row in rows["gemms"]] + [row["name"] + ".waits" for row in rows["gemms"]]
    kernels += [row["name"] for row in rows["planted"]] + ["probes/" + row["name"] for row in rows["probes"]] + sorted({"sums/" + row["kernel"] for row in sums})
    for name in kernels:
        path = os.path.join(place, name)
        with open(path + ".cubin", "rb") as file:
            if file.read(4) != b"\x7fELF":
                sys.exit("%s.cubin is no cubin" % path)
        if not os.path.exists(path + ".ptx") or not name.startswith("sums/") and not os.path.exists(path + ".json"):
            sys.exit("%s has no PTX, or no manifest" % path)
    words = []
    for row in sums:
        with open(os.path.join(place, "sums", row["name"] + ".expected"), "rb") as file:
            words += struct.unpack("<%dI" % (row["rows"] * 16), file.read())
    # A large accumulator swallows the products in some; most differ.
    if 2 * len(set(words)) < len(words):
        sys.exit("%s: the expected sums are nearly all alike" % chip)
    print("%s: %d kernels, %d tables of sums" % (chip, len(kernels), len(sums)))
