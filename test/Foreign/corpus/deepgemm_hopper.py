# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DeepGEMM's kernels for sm_90a, and those of scales that run on every chip."""

import numpy as np

import deepgemm
from deepgemm import BF16, EXACT, F32, HOPPER_SUMS, IDENTITY, K_MAJOR, MULTIPROCESSORS, ROUNDED, matrix, scaled
from formats import E4M3, ceil_div, from_bf16, random_bf16, random_e4m3
from launch import Launch, tensor_map

CHIP = "sm_90a"
THREADS = 384  # one warpgroup copies, two multiply
TILE = 128
BARRIERS = 32 * 16


def round_up(value, unit):
    return ceil_div(value, unit) * unit


def random_scales(rng, *shape):
    return (rng.random(shape) + 0.5).astype(np.float32)


def bf16(name, kind="Normal", m=256, groups=1):
    """Contiguous groups: A's rows, a group's after the other's; masked ones: each group has M rows of which some count."""
    n, k, stages, cluster = 256, 512, 4, 2
    shared = TILE * TILE * 2 + BARRIERS + stages * 2 * TILE * 128
    rows = m * groups if kind == "MGroupedMasked" else m

    def launch(_, rng):
        made = Launch([MULTIPROCESSORS], [THREADS], cluster, shared)
        a, b = random_bf16(rng, rows, k), random_bf16(rng, n * groups, k)
        made.input("a", a)
        made.input("b", b)
        made.output("d", rows * n * 2)
        mask, group_of_row = None, np.repeat(np.arange(groups), rows // groups)
        if kind == "MGroupedMasked":
            counts, within = deepgemm.masked_rows(groups, m)
            mask = np.broadcast_to(within[:, None], (rows, n))
        if groups > 1:
            made.input("layout", counts if mask is not None else group_of_row.astype(np.int32))
            made.pass_buffer("layout")
        else:
            made.pass_number("u64", 0)
        made.pass_number("u32", m, n, k)
        made.pass_map(matrix("a", "bf16", 2, k, rows, (64, TILE), 128))
        made.pass_map(matrix("b", "bf16", 2, k, n * groups, (64, TILE), 128))
        made.pass_map(matrix("d", "bf16", 2, n, rows, (64, TILE), 128))
        made.expect("d", "bf16", deepgemm.grouped_product(from_bf16(a), from_bf16(b), group_of_row, n), ROUNDED, mask)
        return made

    arguments = [K_MAJOR, K_MAJOR, 0, n, k, groups, TILE, TILE, 64, 128, 128, 128, stages, 128, 256, cluster, False, MULTIPROCESSORS,
                 "GemmType::" + kind, False, BF16]
    return deepgemm.kernel(name, CHIP, "sm90_bf16_gemm", arguments, launch)


def batched_sum():
    """D (m, n) += the sum over batches of A (m, k) times B (n, k) transposed, a share of K to each CTA, by atomics."""
    batches, m, n, k, split, stages = 4, 128, 128, 256, 8, 4
    shared = 2 * TILE * 64 * 2 * stages + stages * 16

    def launch(_, rng):
        made = Launch([ceil_div(batches * k // 64, split)], [THREADS], 1, shared)
        a, b = random_bf16(rng, batches, m, k), random_bf16(rng, batches, n, k)
        made.input("a", a)
        made.input("b", b)
        made.accumulator("d", np.zeros((m, n), np.float32))
        made.pass_number("u32", batches)
        made.pass_map(matrix("a", "bf16", 2, k, batches * m, (64, TILE), 128))
        made.pass_map(matrix("b", "bf16", 2, k, batches * n, (64, TILE), 128))
        made.pass_buffer("d")
        made.expect("d", "f32", np.einsum("smk,snk->mn", from_bf16(a), from_bf16(b)), HOPPER_SUMS)
        return made

    arguments = [m, n, k, TILE, TILE, 64, split, stages, 128, 256]
    return deepgemm.kernel("sm90_bmk_bnk_mn", CHIP, "sm90_bmk_bnk_mn", arguments, launch, "sm90_bmn_bnk_mn_gemm_impl")


def tf32_prenorm():
    """A (m, k) times B (n, k) transposed, in tf32, for each half of K; and sums of A's squares."""
    m, n, k, splits, block_n, stages = 128, 24, 1024, 2, 32, 3
    shared = (64 * 64 * 2 + block_n * 64 * 4) * stages + 64 * 128 + stages * 2 * 8

    def launch(_, rng):
        made = Launch([splits * ceil_div(m, 64)], [256], 1, shared)
        a, b = random_bf16(rng, m, k), rng.standard_normal((n, k)).astype(np.float32)
        made.input("a", a)
        made.input("b", b)
        made.output("d", splits * m * n * 4)
        made.output("s", splits * m * 4)
        made.pass_number("u32", m)
        made.pass_map(matrix("a", "bf16", 2, k, m, (64, 64), 128))
        made.pass_map(matrix("b", "tf32", 4, k, n, (32, block_n), 128))
        made.pass_map(tensor_map("d", "f32", (n, m, splits), (n * 4, m * n * 4), (block_n, 64, 1), "128B"))
        made.pass_buffer("s")
        halves = [(from_bf16(x), y.astype(np.float64)) for x, y in zip(np.split(a, splits, axis=1), np.split(b, splits, axis=1))]
        made.expect("d", "f32", np.stack([x @ y.T for x, y in halves]), 2e-3)
        made.expect("s", "f32", np.stack([(x * x).sum(1) for x, _ in halves]), EXACT)
        return made

    arguments = [n, k, 64, block_n, 64, splits, 128, stages, 128, 128]
    return deepgemm.kernel("sm90_tf32_prenorm", CHIP, "sm90_tf32_hc_prenorm_gemm", arguments, launch)


def fp8_1d2d(name, kind, m, groups=1, mend=None):
    """Scales of 1 x 128 for A and of 128 x 128 for B."""
    n, k, stages, cluster = 256, 1024, 4, 2
    blocks = k // TILE
    shared = TILE * TILE * 2 + BARRIERS + round_up(blocks * 4, 8) * 8 + stages * (2 * TILE * 128 + TILE * 4)

    def launch(_, rng):
        made = Launch([MULTIPROCESSORS], [THREADS], cluster, shared)
        a, b = random_e4m3(rng, groups * m, k), random_e4m3(rng, groups * n, k)
        a_scales, b_scales = random_scales(rng, groups, blocks, m), random_scales(rng, groups, n // TILE, blocks)
        for buffer, array in (("a", a), ("b", b), ("sfa", a_scales), ("sfb", b_scales)):
            made.input(buffer, array)
        made.output("d", groups * m * n * 2)
        exact_a = scaled(E4M3[a], a_scales.astype(np.float64).transpose(0, 2, 1).reshape(groups * m, blocks), TILE)
        rows_of_b = np.repeat(b_scales.astype(np.float64), TILE, axis=1).reshape(groups * n, blocks)
        product = deepgemm.grouped_product(exact_a, scaled(E4M3[b], rows_of_b, TILE), np.repeat(np.arange(groups), m), n)
        made.pass_buffer("sfb")
        mask = None
        if groups > 1:
            counts, rows = deepgemm.masked_rows(groups, m)
            mask = np.broadcast_to(rows[:, None], product.shape)
            made.input("layout", counts)
            made.pass_buffer("layout")
        else:
            made.pass_number("u64", 0)
        made.pass_number("u32", m, n, k)
        made.pass_map(matrix("a", "u8", 1, k, m * groups, (128, TILE), 128))
        made.pass_map(matrix("b", "u8", 1, k, n * groups, (128, TILE), 128))
        made.pass_map(matrix("d", "bf16", 2, n, m * groups, (64, TILE), 128))
        made.pass_map(matrix("sfa", "f32", 4, m, blocks * groups, (TILE, 1)))
        made.expect("d", "bf16", product, ROUNDED, mask)
        return made

    arguments = [K_MAJOR, 0, n, k, groups, TILE, TILE, 128, 128, 128, 128, stages, 128, 256, cluster, False, MULTIPROCESSORS,
                 "GemmType::" + kind, BF16, IDENTITY]
    return deepgemm.kernel(name, CHIP, "sm90_fp8_gemm_1d2d", arguments, launch, mend=mend)


def fp8_1d1d(name, kind, lengths, mend=None):
    """Scales of 1 x 128 for both; D accumulates. lengths: K of each group."""
    m, n, stages, groups, total = 256, 256, 3, len(lengths), sum(lengths)
    maps_bytes = 4 * 128 if groups > 1 else 0
    shared = TILE * TILE * 4 + BARRIERS + maps_bytes + stages * (2 * TILE * 128 + 2 * TILE * 4)

    def launch(_, rng):
        made = Launch([MULTIPROCESSORS], [THREADS], 1, shared)
        parts = {"a": [], "b": [], "sfa": [], "sfb": []}
        products = []
        for k in lengths:
            exact = []
            for operand, rows in (("a", m), ("b", n)):
                values, scales = random_e4m3(rng, rows, k), random_scales(rng, k // TILE, rows)
                parts[operand].append(values.ravel())
                parts["sf" + operand].append(scales)
                exact.append(scaled(E4M3[values], scales.astype(np.float64).T, TILE))
            products.append(exact[0] @ exact[1].T)
        for buffer, arrays in parts.items():
            made.input(buffer, np.concatenate(arrays))
        before = rng.standard_normal((groups * m, n)).astype(np.float32)
        made.accumulator("d", before)
        if groups > 1:  # Each multiprocessor keeps four maps of the group that it works on.
            made.input("layout", np.array(lengths, np.int32))
            made.workspace("maps", MULTIPROCESSORS * maps_bytes)
            for buffer in ("a", "b", "layout", "maps"):
                made.pass_buffer(buffer)
        else:
            made.pass_number("u64", 0, 0, 0, 0)
        made.pass_number("u32", m, n, total)
        made.pass_map(matrix("a", "u8", 1, lengths[0], m, (128, TILE), 128))
        made.pass_map(matrix("b", "u8", 1, lengths[0], n, (128, TILE), 128))
        made.pass_map(matrix("sfa", "f32", 4, m, total // TILE, (TILE, 1)))
        made.pass_map(matrix("sfb", "f32", 4, n, total // TILE, (TILE, 1)))
        made.pass_map(matrix("d", "f32", 4, n, m * groups, (TILE, 64)))
        made.expect("d", "f32", np.concatenate(products) + before, HOPPER_SUMS)
        return made

    arguments = [m, n, lengths[0] if groups == 1 else 0, groups, TILE, TILE, 128, 128, 128, stages, 128, 256, 1, False,
                 MULTIPROCESSORS, "GemmType::" + kind, F32]
    return deepgemm.kernel(name, CHIP, "sm90_fp8_gemm_1d1d", arguments, launch, mend=mend)


def mqa_logits(mend=None):
    shared = 3 * 128 * 128 + 3 * 256 * 128 + 3 * 512 + 3 * 1024 + 256
    arguments = [32, 128, False, 4, 256, 3, 3, MULTIPROCESSORS, 128, 512, F32]
    return deepgemm.kernel("sm90_mqa_logits", CHIP, "sm90_fp8_mqa_logits", arguments, function="sm90_fp8_mqa_logits", mend=mend,
                           launch=lambda _, rng: deepgemm.logits(rng, CHIP, Launch([MULTIPROCESSORS], [640], 1, shared)))


def transpose():
    """Scales (rows, blocks of K) to (blocks of K, rows)."""
    rows, blocks, threads, per_block = 256, 6, 512, 64

    def launch(_, rng):
        made = Launch([rows // per_block], [threads], 1, per_block * (blocks | 1) * 4)
        scales = rng.random((rows, blocks)).astype(np.float32)
        made.input("s", scales)
        made.output("d", scales.nbytes)
        made.pass_buffer("s")
        made.pass_buffer("d")
        made.pass_number("u32", rows)
        made.expect("d", "f32", scales.T, 0)
        return made

    return deepgemm.kernel("transpose_scales", "sm_100a", "smxx_layout", [threads, per_block, blocks], launch, "transpose_fp32")


def pack():
    """Scales that are powers of two to four exponents a word, (blocks of K / 4, rows)."""
    rows, blocks, threads, per_block = 256, 8, 512, 48

    def launch(_, rng):
        made = Launch([ceil_div(rows, per_block)], [threads], 1, per_block * blocks * 4)
        exponents = rng.integers(-8, 8, (rows, blocks))
        made.input("s", (2.0**exponents).astype(np.float32))
        made.output("d", rows * blocks)
        made.pass_buffer("s")
        made.pass_buffer("d")
        made.pass_number("u32", rows)
        made.pass_number("u64", 0)
        made.pass_number("u32", 0)
        packed = (exponents + 127).astype(np.uint8).reshape(rows, blocks // 4, 4).transpose(1, 0, 2)
        made.expect("d", "i8", packed.view(np.int8), 0)
        return made

    return deepgemm.kernel("pack_scales", "sm_100a", "smxx_layout", [threads, per_block, blocks, 0, False], launch,
                           "transpose_and_pack_fp32_into_ue8m0")


READS_1D2D = deepgemm.fence_reads("sm90_fp8_gemm_1d2d", "// Notify barrier arrival")
READS_1D1D = deepgemm.fence_reads("sm90_fp8_gemm_1d1d", "// Notify barrier arrival")
READS_OF_KEYS = deepgemm.fence_reads("sm90_fp8_mqa_logits", "// Release KV empty")
KERNELS = [bf16("sm90_bf16"), bf16("sm90_bf16_contiguous", "MGroupedContiguous", 512, 2), bf16("sm90_bf16_masked", "MGroupedMasked", 128, 3),
           batched_sum(), tf32_prenorm(), transpose(), pack()]
for fence in (None, READS_1D2D):
    KERNELS += [fp8_1d2d("sm90_fp8_1d2d", "Normal", 256, mend=fence),
                fp8_1d2d("sm90_fp8_masked", "MGroupedMasked", 128, 3, fence)]
for fence in (None, READS_1D1D):
    KERNELS += [fp8_1d1d("sm90_fp8_1d1d", "Normal", [1024], fence),
                fp8_1d1d("sm90_fp8_kgrouped", "KGroupedContiguous", [256, 128, 384], fence)]
KERNELS += [mqa_logits(), mqa_logits(READS_OF_KEYS)]
