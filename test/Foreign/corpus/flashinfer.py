# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashInfer's kernels from its headers, in host programs of this project (flashinfer_program.cu, flashinfer_topk_program.cu) that check them
against float64."""

import os
import re

from kernels import Mend, Program, compile_program

PROJECT = "FlashInfer"
HERE = os.path.dirname(os.path.abspath(__file__))
LARGEST_ERROR = 1e-3  # outputs in half precision


# What cures the find (docs/evidence/ForeignKernels.md#finds): all threads have added before one of them arrives for the CTA.
MEET = Mend("flashinfer/topk.cuh", r"if \(tx == 0\) {\n *red_release\(", "__syncthreads();")


def judge(output):
    found = re.search(r"relative error ([-+.\w]+)", output)
    error = float(found[1]) if found else None
    return error is not None and error < LARGEST_ERROR, error


def program(name, macro, kernel, source="flashinfer_program.cu", mend=None):
    def compile_it(settings, path):
        # cuda::fast_mod_div is in a later CCCL than CUDA 13.0 has: cccl/include may be that of the package nvidia-cuda-cccl (13.3).
        newer = os.path.join(settings.checkout("cccl"), "include")
        includes = ["-I" + newer] if os.path.isdir(newer) else []
        if mend:
            mend.write(settings.checkout("flashinfer/include"), path + ".include")
            includes = ["-I" + path + ".include", *includes, "-I" + settings.checkout("flashinfer/include/flashinfer")]
        compile_program(settings, os.path.join(HERE, source), path, "sm_100a",
                        ["-std=c++17", "-O3", "-D" + macro, *includes, "-I" + settings.checkout("flashinfer/include"), "-I" + settings.checkout("cutlass/include")])

    name += "_mended" if mend else ""
    return Program("flashinfer_" + name, PROJECT, "sm_100a", compile_it, lambda settings: [], judge, kernel)


KERNELS = [program("rmsnorm", "RMSNORM", "*RMSNormKernel*"), program("decode", "DECODE", "*SingleDecode*"),
           program("prefill", "PREFILL", "*SinglePrefill*"), *(program("topk", "TOPK", "*RadixTopKKernel*", "flashinfer_topk_program.cu", mend) for mend in (None, MEET))]
