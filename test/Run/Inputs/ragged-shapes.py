# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a kernel on named and on random ragged shapes and checks fp8-run's JSON.

usage: ragged-shapes.py FP8-RUN KERNEL.ptx
"""

import json
import random
import subprocess
import sys

NAMED = [(128, 128, 128), (256, 384, 512), (100, 200, 320), (1, 576, 7168), (129, 2112, 512), (512, 512, 7168)]


def ragged(count):
    """Shapes that the descriptors allow: K in steps of 16, N in steps of 8."""
    choice = random.Random(2024)
    for _ in range(count):
        yield choice.randint(1, 400), 8 * choice.randint(1, 60), 16 * choice.randint(1, 80)


def run(tool, ptx, shape, schedules, seed, multiprocessors):
    command = [tool, ptx, "--backend=sim", f"--schedules={schedules}", f"--schedule-seed={1000 * seed}", f"--seed={seed}",
               f"--multiprocessors={multiprocessors}", *(f"--{name}={extent}" for name, extent in zip("mnk", shape))]
    result = subprocess.run(command, capture_output=True, text=True)
    lines = result.stdout.splitlines()
    summary = json.loads(lines[-1]) if lines else {}
    if result.returncode or not summary.get("ok") or summary["distinct_schedules"] < 0.8 * schedules:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")


def main():
    tool, ptx = sys.argv[1:]
    shapes = [(shape, 30, 148) for shape in NAMED]
    shapes += [(shape, 4, 1 + index % 5) for index, shape in enumerate(ragged(40))]
    for seed, (shape, schedules, multiprocessors) in enumerate(shapes, 1):
        run(tool, ptx, shape, schedules, seed, multiprocessors)
    print(len(shapes), "shapes right")


main()
