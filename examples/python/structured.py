# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of examples/structured.mlir in Python: two load warps, eight epilogue warps, and three rings (A, B, and A's scales).

Prints the module: `python structured.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o structured.ptx`.
"""

from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, minimum

MATRIX = MemRef((None, None), "f8E4M3FN")
SCALES = MemRef((None, None), "f32")
PADDED_SCALES = MemRef((None, None), "f32", strides=(None, 1))
RESULT = MemRef((None, None), "bf16")

operand_tile = Tile((128, 128), "f8E4M3FN", swizzle=128)
scale_tile = Tile((1, 128), "f32")
d_tile = Tile((32, 64), "bf16", swizzle=128)

module = Module()

with module.kernel("gemm") as kernel:
    a = kernel.tensor_map("a", operand_tile)
    a_scale = kernel.tensor_map("a_scale", scale_tile)
    b = kernel.tensor_map("b", operand_tile)
    d = kernel.tensor_map("d", d_tile)
    b_scale = kernel.array("b_scale", SCALES)
    tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

    a_pipeline = kernel.pipeline(3, a=operand_tile)
    b_pipeline = kernel.pipeline(2, b=operand_tile)
    scale_pipeline = kernel.pipeline(4, s=scale_tile)
    output_pipeline = kernel.output_pipeline(2, (128, 128))
    queue = kernel.store_queue(2, d_tile, warps=8)

    with kernel.role("epilogue", warps=8):
        with output_pipeline.epilogue_warp() as epilogue_warp:
            with kernel.for_each_tile(tiles_m, tiles_n) as (tile_m, tile_n):
                m, n = tile_m * 128, tile_n * 128
                total = kernel.zeros(Fragment((128, 128), warps=8))
                with kernel.range(blocks) as kb:
                    b_factor = b_scale[tile_n, kb]
                    with epilogue_warp.per_k_stage(scale_pipeline) as (stage, scales):
                        total.promote(stage, scales["s"], b_factor)
                queue.store(total, d[m, n])

    with kernel.role("load a", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n) as (tile_m, tile_n):
            m = tile_m * 128
            with kernel.range(blocks) as kb:
                k = kb * 128
                with a_pipeline.produce() as stage:
                    stage.load(a=a[m, k])
                with scale_pipeline.produce() as stage:
                    stage.load(s=a_scale[kb, m])

    with kernel.role("load b", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n) as (tile_m, tile_n):
            n = tile_n * 128
            with kernel.range(blocks) as kb:
                k = kb * 128
                with b_pipeline.produce() as stage:
                    stage.load(b=b[n, k])

    with kernel.role("mma", warps=1):
        with output_pipeline.mma_warp() as mma_warp:
            with kernel.for_each_tile(tiles_m, tiles_n):
                with kernel.range(blocks):
                    with mma_warp.per_k_stage(a_pipeline, b_pipeline) as (stage, a_stage, b_stage):
                        stage.mma(a_stage["a"], b_stage["b"])

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
