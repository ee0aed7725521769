# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of examples/tensorwise_gemm.mlir in Python: D = d_scale * (A * B^T) of CTA pairs, in clusters that share rows of A.

Prints the module: `python tensorwise_gemm.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o tensorwise.ptx`.
"""

from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, maximum, minimum

MATRIX = MemRef((None, None), "f8E4M3FN")
SCALE = MemRef((1, 1), "f32")
RESULT = MemRef((None, None), "bf16")
TILE_M, TILE_N, HALF_N, TILE_K = 128, 256, 128, 128  # of a CTA; two have a tile's rows
CLUSTER_M, CLUSTER_N = 2, 2

a_box = Tile((TILE_M // CLUSTER_N, TILE_K), "f8E4M3FN", swizzle=128)
a_tile = Tile((TILE_M, TILE_K), "f8E4M3FN", swizzle=128)
b_tile = Tile((HALF_N, TILE_K), "f8E4M3FN", swizzle=128)
d_tile = Tile((32, 64), "bf16", swizzle=128)

module = Module()

with module.kernel("gemm", cluster=(CLUSTER_M, CLUSTER_N)) as kernel:
    a, b, d = kernel.tensor_map("a", a_box), kernel.tensor_map("b", b_tile), kernel.tensor_map("d", d_tile)
    d_scale = kernel.array("d_scale", SCALE)
    tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

    pipeline = kernel.pipeline(4, a=a_tile, b=b_tile, cta_group=2)
    output_pipeline = kernel.output_pipeline(2, (2 * TILE_M, TILE_N), cta_group=2)
    queue = kernel.store_queue(2, d_tile, warps=8)

    with kernel.role("epilogue", warps=8):
        any_block = blocks != 0  # Of an empty K nothing was computed: D is zero.
        scale = d_scale[0, 0]
        with output_pipeline.epilogue_warp() as epilogue_warp:
            with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                m, n = tile_m * TILE_M, tile_n * TILE_N
                total = kernel.zeros(Fragment((TILE_M, TILE_N), warps=8))
                with epilogue_warp.consume() as stage:
                    with kernel.when(any_block):
                        total.read(stage)
                total.map(lambda x: x * scale)
                queue.store(total, d[m, n])

    with kernel.role("load", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
            m = tile_m * TILE_M
            n = tile_n * TILE_N + tile_m % 2 * HALF_N  # each CTA of the pair has one half of the columns of B^T
            with kernel.range(blocks) as kb:
                k = kb * TILE_K
                with pipeline.produce() as stage:
                    stage.load(a=a[m, k].multicast("n"), b=b[n, k].multicast("m"))

    with kernel.role("mma", warps=1):
        with output_pipeline.mma_warp() as mma_warp:
            with kernel.for_each_tile(tiles_m, tiles_n, band=8):
                with kernel.leading_cta("pair"):
                    with mma_warp.produce() as accumulator:
                        with kernel.range(blocks) as kb:
                            with pipeline.consume() as stage:
                                accumulator.mma(stage["a"], stage["b"], accumulate=kb != 0)

with module.launch("launch", problem="gemm") as host:
    a_array, b_array = host.read("a", MATRIX), host.read("b", MATRIX)
    d_scale_array, d_array = host.read("d_scale", SCALE), host.write("d", RESULT)
    rows, columns = ceildiv(a_array.extent(0), TILE_M), ceildiv(b_array.extent(0), TILE_N)
    # As many clusters as there is work for, or room.
    clusters = ceildiv(rows, CLUSTER_M) * ceildiv(columns, CLUSTER_N)
    room = maximum(host.multiprocessor_count() // (CLUSTER_M * CLUSTER_N), 1)
    host.launch(kernel, grid=minimum(clusters, room) * (CLUSTER_M * CLUSTER_N), a=a_array, b=b_array, d=d_array, d_scale=d_scale_array,
                tiles_m=rows, tiles_n=columns, blocks=ceildiv(a_array.extent(1), TILE_K))

if __name__ == "__main__":
    print(module, end="")
