# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs fp8-opt on kernels under conditions that must not matter and compares every byte that comes out, files, standard output and errors:
again, from another directory, without threads, with another environment and memory filled otherwise, and with fixed addresses where setarch can.

usage: check-same.py FP8_OPT SOURCE_DIRECTORY WORK_DIRECTORY [COMMAND...]

With a COMMAND, in which OUT stands for the output file, only that is run: how the check itself is tested.
"""

import os
import shutil
import subprocess
import sys

OUTPUTS = {
    "phase 1": ["--fp8-structure-gemm=chip={chip}", "--mlir-print-debuginfo", "-o", "OUT"],
    "phase 2": ["--fp8-structure-gemm=chip={chip}", "--inline", "--fp8-flatten-scopes", "--fp8-lower-tile-loops", "--fp8-unswitch-scales", "--fp8-unroll-laps", "-o", "OUT"],
    "phase 3": ["--fp8-structure-gemm=chip={chip}", "--inline", "--fp8-flatten-scopes", "--fp8-lower-tile-loops", "--convert-fp8-to-nvvm", "-o", "OUT"],
    "phase 4": ["--fp8-gemm-to-ptx=chip={chip}", "-o", "OUT"],
    "bytecode": ["--fp8-structure-gemm=chip={chip}", "--emit-bytecode", "-o", "OUT"],
    "report": ["--fp8-report=chip={chip} format=json", "--fp8-explain-config=chip={chip}", "-o", "OUT"],
    "graph": ["--fp8-pipeline-graph=chip={chip}", "-o", "OUT"],
    "ptx": ["--fp8-gemm-to-ptx=chip={chip} debug-waits=2000", "--emit=ptx", "-o", "OUT"],
}
INPUTS = [
    ("examples/gemm.mlir", "sm_100a", list(OUTPUTS)),
    ("examples/gemm.mlir", "sm_90a", list(OUTPUTS)),
    ("examples/structured.mlir", "sm_100a", ["phase 2", "ptx"]),
    ("several.mlir", "sm_100a", ["phase 4", "report", "ptx"]),
]
ERRORS = ["test/IR/linearity-invalid.mlir", "test/IR/linearity-lent-invalid.mlir"]


def conditions(work):
    """(name, what stands in front of the command, options, directory, environment) of each."""
    yield "again", [], [], work, {}
    yield "elsewhere", [], [], "/", {"TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": "/", "PADDING": "x" * 5000, "MALLOC_PERTURB_": "165", "MALLOC_ARENA_MAX": "1"}
    yield "without threads", [], ["--mlir-disable-threading"], work, {}
    fixed = ["setarch", "-R"]
    if shutil.which("setarch") and not subprocess.run(fixed + ["true"], capture_output=True, check=False).returncode:
        yield "fixed addresses", fixed, [], work, {}


def write_several(path, source):
    """A module with eight GEMM ops: passes have kernels to share out among threads."""
    with open(os.path.join(source, "examples/gemm.mlir"), encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text.replace("@gemm", "@gemm%d" % i) for i in range(8)))


def outcome(prefix, command, directory, environment, out):
    """The status, what was printed, and the files that were written."""
    for name in (out, out + ".json"):
        if os.path.exists(name):
            os.remove(name)
    result = subprocess.run(prefix + command, cwd=directory, env=dict(os.environ, **environment), capture_output=True, check=False)
    files = []
    for name in (out, out + ".json"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                files.append(file.read())
    return result.returncode, result.stdout, result.stderr, *files


def cases(work, source):
    """(name, options) of each run."""
    write_several(os.path.join(work, "several.mlir"), source)
    for path, chip, outputs in INPUTS:
        where = os.path.join(work if path == "several.mlir" else source, path)
        for output in outputs:
            # One of several is emitted.
            kernel = ["--kernel=gemm5_kernel"] if path == "several.mlir" and output == "ptx" else []
            yield "%s of %s for %s" % (output, path, chip), [where] + [option.format(chip=chip) for option in OUTPUTS[output]] + kernel
    for path in ERRORS:
        yield "errors of " + path, [os.path.join(source, path), "-split-input-file", "-o", "OUT"]


def main():
    opt, source, work, *given = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    out, differ, compared = os.path.join(work, "out"), 0, 0
    for name, options in [("the command", given)] if given else cases(work, source):
        command = (given or [opt] + options)
        command = [out if word == "OUT" else word for word in command]
        first = outcome([], command, work, {}, out)
        if not given and (first[0] == 0) == name.startswith("errors"):
            print("error: %s: fp8-opt returned %d\n%s" % (name, first[0], first[2].decode()))
            differ += 1
        for condition, prefix, more, directory, environment in conditions(work):
            compared += 1
            if outcome(prefix, command + ([] if given else more), directory, environment, out) != first:
                print("error: %s: differs %s" % (name, condition))
                differ += 1
    print("%d runs compared, %d differ" % (compared, differ))
    return 1 if differ or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
