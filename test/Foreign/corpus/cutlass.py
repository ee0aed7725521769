# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUTLASS's example programs, with a small problem each. They verify against a reference kernel, or against the host."""

import os
import re

from kernels import BuildFailure, Program, compile_program, prints

PROJECT = "CUTLASS"
# Problems of example 92: group, and M x N x K of it.
GROUPS = "0 256x128x256\n1 256x64x256\n"


# The kernel that initialises an mbarrier behind its last fence (docs/ForeignKernels.md#finds), and the barrier that the fence must precede.
PAIR_KERNEL, BEFORE = "cutlass/gemm/kernel/sm100_gemm_tma_warpspecialized.hpp", r"(\n *)(pipeline_init_arrive_relaxed\(cluster_size\);)"


def mend(cutlass, folder):
    """Writes the header with the fence to a folder that comes first among those of headers."""
    path = os.path.join(folder, PAIR_KERNEL)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.path.join(cutlass, "include", PAIR_KERNEL), encoding="utf-8") as file:
        text, count = re.subn(BEFORE, r"\1cutlass::arch::fence_barrier_init();\1\2", file.read())
    if count != 1:
        raise BuildFailure(f"{PAIR_KERNEL} has changed: there are {count} places for the fence")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def example(name, chip, file, *arguments, flags=(), passed="Disposition: Passed", kernel="*device_kernel*", mended=False):
    def compile_it(settings, path):
        cutlass = settings.checkout("cutlass")
        source = os.path.join(cutlass, "examples", file)
        includes = [f"-I{cutlass}/{folder}" for folder in ("include", "tools/util/include", "examples/common")]
        if mended:
            mend(cutlass, path + ".include")
            includes.insert(0, f"-I{path}.include")
        compile_program(settings, source, path, chip, ["-std=c++17", "-O1", *includes, "-I" + os.path.dirname(source), *flags])

    return Program("cutlass_" + name, PROJECT, chip, compile_it, lambda settings: list(arguments), prints(passed), kernel)


def grouped_example():
    program = example("92_grouped", "sm_100a", "92_blackwell_moe_gemm/92_blackwell_moe_gemm_grouped.cu")

    def arguments(settings):
        path = settings.made("cutlass_92_groups.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(GROUPS)
        return ["--m=256", "--n=128", "--k=256", "--groups=2", "--benchmark=" + path, "--iterations=0"]

    program.arguments = arguments
    return program


def problem(m, n, k):
    return [f"--m={m}", f"--n={n}", f"--k={k}", "--iterations=0"]


KERNELS = [
    example("48_warp_specialized", "sm_90a", "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu", *problem(256, 256, 256)),
    example("57_grouped", "sm_90a", "57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu", *problem(256, 128, 128), "--groups=2"),
    example("67_blockwise", "sm_90a", "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling/"
            "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling.cu", *problem(256, 256, 512)),
    example("70_fp16", "sm_100a", "70_blackwell_gemm/70_blackwell_fp16_gemm.cu", *problem(256, 256, 256)),
    example("70_fp16_mended", "sm_100a", "70_blackwell_gemm/70_blackwell_fp16_gemm.cu", *problem(256, 256, 256), mended=True),
    example("72a_nvfp4", "sm_100a", "72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu", *problem(256, 256, 512)),
    example("72a_nvfp4_mended", "sm_100a", "72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu", *problem(256, 256, 512), mended=True),
    example("72c_mxfp8", "sm_100a", "72_blackwell_narrow_precision_gemm/72c_blackwell_mixed_mxfp8_bf16_gemm.cu", *problem(256, 256, 512)),
    example("72c_mxfp8_mended", "sm_100a", "72_blackwell_narrow_precision_gemm/72c_blackwell_mixed_mxfp8_bf16_gemm.cu", *problem(256, 256, 512), mended=True),
    example("75_grouped", "sm_100a", "75_blackwell_grouped_gemm/75_blackwell_grouped_gemm.cu", *problem(256, 128, 128), "--groups=2"),
    example("77_fmha", "sm_100a", "77_blackwell_fmha/77_blackwell_fmha.cu", "--b=1", "--h=1", "--q=256", "--k=256", "--d=128", "--verify",
            "--iterations=1", "--warmup_iterations=0", flags=["-DCPASYNC", "-DB2B", "-DSINGLE_VARIANT"], passed="[OK]"),
    example("81_blockwise", "sm_100a", "81_blackwell_gemm_blockwise/81_blackwell_gemm_blockwise.cu", *problem(256, 256, 512)),
    grouped_example(),
    example("93_gqa", "sm_100a", "93_blackwell_low_latency_gqa/tgv_gqa.cu", "--kvL", "512", "--kvH", "1", "--qH", "8", "--BS", "1",
            passed="PASSED", kernel="*3gqa10gqa_device*"),
    example("tutorial_04_2sm", "sm_100a", "cute/tutorial/blackwell/04_mma_tma_2sm_sm100.cu", "512", "1024", "256",
            passed="Execution is successful.", kernel="*gemm_device*"),
    example("tutorial_05_epilogue", "sm_100a", "cute/tutorial/blackwell/05_mma_tma_epi_sm100.cu", "512", "512", "256",
            passed="Execution is successful.", kernel="*gemm_device*"),
]
