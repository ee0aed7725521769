# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of TileLang's examples, which its compiler turns into CUDA, without a GPU, for nvcc to turn into PTX."""

import functools
import json
import os

import numpy as np

from formats import E4M3, bf16_bits, from_bf16, from_ue8m0, random_bf16, random_e4m3
from kernels import Described, call, change, compile_ptx
from launch import EXACT, ROUNDED, Launch

PROJECT = "TileLang"
HERE = os.path.dirname(os.path.abspath(__file__))


def tensor(dtype, *shape):
    return {"tensor": shape, "dtype": dtype}


def mended(example, mends, path):
    """Writes the example with `mends` (see kernels.change) beside PATH."""
    with open(example, encoding="utf-8") as original:
        text = change(original.read(), mends, os.path.basename(example))
    with open(path[:-4] + ".example.py", "w", encoding="utf-8") as file:
        file.write(text)
    return file.name


def compile_job(job, mends, settings, path):
    source = path[:-4] + ".tilelang.cu"
    example = settings.checkout(os.path.join("tilelang/examples", job["file"]))
    job = {**job, "file": mended(example, mends, path) if mends else example}
    with open(path[:-4] + ".job.json", "w", encoding="utf-8") as file:
        json.dump(job, file)
    call([settings.dsl_python, os.path.join(HERE, "tilelang_compile.py"), path[:-4] + ".job.json", source], path[:-4] + ".log")
    os.replace(source[:-3] + ".json", path[:-4] + ".json")
    with open(path[:-4] + ".json", encoding="utf-8") as file:
        facts = json.load(file)
    with open(source, encoding="utf-8") as file:
        compile_ptx(settings, file.read(), path, job["arch"], ["-I" + folder for folder in facts["includes"]])


def kernel(name, arch, file, function, arguments, fill, mends=()):
    """arguments: of the example's function; fill: (random generator, Launch), which adds the buffers and what is expected; mends: what the
    example lacks."""
    name += "_mended" if mends else ""
    job = {"file": file, "function": function, "arguments": arguments, "arch": arch}

    def launch(settings, rng):
        with open(settings.made(f"tilelang_{name}.json"), encoding="utf-8") as file:
            facts = json.load(file)
        made = Launch(facts["grid"], facts["block"], facts["cluster"][0], facts["shared"])
        fill(rng, made)
        made.description["entry"] = facts["entry"]
        made.description["arguments"] = facts["arguments"]
        return made

    return Described("tilelang_" + name, PROJECT, arch, functools.partial(compile_job, job, mends), launch)


def product(m, n, k, a="A", b="B", c="C"):
    """C = A B of bfloat16."""

    def fill(rng, launch):
        left, right = random_bf16(rng, m, k), random_bf16(rng, k, n)
        launch.input(a, left)
        launch.input(b, right)
        launch.output(c, m * n * 2)
        launch.expect(c, "bf16", from_bf16(left) @ from_bf16(right), ROUNDED)

    return fill


def half_product(m, n, k):
    def fill(rng, launch):
        left, right = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
        launch.input("A", left)
        launch.input("B", right)
        launch.output("C", m * n * 2)
        launch.expect("C", "f16", left.astype(np.float64) @ right.astype(np.float64), ROUNDED)

    return fill


