# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `fp8-opt --fp8-prove` says of a mutant, and the launch at which a refuted one goes wrong.

A refutation names the values of the kernel's arguments. The manifest says what each argument is, as an expression over the extents of A
and B, which gives the sizes back.
"""

import dataclasses
import json
import os
import re

import ir

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"


@dataclasses.dataclass
class Proof:
    verdict: str
    said: str = ""  # the error or remark, without its place
    arguments: dict = dataclasses.field(default_factory=dict)  # of a refutation: names and values

    @property
    def names_launch(self):
        """False if it goes wrong for some data or answers of the work queue only, or for a launch that is not said."""
        return bool(self.arguments) and ", where " not in self.said

    def __str__(self):
        return f"{self.verdict}: {self.said}" if self.said else self.verdict


def read_verdict(path, said):
    """The verdict on the one kernel of a module, from the JSON that the pass has written."""
    with open(path, encoding="utf-8") as file:
        kernel, = json.load(file)["kernels"]
    progress = kernel["properties"]["progress"]
    found = re.search(r"(?:error|remark): (.*)", said)
    return Proof(progress["verdict"], found[1] if found else "", progress.get("arguments", {}))


EXTENTS = {("a", 0): "m", ("b", 0): "n", ("a", 1): "k"}
ELSEWHERE = "at another launch: "


@dataclasses.dataclass
class Launch:
    """The options of fp8-run for the launch of a refutation, and how many CTAs the refutation says that it has."""

    options: list
    ctas: int | None

    def is_made(self, said):
        """True if fp8-run, which says this, has made this launch. A refutation may name a grid that the manifest never gives."""
        return self.ctas is None or f"grid {self.ctas}x1x1" in said


def solve(expression, value):
    """The size, and a value of it, for which an expression of the manifest has this value; none if it is no quotient of a size."""
    (name, operands), = expression.items() if isinstance(expression, dict) else [("", [])]
    if name == "dim" and tuple(operands) in EXTENTS:
        return EXTENTS[tuple(operands)], value
    if name == "ceildiv" and isinstance(operands[1], int):
        size, quotient = solve(operands[0], value) or (None, 0)
        return size and (size, quotient * operands[1])
    return None


def places_of(text):
    """The number of the first parameter in the manifest that each argument of the kernel becomes."""
    kinds = ir.split_types(re.search(r"function_type = \((.*)\) -> \(\)", ir.Module(text).kernel.rest)[1])
    places, place = [], 0
    for kind in kinds:
        places.append(place)
        rank = re.match(r"memref<((?:\?x|\d+x)*)", kind)
        # A memref is two pointers, an offset, extents and strides.
        place += 3 + 2 * rank[1].count("x") if rank else 1
    return places


def refuted_launch(proof, text, manifest):
    """The launch of a refutation; none if that names data, or an argument that is no size."""
    places, sizes, ctas = places_of(text), {}, None
    for name, value in proof.arguments.items():
        argument = re.fullmatch(r"argument (\d+)", name)
        if argument:
            size = solve(manifest["parameters"][places[int(argument[1])]]["value"], value)
            if not size:
                return None
            sizes[size[0]] = size[1]
        elif name == "CTAs of the grid along x":
            ctas = value
        elif name != "CTA's number along x":
            return None
    if not proof.names_launch:
        return None
    # A persistent grid is as large as the device. What the refutation does not name is of no consequence.
    return Launch([f"--{size}={sizes.get(size, 128)}" for size in "mnk"] + [f"--multiprocessors={ctas or 4}"], ctas)


def command(opt, path, verdicts):
    return [opt, path, f"--fp8-prove=chip=sm_100a json={verdicts}", "-o", os.devnull]
