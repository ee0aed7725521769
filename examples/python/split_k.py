# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GEMM of few tiles on Hopper: the four CTAs of a cluster divide K, exchange their sums, and store a quarter of the columns each.

It is the kernel that `--fp8-structure-gemm` makes of examples/gemm.mlir with `config <tile = 64 x 128 x 128, split_k = 4>`.
Prints the module: `python split_k.py | fp8-opt --fp8-gemm-to-ptx=chip=sm_90a --emit=ptx -o split_k.ptx`.
"""

from blockwise import operands

from fp8.builder import Fragment, MemRef, Module, Scalar, Tile, ceildiv, maximum, minimum

TILE_M, TILE_N, CTAS, DEPTH = 64, 128, 4, 2  # a slot holds two K blocks

a_tile = Tile((TILE_M, 128), "f8E4M3FN", swizzle=128)
b_tile = Tile((TILE_N, 128), "f8E4M3FN", swizzle=128)
a_scale_tile = Tile((1, TILE_M), "f32")
b_scale_tile = Tile((1, 4), "f32")  # of which the first is used: the row of a tile is at least 16 bytes
d_tile = Tile((TILE_M, TILE_N // CTAS), "bf16", swizzle=64)
product = Fragment((TILE_M, TILE_N), warps=4, layout="warpgroups")

module = Module()

with module.kernel("gemm_kernel", cluster=(1, 1, CTAS)) as kernel:
    a, a_scale = kernel.tensor_map("a", a_tile), kernel.tensor_map("a_scale", a_scale_tile)
    b, d = kernel.tensor_map("b", b_tile), kernel.tensor_map("d", d_tile)
    b_scale = kernel.array("b_scale", MemRef((None, None), "f32"))
    tiles_m, tiles_n, blocks = kernel.index("tiles_m"), kernel.index("tiles_n"), kernel.index("blocks")

    slot = {"a": a_tile, "b": b_tile, "a_scale": a_scale_tile, "b_scale": b_scale_tile}
    pipeline = kernel.pipeline(3, **{f"{name}{i}": tile for i in range(DEPTH) for name, tile in slot.items()})
    queue = kernel.store_queue(1, d_tile, warps=4)
    exchange = kernel.exchange(product)

    def own_blocks() -> tuple[Scalar, Scalar]:
        """The first K block of this CTA, and how many it has: whole slots, but for the last CTA."""
        most = ceildiv(blocks, CTAS * DEPTH) * DEPTH
        first = minimum(kernel.cluster_block_id() * most, blocks)
        return first, minimum(most, blocks - first)

    with kernel.role("multiply", warps=4):
        with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
            total = kernel.zeros(product)
            _, count = own_blocks()
            with kernel.when(count != 0):
                with kernel.range((count - 1) // DEPTH + 1):
                    stage = pipeline.consumer().acquire()
                    factors = [stage[f"b_scale{i}"][0] for i in range(DEPTH)]
                    partials = []
                    for i in range(DEPTH):  # all of a slot's products are under way before the first is waited for
                        a_view, b_view, a_factors = stage[f"a{i}"], stage[f"b{i}"], stage[f"a_scale{i}"]
                        partials.append((kernel.multiply(a_view, b_view, product), a_factors, factors[i]))
                    for partial, a_factors, b_factor in partials:
                        total.promote(partial.wait(), a_factors, b_factor)
                    stage.release()
            share = exchange.reduce_scatter(total)
            queue.store(share, d[tile_m * TILE_M, tile_n * TILE_N + kernel.cluster_block_id() * (TILE_N // CTAS)])

    with kernel.role("load", warps=1):
        with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
            m, n = tile_m * TILE_M, tile_n * TILE_N
            b_block = n // 128
            first, count = own_blocks()
            with kernel.range(0, count, DEPTH) as own:
                slot_first = own + first
                with pipeline.produce() as stage:
                    for i in range(DEPTH):
                        kb = slot_first + i
                        k = kb * 128
                        stage.load_element(f"b_scale{i}", 0, b_scale, [b_block, kb], exists=kb < blocks)
                        stage.load(**{f"a{i}": a[m, k], f"b{i}": b[n, k], f"a_scale{i}": a_scale[kb, m]})

with module.launch("gemm") as host:
    arrays = operands(host)
    rows, columns = ceildiv(arrays["a"].extent(0), TILE_M), ceildiv(arrays["b"].extent(0), TILE_N)
    room = maximum(host.multiprocessor_count() // CTAS, 1)
    host.launch(kernel, grid=minimum(rows * columns, room) * CTAS, **arrays, tiles_m=rows, tiles_n=columns,
                blocks=ceildiv(arrays["a"].extent(1), 128))

if __name__ == "__main__":
    print(module, end="")
