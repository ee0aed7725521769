# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GEMM whose clusters take over the tiles of those that have not started: cluster launch control, and a work queue for its answers.

It is the kernel that `--fp8-structure-gemm` makes of examples/gemm.mlir with `config <tile = 128 x 128 x 128, cluster = 2 x 1,
scheduler = clc, launch = programmatic>`. Prints the module: `python clc.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o clc.ptx`.
"""

from blockwise import operands

from fp8.builder import ConsumerStage, Fragment, MemRef, Module, Scalar, Tile, ceildiv, minimum, shuffle

TILE, CLUSTER_M, GROUP = 128, 2, 8  # eight K blocks' scales of A are loaded at a time

operand_tile = Tile((TILE, 128), "f8E4M3FN", swizzle=128)
b_box = Tile((TILE // CLUSTER_M, 128), "f8E4M3FN", swizzle=128)
scale_tile = Tile((GROUP, TILE), "f32")
d_tile = Tile((32, 64), "bf16", swizzle=128)

module = Module()

with module.kernel("gemm_kernel", cluster=(CLUSTER_M, 1), programmatic=True) as kernel:
    a, a_scale = kernel.tensor_map("a", operand_tile), kernel.tensor_map("a_scale", scale_tile)
    b, d = kernel.tensor_map("b", b_box), kernel.tensor_map("d", d_tile)
    b_scale = kernel.array("b_scale", MemRef((None, None), "f32"))
    tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

    pipeline = kernel.pipeline(5, a=operand_tile, b=operand_tile)
    scale_pipeline = kernel.pipeline(3, a_scale=scale_tile)
    output_pipeline = kernel.output_pipeline(4, (TILE, TILE))
    queue = kernel.store_queue(2, d_tile, warps=4)
    work = kernel.work_queue(2)
    turns = kernel.pipeline(2)  # passes nothing on but the turn: who asks for work waits until the loads of this tile begin

    with kernel.role("epilogue", warps=4):
        with output_pipeline.epilogue_warp() as epilogue_warp:
            with kernel.for_each_tile(tiles_m, tiles_n, scheduler="clc", work=work, band=8) as (tile_m, tile_n):
                n = tile_n * TILE
                total = kernel.zeros(Fragment((TILE, TILE), warps=4))
                lane, last = kernel.lane_id(), blocks - 1
                b_factors = kernel.variable(0.0)  # of a group of K blocks, one in each lane; loaded a group ahead

                def load_factors(first: Scalar) -> Scalar:
                    block = minimum(first, last)
                    return b_scale[n // 128, block]

                def add(scales: ConsumerStage, count: Scalar | int) -> None:
                    factors = before.get()
                    with kernel.range(count) as i:
                        b_factor, a_factors = shuffle(factors, i), scales["a_scale"]
                        with epilogue_warp.per_k_stage() as (stage,):
                            total.promote(stage, a_factors, b_factor, a_row=i)

                with kernel.when(blocks != 0):
                    b_factors.set(load_factors(lane))
                rest = blocks % GROUP
                with kernel.when(rest != 0):
                    before = kernel.variable(b_factors.get())
                    b_factors.set(load_factors(rest + lane))
                    with scale_pipeline.consume() as scales:
                        add(scales, rest)
                with kernel.range(rest, blocks, GROUP) as first:
                    before = kernel.variable(b_factors.get())
                    b_factors.set(load_factors(first + GROUP + lane))
                    with scale_pipeline.consume() as scales:
                        add(scales, GROUP)
                queue.store(total, d[tile_m * TILE, n])

    with kernel.role("load", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n, scheduler="clc", work=work, band=8) as (tile_m, tile_n):
            m, n = tile_m * TILE, tile_n * TILE
            with kernel.leading_cta("cluster"):
                with turns.produce():
                    pass

            def load(first: Scalar | int, count: Scalar | int) -> None:
                with scale_pipeline.produce() as stage:
                    stage.load(a_scale=a_scale[first, m])
                with kernel.range(count) as i:
                    kb = first + i
                    with pipeline.produce() as stage:
                        k = kb * 128
                        stage.load(a=a[m, k], b=b[n, k].multicast("m"))

            rest = blocks % GROUP
            with kernel.when(rest != 0):
                load(0, rest)
            with kernel.range(rest, blocks, GROUP) as first:
                load(first, GROUP)

    with kernel.role("mma", warps=1):
        with output_pipeline.mma_warp() as mma_warp:
            with kernel.for_each_tile(tiles_m, tiles_n, scheduler="clc", work=work, band=8):
                with kernel.range(blocks):
                    with mma_warp.per_k_stage(pipeline) as (accumulator, stage):
                        accumulator.mma(stage["a"], stage["b"])

    with kernel.role("scheduler", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n, scheduler="clc", work=work, band=8):
            with kernel.leading_cta("cluster"):
                with turns.consume():
                    pass
                with work.produce() as request:
                    request.request_work()

with module.launch("gemm") as host:
    arrays = operands(host)
    rows, columns = ceildiv(arrays["a"].extent(0), TILE), ceildiv(arrays["b"].extent(0), TILE)
    # A cluster for each block of tiles: those that have not started when another is done never do.
    host.launch(kernel, grid=ceildiv(rows, CLUSTER_M) * columns * CLUSTER_M, **arrays, tiles_m=rows, tiles_n=columns,
                blocks=ceildiv(arrays["a"].extent(1), 128))

if __name__ == "__main__":
    print(module, end="")
