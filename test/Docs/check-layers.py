#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks by the #includes that the layers of docs/Architecture.md are kept, and that its picture shows them.

usage: check-layers.py ROOT [--picture]

--picture prints the picture, for docs/Architecture.md.
"""

import os
import re
import sys

INCLUDE = re.compile(r'^\s*#?\s*include\s+(["<])([^">]+)[">]')
FREE = re.compile(r"^  (\w+)\(\1\)$", re.M)
# The compiler's part of the C API.
EXCEPT = ("lib/CAPI/Compiler.cpp", "lib/CAPI/Diagnostics.cpp", "lib/CAPI/Diagnostics.h")
TOOLS = (r"(\.\./)*tools/", "nothing depends on tools/")
# It judges what lib/Proof has found, by nothing but LLVM's support library and a reader of JSON.
CHECKER = "tools/fp8-check-proof"
CHECKERS_OWN = re.compile(r"llvm/|nlohmann/|\w+(\.h)?$")
UPSTREAM = re.compile(r"(mlir|llvm)(-c)?/")
# The folders that each folder of lib/ may include.
LAYERS = {
    "Files": [],
    "Chip": [],
    "Config": ["Chip"],
    "Tensor": [],
    "Gemm": ["Tensor"],
    "Launch": ["Chip", "Tensor"],
    "Tuning": ["Chip", "Config"],
    "Reference": ["Chip", "Gemm", "Tensor"],
    "Runtime": ["Chip", "Launch", "Tensor"],
    "Simulator": ["Chip", "Tensor"],
    "SimulatedLaunch": ["Chip", "Launch", "Reference", "Simulator", "Tensor"],
    "SimulatedCuda": ["Chip", "Launch", "SimulatedLaunch", "Simulator"],
    "ProofText": ["Simulator"],
    "IR": ["Chip", "Config", "Gemm", "Tensor"],
    "Analysis": ["Chip", "IR"],
    "Planning": ["Analysis", "IR"],
    "Proof": ["Analysis", "IR"],
    "Transforms": ["Analysis", "Chip", "Config", "Files", "IR", "Planning", "Proof", "Tuning"],
    "Conversion": ["Analysis", "Chip", "IR", "Planning"],
    "Backend": ["Analysis", "Chip", "Files", "IR", "Proof"],
    "Pipelines": ["Chip", "Conversion", "Planning", "Backend", "Transforms"],
    "Reducer": ["IR"],
    "Register": ["Conversion", "IR", "Pipelines", "Planning", "Backend", "Transforms"],
    "Plugin": ["Register"],
    "CAPI": ["Backend", "Chip", "Gemm", "Launch", "Register", "Runtime", "SimulatedLaunch", "Tensor", "Transforms"],
}
OURS = re.compile(r"fp8(-c)?/(\w+)")

# Libraries whose folders are layers, in rows from the ground up: a file uses its own folder and the rows below. What lies in
# the library's own folder uses all of them, and none of them uses it.
STACKS = {
    "Simulator": (
        ("Numerics",), ("PTX",), ("Program",), ("Timing",), ("Memory",), ("Machine",),
        ("ISA",), ("ISA/Alu",), ("ISA/Copy",), ("ISA/Access",), ("ISA/Control", "ISA/Sync", "ISA/TensorCore"),
    ),
}


def stack_rule(path, include):
    """The rule of its library's stack that the file breaks by this include, or None."""
    top, library, *inner = path.split("/")
    if top != "lib" or library not in STACKS or len(inner) == 1:
        return None
    rows = {folder: row for row, folders in enumerate(STACKS[library]) for folder in folders}
    mine, other = "/".join(inner[:-1]), os.path.dirname(include)
    if mine not in rows:
        return f"lib/{library}/{mine} is in no row of STACKS; give it one"
    if other.startswith("fp8/"):
        return None
    if other not in rows:
        return f"name a private header by its folder in lib/{library}"
    return f"lib/{library}/{mine} does not use lib/{library}/{other}" if other != mine and rows[other] >= rows[mine] else None


def free_layers(root):
    """The folders of lib/ that use neither MLIR nor LLVM: the rounded boxes of the picture."""
    with open(os.path.join(root, "docs/Architecture.md"), encoding="utf-8") as file:
        return FREE.findall(file.read())


