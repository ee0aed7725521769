# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DeepGEMM's kernels for sm_100a."""

import dataclasses

import numpy as np

import deepgemm
from deepgemm import BF16, DTYPES, E4M3_TYPE, EXACT, F32, IDENTITY, K_MAJOR, MN_MAJOR, MULTIPROCESSORS, ROUNDED, matrix, operand, scaled
from formats import E4M3, ceil_div, from_bf16, from_ue8m0, random_bf16, random_e2m1, random_e4m3
from launch import Launch, tensor_map

CHIP = "sm_100a"
THREADS = 256
TILE = 128
FP4_TYPE = "cutlass::detail::float_e2m1_unpacksmem_t"
BARRIERS = 32 * 8 * 3 + 40 + 4  # and the address of tensor memory


@dataclasses.dataclass
class Tiling:
    """What csrc/jit_kernels/heuristics computes from tiles and clusters. swapped: the roles of A and B are."""

    element: int  # bytes
    output: str
    stages: int
    block_m: int = TILE
    block_n: int = TILE
    cluster_m: int = 2
    cluster_n: int = 1
    swapped: bool = False
    scales: bool = False

    def __post_init__(self):
        self.block_k = 128 // self.element
        self.load_m, self.load_n = self.block_m // self.cluster_n, self.block_n // self.cluster_m
        self.store_m = 16 if self.swapped else min(TILE, self.block_m)
        self.dtype, size = DTYPES[self.output]
        self.output_bytes = size
        self.store_swizzle = deepgemm.swizzle_bytes(self.block_n, size)
        self.cluster = self.cluster_m * self.cluster_n
        row = self.block_n * size if self.swapped else self.store_swizzle
        of_scales = 4 * (ceil_div(self.block_m, TILE) + ceil_div(self.block_n, TILE)) * TILE if self.scales else 0
        stage = (self.load_m + self.load_n) * 128 + of_scales
        self.shared = 2 * self.store_m * row + BARRIERS + self.stages * stage

    def launch(self):
        return Launch([MULTIPROCESSORS], [THREADS], self.cluster, self.shared)

    def map_a(self, major, m, k):
        return operand("a", "bf16" if self.element == 2 else "u8", self.element, m, k, major, self.load_m, self.block_k)

    def map_b(self, major, n, k):
        return operand("b", "bf16" if self.element == 2 else "u8", self.element, n, k, major, self.load_n, self.block_k)

    def map_d(self, m, n):
        return matrix("d", self.dtype, self.output_bytes, n, m, (self.block_n, self.store_m), self.store_swizzle)

    def tolerance(self):
        return ROUNDED if self.output == BF16 else EXACT


def bf16(name, m, n, k, tiling, major=K_MAJOR):
    map_a, swizzle_a = tiling.map_a(major, m, k)
    map_b, swizzle_b = tiling.map_b(major, n, k)

    def launch(_, rng):
        made = tiling.launch()
        a, b = random_bf16(rng, m, k), random_bf16(rng, n, k)
        made.input("a", deepgemm.stored(a, major))
        made.input("b", deepgemm.stored(b, major))
        made.output("d", m * n * tiling.output_bytes)
        made.pass_number("u64", 0)
        made.pass_number("u32", m, n, k)
        for each in (map_a, map_b, tiling.map_d(m, n)):
            made.pass_map(each)
        made.expect("d", tiling.dtype, from_bf16(a) @ from_bf16(b).T, tiling.tolerance())
        return made

    arguments = [major, major, 0, n, k, tiling.block_m, tiling.block_n, tiling.block_k, 1, swizzle_a, swizzle_b, tiling.store_swizzle,
                 tiling.stages, 128, 128, tiling.cluster, tiling.cluster_n > 1, MULTIPROCESSORS, 128, tiling.swapped, False,
                 "GemmType::Normal", False, tiling.output, 100]
    return deepgemm.kernel(name, CHIP, "sm100_bf16_gemm", arguments, launch)


