# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUTLASS's examples in CuTe DSL: cute_program.py compiles and launches them, on fp8-simulate, with operands of numpy. The DSL embeds
machine code; its PTX, which it keeps, runs in its place."""

import glob
import os
import re
import subprocess

from kernels import BuildFailure, Program, call
from launch import ROUNDED

PROJECT = "CuTe DSL"
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cute_program.py")


def link_runtime(settings, path):
    """The DSL's runtime with the shared CUDA runtime, for fp8-simulate to stand in."""
    where = subprocess.run([settings.dsl_python, "-c", "import nvidia_cutlass_dsl as d; print(list(d.__path__)[0])"], capture_output=True,
                           text=True, check=False).stdout.strip()
    archives = glob.glob(os.path.join(where, "cu*/lib/libcuda_dialect_runtime_static.a")) if where else []
    if not archives:
        raise BuildFailure("the package nvidia-cutlass-dsl has no libcuda_dialect_runtime_static.a")
    cuda = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(settings.nvcc))), "lib64")
    call(["c++", "-shared", "-o", path, "-Wl,--whole-archive", archives[0], "-Wl,--no-whole-archive", "-L" + cuda, "-lcudart"], path + ".log")


def kernel(name, chip, largest):
    path_name = "cute_" + name

    def start(settings):
        dump = settings.made(path_name + ".dump")
        os.makedirs(dump, exist_ok=True)
        examples = settings.checkout("cutlass/examples/python/CuTeDSL")
        return (["--ptx=" + dump], ["env", "CUTE_DSL_LIBS=" + settings.made(path_name), "CUTE_DSL_ARCH=" + chip, settings.dsl_python, PROGRAM,
                                    name, examples, dump])

    def judge(output):
        found = re.search(r"relative error ([-+.\w]+)", output)
        error = float(found[1]) if found else None
        return error is not None and error < largest, error

    return Program(path_name, PROJECT, chip, link_runtime, lambda settings: [], judge, "kernel_*", start=start)


# The DSL encodes tensor maps itself, in the layout of the hardware; so kernels without TMA only.
KERNELS = [kernel("rms_norm_sm100", "sm_100a", ROUNDED), kernel("tensor_op_sm100", "sm_100a", ROUNDED)]
