# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An MXFP8 GEMM of few rows in Python (Blackwell): the operands are swapped, so that the 128 rows of an MMA are columns of D, and A's rows its columns.

It is the kernel that the GEMM op becomes with scales of MXFP8 and `config <tile = 64 x 128 x 128>`, without the checks of a launch. Prints the module:
`python few_rows.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o few_rows.ptx`; `python few_rows.py --rows=96` has other tiles.
"""

import argparse
import math

from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, minimum

MATRIX = MemRef((None, None), "f8E4M3FN")
SCALES = MemRef((None, None, 32, 16), "f8E8M0FNU")  # a tile for 128 rows and 128 elements of K
RESULT = MemRef((None, None), "bf16")
TILE_N, TILE_K = 128, 128
SCALED = 128  # rows whose scales are in a tile

b_tile = Tile((TILE_N, TILE_K), "f8E4M3FN", swizzle=128)
scales = Tile((32, 16), "f8E8M0FNU")


def build(rows: int = 64, stages: int = 6) -> Module:
    """Returns the module.

    Args:
        rows: Of a tile: 32, 64 or 96.
        stages: Slots of the input ring.
    """
    # Tiles begin at multiples of `rows`, and so 96 of them may touch two tiles of scales.
    touched = -(-(SCALED - math.gcd(rows, SCALED) + rows) // SCALED)
    a_scales = ["a_scale"] + [f"a_scale{index}" for index in range(1, touched)]
    a_tile = Tile((rows, TILE_K), "f8E4M3FN", swizzle=128)
    d_tile = Tile((rows, 32), "bf16", swizzle=64)  # a warp's columns, of all rows

    module = Module()
    with module.kernel("gemm") as kernel:
        a, a_scale = kernel.tensor_map("a", a_tile), kernel.tensor_map("a_scale", scales, rank=4)
        b, b_scale = kernel.tensor_map("b", b_tile), kernel.tensor_map("b_scale", scales, rank=4)
        d = kernel.tensor_map("d", d_tile)
        tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

        pipeline = kernel.pipeline(stages, a=a_tile, b=b_tile, **dict.fromkeys(a_scales, scales), b_scale=scales)
        output_pipeline = kernel.output_pipeline(2, (rows, TILE_N), scale_slots=stages, swapped=True)
        # A tile of 64 rows belongs to a warpgroup, unless it says otherwise.
        queue = kernel.store_queue(1, d_tile, warps=4, of_warps=rows == 64)

        with kernel.role("epilogue", warps=4):
            any_block = blocks != 0  # Of an empty K nothing was computed: D is zero.
            with output_pipeline.epilogue_warp() as epilogue_warp:
                with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                    total = kernel.zeros(Fragment((rows, TILE_N), warps=4, layout="quarter_columns"))
                    with epilogue_warp.consume() as stage:
                        with kernel.when(any_block):
                            total.read(stage)
                    queue.store(total, d[tile_m * rows, tile_n * TILE_N])

        with kernel.role("load", warps=1):
            with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                m, n = tile_m * rows, tile_n * TILE_N
                first = m // SCALED  # the tile of scales with the first row
                with kernel.range(blocks) as kb:
                    k = kb * TILE_K
                    with pipeline.produce() as stage:
                        of_rows = {name: a_scale[first + index if index else first, kb, 0, 0] for index, name in enumerate(a_scales)}
                        stage.load(a=a[m, k], b=b[n, k], **of_rows, b_scale=b_scale[tile_n, kb, 0, 0])

        with kernel.role("mma", warps=1):
            with output_pipeline.mma_warp() as mma_warp:
                with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, _):
                    first_row = tile_m * rows % SCALED  # in its tile of scales
                    with mma_warp.produce() as accumulator:
                        with kernel.range(blocks) as kb:
                            with pipeline.consume() as stage:
                                # B's scales come first: its rows are the MMA's.
                                accumulator.mma(stage["a"], stage["b"], accumulate=kb != 0, b_row=first_row,
                                                scales=[stage[name] for name in ["b_scale", *a_scales]])

    with module.launch("launch", problem="blockwise_gemm") as host:
        a_array, a_scale_array = host.read("a", MATRIX), host.read("a_scale", SCALES)
        b_array, b_scale_array = host.read("b", MATRIX), host.read("b_scale", SCALES)
        d_array = host.write("d", RESULT)
        rows_of_tiles, columns_of_tiles = ceildiv(a_array.extent(0), rows), ceildiv(b_array.extent(0), TILE_N)
        host.launch(kernel, grid=minimum(rows_of_tiles * columns_of_tiles, host.multiprocessor_count()), a=a_array, a_scale=a_scale_array,
                    b=b_array, b_scale=b_scale_array, d=d_array, tiles_m=rows_of_tiles, tiles_n=columns_of_tiles,
                    blocks=ceildiv(a_array.extent(1), TILE_K))
    return module


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in zip(build.__code__.co_varnames, build.__defaults__ or ()):
        parser.add_argument("--" + name, type=int, default=default)
    print(build(**vars(parser.parse_args())), end="")
