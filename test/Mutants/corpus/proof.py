# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `fp8-opt --fp8-prove` says of a mutant, and the launch at which a refuted one goes wrong.

A refutation names the values of the kernel's arguments. The manifest says what each argument is, as an expression over the extents of A
and B, which gives the sizes back.
"""

import dataclasses
import json
import math
import os
import re
import sys

import ir

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Judge/Inputs"))
from launch import Binding  # noqa: E402

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"
WITH_WORK, WITHOUT_WORK = "the queue answers with work", "the queue answers that there is none"


@dataclasses.dataclass
class Proof:
    verdict: str
    said: str = ""  # the error or remark, without its place
    arguments: dict = dataclasses.field(default_factory=dict)  # of a refutation: names and values

    @property
    def answers(self):
        """How often the work queue answers with work in the run of a refutation."""
        return self.said.count(WITH_WORK)

    @property
    def names_launch(self):
        """False if it goes wrong for a launch that is not said, or for some data only. Answers of the queue follow from the grid."""
        _, _, data = self.said.partition(", where ")
        return bool(self.arguments) and not data.replace(WITH_WORK, "").replace(WITHOUT_WORK, "").strip(" ,")

    @property
    def is_seen(self):
        """True if the simulator reports at that launch what the refutation says. Of a slot that is left it does so only if work for it is
        under way."""
        return "roles wait for one another" in self.said

    def __str__(self):
        return f"{self.verdict}: {self.said}" if self.said else self.verdict


def prove(call, opt, path, verdicts):
    """The verdict on the one kernel of a module: refuted if one of its properties is, else that on the progress of its roles. Or (verdict,
    what was said) if there is none. `call` runs a command."""
    code, _, said = call([opt, path, f"--fp8-prove=chip=sm_100a json={verdicts}", "-o", os.devnull])
    if code not in (0, 1) or not os.path.exists(verdicts):
        return "crashed", f"{code}: the proof: {said.strip()[-200:]}"
    with open(verdicts, encoding="utf-8") as file:
        properties = [kernel["properties"] for kernel in json.load(file)["kernels"]]
    if len(properties) != 1:
        return "crashed", f"{code}: verdicts on {len(properties)} kernels: {said.strip()[-200:]}"
    refuted = [its for its in properties[0].values() if its["verdict"] == REFUTED]
    its = refuted[0] if refuted else properties[0]["progress"]
    found = re.search(r"(?:error|remark): (.*)", said)
    return Proof(its["verdict"], found[1] if found else "", its.get("arguments", {}))


EXTENTS = {("a", 0): "m", ("b", 0): "n", ("a", 1): "k"}
ELSEWHERE = "at another launch: "


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
    """The options of fp8-run for the launch of a refutation; none if it names no launch that the manifest allows."""
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
    options = []
    if WITHOUT_WORK in proof.said or proof.answers:
        # One cluster at a time: the first gets all the work there is.
        ctas = (proof.answers + 1) * math.prod(manifest["launch"]["cluster"])
        options = ["--resident-clusters=1"]
    # A persistent grid is as large as the device. What the refutation does not name is of no consequence, but for the grid.
    for n in [sizes["n"]] if "n" in sizes else range(16, 1024, 16):
        all_sizes = {"m": 1, "k": 128, **sizes, "n": n}
        if ctas is None or Binding(manifest, all_sizes, ctas).grid() == [ctas, 1, 1]:
            return [f"--{size}={value}" for size, value in all_sizes.items()] + [f"--multiprocessors={ctas or 4}", *options]
    return None
