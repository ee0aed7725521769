# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUTLASS's example programs, with a small problem each. They verify against a reference kernel, or against the host."""

import dataclasses
import os
import shutil

import exact
from kernels import Mend, Program, change, compile_program, judge_relative_error, prints
from launch import HOPPER_SUMS

PROJECT = "CUTLASS"
ROUNDED_TO_8_BITS = 4e-2  # to three bits of mantissa
# Problems of example 92: group, and M x N x K of it.
GROUPS = "0 256x128x256\n1 256x64x256\n"


# What kernels lack (docs/evidence/ForeignKernels.md#finds): a fence behind the init of an mbarrier that the other CTA of the pair uses, and one
# between cp.async and the MMA that reads what it wrote.
PAIR = Mend("cutlass/gemm/kernel/sm100_gemm_tma_warpspecialized.hpp", r"pipeline_init_arrive_relaxed\(cluster_size\);",
            "cutlass::arch::fence_barrier_init();")
PAIR_OF_SPARSE = dataclasses.replace(PAIR, header="cutlass/gemm/kernel/sm100_sparse_gemm_tma_warpspecialized.hpp")
PAIR_OF_ARRAYS = dataclasses.replace(PAIR, header="cutlass/gemm/kernel/sm100_gemm_array_tma_warpspecialized.hpp")
MIXED_COPIES = Mend("cutlass/gemm/collective/sm100_mma_mixed_tma_cpasync_warpspecialized.hpp", r"int read_stage_tma = ",
                    "cutlass::arch::fence_view_async_shared();")
# One group of cp.async less stays pending, and a fence stands before the slot is handed over.
GROUPS_DONE = ("kernel/sm100_fmha_mla_tma_warpspecialized.hpp",
               [(r"(cp_async_wait<StagesPV - )1>\(\);(\n *)(pipeline_load\.producer_commit)",
                 r"\g<1>2>();\2cutlass::arch::fence_view_async_shared();\2\3")])
# The warps that reduce come to the barrier before the free, too.
REDUCERS_MEET = ("kernel/sm100_fmha_bwd_kernel_tma_warpspecialized.hpp",
                 [(r"kNumComputeWarps \* NumThreadsPerWarp,(\n *cutlass::arch::ReservedNamedBarriers::EpilogueBarrier)",
                   r"(kNumComputeWarps + kNumReduceWarps) * NumThreadsPerWarp,\1"),
                  (r"( *)(pipeline_reduce_tma_store\.producer_tail\(pipeline_reduce_tma_store_producer_state\);)",
                   r"\1cutlass::arch::NamedBarrier((kNumComputeWarps + kNumReduceWarps) * NumThreadsPerWarp, "
                   r"cutlass::arch::ReservedNamedBarriers::EpilogueBarrier).arrive();\n\1\2")])


def copied(source, path, file, changes):
    """Copies the folder of an example, with one file changed; the path of the copy of `source`."""
    folder = path + ".example"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.dirname(source), folder)
    target = os.path.join(folder, file)
    with open(target, encoding="utf-8") as original:
        text = change(original.read(), changes, file)
    with open(target, "w", encoding="utf-8") as changed:
        changed.write(text)
    return os.path.join(folder, os.path.basename(source))


def example(name, chip, file, *arguments, flags=(), passed="Disposition: Passed", kernel="*device_kernel*", mend=None, own=None, **options):
    """mend: of a header of CUTLASS; own: of a file of the example, as (file, changes)."""

    def compile_it(settings, path):
        cutlass = settings.checkout("cutlass")
        source = os.path.join(cutlass, "examples", file)
        if own:
            source = copied(source, path, *own)
        includes = [f"-I{cutlass}/{folder}" for folder in ("include", "tools/util/include", "examples/common")]
        if mend:
            mend.write(cutlass + "/include", path + ".include")
            includes.insert(0, f"-I{path}.include")
        compile_program(settings, source, path, chip, ["-std=c++17", "-O1", *includes, "-I" + os.path.dirname(source), *flags])

    name += "_mended" if mend or own else ""
    return Program("cutlass_" + name, PROJECT, chip, compile_it, lambda settings: list(arguments), prints(passed), kernel, **options)


def mendable(name, file, mend, *arguments, **options):
    """The example for Blackwell as it is, and mended."""
    return [example(name, "sm_100a", file, *arguments, mend=each, **options) for each in (None, mend)]