def files(root):
    """Each file of code with the layer that it belongs to, in order."""
    for top in ("include/fp8", "include/fp8-c", "lib"):
        for directory, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                path = os.path.relpath(os.path.join(directory, name), root)
                if path.endswith((".h", ".cpp", ".td")):
                    yield path, "CAPI" if top == "include/fp8-c" else os.path.relpath(path, top).split(os.sep)[0]


def includes(root, path):
    """The number of each line that includes a file, the file, and whether it stands in quotes."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            include = INCLUDE.match(line)
            if include:
                yield number, include.group(2), include.group(1) == '"'


def layer_of(include):
    """The folder of lib/ that the include is of, or None."""
    ours = OURS.match(include)
    return ("CAPI" if ours.group(1) else ours.group(2)) if ours else None


def layer_rule(layer, include):
    """The rule of LAYERS that a file of the layer breaks by this include, or None."""
    other = layer_of(include)
    if not other or other == layer:
        return None
    return f"lib/{layer} does not use lib/{other}" if other not in LAYERS[layer] else None


def reduced(graph):
    """The arrows of the graph that do not follow from others."""
    def reach(layer):
        found, left = set(), [layer]
        while left:
            next_layer = left.pop()
            found.add(next_layer)
            left += graph[next_layer] - found
        return found

    return [(layer, other) for layer in graph for other in sorted(graph[layer])
            if not any(other in reach(between) for between in graph[layer] - {other})]


def picture(graph, free):
    """A fence that GitHub draws."""
    lines = ["```mermaid", "graph TD"]
    lines += [f"  {layer}({layer})" if layer in free else f"  {layer}[{layer}]" for layer in graph]
    lines += [f"  {layer} --> {other}" for layer, other in reduced(graph)]
    return "\n".join([*lines, "```"])


def checker_errors(root):
    """What the checker of proofs includes that it should not."""
    folder = os.path.join(root, CHECKER)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith((".h", ".cpp")):
            for number, include, _ in includes(root, f"{CHECKER}/{name}"):
                if not CHECKERS_OWN.match(include):
                    yield f"{CHECKER}/{name}:{number}: error: includes {include}: the checker of proofs uses neither MLIR nor the rest of fp8"


def main():
    root = sys.argv[1]
    named, checked, errors = set(free_layers(root)), 0, []
    seen, using, graph = set(), set(), {}
    for path, layer in files(root):
        layer = os.path.splitext(layer)[0]
        if layer == "CMakeLists":
            continue
        if layer not in LAYERS and layer not in seen:
            errors.append(f"{path}: error: lib/{layer} is in no row of LAYERS; say what it may use")
        seen.add(layer)
        uses = graph.setdefault(layer, set())
        for number, include, quoted in includes(root, path):
            checked += 1
            broken = [TOOLS[1]] if re.match(TOOLS[0], include) else []
            broken += filter(None, [layer_rule(layer, include) if layer in LAYERS else None, stack_rule(path, include) if quoted else None])
            uses.update({layer_of(include)} - {layer, None})
            if UPSTREAM.match(include) and path not in EXCEPT:
                using.add(layer)
                if layer in named:
                    broken.append(f"lib/{layer} uses neither MLIR nor LLVM")
            errors += [f"{path}:{number}: error: includes {include}: {rule}" for rule in broken]
    errors += checker_errors(root)
    errors += [f"docs/Architecture.md: error: there is no lib/{layer}" for layer in sorted(named - seen)]
    libraries = {layer for layer in seen if os.path.isdir(os.path.join(root, "lib", layer))}
    drawing = picture({layer: graph[layer] & seen for layer in LAYERS if layer in graph}, libraries - using)
    if "--picture" in sys.argv[2:]:
        print(drawing)
        return 0
    with open(os.path.join(root, "docs/Architecture.md"), encoding="utf-8") as file:
        if drawing not in file.read():
            errors.append("docs/Architecture.md: error: the picture is not that of the #includes; paste what --picture prints")
    print("\n".join([*errors, f"{checked} includes checked, {len(errors)} errors"]))
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
