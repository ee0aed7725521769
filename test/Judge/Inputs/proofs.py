# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether SentryWard and `fp8-opt --fp8-prove` say the same of the hand-written kernels of test/Proof.

usage: proofs.py FP8-OPT FP8-RUN WORKDIR [--full] [--only NAME] [--markdown]

Each kernel is lowered for sm_100a and proved, or refuted, for all launches. SentryWard judges one launch: that of the refutation, or of a
proved kernel the largest at which the simulator finds nothing. The simulator runs the same launch. Where the verdicts differ, DIFFERENCES
must say why. Runs in a Python that has SentryWard 0.1.1.
"""

import argparse
import collections
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile

from judge import Verdict, judge
from launch import Binding, sizes_of
from rewrite import with_one_thread_storing

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../../Mutants/corpus"), os.path.join(HERE, "../../Proof")]
import cases  # noqa: E402
import proof  # noqa: E402

LARGEST = 4_000_000  # products of a GEMM; a kernel takes some seconds

# What SentryWard should say of a kernel that is refuted: roles wait for one another, or leave something in flight; or accesses have no order.
STUCK = ("not_wellsynced", "invalid_lifecycle")
RACE = "potential_race"
LANES_DIFFER = "with another value in each of several lanes"  # in a refutation
NOT_JUDGED = "not judged"
NOTHING = "nothing"  # that the simulator reports


def is_one_store(verdict):
    """True if the races that it names are of one store with itself, in another thread."""
    return verdict.result == RACE and all(race["first"]["location"] == race["second"]["location"] for race in verdict.answer["races"])


def reads_unwritten(comparison):
    return "which nobody has written" in comparison.said


def asks_queue(comparison):
    return "clusterlaunchcontrol.try_cancel" in comparison.ptx


# SentryWard's verdict, what it says with it, or a condition on the kernel or on the answer, and why it differs.
DIFFERENCES = [
    ("unsupported", "control_predicate_not_static", "it takes launch arguments; a branch on what memory holds has no value"),
    ("unsupported", "schedule_dependent_wait_unsupported", "it reads the loop of a wait only if nothing stands between the wait and the branch"),
    ("unsupported", "ptx_execution_not_supported", "it does not follow a wait that is tried first, whose answer lanes vote on"),
    ("unsupported", "tmem_group2_relative_peer_base", "it takes pairs with 512 columns of tensor memory only"),
    ("unsupported", "allocation_alias_relation_unknown", "it takes one allocation of tensor memory in a CTA only"),
    ("tool_failure", "collective-participant-mismatch", "it stops where not all lanes come to a collective instruction"),
    ("race_free", reads_unwritten, "it does not follow what memory holds"),
    ("race_free", asks_queue, "it takes for granted that the queue grants no other tile: then all roles do end"),
    (NOT_JUDGED, "", "without blocks of K it takes more for granted than it is asked to"),
]

# Kernels of each family for each run of the tests.
FEW = 2


@dataclasses.dataclass
class Comparison:
    case: cases.Case
    ours: str
    said: str  # with it
    launch: str
    ptx: str
    theirs: Verdict
    simulated: str

    @property
    def is_race(self):
        """True if the roles end, and the ownership of what they share is refuted."""
        return "breaks ownership" in self.said

    @property
    def agrees(self):
        if self.ours == proof.PROVED:
            return self.theirs.clean
        return self.theirs.result in ((RACE,) if self.is_race else STUCK)

    @property
    def is_confirmed(self):
        """True if the simulator, too, finds nothing in a right kernel, and something in a refuted one, unless only some schedules show it."""
        if self.ours == proof.PROVED:
            return self.simulated == NOTHING or self.case.is_wrong
        return self.simulated != NOTHING or self.case.schedules != "all"

    @property
    def difference(self):
        """Why the verdicts differ; none if that is not known."""
        for result, what, why in DIFFERENCES:
            if self.theirs.result == result and (what(self) if callable(what) else not what or what in self.theirs.codes):
                return why
        return None

    def __str__(self):
        why = "" if self.agrees else f": {self.difference or 'NOT KNOWN'}"
        why += "" if self.is_confirmed else ": NOT WHAT THE SIMULATOR SAYS"
        return f"{self.case.name}, {self.launch}: {self.ours}; {self.theirs}; the simulator: {self.simulated}; {self.theirs.seconds:.1f} s{why}"


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def stated_sizes(case, key):
    """Sizes of the corpus that SentryWard judges: none without blocks of K, if there are others."""
    sizes = [{name: int(value) for name, value in size.items()} for size in case.sizes(key)]
    return [size for size in sizes if size.get("k", 1)] or sizes


def products(size):
    """Those of a GEMM; kernels of other shapes are small."""
    return size["m"] * size["n"] * size["k"] if "m" in size else 0


def size_of_proved(case):
    """The largest size at which the simulator finds nothing and that SentryWard judges in time. Of a kernel that is wrong in another way than
    the proof looks for, the smallest at which it is."""
    if case.is_wrong:
        return stated_sizes(case, "fails")[0]
    sizes = stated_sizes(case, "passes")
    return ([size for size in sizes if products(size) <= LARGEST] or [min(sizes, key=products)])[-1]


def size_of_refuted(case, proved, manifest):
    """The sizes of the launch that a refutation names. What it does not name is as in the corpus; so are all, if it names no launch."""
    stated = (stated_sizes(case, "fails") or stated_sizes(case, "passes"))[0]
    named = sizes_of(manifest, proved.arguments) if proved.names_launch and not proved.asks_queue else None
    if not named or not named[0].get("k", 1):
        return stated
    sizes = stated | named[0]
    return sizes if named[1] in (None, Binding(manifest, sizes, multiprocessors(case)).grid()[0]) else stated


def multiprocessors(case):
    stated = re.search(r"--multiprocessors=(\d+)", case.options)
    return int(stated[1]) if stated else 148


def ask(ptx, manifest, size, case, proved, verdicts):
    """SentryWard's verdict. If it finds that threads of a role store one value at one place, which is no race to us, one of them stores alone."""
    if not size.get("k", 1):
        return Verdict(NOT_JUDGED, False, [], 0, {})
    verdict = judge(ptx, manifest, size, multiprocessors(case))
    if not is_one_store(verdict) or LANES_DIFFER in proved.said:
        return verdict
    with open(verdicts, encoding="utf-8") as file:
        roles = json.load(file)["kernels"][0]["events"]["roles"]
    return judge(with_one_thread_storing(ptx, [role["warps"][0] for role in roles]), manifest, size, multiprocessors(case))


