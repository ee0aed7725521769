# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashInfer's kernels from its headers, in a host program of this project (flashinfer_program.cu) that checks them against float64."""

import os
import re

from kernels import Program, compile_program

PROJECT = "FlashInfer"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flashinfer_program.cu")
LARGEST_ERROR = 1e-3  # outputs in half precision


def judge(output):
    found = re.search(r"relative error ([-+.\w]+)", output)
    error = float(found[1]) if found else None
    return error is not None and error < LARGEST_ERROR, error


def program(name, macro, kernel):
    def compile_it(settings, path):
        # cuda::fast_mod_div is in a later CCCL than CUDA 13.0 has: cccl/include may be that of the package nvidia-cuda-cccl (13.3).
        newer = os.path.join(settings.checkout("cccl"), "include")
        includes = ["-I" + newer] if os.path.isdir(newer) else []
        compile_program(settings, SOURCE, path, "sm_100a",
                        ["-std=c++17", "-O3", "-D" + macro, *includes, "-I" + settings.checkout("flashinfer/include"), "-I" + settings.checkout("cutlass/include")])

    return Program("flashinfer_" + name, PROJECT, "sm_100a", compile_it, lambda settings: [], judge, kernel)


KERNELS = [program("rmsnorm", "RMSNORM", "*RMSNormKernel*"), program("decode", "DECODE", "*SingleDecode*"),
           program("prefill", "PREFILL", "*SinglePrefill*")]
