# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs MLIR's own passes over every valid kernel: each alone, and all in turn,
twice. The kernel must stay valid, and one that can be simulated must still
compute the right numbers.

usage: stock-passes.py FP8-OPT FP8-RUN SOURCE_DIR SCRATCH_DIR
"""

import glob
import json
import os
import subprocess
import sys

PASSES = ["cse", "canonicalize", "loop-invariant-code-motion", "sccp", "inline", "symbol-dce", "control-flow-sink",
          "remove-dead-values"]
PHASES = {
    "1": ["--fp8-structure-gemm"],
    "2": ["--fp8-structure-gemm", "--fp8-flatten-scopes", "--fp8-lower-tile-loops"],
}
# A pass that only kernels of phase 2 go through: it leaves no loop to flatten scopes in.
BLOCKS = ["convert-scf-to-cf"]
SHAPES = [(128, 128, 128), (200, 80, 1168)]
FUNCTIONS = ["test/IR/linearity.mlir", "test/IR/explicit.mlir", "test/IR/select.mlir", "test/IR/linearity-valid/*.mlir"]
KERNELS = ["examples/*.mlir", "test/Run/*.mlir"]
# Whole programs: fp8-run has kernels to run, and inlined into main, a launch is none that a manifest describes.
PROGRAMS = ["examples/host.mlir"]


# What MLIR (22.1) does not run on an op that is not registered and has a region, whatever is in it.
FOREIGN = "foreign.mlir"
NOT_ON_FOREIGN = {"inline": "MLIR's inliner crashes on it", "symbol-dce": "MLIR refuses it: it might hold symbols"}


def schedules(path, names=tuple(PASSES)):
    """The options of each run over a file."""
    passes = [name for name in names if name not in NOT_ON_FOREIGN or not path.endswith(FOREIGN)]
    for name in passes:
        yield ["--" + name]
    yield ["--" + name for name in passes] * 2


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), result.stdout, result.stderr))
    return result.stdout


def chip_of(path):
    """The chip that the file says it is for; sm_100a if it says none."""
    with open(path, encoding="utf-8") as file:
        return "sm_90a" if "chip=sm_90a" in file.read() else "sm_100a"


def simulate(tools, source, chip, directory, seen):
    """Lowers a kernel and runs it, unless the same module was lowered already, as where a pass has changed nothing, or the same PTX run."""
    opt, runner = tools
    with open(source, encoding="utf-8") as file:
        module = chip, file.read()
    if module in seen:
        return
    seen.add(module)
    ptx = os.path.join(directory, "kernel.ptx")
    run([opt, source, "--fp8-gemm-to-ptx=chip=" + chip, "--emit=ptx", "-o", ptx])
    with open(ptx, encoding="utf-8") as file:
        text = file.read()
    if text in seen:
        return
    seen.add(text)
    with open(ptx + ".json", encoding="utf-8") as file:
        first = json.load(file)["arguments"][0]
    batch = ["--batch=3"] if len(first["shape"]) == 3 else []
    for m, n, k in SHAPES:
        lines = run([runner, ptx, "--backend=sim", "--multiprocessors=2", "--schedules=2", *batch,
                     "--m=%d" % m, "--n=%d" % n, "--k=%d" % k]).splitlines()
        if json.loads(lines[-1])["ok"] is not True:
            sys.exit("wrong numbers: %s\n%s" % (source, lines[-1]))


def main():
    opt, runner, root, directory = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    scratch = os.path.join(directory, "kernel.mlir")
    functions = [path for pattern in FUNCTIONS for path in sorted(glob.glob(os.path.join(root, pattern)))]
    kernels = [path for pattern in KERNELS for path in sorted(glob.glob(os.path.join(root, pattern)))
               if os.path.relpath(path, root) not in PROGRAMS]
    count = 0
    for path in functions:
        with open(path, encoding="utf-8") as file:
            count += file.read().count("\nfunc.func @")
        for options in schedules(path):
            run([opt, path, "-allow-unregistered-dialect", *options, "-o", os.devnull])
    print("%d functions stay valid" % count)
    for name, reason in NOT_ON_FOREIGN.items():
        print("left out: %s on the unregistered regions of %s (%s)" % (name, FOREIGN, reason))
    runs, seen = 0, set()
    for path in kernels:
        for name, phase in PHASES.items():
            for options in schedules(path, PASSES + (BLOCKS if name == "2" else [])):
                run([opt, path, *phase, *options, "-o", scratch])
                simulate((opt, runner), scratch, chip_of(path), directory, seen)
                runs += 1
    print("%d kernels, %d passes: %d runs compute the right numbers, of %d different PTX modules" % (
        len(kernels), len(PASSES + BLOCKS), runs, sum(isinstance(text, str) for text in seen)))


main()
