# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashAttention 3 and FlashMLA: their kernels, launched by their own templates in host programs of this project (flash_attention_program.cu,
flash_mla_program.cu) that check them against float64."""

import os
import re
import shutil

from kernels import Program, change, compile_program

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDED, ROUNDED_TO_8_BITS = 5e-3, 4e-2  # outputs and weights in bfloat16; weights in e4m3


def judge_by(largest):
    def judge(output):
        found = re.search(r"status 0, relative error ([-+.\w]+)", output)
        error = float(found[1]) if found else None
        return error is not None and error < largest, error

    return judge


def program(name, project, chip, source, includes, macros, kernel, tolerance=ROUNDED, mend=None):
    """includes: (settings) -> folders of headers; mend: a folder of them, a file in it, and changes to that."""

    def compile_it(settings, path):
        folders = includes(settings)
        if mend:
            root, file, changes = mend(settings)
            copy = path + ".include"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(root, copy)
            target = os.path.join(copy, file)
            with open(target, encoding="utf-8") as original:
                text = change(original.read(), changes, file)
            with open(target, "w", encoding="utf-8") as mended:
                mended.write(text)
            folders.insert(0, copy)
        compile_program(settings, os.path.join(HERE, source), path, chip,
                        ["-std=c++20", "-O3", "--use_fast_math", "-D_USE_MATH_DEFINES", *("-D" + macro for macro in macros),
                         *("-I" + folder for folder in folders), "-I" + settings.checkout("cutlass/include")])

    return Program(name + ("_mended" if mend else ""), project, chip, compile_it, lambda settings: [], judge_by(tolerance), kernel)


def flash_attention(name, kernel, *macros, element="bfloat16_t", **options):
    return program("flash_attention_" + name, "FlashAttention", "sm_90a", "flash_attention_program.cu",
                   lambda settings: [settings.checkout("flash-attention/hopper")], [f"ELEMENT=cutlass::{element}", *macros], kernel, **options)


def flash_mla(name, chip, kernel, *macros, mend=None):
    csrc = "FlashMLA/csrc"
    return program("flash_mla_" + name, "FlashMLA", chip, "flash_mla_program.cu",
                   lambda settings: [settings.checkout(csrc), settings.checkout(csrc + "/kerutils/include")], macros, kernel,
                   mend=mend and (lambda settings: (settings.checkout(csrc), *mend)))


# What cures the finds (docs/evidence/ForeignKernels.md#finds): the warps that store zeros over keys that do not exist meet before one of them
# multiplies;
ZEROS_MEET = ("sm90/decode/dense/splitkv_mla.cuh", [(r"(fill_oob_V<T>\(.*\n *cutlass::arch::fence_view_async_shared\(\);)",
                                                     r"\1 NamedBarrier::arrive_and_wait(128, 6 + threadIdx.x / 128);")])
# the CTAs of a pair meet before they free tensor memory.
PAIR_MEETS = [(r"( *)(if \(warp_idx == 0\) {\n *cute::TMEM::Allocator2Sm\(\)\.free)", r"\1cute::cluster_sync();\n\1\2")]
DENSE = ("dense_sm90", "sm_90a", "*splitkv_mla_kernel*", "DENSE_DECODE", "DEPTH=576")
HEAD128 = ("head128_sm100", "sm_100a", "*sparse_attn_fwd*", "SPARSE_HEAD128", "DEPTH=576", "HEADS=128", "TOPK=256")
SMALL = ("small_topk_sm100", "sm_100a", "*sparse_attn_fwd*", "SPARSE_SMALL", "DEPTH=512", "HEADS=128", "TOPK=256")

KERNELS = [
    flash_attention("forward", "*FlashAttnFwdSm90*", "DEPTH=128", "CLUSTER=2"),
    flash_attention("forward_fp8", "*FlashAttnFwdSm90*", "DEPTH=128", "CLUSTER=1", "CAUSAL", element="float_e4m3_t", tolerance=ROUNDED_TO_8_BITS),
    flash_attention("backward", "*FlashAttnBwdSm90*", "DEPTH=64", "BACKWARD", "CAUSAL"),
    flash_mla(*DENSE),
    flash_mla(*DENSE, mend=ZEROS_MEET),
    flash_mla("sparse_sm90", "sm_90a", "*sparse_attn_fwd*", "SPARSE_SM90", "DEPTH=576", "HEADS=64", "TOPK=256"),
    flash_mla("head64_sm100", "sm_100a", "*sparse_attn_fwd*", "SPARSE_HEAD64", "DEPTH=576", "HEADS=64", "TOPK=256"),
    flash_mla(*HEAD128),
    flash_mla(*HEAD128, mend=("sm100/prefill/sparse/fwd/head128/phase1.cuh", PAIR_MEETS)),
    flash_mla(*SMALL),
    flash_mla(*SMALL, mend=("sm100/prefill/sparse/fwd_for_small_topk/head128/phase1.cuh", PAIR_MEETS)),
]
