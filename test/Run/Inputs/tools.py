# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowers, assembles and simulates one kernel after another, and counts what became of them."""
import collections
import json
import re
import subprocess

# The chips of each family, as `chip=` names them.
HOPPER = ["sm_90a"]
BLACKWELL = ["sm_100a", "sm_100f", "sm_103a", "sm_110a"]


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def lower(opt, source, ptx, chip="sm_100a"):
    """What the compiler said if it refused, else nothing."""
    result = run([opt, source, f"--fp8-gemm-to-ptx=chip={chip}", "--emit=ptx", "-o", ptx])
    return result.stderr if result.returncode else ""


def simulate(runner, ptx, options):
    """What went wrong when the kernel ran, if anything."""
    result = run([runner, ptx, "--backend=sim", *options])
    lines = result.stdout.splitlines()
    return "" if not result.returncode and lines and json.loads(lines[-1])["ok"] else result.stderr or "no verdict"


def assemble(ptxas, ptx, chip="sm_100a"):
    """What ptxas refused or did otherwise than it was told, if anything (it says so as info: C7507, setmaxnreg ignored; C7510 and
    others, wgmma serialised), and the bytes that the kernel spills."""
    result = run([ptxas, f"-arch={chip}", "-v", "-o", "/dev/null", ptx])
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill (?:stores|loads)", result.stderr)))
    return (result.stderr if result.returncode or "(C75" in result.stderr else ""), spilled


class Tally:
    """Counts kernels by what became of them, and names those that did not do."""

    def __init__(self):
        self.counts = collections.Counter()

    def add(self, name, problem, spills=()):
        self.counts["failed" if problem else "right"] += 1
        if problem:
            print(f"{name}: {problem}")
        elif spills:
            self.counts["spill"] += 1
            print(f"{name}: spills on {', '.join(spills)}")

    def summary(self, what, *kinds):
        print(what + ": " + ", ".join(f"{self.counts[kind]} {kind}" for kind in kinds))
