# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ThunderKittens' GEMMs. Their programs time a list of large problems; what is compiled launches one small problem once."""

import os
import re
import shutil

import exact
from kernels import Program, change, compile_program

PROJECT = "ThunderKittens"
MACROS = {"sm_90a": "KITTENS_HOPPER", "sm_100a": "KITTENS_BLACKWELL"}
# Patterns and replacements: no repetitions, and one set of operands instead of more than the L2 holds.
ONCE = [(r"ncu \? 0 : \d+", "0"), (r"ncu \? 1 : \d+", "1"), (r"size_t\(l2_cache_size\) \* 3", "0"), (r"sleep_ms\(\d+\)", "")]
# The large problems go, and with them all configurations but the first; the smallest becomes smaller.
SMALLER = [*ONCE, (r".*\bN = (2048|4096|8192|16384);.*\n", ""), (r"\bN = 1024;", "N = 512;"),
           (r".*(run_benchmark<(\w+::)?config<256, 256|run_benchmark<\w+_gemm::config<256).*\n", "")]
SMALLER_HOPPER = [*ONCE, (r"\bN = 4096;", "N = 512;")]

# What cures the finds (docs/evidence/ForeignKernels.md#finds): the epilogue waits for its accumulator before it lets the scheduler go on, and the
# leading CTA for the last arrivals of the other;
MENDED_PAIR = [(r"( *warpgroup::sync\(.*\n *warpgroup::tma::cluster::arrive\(schedule_finished.*\n.*\n)( *wait\(outputs_arrived.*\n)", r"\2\1"),
               (r"if \(!schedule\.success\) break;(\n *}\n *} else if \(cta_rank == 0)",
                r"if (!schedule.success) { if (cta_rank == 0) wait(schedule_finished[task_iter%C::CLC_PIPE_DEPTH], "
                r"(task_iter/C::CLC_PIPE_DEPTH)%2); break; }\1")]
# and all warps of the producer have seen a phase before one of them loads. In a header.
LOOP, MENDED_LOOP = "lcf/lcf.cuh", [(r"( *wait\((?:inputs|finish)_finished.*\n)", r"\1producers::sync(13);\n")]


LARGEST_ERROR = 1e-2  # mean over mean, of outputs in bfloat16


def judge(output):
    """The programs print means and leave the verdict to the reader."""
    found = {what: float(value) for what, value in re.findall(r"(abs mean|err mean): +([-+.\w]+)", output)}
    error = found["err mean"] / found["abs mean"] if found.get("abs mean") else None
    return error is not None and error < LARGEST_ERROR, error


def mend_prototype(root, folder):
    """Writes the folder of templates with the mended loop; what it includes is that of the checkout."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(root, "prototype"), folder)
    path = os.path.join(folder, LOOP)
    with open(path, encoding="utf-8") as file:
        text = change(file.read(), MENDED_LOOP, LOOP)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def gemm(name, chip, file, changes, kernel="_Z6kernel*", mends=(), mended_prototype=False, **options):
    def compile_it(settings, path):
        root = settings.checkout("ThunderKittens")
        source = os.path.join(root, "kernels/gemm", file)
        with open(source, encoding="utf-8") as original:
            text = original.read()
        for pattern, replacement in changes:
            text = re.sub(pattern, replacement, text)
        with open(path + ".cu", "w", encoding="utf-8") as smaller:
            smaller.write(change(text, mends, file))
        prototype = os.path.join(root, "prototype")
        if mended_prototype:
            prototype = path + ".prototype"
            mend_prototype(root, prototype)
        compile_program(settings, path + ".cu", path, chip,
                        ["-std=c++20", "-O3", "--use_fast_math", "-D" + MACROS[chip], "-Xcompiler=-Wno-psabi", "-Xcompiler=-fno-strict-aliasing",
                         f"-I{root}/include", "-I" + prototype, "-I" + os.path.dirname(source)])

    return Program("thunderkittens_" + name, PROJECT, chip, compile_it, lambda settings: [], judge, kernel, **options)


HOPPER_LOOP = "*9prototype3lcf6kernel*"
BLOCK_SCALED = "*kernel_entrypoint*"
BF16, FP8 = ("bf16", "bf16", "bf16"), ("e4m3", "e4m3", "bf16")
SIZES = (512, 512, 512)


def both(name, chip, file, changes, cure, *rest, **options):
    """As it is, and mended."""
    return [gemm(name, chip, file, changes, *rest, **options), gemm(name + "_mended", chip, file, changes, *rest, **cure, **options)]


KERNELS = [
    *both("bf16_b200", "sm_100a", "bf16_b200/bf16_b200_gemm.cu", SMALLER, {"mends": MENDED_PAIR},
          exact=exact.product(*SIZES, BF16, (1, 2, 3), column_major=False)),
    *both("fp8_b200", "sm_100a", "fp8_b200/fp8_b200_gemm.cu", SMALLER, {"mends": MENDED_PAIR},
          exact=exact.product(*SIZES, FP8, (1, 2, 3), column_major=False)),
    gemm("mxfp8_b200", "sm_100a", "mxfp8_b200/mxfp8_b200_gemm.cu", SMALLER, BLOCK_SCALED,
         exact=exact.block_scaled_product(*SIZES, FP8, "ue8m0", 32, (3, 4), 5)),
    gemm("nvfp4_b200", "sm_100a", "nvfp4_b200/nvfp4_b200_gemm.cu", SMALLER, BLOCK_SCALED,
         exact=exact.block_scaled_product(*SIZES, ("e2m1", "e2m1", "bf16"), "ue4m3", 16, (3, 4), 7, factors=(5, 6))),
    *both("bf16_h100", "sm_90a", "bf16_h100/bf16_h100_gemm.cu", SMALLER_HOPPER, {"mended_prototype": True}, HOPPER_LOOP,
          exact=exact.product(*SIZES, BF16, (1, 2, 3), column_major=False, b_rows=True))]
