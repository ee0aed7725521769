# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hopper.py in clusters of 2 x 1: two CTAs whose tiles are above one another read the same B, and each copies one half of it for both.

Prints the module: `python multicast.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o multicast.ptx`.
"""

from fp8.builder import Module, Tile, ceildiv, minimum

from hopper import MATRIX, PADDED_SCALES, RESULT, SCALES, d_tile, operand_tile, product, scale_tile

CLUSTER_M = 2

b_box = Tile((128 // CLUSTER_M, 128), "f8E4M3FN", swizzle=128)  # what one CTA copies of the tile of B

module = Module()

with module.kernel("gemm", cluster=(CLUSTER_M, 1)) as kernel:
    a, a_scale = kernel.tensor_map("a", operand_tile), kernel.tensor_map("a_scale", scale_tile)
    b, d = kernel.tensor_map("b", b_box), kernel.tensor_map("d", d_tile)
    b_scale = kernel.array("b_scale", SCALES)
    tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

    pipeline = kernel.pipeline(4, a=operand_tile, b=operand_tile, s=scale_tile)
    queue = kernel.store_queue(2, d_tile, warps=8)

    with kernel.role("multiply", warps=8):
        with kernel.for_each_tile(tiles_m, tiles_n) as (tile_m, tile_n):
            total = kernel.zeros(product)
            with kernel.range(blocks) as kb:
                b_factor = b_scale[tile_n, kb]
                with pipeline.consume() as stage:  # handed back to both CTAs, for both copy into it
                    partial = kernel.multiply(stage["a"], stage["b"], product)
                    total.promote(partial.wait(), stage["s"], b_factor)
            queue.store(total, d[tile_m * 128, tile_n * 128])

    with kernel.role("load", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n) as (tile_m, tile_n):
            m, n = tile_m * 128, tile_n * 128
            with kernel.range(blocks) as kb:
                k = kb * 128
                with pipeline.produce() as stage:
                    stage.load(a=a[m, k], b=b[n, k].multicast("m"), s=a_scale[kb, m])

with module.launch("launch") as host:
    arrays = {"a": host.read("a", MATRIX), "a_scale": host.read("a_scale", PADDED_SCALES), "b": host.read("b", MATRIX),
              "b_scale": host.read("b_scale", SCALES), "d": host.write("d", RESULT)}
    rows, columns = ceildiv(arrays["a"].extent(0), 128), ceildiv(arrays["b"].extent(0), 128)
    clusters = minimum(ceildiv(rows, CLUSTER_M) * columns, host.multiprocessor_count() // CLUSTER_M)
    host.launch(kernel, grid=clusters * CLUSTER_M, **arrays, tiles_m=rows, tiles_n=columns, blocks=ceildiv(arrays["a"].extent(1), 128))

if __name__ == "__main__":
    print(module, end="")
