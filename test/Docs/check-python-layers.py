#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the modules of the Python package import one another in one direction: that of a table of layers.

All imports count: those inside of functions, and those for type checkers alone.

usage: check-python-layers.py ROOT TABLE
"""

import ast
import os
import sys


def read_table(path):
    """Each module with its place, and the layer that it is in, in order."""
    places, layer = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            head, colon, modules = line.partition("#")[0].rpartition(":")
            layer = head.strip() if colon else layer
            for module in modules.split():
                places[module] = (len(places), layer)
    return places


def modules(package):
    """Each module of the package, as the table names it, and its file."""
    for directory, folders, names in os.walk(package):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(directory, name)
                dotted = os.path.relpath(path, package)[:-3].replace(os.sep, ".")
                yield dotted.removesuffix(".__init__"), path


def imports(module, path, known):
    """The line of each import of another module of the package, and that module."""
    is_package = path.endswith("__init__.py")
    here = [] if module == "__init__" else module.split(".") if is_package else module.split(".")[:-1]
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[:len(here) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                inner = ".".join([*base, alias.name])
                target = inner if inner in known else ".".join(base) or "__init__"
                if target != module:
                    yield node.lineno, target


def main():
    root, table = sys.argv[1:]
    places = read_table(table)
    files = dict(modules(os.path.join(root, "python", "fp8")))
    errors = [f"{os.path.basename(table)}: error: there is no module {module}" for module in places if module not in files]
    checked = 0
    for module, path in files.items():
        name = os.path.relpath(path, root)
        if module not in places:
            errors.append(f"{name}: error: the module is in no layer; add it to {os.path.basename(table)}")
            continue
        for line, target in imports(module, path, files):
            checked += 1
            if target in places and places[target] > places[module]:
                errors.append(f"{name}:{line}: error: imports {target} of layer '{places[target][1]}', above its own place in '{places[module][1]}'")
    print("\n".join([*errors, f"{checked} imports checked, {len(errors)} errors"]))
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
