# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUB's algorithms for the whole device, in a host program of this project (cub_program.cu) that checks them against the host."""

import os

from kernels import Program, compile_program

PROJECT = "CUB"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cub_program.cu")


def judge(output):
    """Integers, of which each is the host's."""
    right = ", as on the host" in output
    return right, 0.0 if right else None


def program(name, macro, kernel):
    def compile_it(settings, path):
        compile_program(settings, SOURCE, path, "sm_90a", ["-std=c++17", "-O1", "-D" + macro])

    return Program("cub_" + name, PROJECT, "sm_90a", compile_it, lambda settings: [], judge, kernel)


KERNELS = [program("reduce", "REDUCE", "*DeviceReduceKernel*"), program("scan", "SCAN", "*DeviceScanKernel*"),
           program("radix_sort", "RADIX_SORT", "*Onesweep*"), program("run_length", "RUN_LENGTH", "*DeviceReduceByKeyKernel*"),
           program("histogram", "HISTOGRAM", "*HistogramSweep*")]