def grouped_example(mend=None):
    program = example("92_grouped", "sm_100a", "92_blackwell_moe_gemm/92_blackwell_moe_gemm_grouped.cu", mend=mend,
                      exact=exact.ragged_product(256, 128, 256, (128, 64), ("e4m3", "e4m3", "f16")))

    def arguments(settings):
        path = settings.made("cutlass_92_groups.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(GROUPS)
        return ["--m=256", "--n=128", "--k=256", "--groups=2", "--benchmark=" + path, "--iterations=0"]

    program.arguments = arguments
    return program


def problem(m, n, k):
    return [f"--m={m}", f"--n={n}", f"--k={k}", "--iterations=0"]


CONVOLUTION = ("--n=1", "--h=8", "--w=8", "--c=64", "--k=64", "--iterations=0")
STATE_SPACE = ("--B=1", "--E=1", "--H=1", "--G=1", "--iterations=1")
SPARSE_KERNEL = "*device_kernel*GemmUniversal*Sparse*"  # not the one that compresses A


KERNELS = [
    example("48_warp_specialized", "sm_90a", "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu", *problem(256, 256, 256),
            exact=exact.product(256, 256, 256, ("tf32", "tf32", "f32"))),
    example("51_gett", "sm_90a", "51_hopper_gett/51_hopper_gett.cu", "--modeC=m,n,l", "--modeA=m,k,l", "--modeB=k,n,l",
            "--extents=m:128,n:128,k:128,l:2", passed="GETT verification passed"),
    example("54_fp8", "sm_90a", "54_hopper_fp8_warp_specialized_gemm/54_hopper_fp8_warp_specialized_gemm.cu", *problem(256, 128, 256),
            exact=exact.product(256, 128, 256, ("e4m3", "e4m3", "e4m3"), finish=lambda d: exact.saturated(exact.relu(d)), tolerance=ROUNDED_TO_8_BITS, own=True)),
    example("57_grouped", "sm_90a", "57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu", *problem(256, 128, 128), "--groups=2",
            exact=exact.grouped_product([(256, 128, 128)] * 2, ("e4m3", "e5m2", "f16"))),
    example("61_topk", "sm_90a", "61_hopper_gemm_with_topk_and_softmax/61_hopper_gemm_with_topk_and_softmax.cu", "--m=128", "--n=8", "--k=64",
            "--l=1", "--iterations=0",
            exact=exact.product(128, 8, 64, ("f16", "f16", "f16"), (1, 2, 3), column_major=False, finish=exact.top_softmax(2, 1 / 64))),
    example("62_sparse", "sm_90a", "62_hopper_sparse_gemm/62_hopper_sparse_gemm.cu", *problem(256, 256, 256), "--warmup=0",
            kernel=SPARSE_KERNEL, exact=exact.sparse_product(256, 256, 256)),
    example("67_blockwise", "sm_90a", "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling/"
            "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling.cu", *problem(256, 256, 512),
            exact=exact.blockwise_product(256, 256, 512, (1, 2, 3, 4, 6), "f32", False, exact.relu, HOPPER_SUMS)),
    *mendable("70_fp16", "70_blackwell_gemm/70_blackwell_fp16_gemm.cu", PAIR, *problem(256, 256, 256), exact=exact.product(256, 256, 256)),
    *mendable("72a_nvfp4", "72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu", PAIR, *problem(256, 256, 512),
              exact=exact.block_scaled_product(256, 256, 512, ("e2m1", "e2m1", "bf16"), "ue4m3", 16)),
    *mendable("72c_mxfp8", "72_blackwell_narrow_precision_gemm/72c_blackwell_mixed_mxfp8_bf16_gemm.cu", PAIR, *problem(256, 256, 512),
              exact=exact.block_scaled_product(256, 256, 512, ("e4m3", "e2m1", "bf16"), "ue8m0", 32)),
    *mendable("73_preferred_cluster", "73_blackwell_gemm_preferred_cluster/blackwell_gemm_preferred_cluster.cu", PAIR, *problem(512, 256, 128),
              exact=exact.product(512, 256, 128)),
    *mendable("74_streamk", "74_blackwell_gemm_streamk/blackwell_gemm_streamk.cu", PAIR, *problem(256, 256, 512),
              exact=exact.product(256, 256, 512)),
    *mendable("75_grouped", "75_blackwell_grouped_gemm/75_blackwell_grouped_gemm.cu", PAIR_OF_ARRAYS, *problem(256, 128, 128), "--groups=2",
              exact=exact.grouped_product([(256, 128, 128)] * 2, ("e4m3", "e4m3", "f16"))),
    example("76_conv_fprop", "sm_100a", "76_blackwell_conv/76_blackwell_conv_fprop.cu", *CONVOLUTION),
    example("77_fmha", "sm_100a", "77_blackwell_fmha/77_blackwell_fmha.cu", "--b=1", "--h=1", "--q=256", "--k=256", "--d=128", "--verify",
            "--iterations=1", "--warmup_iterations=0", flags=["-DCPASYNC", "-DB2B", "-DSINGLE_VARIANT"], passed="[OK]",
            exact=exact.attention(256, 128, "f16")),
    example("81_blockwise", "sm_100a", "81_blackwell_gemm_blockwise/81_blackwell_gemm_blockwise.cu", *problem(256, 256, 512),
            exact=exact.blockwise_product(256, 256, 512, (1, 6, 2, 7, 4), "e4m3", True, exact.saturated, ROUNDED_TO_8_BITS)),
    *mendable("83_sparse", "83_blackwell_sparse_gemm/83_blackwell_sparse_gemm.cu", PAIR_OF_SPARSE, *problem(256, 256, 256), kernel=SPARSE_KERNEL,
              exact=exact.sparse_product(256, 256, 256)),
    grouped_example(),
    grouped_example(MIXED_COPIES),
    example("55_int4_fp8", "sm_90a", "55_hopper_mixed_dtype_gemm/55_hopper_int4_fp8_gemm.cu", *problem(256, 256, 512), "--warmup=0"),
    example("72b_nvfp4", "sm_100a", "72_blackwell_narrow_precision_gemm/72b_blackwell_nvfp4_nvfp4_gemm.cu", *problem(256, 256, 512)),
    example("76_conv_dgrad", "sm_100a", "76_blackwell_conv/76_blackwell_conv_dgrad.cu", *CONVOLUTION),
    example("76_conv_wgrad", "sm_100a", "76_blackwell_conv/76_blackwell_conv_wgrad.cu", *CONVOLUTION),
    *(example("77_mla", "sm_100a", "77_blackwell_fmha/77_blackwell_mla.cu", "--b=1", "--k=256", "--verify", "--iterations=1", own=own,
              flags=["-DCPASYNC", "-DB2B", "-DSINGLE_VARIANT", "-DFP16"], passed="[OK]", kernel="*Sm100FmhaMlaKernel*") for own in (None, GROUPS_DONE)),
    example("77_fmha_bwd", "sm_100a", "77_blackwell_fmha/77_blackwell_fmha_bwd.cu", "--b=1", "--h=1", "--q=128", "--k=128", "--d=64", "--verify",
            "--iterations=0", "--warmup_iterations=0", own=REDUCERS_MEET, flags=["-DCPASYNC", "-DB2B", "-DSINGLE_VARIANT"], passed="[OK]",
            kernel="*Sm100FmhaBwdKernelTma*"),
    example("78_bf16x9", "sm_100a", "78_blackwell_emulated_bf16x9_gemm/78_blackwell_emulated_bf16x9_gemm.cu", *problem(256, 256, 256)),
    *mendable("84_nvfp4_sparse", "84_blackwell_narrow_precision_sparse_gemm/84a_blackwell_nvfp4_bf16_sparse_gemm.cu", PAIR_OF_SPARSE,
              *problem(256, 256, 512), kernel=SPARSE_KERNEL),
    example("111_ssd", "sm_90a", "111_hopper_ssd/111_hopper_ssd.cu", *STATE_SPACE, passed="everything is ok", kernel="*device_kernel*ssd*SsdKernel*"),
    example("112_ssd", "sm_100a", "112_blackwell_ssd/112_blackwell_ssd.cu", *STATE_SPACE, passed="everything is ok", kernel="*device_kernel*ssd*SsdKernel*"),
    example("88_fmha", "sm_90a", "88_hopper_fmha/88_hopper_fmha.cu", "--b=1", "--h=1", "--q=256", "--k=256", "--d=128", "--verify", "--iterations=0",
            passed="[OK]"),
    example("93_gqa", "sm_100a", "93_blackwell_low_latency_gqa/tgv_gqa.cu", "--kvL", "512", "--kvH", "1", "--qH", "8", "--BS", "1",
            passed="PASSED", kernel="*3gqa10gqa_device*", limit=300),
]


def of_builders(name):
    """A schedule of the collective builders that no example has, in a program of this project (cutlass_hopper_program.cu)."""

    def compile_it(settings, path):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cutlass_hopper_program.cu")
        compile_program(settings, source, path, "sm_90a", ["-std=c++17", "-O2", "-w", "-I" + settings.checkout("cutlass/include"), "-D" + name.upper()])

    return Program("cutlass_" + name, PROJECT, "sm_90a", compile_it, lambda settings: [], judge_relative_error, "*device_kernel*")


KERNELS += [of_builders("pingpong"), of_builders("stream_k")]
