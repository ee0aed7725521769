# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults in the PTX of good kernels: those that SentryWard catches, and those that it does not see.

usage: faults.py FP8-OPT FP8-RUN WORKDIR [--full]

A fault is what an operator of test/Mutants does to one instruction: the first of its family whose neighbours in the protocol, `before >
after`, match. The simulator reports what the judge does not see. Runs in a Python that has SentryWard 0.1.1.
"""

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys

from judge import judge
from kernels import SMALL, Kernel, prepare

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Mutants/corpus"))
import ptx as text_of  # noqa: E402
import ptx_operators  # noqa: E402

ONE = Kernel("one CTA", (64, 16, 384), f"tile = 64 x 16 x 128, {SMALL}")
TILES = Kernel("many tiles", (64, 64, 112), ONE.config, multiprocessors=1)
CLUSTER = Kernel("cluster", (128, 16, 384), f"tile = 64 x 16 x 128, cluster = 2 x 1, {SMALL}")
PAIR = Kernel("pair", (128, 128, 384), "tile = 128 x 128 x 128, cta_group = 2, stages = 2, accumulators = 8")

SYNCHRONISATION, RACE, LIFECYCLE, UNSEEN = "not_wellsynced", "potential_race", "invalid_lifecycle", "race_free"


@dataclasses.dataclass
class Fault:
    verdict: str  # SentryWard's
    kernel: Kernel
    family: str
    where: str  # a regular expression for the neighbours
    what: str
    nth: int = 0  # of those that match

    @property
    def full(self):
        """Too slow for each run of the tests: nothing cuts the analysis short."""
        return self.kernel is PAIR or self.verdict == UNSEEN

    def __str__(self):
        return f"{self.kernel.name}: {self.family}, {self.what}"

    def plant(self, ptx):
        sites = ((which, text) for family, which, what, text in ptx_operators.sites(text_of.Program(ptx))
                 if (family, what) == (self.family, self.what) and text is not None)
        found = [text for which, text in sites if re.search(self.where, which)]
        if self.nth >= len(found):
            sys.exit(f"{self}: finds no place where {self.where!r}")
        return found[self.nth]()


FAULTS = [
    # Arrivals, counts, bytes.
    Fault(SYNCHRONISATION, ONE, "arrive", "", "drop"),
    Fault(SYNCHRONISATION, ONE, "arrive", "", "count 2"),
    Fault(SYNCHRONISATION, ONE, "arrive", "", "barrier +8"),
    Fault(SYNCHRONISATION, ONE, "commit", "mma > commit", "drop"),
    Fault(SYNCHRONISATION, ONE, "commit", "commit > wait", "duplicate"),
    Fault(RACE, ONE, "commit", "mma > commit", "hoist"),
    Fault(SYNCHRONISATION, ONE, "init", "", "count +1"),
    Fault(LIFECYCLE, ONE, "init", "9: ", "barrier +8"),
    Fault(SYNCHRONISATION, ONE, "expect_tx", "", "bytes /2"),
    Fault(SYNCHRONISATION, ONE, "expect_tx", "", "bytes +16"),
    Fault(SYNCHRONISATION, ONE, "copy in", "copy in > wait", "drop"),
    # Waits and cursors.
    Fault(RACE, ONE, "wait", "", "drop"),
    Fault(SYNCHRONISATION, ONE, "wait", "", "parity"),
    Fault(SYNCHRONISATION, ONE, "wait", "", "barrier +8"),
    Fault(SYNCHRONISATION, ONE, "cursor", "copy in > wait", "other arm"),
    # Lanes.
    Fault(SYNCHRONISATION, ONE, "warp sync", "wait > expect_tx", "drop", nth=1),
    Fault(SYNCHRONISATION, ONE, "warp sync", "wait > mma", "drop"),
    Fault(RACE, ONE, "warp sync", "tcgen05 fence > arrive", "drop"),
    Fault(RACE, ONE, "warp sync", "proxy fence > copy out", "drop"),
    Fault(SYNCHRONISATION, ONE, "bar of some", "", "threads -32"),
    Fault(SYNCHRONISATION, ONE, "guard", "warp sync > mma", "everybody"),
    # Memory.
    Fault(RACE, ONE, "tcgen05 wait", "", "drop"),
    Fault(RACE, ONE, "shared store", "", "address"),
    Fault(RACE, TILES, "wait_group", "0: ", "drop"),
    Fault(LIFECYCLE, ONE, "dealloc", "", "duplicate"),
    # Clusters and pairs.
    Fault(LIFECYCLE, CLUSTER, "cluster wait", "", "drop"),
    Fault(SYNCHRONISATION, CLUSTER, "copy in", "", "not multicast"),
    Fault(SYNCHRONISATION, CLUSTER, "commit", "", "not multicast"),
    Fault(SYNCHRONISATION, CLUSTER, "commit", "", "mask ^1"),
    Fault(SYNCHRONISATION, PAIR, "remote address", "", "rank"),
    Fault(SYNCHRONISATION, PAIR, "commit", "", "mask ^2"),
    Fault(SYNCHRONISATION, PAIR, "expect_tx", "", "bytes /2"),
    # Unseen: fences, weaker semantics, writes that nobody waits for, what is in memory, the end of a CTA.
    Fault(UNSEEN, ONE, "proxy fence", "shared store", "drop"),
    Fault(UNSEEN, ONE, "tcgen05 fence", "> tcgen05 load", "drop"),
    Fault(UNSEEN, ONE, "tcgen05 fence", "tcgen05 wait >", "drop"),
    Fault(UNSEEN, ONE, "init fence", "", "drop"),
    Fault(UNSEEN, ONE, "arrive", "", "relaxed"),
    Fault(UNSEEN, ONE, "wait_group", "1: ", "drop"),
    Fault(UNSEEN, ONE, "commit_group", "", "drop"),
    Fault(UNSEEN, ONE, "mma", "", "accumulate"),
    Fault(UNSEEN, ONE, "mma", "", "drop"),
    Fault(UNSEEN, ONE, "copy out", "", "drop"),
    Fault(UNSEEN, CLUSTER, "last wait", "", "drop"),
]


def simulate(runner, path, manifest, kernel):
    """What the simulator says first: a rule, in brackets at the end of the line, or that numbers are wrong."""
    done = subprocess.run([runner, path, f"--manifest={manifest}", "--backend=sim", "--schedules=3", "--max-errors=1", *kernel.options()],
                          capture_output=True, text=True, check=False)
    if not done.returncode:
        return "nothing"
    said = next((line for line in done.stderr.splitlines() if "error:" in line), "")
    rule = re.search(r"\[([\w-]+)\]$", said)
    return rule[1] if rule else "wrong numbers"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=3)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    opt, runner, work = options.paths
    os.makedirs(work, exist_ok=True)
    good, tally, wrong = {}, {True: 0, False: 0}, 0
    for fault in FAULTS:
        if fault.full > options.full:
            continue
        kernel = fault.kernel
        if kernel.name not in good:
            good[kernel.name] = prepare(kernel, opt, runner, work)
            verdict = judge(*good[kernel.name][:2], kernel.named_sizes(), kernel.multiprocessors)
            if not verdict.clean:
                sys.exit(f"{kernel.name} is no good kernel: {verdict}")
        ptx, manifest, _ = good[kernel.name]
        paths = [os.path.join(work, name) for name in ("fault.ptx", "fault.ptx.json")]
        planted = fault.plant(ptx)
        with open(paths[0], "w", encoding="utf-8") as file, open(paths[1], "w", encoding="utf-8") as launch:
            file.write(planted)
            json.dump(manifest, launch)
        said = simulate(runner, *paths, kernel)
        verdict = judge(planted, manifest, kernel.named_sizes(), kernel.multiprocessors)
        expected = verdict.result == fault.verdict and (said != "nothing" or verdict.result != UNSEEN)
        wrong += not expected
        tally[fault.verdict != UNSEEN] += expected
        print(f"{fault}: {verdict}; the simulator: {said}; {verdict.seconds:.1f} s" + ("" if expected else f": EXPECTED {fault.verdict}"), flush=True)
    print(f"{tally[True]} faults caught, {tally[False]} unseen, {wrong} other than expected")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
