# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of examples/bf16_gemm.mlir in Python: D = A * B^T in bf16, of which all of K is added up in tensor memory.

Prints the module: `python bf16_gemm.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o bf16.ptx`.
"""

from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, minimum

MATRIX = MemRef((None, None), "bf16")
TILE_M, TILE_N, TILE_K = 128, 256, 64

a_tile = Tile((TILE_M, TILE_K), "bf16", swizzle=128)
b_tile = Tile((TILE_N, TILE_K), "bf16", swizzle=128)
d_tile = Tile((32, 64), "bf16", swizzle=128)

module = Module()

with module.kernel("gemm") as kernel:
    a, b, d = kernel.tensor_map("a", a_tile), kernel.tensor_map("b", b_tile), kernel.tensor_map("d", d_tile)
    tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

    pipeline = kernel.pipeline(4, a=a_tile, b=b_tile)
    output_pipeline = kernel.output_pipeline(2, (TILE_M, TILE_N))
    queue = kernel.store_queue(1, d_tile, warps=8)

    with kernel.role("epilogue", warps=8):
        any_block = blocks != 0  # Of an empty K nothing was computed: D is zero.
        with output_pipeline.epilogue_warp() as epilogue_warp:
            with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                m, n = tile_m * TILE_M, tile_n * TILE_N
                total = kernel.zeros(Fragment((TILE_M, TILE_N), warps=8))
                with epilogue_warp.consume() as stage:
                    with kernel.when(any_block):
                        total.read(stage)
                queue.store(total, d[m, n])

    with kernel.role("load", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
            m, n = tile_m * TILE_M, tile_n * TILE_N
            with kernel.range(blocks) as kb:
                k = kb * TILE_K
                with pipeline.produce() as stage:
                    stage.load(a=a[m, k], b=b[n, k])

    with kernel.role("mma", warps=1):
        with output_pipeline.mma_warp() as mma_warp:
            with kernel.for_each_tile(tiles_m, tiles_n, band=8):
                with mma_warp.produce() as accumulator:
                    with kernel.range(blocks) as kb:
                        with pipeline.consume() as stage:
                            accumulator.mma(stage["a"], stage["b"], accumulate=kb != 0)

with module.launch("launch", problem="gemm") as host:
    a_array, b_array, d_array = host.read("a", MATRIX), host.read("b", MATRIX), host.write("d", MATRIX)
    rows, columns = ceildiv(a_array.extent(0), TILE_M), ceildiv(b_array.extent(0), TILE_N)
    host.launch(kernel, grid=minimum(rows * columns, host.multiprocessor_count()), a=a_array, b=b_array, d=d_array, tiles_m=rows,
                tiles_n=columns, blocks=ceildiv(a_array.extent(1), TILE_K))

if __name__ == "__main__":
    print(module, end="")
