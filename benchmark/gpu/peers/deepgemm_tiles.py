# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tile that DeepGEMM takes for a shape on Hopper (its kernel with A scaled 1x128
and B 128x128), by the rule of its host code: among the tiles that fit, the least
estimate of the cycles that L2 and shared memory need, over how full the waves are.

As of DeepGEMM 54e2261, csrc/jit_kernels/heuristics/sm90.hpp, where N and K are
constants of the kernel, and M is not.
"""

import ctypes
from typing import Iterator, NamedTuple

SHARED_BYTES = 232448
BARRIER_BYTES = 16 * 8 * 2
MOST_STAGES = 16
BLOCK_K = 128
FEW_STAGES_FROM = 128 * 192  # elements of a tile, for which 3 stages do
CLUSTERS = ((1, 1), (1, 2), (2, 1))


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def align(a: int, b: int) -> int:
    return ceil_div(a, b) * b


def f32(value: float) -> float:
    return ctypes.c_float(value).value


class Tile(NamedTuple):
    block_m: int
    block_n: int
    cluster_m: int  # CTAs along M, which share B
    cluster_n: int  # CTAs along N, which share A
    stages: int
    shared_bytes: int

    @property
    def multicast(self) -> int:
        return self.cluster_m * self.cluster_n

    @property
    def multicast_a(self) -> bool:
        return self.cluster_n > 1

    @property
    def math_threads(self) -> int:
        return 128 if self.block_m <= 64 else 256

    @property
    def swizzle_d(self) -> int:
        """The widest swizzle whose atom divides a row of D's tile."""
        return next(mode for mode in (128, 64, 32) if self.block_n * 2 % mode == 0)

    @property
    def name(self) -> str:
        return "%dx%d, %d stages, cluster %dx%d" % (self.block_m, self.block_n, self.stages, self.cluster_m, self.cluster_n)


def with_stages(block_m: int, block_n: int, cluster: tuple[int, int], k: int) -> Tile:
    """With as many stages as fit beside D, the barriers and B's scales of all of K."""
    scale_rows = 1 if BLOCK_K % block_n == 0 else 2
    fixed = align(block_m * block_n * 2, 1024) + BARRIER_BYTES + align(ceil_div(k, BLOCK_K) * 4 * scale_rows, 8)
    stage = (block_m + block_n) * BLOCK_K + align(block_m * 4, 128)
    stages = min((SHARED_BYTES - fixed) // stage, MOST_STAGES)
    return Tile(block_m, block_n, *cluster, stages, fixed + stages * stage)


def candidates(m: int, k: int, processors: int) -> Iterator[Tile]:
    """In DeepGEMM's order, by which it chooses among equals."""
    blocks_m = [64, 128] + [16] * (m <= 16) + [32] * (m <= 32) + [256]
    for cluster in CLUSTERS:
        if processors % (cluster[0] * cluster[1]):
            continue
        for block_m in blocks_m:
            for block_n in range(16, 192 + 1, 16):
                rest = block_n - BLOCK_K
                if rest > 0 and (block_m > 128 or (block_n % rest and BLOCK_K % rest)):
                    continue
                tile = with_stages(block_m, block_n, cluster, k)
                if tile.stages >= (3 if block_m * block_n >= FEW_STAGES_FROM else 4):
                    yield tile


def cycles(tile: Tile, m: int, n: int, k: int, processors: int) -> float:
    """The estimate, rounded where DeepGEMM's types round."""
    blocks = ceil_div(m, tile.block_m) * ceil_div(n, tile.block_n)
    waves = ceil_div(blocks, processors)
    if tile.multicast > 1 and waves <= 1:
        return float("inf")
    l2_bytes_a_cycle = int(min(64.0 * processors, 8e6 / 1.3e3))
    d = tile.block_m * tile.block_n * 2
    l2 = k * (tile.block_m // tile.cluster_n + tile.block_n // tile.cluster_m) + d
    l1 = k * (tile.block_m + tile.block_n) + k * (max(64, tile.block_m) + tile.block_n) + d + d
    most = max(l2 * blocks // l2_bytes_a_cycle, l1 * blocks // (128 * processors))
    return int(f32(f32(most) / f32(f32(blocks) / f32(waves * processors))))


def choose(m: int, n: int, k: int, processors: int = 132) -> Tile:
    return min(candidates(m, k, processors), key=lambda tile: cycles(tile, m, n, k, processors))
