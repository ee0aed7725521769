# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `fp8-opt --fp8-prove` says of a mutant, and the launch at which a refuted one goes wrong.

A refutation names the values of the kernel's arguments; test/Judge/Inputs/launch.py finds the sizes for which they have them.
"""

import dataclasses
import json
import math
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Judge/Inputs"))
from launch import Binding, sizes_of  # noqa: E402

PROVED, REFUTED, UNKNOWN = "proved", "refuted", "unknown"
WITH_WORK, WITHOUT_WORK = "the queue answers with work", "the queue answers that there is none"

# Of what is proved, what it excludes on the simulator. Races are of arrays, too, of which some things are taken for granted.
DENIALS = {"progress": ("[deadlock]",), "counts": ("[early-arrival]", "[missed-phase]", "[too-many-arrivals]"), "ownership": ("[uninitialised-memory]", "[memory-in-flight]"), "numbers": ("wrong result",)}


@dataclasses.dataclass
class Proof:
    verdict: str  # refuted if anything is, else what is said of the progress of the roles
    said: str = ""  # errors, or remarks, without their places
    properties: tuple = ()  # those that are proved

    @property
    def arguments(self):
        """Of a refutation, what it says of the launch: names and values."""
        launch = re.split(", where |; ", self.said.partition(", with ")[2])[0]
        return {name: int(value) for name, value in re.findall(r"(?:^|, )([^,=]*) = (-?\d+)", launch)}

    @property
    def denials(self):
        """What the simulator must not say of the mutant."""
        return [denial for name in self.properties for denial in DENIALS.get(name, ())]

    @property
    def answers(self):
        """How often the work queue answers with work in the run of a refutation."""
        return self.said.count(WITH_WORK)

    @property
    def asks_queue(self):
        return bool(self.answers) or WITHOUT_WORK in self.said

    @property
    def names_launch(self):
        """False if it goes wrong for a launch that is not said, or for some data only. Answers of the queue follow from the grid."""
        data = self.said.partition(", where ")[2].partition("; ")[0]
        return bool(self.arguments) and not data.replace(WITH_WORK, "").replace(WITHOUT_WORK, "").strip(" ,")

    @property
    def is_seen(self):
        """True if the simulator reports at that launch what the refutation says. Of a slot that is left it does so only if work for it is
        under way, and of wrong numbers only if the launch has rows and blocks of K to which they come."""
        return not re.search(r" fills \d+ slots of | does not compute what it says", self.said)

    def __str__(self):
        return f"{self.verdict}: {self.said}" if self.said else self.verdict


def prove(call, opt, path, verdicts):
    """What is proved of the one kernel of a module, or (verdict, what was said) if that is nothing. `call` runs a command."""
    code, _, said = call([opt, path, f"--fp8-prove=chip=sm_100a json={verdicts}", "-o", os.devnull])
    if code not in (0, 1) or not os.path.exists(verdicts):
        return "crashed", f"{code}: the proof: {said.strip()[-200:]}"
    with open(verdicts, encoding="utf-8") as file:
        found = [kernel["properties"] for kernel in json.load(file)["kernels"]]
    if len(found) != 1:
        return "crashed", f"{code}: verdicts on {len(found)} kernels: {said.strip()[-200:]}"
    each = {name: its["verdict"] for name, its in found[0].items()}
    lines = re.findall(r"error: (.*)" if code else r"remark: (.*)", said)
    return Proof(REFUTED if code else each["progress"], "; ".join(lines), tuple(name for name in each if each[name] == PROVED))


ELSEWHERE = "at another launch: "


def refuted_launch(proof, manifest):
    """The options of fp8-run for the launch of a refutation; none if it names no launch that the manifest allows."""
    named = sizes_of(manifest, proof.arguments)
    if not named or not proof.names_launch:
        return None
    sizes, ctas = named
    size_of_cluster = math.prod(manifest["launch"]["cluster"])
    if ctas and proof.arguments.get("cluster's number", 0) >= ctas // size_of_cluster:
        return None
    options = []
    if proof.asks_queue:
        # One cluster at a time: the first gets all the work there is.
        ctas = (proof.answers + 1) * size_of_cluster
        options = ["--resident-clusters=1"]
    # A persistent grid is as large as the device. What the refutation does not name is of no consequence, but for the grid.
    for n in [sizes["n"]] if "n" in sizes else range(16, 1024, 16):
        all_sizes = {"m": 1, "k": 128, **sizes, "n": n}
        if ctas is None or Binding(manifest, all_sizes, ctas).grid() == [ctas, 1, 1]:
            return [f"--{size}={value}" for size, value in all_sizes.items()] + [f"--multiprocessors={ctas or 4}", *options]
    return None