def pack_scales(scales):
    """Exponents (rows, blocks of K) as (ceil(blocks / 4), rows, 4), which a map of words copies."""
    rows, blocks = scales.shape
    packed = np.zeros((ceil_div(blocks, 4), rows, 4), np.uint8)
    for block in range(blocks):
        packed[block // 4, :, block % 4] = scales[:, block]
    return packed


def random_scales(rng, rows, blocks):
    return rng.integers(120, 130, (rows, blocks), dtype=np.uint8)


def scale_map(buffer, rows, words, box):
    return matrix(buffer, "s32", 4, rows, words, (box, 1))


def fp8_arguments(tiling, kind, n, k, granularity, groups, swizzles, majors=(K_MAJOR, K_MAJOR), b_type=E4M3_TYPE, accumulate=False):
    return [*majors, granularity, granularity, 128, 0, n, k, tiling.block_m, tiling.block_n, 128, groups, *swizzles,
            tiling.store_swizzle, tiling.stages, 128, 128, tiling.cluster, tiling.cluster_n > 1, MULTIPROCESSORS, tiling.swapped,
            False, "GemmType::" + kind, accumulate, E4M3_TYPE, b_type, tiling.output, IDENTITY]


def random_b(rng, rows, k, fp4):
    """The bytes of B and its values."""
    if fp4:
        return random_e2m1(rng, rows, k)
    codes = random_e4m3(rng, rows, k)
    return codes, E4M3[codes]


def fp8(name, m, n, k, tiling, kind="Normal", groups=1, granularity=128, fp4=False):
    """Scales of 1 x granularity for both operands. Contiguous groups: A's rows, a group's after the other's; masked ones: each
    group has M rows of which some count."""
    groups_of_a = groups if kind == "MGroupedMasked" else 1
    blocks = ceil_div(k, granularity)
    words = ceil_div(blocks, 4)
    rows_a, rows_b = groups_of_a * m, groups * n
    map_a, swizzle_a = tiling.map_a(K_MAJOR, rows_a, k)
    map_b, swizzle_b = tiling.map_b(K_MAJOR, rows_b, k)
    if fp4:
        map_b = tensor_map("b", "16u4_align16b", (k, rows_b), (k // 2,), (128, tiling.load_n), "128B")

    def launch(_, rng):
        made = tiling.launch()
        a = random_e4m3(rng, rows_a, k)
        b, b_values = random_b(rng, rows_b, k, fp4)
        a_scales, b_scales = random_scales(rng, rows_a, blocks), random_scales(rng, rows_b, blocks)
        packed = {"sfa": [pack_scales(s) for s in np.split(a_scales, groups_of_a)], "sfb": [pack_scales(s) for s in np.split(b_scales, groups)]}
        for buffer, array in (("a", a), ("b", b), *((name, np.concatenate(parts)) for name, parts in packed.items())):
            made.input(buffer, array)
        made.output("d", rows_a * n * tiling.output_bytes)
        mask, group_of_row = None, np.repeat(np.arange(groups), rows_a // groups)
        if kind == "MGroupedContiguous":
            made.input("layout", group_of_row.astype(np.int32))
        elif kind == "MGroupedMasked":
            counts, rows = deepgemm.masked_rows(groups, m)
            mask = np.broadcast_to(rows[:, None], (rows_a, n))
            made.input("layout", counts)
        if groups > 1:
            made.pass_buffer("layout")
        else:
            made.pass_number("u64", 0)
        made.pass_number("u32", m, n, k)
        for each in (map_a, map_b, scale_map("sfa", m, words * groups_of_a, tiling.block_m), scale_map("sfb", n, words * groups, tiling.block_n),
                     tiling.map_d(rows_a, n)):
            made.pass_map(each)
        exact_a, exact_b = scaled(E4M3[a], from_ue8m0(a_scales), granularity), scaled(b_values, from_ue8m0(b_scales), granularity)
        made.expect("d", tiling.dtype, deepgemm.grouped_product(exact_a, exact_b, group_of_row, n), tiling.tolerance(), mask)
        return made

    arguments = fp8_arguments(tiling, kind, n, k, granularity, groups, (swizzle_a, swizzle_b), b_type=FP4_TYPE if fp4 else E4M3_TYPE)
    return deepgemm.kernel(name, CHIP, "sm100_fp8_fp4_gemm_1d1d", arguments, launch)


def fp8_kgrouped(name, m, n, lengths, tiling):
    """Groups of K, one after another; A and B are MN-major, D accumulates."""
    total, groups = sum(lengths), len(lengths)
    map_a, swizzle_a = tiling.map_a(MN_MAJOR, m, total)
    map_b, swizzle_b = tiling.map_b(MN_MAJOR, n, total)

    def launch(_, rng):
        made = tiling.launch()
        exact, words = {}, 0
        for buffer, rows in (("a", m), ("b", n)):
            values = random_e4m3(rng, rows, total)
            scales = [random_scales(rng, rows, ceil_div(k, TILE)) for k in lengths]
            packed = np.concatenate([pack_scales(each) for each in scales])
            words = packed.shape[0]
            made.input(buffer, values.T)
            made.input("sf" + buffer, packed)
            parts = np.split(E4M3[values], np.cumsum(lengths)[:-1], axis=1)
            exact[buffer] = [scaled(part, from_ue8m0(each), TILE) for part, each in zip(parts, scales)]
        before = rng.standard_normal((groups * m, n)).astype(np.float32)
        made.accumulator("d", before)
        made.input("layout", np.array(lengths, np.int32))
        made.pass_buffer("layout")
        made.pass_number("u32", m, n, total)
        for each in (map_a, map_b, scale_map("sfa", m, words, tiling.block_m), scale_map("sfb", n, words, tiling.block_n),
                     tiling.map_d(m * groups, n)):
            made.pass_map(each)
        made.expect("d", "f32", np.concatenate([a @ b.T for a, b in zip(exact["a"], exact["b"])]) + before, EXACT)
        return made

    arguments = fp8_arguments(tiling, "KGroupedContiguous", n, 0, TILE, groups, (swizzle_a, swizzle_b), (MN_MAJOR, MN_MAJOR), accumulate=True)
    return deepgemm.kernel(name, CHIP, "sm100_fp8_fp4_gemm_1d1d", arguments, launch)


def batched_sum():
    """D (m, n) += the sum over batches of A (m, k) times B (n, k) transposed, a share of K to each CTA."""
    batches, m, n, k, split, stages = 4, 128, 128, 256, 8, 4
    shared = TILE * TILE * 2 + 2 * TILE * 64 * 2 * stages + stages * 24 + 32 + 8 + 4

    def launch(_, rng):
        made = Launch([ceil_div(batches * k // 64, split)], [128], 1, shared)
        a, b = random_bf16(rng, batches, m, k), random_bf16(rng, batches, n, k)
        made.input("a", a)
        made.input("b", b)
        made.accumulator("d", np.zeros((m, n), np.float32))
        made.pass_number("u32", batches)
        made.pass_map(matrix("a", "bf16", 2, k, batches * m, (64, TILE), 128))
        made.pass_map(matrix("b", "bf16", 2, k, batches * n, (64, TILE), 128))
        made.pass_map(matrix("d", "f32", 4, n, m, (32, TILE), 128))
        made.expect("d", "f32", np.einsum("smk,snk->mn", from_bf16(a), from_bf16(b)), EXACT)
        return made

    arguments = [m, n, k, TILE, TILE, 64, split, 128, 128, stages, 128]
    return deepgemm.kernel("sm100_bmk_bnk_mn", CHIP, "sm100_bmk_bnk_mn", arguments, launch, "sm100_bmn_bnk_mn_gemm_impl")


def tf32_prenorm():
    """A (m, k) times B (n, k) transposed, in tf32, for each half of K; and sums of A's squares."""
    m, n, k, splits, block_n, stages = 128, 24, 512, 2, 32, 4
    swizzle = deepgemm.swizzle_bytes(block_n, 4)
    shared = (64 * 64 * 2 + block_n * 64 * 4) * stages + 64 * swizzle + (stages * 4 + 1) * 8 + 4

    def launch(_, rng):
        made = Launch([splits * ceil_div(m, 64)], [256], 1, shared)
        a, b = random_bf16(rng, m, k), rng.standard_normal((n, k)).astype(np.float32)
        made.input("a", a)
        made.input("b", b)
        made.output("d", splits * m * n * 4)
        made.output("s", splits * m * 4)
        made.pass_number("u32", m)
        made.pass_map(matrix("a", "bf16", 2, k, m, (64, 64), 128))
        made.pass_map(matrix("b", "tf32", 4, k, n, (64, block_n), 128))
        made.pass_map(tensor_map("d", "f32", (n, m, splits), (n * 4, m * n * 4), (min(block_n, swizzle // 4), 64, 1), f"{swizzle}B"))
        made.pass_buffer("s")
        halves = [(from_bf16(x), y.astype(np.float64)) for x, y in zip(np.split(a, splits, axis=1), np.split(b, splits, axis=1))]
        made.expect("d", "f32", np.stack([x @ y.T for x, y in halves]), 2e-3)
        made.expect("s", "f32", np.stack([(x * x).sum(1) for x, _ in halves]), EXACT)
        return made

    arguments = [n, k, 64, block_n, 64, splits, swizzle, stages, 128, 128]
    return deepgemm.kernel("sm100_tf32_prenorm", CHIP, "sm100_tf32_hc_prenorm_gemm", arguments, launch)


def mqa_logits():
    shared = 3 * 128 * 128 + 5 * 256 * 128 + 3 * 512 + 5 * 1024 + 2048
    arguments = [False, 32, 128, False, 4, 256, 3, 5, MULTIPROCESSORS, 128, 256, F32, F32]
    return deepgemm.kernel("sm100_mqa_logits", CHIP, "sm100_mqa_logits", arguments, function="sm100_mqa_logits",
                           launch=lambda _, rng: deepgemm.logits(rng, CHIP, Launch([MULTIPROCESSORS], [384], 1, shared)))


SWAPPED = {"cluster_m": 1, "cluster_n": 2, "swapped": True}
KERNELS = [
    bf16("sm100_bf16", 512, 512, 512, Tiling(2, BF16, 4)),
    bf16("sm100_bf16_swapped", 192, 256, 512, Tiling(2, BF16, 4, block_m=96, **SWAPPED)),
    bf16("sm100_bf16_mn_major", 256, 256, 256, Tiling(2, F32, 4, block_n=64, cluster_m=1), MN_MAJOR),
    fp8("sm100_fp8_1d1d", 512, 512, 768, Tiling(1, BF16, 3, scales=True)),
    fp8("sm100_fp8_1d1d_32", 256, 256, 512, Tiling(1, F32, 3, cluster_m=1, scales=True), granularity=32),
    fp8("sm100_fp8_contiguous", 512, 256, 512, Tiling(1, BF16, 3, scales=True, **SWAPPED), "MGroupedContiguous", 2),
    fp8("sm100_fp8_masked", 128, 256, 512, Tiling(1, BF16, 3, scales=True, **SWAPPED), "MGroupedMasked", 3),
    fp8_kgrouped("sm100_fp8_kgrouped", 256, 256, [256, 128, 384], Tiling(1, F32, 3, scales=True)),
    fp8("sm100_fp8_fp4", 256, 256, 512, Tiling(1, BF16, 3, scales=True), granularity=32, fp4=True),
    batched_sum(), tf32_prenorm(), mqa_logits(),
]
