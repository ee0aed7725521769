#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the cases of a folder that gpu.py made. In a packed folder this is DIR/run.

usage: run [--group=NAME,...] [--case=NAME] [--backend=cuda|sim] [--seconds=N] [--jobs=N] [--fp8-run=FILE]
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import time

import cases as running

CASES = "cases.json"
JOBS = 8


def find_device(fp8_run):
    """What the first GPU is, or a string that says why there is none."""
    try:
        result = subprocess.run([fp8_run, "--list-devices"], capture_output=True, text=True,
                                check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if result.returncode:
        return (result.stderr.strip().splitlines() or ["fp8-run --list-devices fails"])[-1]
    return json.loads(result.stdout.splitlines()[0])


class Run:
    def __init__(self, directory, fp8_run, backend, seconds, jobs):
        self.directory, self.jobs, self.end = directory, jobs, time.monotonic() + seconds
        self.runner = running.Runner(directory, fp8_run, backend)
        self.passed = self.failed = 0
        self.reasons = collections.Counter()

    def tell(self, name, more, problem):
        print("%s: %s %s" % ("FAIL" if problem else "PASS", name, problem or more), flush=True)
        self.failed += problem is not None
        self.passed += problem is None

    def attempt(self, case):
        if time.monotonic() > self.end:
            return "", "not begun in time"
        return self.runner.run(case)

    def kernels(self, cases, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for case, (more, problem) in zip(cases, pool.map(self.attempt, cases)):
                self.tell(case["name"], more, problem)

    def program(self, case):
        left = self.end - time.monotonic()
        if left < 1:
            self.tell(case["name"], "", "not begun in time")
            return
        passed, failed = running.run_program(case, self.directory, left, lambda line: print(line, flush=True))
        self.passed += passed
        self.failed += failed

    def all(self, cases):
        """Where the GPU's time is not measured, several cases run at a time."""
        kind = lambda case: "program" if "program" in case else bool(case.get("compare") or "sanitize" in case)
        for key, some in itertools.groupby(cases, kind):
            if key == "program":
                for case in some:
                    self.program(case)
            else:
                self.kernels(list(some), self.jobs if key else 1)

    def summary(self, cases):
        compared = [case["compared"] for case in cases if "compared" in case]
        if self.runner.backend == "cuda" and compared:
            print("as on the simulator, bit for bit: %d elements of GEMMs, %d bytes in all" % tuple(map(sum, zip(*compared))))
        for reason, number in sorted(self.reasons.items()):
            print("skipped: %d (%s)" % (number, reason))
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, sum(self.reasons.values())))
        return 0 if self.passed and not self.failed else 1


def run(directory, options):
    fp8_run = os.path.abspath(options.fp8_run or os.path.join(directory, "fp8-run"))
    with open(os.path.join(directory, CASES), encoding="utf-8") as file:
        cases = [case for case in json.load(file) if chosen_group(case, options.group)
                 and options.case in (None, case["name"])]
    device = find_device(fp8_run) if options.backend == "cuda" else None
    runs = Run(directory, fp8_run, options.backend, options.seconds, options.jobs)
    if isinstance(device, str):
        runs.reasons["no GPU: " + device] = len(cases)
        cases = []
    elif device:
        print("%(device)s, compute capability %(capability)s, driver %(driver)s" % device)
    chosen = []
    for case in cases:
        reason = running.why_skip(case, directory, device)
        if reason:
            runs.reasons[reason] += 1
        else:
            chosen.append(case)
    runs.all(chosen)
    return runs.summary(chosen)


def chosen_group(case, groups):
    """Whether the case is in one of the groups, which commas separate; none are all."""
    return not groups or case["group"] in groups.split(",")


def add_options(parser):
    parser.add_argument("--group", default="", help="the group, or several between commas, instead of all")
    parser.add_argument("--case", help="the only case")
    parser.add_argument("--backend", choices=["cuda", "sim"], default="cuda")
    parser.add_argument("--seconds", type=float, default=1800, help="what is not begun by then counts as failed")
    parser.add_argument("--jobs", type=int, default=min(JOBS, os.cpu_count() or 1),
                        help="how many cases run at a time, of those that may")
    parser.add_argument("--fp8-run", help="the runner, instead of DIR/fp8-run")


def main():
    parser = argparse.ArgumentParser(description="Runs the tests that need a GPU.")
    add_options(parser)
    sys.exit(run(os.path.dirname(os.path.abspath(__file__)), parser.parse_args()))


if __name__ == "__main__":
    main()
