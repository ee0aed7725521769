#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folder that compares our kernels with their peers on a machine with a
GPU, which needs CUDA's driver and Python 3 with torch, and triton for that peer:
kernels as cubins, the runtime as a shared library, and the files beside this one.

usage: pack.py DIR --build=BUILD [--fp8-opt=FILE] [--configurations=FILE]
"""

import argparse
import os
import shutil
import subprocess
import sys

import table

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
import inputs  # pylint: disable=wrong-import-position

CHIP = "sm_90a"
LIBRARY = "libfp8runtime.so"
MARK = "rows.csv"


def fail(text):
    raise inputs.InputError(text)


def command(arguments):
    """None, or what went wrong."""
    try:
        result = subprocess.run(arguments, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    if result.returncode:
        return "%s\n%s" % (" ".join(arguments), result.stderr.strip())
    return None


def find_ptxas():
    found = os.environ.get("FP8_PTXAS") or shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
    return found or fail("there is no ptxas: put CUDA's on PATH or name it in FP8_PTXAS")


def with_config(text, config):
    """The example's GEMM with a configuration."""
    result = "outs(%d : memref<?x?xbf16>)"
    if text.count(result) != 1:
        fail("examples/gemm.mlir has not one '%s' to put a config behind" % result)
    return text.replace(result, "%s config <%s>" % (result, config))


def with_constant_b(text):
    """The example's GEMM with the promise that no kernel which may still run writes B or its scales."""
    for argument in ("b", "b_scale"):
        access = 'fp8.name = "%s", fp8.access = ' % argument
        if text.count(access + '"read"') != 1:
            fail("examples/gemm.mlir must have one argument '%s' with fp8.access = \"read\"" % argument)
        text = text.replace(access + '"read"', access + '"constant"')
    return text


def make_kernel(name, kernel, directory, fp8_opt, ptxas):
    """The kernel's cubin and manifest; why not, if that fails."""
    base = os.path.join(directory, name)
    with open(os.path.join(SOURCE, "examples", "gemm.mlir"), encoding="utf-8") as file:
        text = with_config(file.read(), kernel["config"])
    if kernel.get("constant_b"):
        text = with_constant_b(text)
    with open(base + ".mlir", "w", encoding="utf-8") as file:
        file.write(text)
    options = "chip=%s %s" % (CHIP, kernel.get("options", ""))
    problem = command([fp8_opt, base + ".mlir", "--fp8-gemm-to-ptx=" + options.strip(), "--emit=ptx", "-o", base + ".ptx"])
    problem = problem or command([ptxas, "-arch=" + CHIP, base + ".ptx", "-o", base + ".cubin"])
    if not problem:
        os.replace(base + ".ptx.json", base + ".cubin.json")
    for suffix in (".mlir", ".ptx", ".ptx.json", ".ptx.proof.json"):
        if os.path.exists(base + suffix):
            os.remove(base + suffix)
    return problem


def make_kernels(configurations, rows, directory, fp8_opt):
    """All that can be made, so that one that fails does not keep the others from being measured."""
    os.makedirs(directory)
    ptxas, failed = find_ptxas(), 0
    names = sorted(configurations.kernels)
    for name in names:
        problem = make_kernel(name, configurations.kernels[name], directory, fp8_opt, ptxas)
        if problem:
            failed += 1
            print("pack.py: kernel '%s' is left out; this command failed: %s" % (name, problem), file=sys.stderr)
    if failed == len(names):
        fail("no kernel could be made")
    missing = [row.name for row in rows if row.set in table.SEARCHED_SETS and not configurations.candidates(row, False)]
    if missing:
        print("pack.py: no kernel is named for " + ", ".join(missing), file=sys.stderr)
    return len(names) - failed, failed


def main():
    parser = argparse.ArgumentParser(description="Packs the comparison for a machine with a GPU.")
    parser.add_argument("directory")
    parser.add_argument("--build", default="build")
    parser.add_argument("--fp8-opt", help="the compiler, instead of BUILD/bin/fp8-opt")
    parser.add_argument("--configurations", default=os.path.join(HERE, "configurations.json"))
    options = parser.parse_args()
    directory = options.directory
    # Only ever a folder that this made.
    if os.path.exists(directory) and os.listdir(directory) and not os.path.exists(os.path.join(directory, MARK)):
        fail("%s is there already and no packed folder: name another" % directory)
    with inputs.reading(options.configurations, inputs.CONFIGURATIONS):
        configurations = table.read_configurations(options.configurations)
    library = os.path.join(options.build, "lib", LIBRARY)
    if not os.path.exists(library):
        fail("%s: there is no such library; build it, or name its folder by --build" % library)
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    shutil.copy(os.path.join(HERE, MARK), directory)  # marks the folder as made here, also if something then fails
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".py") and name not in ("pack.py", "run.py"):
            shutil.copy(os.path.join(HERE, name), directory)
    for path in (os.path.join("python", "fp8", "_binding.py"), os.path.join("benchmark", "inputs.py")):
        shutil.copy(os.path.join(SOURCE, path), directory)
    shutil.copy(options.configurations, os.path.join(directory, "configurations.json"))
    shutil.copy(os.path.join(HERE, "run.py"), os.path.join(directory, "run"))
    os.chmod(os.path.join(directory, "run"), 0o755)
    shutil.copy(library, directory)
    made, failed = make_kernels(configurations, table.read_rows(os.path.join(HERE, MARK)),
                                os.path.join(directory, "kernels"),
                                options.fp8_opt or os.path.join(options.build, "bin", "fp8-opt"))
    size = sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(directory) for name in names)
    print("%s: %d kernels, %d left out, %.1f MB; on the machine with the GPU: python3 %s" % (
        directory, made, failed, size / 1e6, os.path.join(directory, "run")))


if __name__ == "__main__":
    inputs.run(main)