def scaled_product(m, n, k):
    """Scales of 1 x 128 of A, and of 128 x 128 of B."""

    def fill(rng, launch):
        left, right = random_e4m3(rng, m, k), random_e4m3(rng, n, k)
        left_scales, right_scales = (rng.random(shape).astype(np.float32) + np.float32(0.5) for shape in ((m, k // 128), (n // 128, k // 128)))
        for name, array in (("A", left), ("B", right), ("scales_a", left_scales), ("scales_b", right_scales)):
            launch.input(name, array)
        launch.output("C", m * n * 2)
        a = E4M3[left] * np.repeat(left_scales.astype(np.float64), 128, axis=1)
        b = E4M3[right] * np.repeat(np.repeat(right_scales.astype(np.float64), 128, axis=0), 128, axis=1)
        launch.expect("C", "bf16", a @ b.T, ROUNDED)

    return fill


def block_scaled_product(m, n, k):
    """A scale of a row and 128 of K; four of them are a word, and the words of one place in K follow each other."""

    def fill(rng, launch):
        left, right = random_e4m3(rng, m, k), random_e4m3(rng, k, n)
        scales = {"SFA": rng.integers(120, 135, (m, k // 128), dtype=np.uint8), "SFB": rng.integers(120, 135, (n, k // 128), dtype=np.uint8)}
        launch.input("A", left)
        launch.input("B", right)
        for name, codes in scales.items():
            launch.input(name, np.ascontiguousarray(np.ascontiguousarray(codes).view(np.uint32).T))
        launch.output("C", m * n * 2)
        a, b = (np.repeat(from_ue8m0(codes), 128, axis=1) for codes in scales.values())
        launch.expect("C", "bf16", (E4M3[left] * a) @ (E4M3[right] * b.T), ROUNDED)

    return fill


def attention(batch, heads, length, depth, causal, dtype):
    """Softmax attention of (batch, length, heads, depth)."""

    def fill(rng, launch):
        numbers = rng.standard_normal((3, batch, length, heads, depth))
        stored = bf16_bits(numbers) if dtype == "bf16" else numbers.astype(np.float16)
        values = from_bf16(stored) if dtype == "bf16" else stored.astype(np.float64)
        for name, array in zip("QKV", stored):
            launch.input(name, array)
        launch.output("Output", stored[0].nbytes)
        q, k, v = (each.transpose(0, 2, 1, 3) for each in values)
        scores = q @ k.transpose(0, 1, 3, 2) / depth**0.5
        if causal:
            scores = np.where(np.tri(length) > 0, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        launch.expect("Output", dtype, (weights @ v).transpose(0, 2, 1, 3), 2 * ROUNDED)

    return fill


def best(m, n, count):
    """The largest of each row, and where they are."""

    def fill(rng, launch):
        logits = rng.standard_normal((m, n)).astype(np.float32)
        launch.input("logits", logits)
        launch.output("topk_gates", m * count * 4)
        launch.output("topk_indices", m * count * 4)
        order = np.argsort(-logits, axis=1)[:, :count]
        launch.expect("topk_gates", "f32", np.take_along_axis(logits, order, 1), 0)
        launch.expect("topk_indices", "i32", order, 0)

    return fill


def hadamard(rows, n):
    def fill(rng, launch):
        x = rng.standard_normal((rows, n)).astype(np.float32)
        launch.input("A", x)
        launch.output("B", x.nbytes)
        matrix = np.ones((1, 1))
        while len(matrix) < n:
            matrix = np.block([[matrix, matrix], [matrix, -matrix]])
        launch.expect("B", "f32", x @ matrix, EXACT)

    return fill


def square_norm(m, n):
    def fill(rng, launch):
        x = rng.standard_normal((m, n)).astype(np.float32)
        launch.input("A", x)
        launch.output("B", x.nbytes)
        values = x.astype(np.float64)
        launch.expect("B", "f32", values / np.sqrt((values**2).mean(1, keepdims=True) + 1e-12), EXACT)

    return fill


def linear_attention(length, heads, depth):
    """O = (Q K^T, causal) V, scaled; and the state, K^T V. The kernel adds its parts to zeros."""

    def fill(rng, launch):
        stored = rng.standard_normal((3, 1, length, heads, depth)).astype(np.float16)
        for name, array in zip("QKV", stored):
            launch.input(name, array)
        launch.accumulator("O", np.zeros((1, length, heads, depth), np.float32))
        launch.output("final_state", heads * depth * depth * 4)
        q, k, v = (each[0].astype(np.float64).transpose(1, 0, 2) for each in stored)
        scores = np.tril(q @ k.transpose(0, 2, 1)) * depth**-0.5
        launch.expect("O", "f32", (scores @ v).transpose(1, 0, 2), 2 * ROUNDED)
        launch.expect("final_state", "f32", k.transpose(0, 2, 1) @ v, 2 * ROUNDED)

    return fill


def tcgen05(name, file, function, m, n, k, *rest, block=(128, 256, 64), mends=()):
    arguments = [tensor("bfloat16", m, k), tensor("bfloat16", k, n), *block, *rest]
    return kernel(name, "sm_100a", "gemm_tcgen05/" + file, function, arguments, product(m, n, k), mends)


# What cures the find of the schedule (docs/evidence/ForeignKernels.md#finds): the lanes of a reader meet before one of them hands the schedule
# back, and the readers of each CTA also tell its own scheduler, which waits for them.
MENDED_SCHEDULE = [(r"( +)if (?=tx.*:\n *T\.mbarrier_arrive\(schedule_finished, 0\))", r"\1T.sync_warp()\n\1if "),
                   (r"( *schedule_published = )T\.alloc_barrier\(\[1\]\)\n", r"\g<0>        schedule_read = T.alloc_barrier([5])\n"),
                   (r"( +)if tx(?: % 32)? == 0:\n( *)(?=T\.mbarrier_arrive\(schedule_finished, 0\))", r"\g<0>T.mbarrier_arrive(schedule_read)\n\2"),
                   (r"( +)(?=schedule_valid\[0\] = )", r"\1if work_iter > 0:\n\1    T.mbarrier_wait_parity(schedule_read, (work_iter - 1) & 1)\n\1")]


def clc(mends=()):
    """Persistent, with tiles by cluster launch control."""
    return tcgen05("clc_2cta_sm100", "gemm_tcgen5mma_ws_clc.py", "gemm_clc_persistent_2cta", 512, 1024, 512, *TYPES, 3, 1, True,
                   block=(128, 256, 64, 64), mends=mends)


TYPES = ["bfloat16", "bfloat16", "float32"]
FP8_TYPES = ["float8_e4m3fn", "bfloat16", "float32"]


def mxfp8(name, function, m, n, k, *rest):
    words = k // 128 // 4
    tensors = [tensor("float8_e4m3fn", m, k), tensor("float8_e4m3fn", k, n), tensor("uint32", words * m), tensor("uint32", words * n)]
    return kernel(name, "sm_100a", "blockscaled_gemm_sm100/gemm_mxfp8_blockscaled_1d1d.py", function,
                  [*tensors, 128, 256, 128, *FP8_TYPES, *rest], block_scaled_product(m, n, k))


KERNELS = [
    tcgen05("ws_sm100", "gemm_tcgen5mma_ws.py", "gemm", 256, 512, 512, *TYPES, 3),
    tcgen05("ws_2cta_sm100", "gemm_tcgen5mma_ws.py", "gemm_2cta", 512, 512, 512, *TYPES, 3),
    clc(), clc(MENDED_SCHEDULE),
    mxfp8("mxfp8_sm100", "mxfp8_blockscaled_gemm", 256, 256, 1024, 3),
    mxfp8("mxfp8_2cta_sm100", "mxfp8_blockscaled_gemm_2cta", 256, 256, 1024, 3),
    kernel("attention_sm100", "sm_100a", "flash_attention_sm100/mha_fwd_bshd.py", "flashattn", [1, 2, 256, 128, False],
           attention(1, 2, 256, 128, False, "bf16")),
    kernel("attention_roles_sm100", "sm_100a", "flash_attention_sm100/mha_fwd_bshd.py", "flashattn_wasp", [1, 2, 256, 128, False],
           attention(1, 2, 256, 128, False, "bf16")),
    kernel("attention_sm90", "sm_90a", "flash_attention/example_mha_fwd_bshd.py", "flashattn", [1, 2, 256, 128, True, 128, 128, 2, 256],
           attention(1, 2, 256, 128, True, "f16")),
    kernel("ws_sm90", "sm_90a", "warp_specialize/example_warp_specialize_gemm_copy_0_gemm_1.py", "matmul_warp_specialize_copy_0_gemm_1",
           [tensor("float16", 256, 512), tensor("float16", 512, 256), 128, 128, 64], half_product(256, 256, 512)),
    kernel("fp8_2xacc_sm90", "sm_90a", "deepseek_deepgemm/example_deepgemm_fp8_2xAcc.py", "tl_gemm",
           [tensor("float8_e4m3fn", 256, 1024), tensor("float8_e4m3fn", 256, 1024), tensor("float32", 256, 8), tensor("float32", 2, 8), 128,
            *FP8_TYPES], scaled_product(256, 256, 1024)),
    kernel("linear_attention_sm90", "sm_90a", "linear_attention/example_linear_attn_fwd.py", "tl_fused_chunk_fwd_kernel",
           [1, 256, 2, 128, 128], linear_attention(256, 2, 128)),
    kernel("topk_sm90", "sm_90a", "topk/example_topk.py", "tl_topk", [tensor("float32", 64, 128), 6, 64], best(64, 128, 6)),
    kernel("hadamard_sm90", "sm_90a", "hadamard_transform/example_hadamard.py", "hadamard", [tensor("float32", 4, 2048), 2048, "float32"],
           hadamard(4, 2048)),
    kernel("rms_norm_sm90", "sm_90a", "norm/rms_norm.py", "rms_norm", [tensor("float32", 16, 1024), 1], square_norm(16, 1024)),
]
