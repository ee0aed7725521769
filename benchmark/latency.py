#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times what a user waits for: fp8-opt from op to PTX in a cold process (no
cache is kept between runs), and the simulation of a GEMM of (512,512,7168).

usage: latency.py BIN_DIR GEMM.mlir
"""

import json
import os
import statistics
import sys
import tempfile
import time

import inputs

COMPILE_RUNS = 11
COMPILE_GOAL_S = 0.25
SIMULATION_GOAL_S = 20.0


def run(command):
    """Wall time of a process and what it printed."""
    start = time.perf_counter()
    output = inputs.run_tool(command, option="BIN_DIR")
    return time.perf_counter() - start, output


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    binaries, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        ptx = os.path.join(directory, "gemm.ptx")
        fp8_opt = [os.path.join(binaries, "fp8-opt"), source, "--fp8-gemm-to-ptx=chip=sm_100a",
                   "--emit=ptx", "-o", ptx]
        times = sorted(run(fp8_opt)[0] for _ in range(COMPILE_RUNS))
        print("fp8-opt, op to PTX: median %.3f s, best %.3f s, worst %.3f s of %d cold processes (goal %.2f s)"
              % (statistics.median(times), times[0], times[-1], COMPILE_RUNS, COMPILE_GOAL_S))
        seconds, output = run([os.path.join(binaries, "fp8-run"), ptx, "--backend=sim",
                               "--m=512", "--n=512", "--k=7168", "--seed=1"])
        verdict = json.loads(output.strip().splitlines()[-1])
        print("fp8-run, simulation of (512,512,7168) with its check: %.1f s, ok: %s (goal %.0f s)"
              % (seconds, str(verdict["ok"]).lower(), SIMULATION_GOAL_S))
    return 0 if verdict["ok"] is True else 1


if __name__ == "__main__":
    inputs.run(main)