def lower(case, options, folder):
    """The kernel for sm_100a, and its PTX; none if it is not for this chip."""
    case.keys["chip"] = "sm_100a"
    kernel = cases.Kernel(case, folder, options)
    if kernel.refusal is not None:
        return kernel, None
    with open(kernel.ptx, encoding="utf-8") as file:
        return kernel, file.read()


def compare(case, options, folder):
    """None if the kernel is not for sm_100a, or neither proved nor refuted."""
    kernel, ptx = lower(case, options, folder)
    if not ptx:
        return None
    verdicts = os.path.join(folder, "proof.json")
    proved = proof.prove(call, options.opt, os.path.join(folder, "kernel.mlir"), verdicts)
    if isinstance(proved, tuple):
        sys.exit(f"{case.name}: {proved}")
    if proved.verdict == proof.UNKNOWN or case.kind == "race" and proved.verdict != proof.REFUTED:
        return None
    with open(f"{kernel.ptx}.json", encoding="utf-8") as file:
        manifest = json.load(file)
    size = size_of_proved(case) if proved.verdict == proof.PROVED else size_of_refuted(case, proved, manifest)
    clean, said = kernel.run(size, "--schedules=3", "--max-errors=1")
    reported = re.search(r"\[([\w-]+)\]$", said, re.MULTILINE)
    simulated = NOTHING if clean else reported[1] if reported else "wrong numbers"
    theirs = ask(ptx, manifest, size, case, proved, verdicts)
    return Comparison(case, proved.verdict, proved.said, cases.describe(size), ptx, theirs, simulated)


def choose(options):
    """Kernels whose verdict is on progress or ownership: those that are right, and those that hang, leave something or race."""
    found = [case for case in cases.load().values() if case.kind in ("right", "deadlock", "lap", "leftover", "race")]
    if options.only:
        return [case for case in found if case.name == options.only]
    if options.full:
        return found
    taken, few = collections.Counter(), []
    for case in found:
        base = case.keys.get("base", case.name + ".mlir").removesuffix(".mlir")
        taken[base, case.is_wrong] += 1
        if "m" not in case.sizes("fails" if case.is_wrong else "passes")[0] and taken[base, case.is_wrong] <= FEW:
            few.append(case)
    return few


def tables(found):
    """Those of docs/evidence/Judge.md: families, and all kernels of which the verdicts differ."""
    counts = collections.Counter((one.case.family, one.ours, one.agrees) for one in found)
    columns = [(ours, agrees) for ours in (proof.PROVED, proof.REFUTED) for agrees in (True, False)]
    yield "| kernels | proved, race-free | proved, another verdict | refuted, stuck | refuted, another verdict |\n|---|---|---|---|---|"
    for family in sorted({one.case.family for one in found}):
        yield f"| {family} | " + " | ".join(str(counts[family, *column] or "") for column in columns) + " |"
    yield "| all | " + " | ".join(str(sum((one.ours, one.agrees) == column for one in found)) for column in columns) + " |"
    yield "\n| kernels | ours | SentryWard's | why |\n|---|---|---|---|"
    rows = collections.defaultdict(list)
    for one in found:
        if not one.agrees:
            rows[one.difference or "NOT KNOWN", one.ours, one.theirs.result].append(one.case.name)
    for (why, ours, theirs), names in sorted(rows.items()):
        yield f"| {', '.join(names)} | {ours} | {theirs} | {why} |"


def main():
    parser = argparse.ArgumentParser()
    for name in ("opt", "run", "work"):
        parser.add_argument(name)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    found, chosen = [], choose(options)
    for case in chosen:
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            one = compare(case, options, folder)
        if one:
            found.append(one)
            print(one, flush=True)
    if options.markdown:
        print(*tables(found), sep="\n")
    same = collections.Counter(one.ours for one in found if one.agrees)
    unexplained = sum(not one.agrees and not one.difference for one in found)
    denied = sum(not one.is_confirmed for one in found)
    print(f"{len(found)} kernels: the same of {same[proof.PROVED]} proved and {same[proof.REFUTED]} refuted, another of {len(found) - same.total()}; "
          f"{unexplained} not explained, {denied} denied by the simulator; {len(chosen) - len(found)} not compared")
    sys.exit(unexplained + denied > 0)


if __name__ == "__main__":
    main()
