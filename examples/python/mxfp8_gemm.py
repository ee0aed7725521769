# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A family of MXFP8 GEMMs in Python, of which examples/mxfp8_gemm.mlir is one: the tensor cores apply a scale to each 32 elements of K.

Prints the module: `python mxfp8_gemm.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o mxfp8.ptx`. Its arguments are those of
`build`: `python mxfp8_gemm.py --columns=64 --ctas=1`.
"""

import argparse
import math
from contextlib import nullcontext

from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, maximum, minimum

MATRIX = MemRef((None, None), "f8E4M3FN")
SCALES = MemRef((None, None, 32, 16), "f8E8M0FNU")  # a tile for 128 rows and 128 elements of K
RESULT = MemRef((None, None), "bf16")
TILE_M, TILE_K = 128, 128  # of a CTA
ROWS = 128  # whose scales are in a tile

a_tile = Tile((TILE_M, TILE_K), "f8E4M3FN", swizzle=128)
scales = Tile((32, 16), "f8E8M0FNU")


def build(columns: int = 128, ctas: int = 2, cluster: int = 2, stages: int = 6, accumulators: int = 2, early: int = 0) -> Module:
    """Returns the module of one of them.

    Args:
        columns: Of a tile, a multiple of 32. Its rows are 128 for each CTA.
        ctas: That compute a tile: 1, or 2 for a pair.
        cluster: Tiles beside each other, whose CTAs copy rows of A for one another.
        stages: Slots of the input ring.
        accumulators: Slots of the output ring. Sums and scales of all of them fit 512 columns of tensor memory: 256 columns go with one.
        early: Whether the kernel may start before the one in front of it in the stream has ended.
    """
    # Tiles begin at multiples of `columns`, and so may touch more tiles of scales than they have rows for.
    touched = -(-(ROWS - math.gcd(columns, ROWS) + columns) // ROWS)
    b_scales = ["b_scale"] + [f"b_scale{index}" for index in range(1, touched)]
    warps = 4 if columns <= 128 else 8
    part = columns // ctas
    a_box = Tile((TILE_M // cluster, TILE_K), "f8E4M3FN", swizzle=128)
    b_tile = Tile((part, TILE_K), "f8E4M3FN", swizzle=128)
    stored = math.gcd(columns * 4 // warps, 64)
    d_tile = Tile((32, stored), "bf16", swizzle=2 * stored)

    module = Module()
    with module.kernel("gemm", cluster=(ctas, cluster) if ctas * cluster > 1 else None, programmatic=bool(early)) as kernel:
        a, a_scale = kernel.tensor_map("a", a_box), kernel.tensor_map("a_scale", scales, rank=4)
        b, b_scale = kernel.tensor_map("b", b_tile), kernel.tensor_map("b_scale", scales, rank=4)
        d = kernel.tensor_map("d", d_tile)
        tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

        pipeline = kernel.pipeline(stages, a=a_tile, b=b_tile, a_scale=scales, **dict.fromkeys(b_scales, scales), cta_group=ctas)
        output_pipeline = kernel.output_pipeline(accumulators, (ctas * TILE_M, columns), cta_group=ctas, scale_slots=stages)
        queue = kernel.store_queue(2, d_tile, warps=warps)

        with kernel.role("epilogue", warps=warps):
            any_block = blocks != 0  # Of an empty K nothing was computed: D is zero.
            with output_pipeline.epilogue_warp() as epilogue_warp:
                with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                    m, n = tile_m * TILE_M, tile_n * columns
                    total = kernel.zeros(Fragment((TILE_M, columns), warps=warps))
                    with epilogue_warp.consume() as stage:
                        with kernel.when(any_block):
                            total.read(stage)
                    queue.store(total, d[m, n])

        with kernel.role("load", warps=1):
            with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                m, n = tile_m * TILE_M, tile_n * columns
                first = tile_n if columns == ROWS else n // ROWS  # the tile of scales with the first column
                if ctas == 2:
                    n = n + tile_m % 2 * part  # each CTA of the pair has one half of the columns of B^T
                with kernel.range(blocks) as kb:
                    k = kb * TILE_K
                    with pipeline.produce() as stage:
                        rows = a[m, k].multicast("n") if cluster > 1 else a[m, k]
                        # A CTA has the scales of its own rows of A, and those of all columns.
                        of_columns = {name: b_scale[first + index if index else first, kb, 0, 0] for index, name in enumerate(b_scales)}
                        stage.load(a=rows, b=b[n, k].multicast("m") if ctas == 2 else b[n, k], a_scale=a_scale[tile_m, kb, 0, 0], **of_columns)

        with kernel.role("mma", warps=1):
            with output_pipeline.mma_warp() as mma_warp:
                with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (_, tile_n):
                    b_row = None if columns % ROWS == 0 else tile_n * columns % ROWS
                    with kernel.leading_cta("pair") if ctas == 2 else nullcontext():
                        with mma_warp.produce() as accumulator:
                            with kernel.range(blocks) as kb:
                                with pipeline.consume() as stage:
                                    accumulator.mma(stage["a"], stage["b"], accumulate=kb != 0, b_row=b_row,
                                                    scales=[stage[name] for name in ["a_scale", *b_scales]])

    with module.launch("launch", problem="blockwise_gemm") as host:
        a_array, a_scale_array = host.read("a", MATRIX), host.read("a_scale", SCALES)
        b_array, b_scale_array = host.read("b", MATRIX), host.read("b_scale", SCALES)
        d_array = host.write("d", RESULT)
        rows_of_tiles, columns_of_tiles = ceildiv(a_array.extent(0), TILE_M), ceildiv(b_array.extent(0), columns)
        # As many clusters as there is work for, or room.
        clusters = ceildiv(rows_of_tiles, ctas) * ceildiv(columns_of_tiles, cluster)
        room = maximum(host.multiprocessor_count() // (ctas * cluster), 1)
        host.launch(kernel, grid=minimum(clusters, room) * (ctas * cluster), a=a_array, a_scale=a_scale_array, b=b_array, b_scale=b_scale_array,
                    d=d_array, tiles_m=rows_of_tiles, tiles_n=columns_of_tiles, blocks=ceildiv(a_array.extent(1), TILE_K))
    return module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in zip(build.__code__.co_varnames, build.__defaults__ or ()):
        parser.add_argument("--" + name, type=int, default=default)
    print(build(**vars(parser.parse_args())), end="")
