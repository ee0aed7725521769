# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuTe's tutorials for Blackwell, in CUTLASS's repository. They compare with a GEMM of the host."""

import os

import exact
from kernels import Program, change, compile_program, prints

PROJECT = "CUTLASS"
FOLDER = "examples/cute/tutorial/blackwell"

# What cures the finds (docs/evidence/ForeignKernels.md#finds): the copies of threads are fenced for the MMA;
MENDED_COPY = [(r"( *// Wait for loads to SMEM to complete)", r"cutlass::arch::fence_view_async_shared();\n\1")]
# all warps have seen the phases of a step before one of them begins the next;
MENDED_LOOP = [(r"( *mma_barrier_phase_bit \^= 1;\n)", r"\1__syncthreads();\n")]
# and a CTA of a pair frees tensor memory when the other no longer uses it.
MENDED_FREE = [(r"__syncthreads\(\);(\n\n *// Release the right to allocate)", r"cute::cluster_sync();\1")]


def tutorial(name, file, *problem, mends=()):
    def compile_it(settings, path):
        cutlass = settings.checkout("cutlass")
        source = os.path.join(cutlass, FOLDER, file)
        with open(source, encoding="utf-8") as original:
            text = change(original.read(), mends, file)
        with open(path + ".cu", "w", encoding="utf-8") as mended:
            mended.write(text)
        folders = [f"{cutlass}/include", f"{cutlass}/tools/util/include", f"{cutlass}/examples/common", os.path.dirname(source)]
        compile_program(settings, path + ".cu", path, "sm_100a", ["-std=c++17", "-O1", *("-I" + folder for folder in folders)])

    return Program("cutlass_tutorial_" + name, PROJECT, "sm_100a", compile_it, lambda settings: [str(size) for size in problem],
                   prints("Execution is successful."), "*gemm_device*",
                   exact=exact.product(*problem, places=(2, 3, 1), column_major=False))


KERNELS = [
    tutorial("01_mma", "01_mma_sm100.cu", 128, 512, 128),
    tutorial("01_mma_mended", "01_mma_sm100.cu", 128, 512, 128, mends=MENDED_COPY),
    tutorial("02_tma", "02_mma_tma_sm100.cu", 128, 512, 256),
    tutorial("02_tma_mended", "02_mma_tma_sm100.cu", 128, 512, 256, mends=MENDED_LOOP),
    tutorial("03_multicast", "03_mma_tma_multicast_sm100.cu", 512, 1024, 256),
    tutorial("03_multicast_mended", "03_mma_tma_multicast_sm100.cu", 512, 1024, 256, mends=MENDED_LOOP),
    tutorial("04_2sm", "04_mma_tma_2sm_sm100.cu", 512, 1024, 256),
    tutorial("04_2sm_mended", "04_mma_tma_2sm_sm100.cu", 512, 1024, 256, mends=MENDED_LOOP + MENDED_FREE),
    tutorial("05_epilogue", "05_mma_tma_epi_sm100.cu", 512, 512, 256),
    tutorial("05_epilogue_mended", "05_mma_tma_epi_sm100.cu", 512, 512, 256, mends=MENDED_LOOP + MENDED_FREE),
]
