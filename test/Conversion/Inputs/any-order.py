# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts kernels to NVVM with ops visited in orders that seeds draw, and compares the results with that of the usual order.

any-order.py TOOLS WORK SEEDS CHIP=FILE ...: TOOLS is the folder of fp8-opt and fp8-test-opt, FILE is MLIR in phase 0, 1 or 2, SEEDS how many orders are drawn.
"""
import os
import subprocess
import sys


def run(tool, *arguments):
    command = [os.path.join(sys.argv[1], tool), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def main():
    work, seeds, *kernels = sys.argv[2:]
    differ = 0
    for number, kernel in enumerate(kernels):
        chip, path = kernel.split("=", 1)
        # What enters behind other passes has fewer ops, each with more uses.
        for phase, passes in (("linear", ()), ("barriers", ("--canonicalize", "--cse"))):
            entered = os.path.join(work, f"{number}.{phase}.mlir")
            run("fp8-opt", path, f"--fp8-gemm-to-ptx=chip={chip} phase={phase}", *passes, "-o", entered)
            usual = run("fp8-opt", entered, "--convert-fp8-to-nvvm")
            if "nvvm." not in usual:
                sys.exit(f"{kernel}: has no kernel")
            for seed in range(1, int(seeds) + 1):
                if run("fp8-test-opt", entered, f"--test-shuffled-conversion=seed={seed}") != usual:
                    print(f"{kernel}: differs from phase {phase} on, in the order of seed {seed}")
                    differ += 1
    print(f"{len(kernels)} kernels from 2 phases on in {seeds} orders each, {differ} differ")
    sys.exit(differ > 0)


main()
