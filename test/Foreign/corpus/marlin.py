# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marlin: products of float16 and of weights of four bits, by mma.sync; CTAs take turns by locks in global memory where they share a
part of D."""

import os

import numpy as np

from kernels import BuildFailure, Described, change, compile_ptx
from launch import ROUNDED, Launch

PROJECT = "Marlin"
# What cures the find (docs/evidence/ForeignKernels.md#finds): the last ldmatrix of all warps comes before the first sum is stored where it read.
MENDED = [(r"( *)thread_block_reduce\(\);", r"\1__syncthreads();\n\1thread_block_reduce();")]
THREADS, STAGES, SHARED_BYTES, CTAS = 256, 4, 96 * 1024, 5


def orders():
    """The order of the weights of a tile of 16 x 64, and that of the scales, as Layer.pack puts them."""
    weights = []
    for i in range(32):
        rows = [2 * (i % 4), 2 * (i % 4) + 1, 2 * (i % 4 + 4), 2 * (i % 4 + 4) + 1]
        one = [16 * row + i // 4 + 8 * block for block in (0, 1) for row in rows]
        weights += [place + 256 * j for j in range(4) for place in one]
    weights = np.array(weights).reshape(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]].ravel()
    grouped = [i + 8 * j for i in range(8) for j in range(8)]
    whole = [2 * i + j for i in range(4) for j in (0, 1, 8, 9, 16, 17, 24, 25)]
    return weights, grouped, whole


def packed(codes, scales, grouped):
    """Weights (k, n) of four bits and their scales, as they lie in memory."""
    k, n = codes.shape
    order, of_groups, of_columns = orders()
    tiles = codes.reshape(k // 16, 16, n // 16, 16).transpose(0, 2, 1, 3).reshape(-1, len(order))[:, order].reshape(k // 16, -1)
    words = sum(tiles[:, i::8].astype(np.uint32) << np.uint32(4 * i) for i in range(8))
    places = of_groups if grouped else of_columns
    return words, scales.reshape(-1, len(places))[:, places]


def kernel(name, chip, m, n, k, thread_n, thread_k, grouped, mends=()):
    blocks = -(-m // 16)
    numbers = [THREADS, blocks, thread_n // 16, thread_k // 16, STAGES, 8 if grouped else -1]
    entry = "".join(f"Li{number}E" if number >= 0 else f"Lin{-number}E" for number in numbers)

    def compile_it(settings, path):
        with open(os.path.join(settings.checkout("marlin"), "marlin/marlin_cuda_kernel.cu"), encoding="utf-8") as file:
            compile_ptx(settings, change(file.read(), mends, "marlin_cuda_kernel.cu"), path, chip, [])

    def launch(settings, rng):
        with open(settings.made(f"marlin_{name}.ptx"), encoding="utf-8") as file:
            names = [line.split()[2].split("(")[0] for line in file if line.startswith(".visible .entry") and "6MarlinI" + entry in line]
        if len(names) != 1:
            raise BuildFailure(f"marlin has {len(names)} kernels {entry}")
        made = Launch([CTAS], [THREADS], 1, SHARED_BYTES)
        made.description["entry"] = names[0]
        a = rng.standard_normal((m, k)).astype(np.float16)
        codes = rng.integers(0, 16, (k, n), dtype=np.uint8)
        groups = k // 128 if grouped else 1
        scales = (rng.random((groups, n)) + 0.5).astype(np.float16)
        words, stored = packed(codes, scales, grouped)
        for buffer, array in (("a", a), ("b", words), ("s", stored)):
            made.input(buffer, array)
        made.accumulator("c", np.zeros((m, n), np.float16))
        made.accumulator("locks", np.zeros(n // 128 * 16, np.int32))
        for buffer in ("a", "b", "c", "s"):
            made.pass_buffer(buffer)
        made.pass_number("s32", m, n, k)
        made.pass_buffer("locks")
        weights = (codes.astype(np.float64) - 8) * np.repeat(scales.astype(np.float64), k // groups, axis=0)
        made.expect("c", "f16", a.astype(np.float64) @ weights, ROUNDED)
        return made

    return Described("marlin_" + name, PROJECT, chip, compile_it, launch)


GROUPED, COLUMNS = ("sm_90a", 16, 256, 512, 128, 128, True), ("sm_90a", 13, 256, 256, 128, 128, False)
KERNELS = [kernel("16_grouped", *GROUPED), kernel("16_grouped_mended", *GROUPED, MENDED), kernel("16_columns", *COLUMNS),
           kernel("16_columns_mended", *COLUMNS, MENDED), kernel("64_grouped", "sm_100a", 64, 512, 256, 256, 64, True)]
