#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels that are proved on the simulator, at random sizes and under many schedules, which must find nothing.

usage: runs.py FP8-OPT FP8-RUN DIRECTORY [--family examples|run|cases|ops] [--kernel NAME] [--sample N] [--count N] [--sizes N] [--schedules N]
               [--seed S] [--seconds N] [--believe]

The families: the files of `examples` and `test/Run`; the right kernels of test/Proof (cases.py); `count` GEMM ops that are drawn. A kernel
that is not proved in all properties is not run, and counted; --believe runs it, and kernels of cases.py that are wrong. --sample takes some of all
kernels, --seconds ends the runs early. Exits with 1 if a run finds something.
"""

import argparse
import collections
import glob
import json
import os
import random
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
# This folder has modules of the names of those of test/Run, which come first.
sys.path[:1] = [os.path.join(ROOT, "test", "Run", "Inputs"), os.path.join(ROOT, "test", "Proof"), HERE]
import cases  # noqa: E402
import defaults  # noqa: E402
import epilogues  # noqa: E402
import gemms  # noqa: E402

FILES = {"examples": ("examples/*.mlir", "examples/tutorial/*.mlir"), "run": ("test/Run/*.mlir",)}
FAMILIES = (*FILES, "cases", "ops")
SIMULATED = (None, "relu", "abs", "silu")  # the functions that fp8-run knows
LIMIT = 300  # seconds of one run


class Kernel:
    """A kernel's text, the chip and problem that it is compiled for, and how its sizes are drawn."""

    def __init__(self, name, text, target, options=(), arrays=()):
        self.name, self.text, self.target = name, text, target
        self.options, self.arrays = options, arrays  # of fp8-run; arguments whose extents are sizes

    def draw_sizes(self, rng):
        if self.arrays:
            return {name: rng.randint(1, 12) for name in self.arrays}
        blocks = rng.choice([0, 1, 2, 3, 5, 8, 9, 12])
        k = max(0, 128 * blocks - rng.choice([0, 0, 16, 64, 112]))
        return {"m": rng.randint(1, 300), "n": 16 * rng.randint(1, 24), "k": k}


def of_files(*patterns):
    """Each for the chip that it names, or has ops for. A file that is a pattern for several kernels does not compile."""
    for path in sorted(path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        stated = re.search(r"--fp8-gemm-to-ptx=\"?chip=(\w+)", text)
        inferred = "sm_90a" if "fp8.warpgroup_mma" in text else "sm_100a"
        yield Kernel(os.path.relpath(path, ROOT), text, stated[1] if stated else inferred)


def of_cases(is_believed):
    for case in cases.load().values():
        sizes = case.sizes("passes") or case.sizes("fails")
        if case.kind != "right" and not (is_believed and case.is_wrong):
            continue
        arrays = () if "m" in sizes[0] else tuple(sizes[0])
        yield Kernel(case.name, case.text(), case.chip, tuple(case.options.split()), arrays)


def of_ops(count, seed):
    rng = random.Random(seed)
    for index in range(count):
        chip = rng.choice(["sm_90a", "sm_100a"])
        point = defaults.draw(rng, chip) | {"config": gemms.draw_config(rng, chip)}
        point |= {"function": rng.choice(SIMULATED)} | dict.fromkeys("mnk")
        options = [f"--elementwise={point['function']}"] if point["function"] else []
        options += ["--batch=2"] if point["batch"] else []
        yield Kernel(f"op {index}, {defaults.describe(point)}", epilogues.text(point), chip, (*options, "--multiprocessors=8"))


def kernels(options):
    for family in options.family or FAMILIES:
        if family == "cases":
            yield from of_cases(options.believe)
        elif family == "ops":
            yield from of_ops(options.count, options.seed)
        else:
            yield from of_files(*FILES[family])


def choose(options):
    found = [kernel for kernel in kernels(options) if options.kernel in (None, kernel.name)]
    return random.Random(options.seed).sample(found, options.sample) if options.sample else found


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)


def get_verdicts(options, source, target):
    """Those of each property of each kernel; none if the compiler refuses the source."""
    path = os.path.join(options.directory, "proof.json")
    if os.path.exists(path):
        os.remove(path)
    call(options.opt, source, f"--fp8-prove=chip={target} json={path}", "-o", os.devnull)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [its["verdict"] for kernel in json.load(file)["kernels"] for its in kernel["properties"].values()]


def build(options, kernel):
    """The PTX of a kernel that is proved; and what becomes of it."""
    source, ptx = (os.path.join(options.directory, f"kernel.{suffix}") for suffix in ("mlir", "ptx"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(kernel.text)
    verdicts = set(get_verdicts(options, source, kernel.target))
    if verdicts - {"proved"} and not options.believe:
        return None, "not proved"
    done = call(options.opt, source, f"--fp8-gemm-to-ptx=chip={kernel.target} prove=false", "--emit=ptx", "-o", ptx)
    return (None, "refused") if done.returncode or not verdicts else (ptx, "run")


def arguments_of(kernel, ptx, sizes):
    """Those of fp8-run for the sizes; arrays have theirs in the manifest."""
    if not kernel.arrays:
        return [f"--{name}={value}" for name, value in sizes.items()]
    with open(ptx + ".json", encoding="utf-8") as file:
        manifest = json.load(file)
    for argument in manifest["arguments"]:
        if argument["name"] in sizes:
            argument["shape"], argument["strides"] = [sizes[argument["name"]]], [1]
    bound = ptx + ".bound.json"
    with open(bound, "w", encoding="utf-8") as file:
        json.dump(manifest, file)
    return [f"--manifest={bound}", f"--dump={ptx}.dump"]


def simulate(options, kernel, ptx, sizes, seed):
    """What the simulator finds, empty if nothing."""
    done = call(options.run, ptx, "--backend=sim", "--step-limit=20000000", f"--schedules={options.schedules}", f"--schedule-seed={seed}",
                *arguments_of(kernel, ptx, sizes), *kernel.options)
    lines = done.stdout.splitlines()
    if not done.returncode and lines and json.loads(lines[-1])["ok"]:
        return ""
    return next((line for line in done.stderr.splitlines() if "error:" in line), "no verdict")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("opt", "run", "directory"):
        parser.add_argument(name)
    parser.add_argument("--family", choices=FAMILIES, action="append")
    parser.add_argument("--kernel")
    parser.add_argument("--believe", action="store_true")
    for name, default in (("sample", 0), ("count", 40), ("sizes", 2), ("schedules", 20), ("seed", 1), ("seconds", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    counts, start, found = collections.Counter(), time.monotonic(), 0
    for kernel in choose(options):
        if options.seconds and time.monotonic() - start > options.seconds:
            counts["left out"] += 1
            continue
        ptx, outcome = build(options, kernel)
        counts[outcome] += 1
        rng = random.Random(f"{options.seed} {kernel.name}")
        for _ in range(options.sizes if ptx else 0):
            sizes, seed = kernel.draw_sizes(rng), rng.randrange(1 << 16)
            said = simulate(options, kernel, ptx, sizes, seed)
            counts["sizes"] += 1
            found += bool(said)
            if said:
                print(f"{kernel.name} {cases.describe(sizes)}, seed {seed}: {said}", flush=True)
    print(f"{counts['run']} kernels at {counts['sizes']} sizes, each under {options.schedules} schedules: {found} runs find something; "
          + ", ".join(f"{counts[word]} {word}" for word in ("not proved", "refused", "left out")))
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
