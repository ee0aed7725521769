# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of examples/hopper.mlir in Python: a load warp, and two warpgroups that multiply into registers, promote and store.

Prints the module: `python hopper.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o hopper.ptx`.
"""

from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, minimum

MATRIX = MemRef((None, None), "f8E4M3FN")
SCALES = MemRef((None, None), "f32")
PADDED_SCALES = MemRef((None, None), "f32", strides=(None, 1))
RESULT = MemRef((None, None), "bf16")

operand_tile = Tile((128, 128), "f8E4M3FN", swizzle=128)
scale_tile = Tile((1, 128), "f32")
d_tile = Tile((64, 64), "bf16", swizzle=128)
product = Fragment((128, 128), warps=8, layout="warpgroups")

module = Module()

with module.kernel("gemm") as kernel:
    a = kernel.tensor_map("a", operand_tile)
    a_scale = kernel.tensor_map("a_scale", scale_tile)
    b = kernel.tensor_map("b", operand_tile)
    d = kernel.tensor_map("d", d_tile)
    b_scale = kernel.array("b_scale", SCALES)
    tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

    pipeline = kernel.pipeline(4, a=operand_tile, b=operand_tile, s=scale_tile)
    queue = kernel.store_queue(2, d_tile, warps=8)

    with kernel.role("multiply", warps=8):
        with kernel.for_each_tile(tiles_m, tiles_n) as (tile_m, tile_n):
            m, n = tile_m * 128, tile_n * 128
            total = kernel.zeros(product)
            with kernel.range(blocks) as kb:
                b_factor = b_scale[tile_n, kb]
                with pipeline.consume() as stage:
                    partial = kernel.multiply(stage["a"], stage["b"], product)
                    total.promote(partial.wait(), stage["s"], b_factor)
            queue.store(total, d[m, n])

    with kernel.role("load", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n) as (tile_m, tile_n):
            m, n = tile_m * 128, tile_n * 128
            with kernel.range(blocks) as kb:
                k = kb * 128
                with pipeline.produce() as stage:
                    stage.load(a=a[m, k], b=b[n, k], s=a_scale[kb, m])

with module.launch("launch") as host:
    a_array = host.read("a", MATRIX)
    a_scale_array = host.read("a_scale", PADDED_SCALES)
    b_array = host.read("b", MATRIX)
    b_scale_array = host.read("b_scale", SCALES)
    d_array = host.write("d", RESULT)
    rows, columns = ceildiv(a_array.extent(0), 128), ceildiv(b_array.extent(0), 128)
    host.launch(kernel, grid=minimum(rows * columns, host.multiprocessor_count()), a=a_array, a_scale=a_scale_array, b=b_array, d=d_array,
                b_scale=b_scale_array, tiles_m=rows, tiles_n=columns, blocks=ceildiv(a_array.extent(1), 128))

if __name__ == "__main__":
    print(module, end="")
