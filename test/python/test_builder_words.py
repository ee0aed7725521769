# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words that no example has: each in a kernel that the compiler lowers to PTX, with the ops that it stands for."""

import pytest
from builder_cases import ARRAY, ROW, TOTAL

from fp8.builder import BuildError, Fragment, MemRef, Module, Tile, math, maximum, select, shuffle

OPERAND = Tile((128, 128), "f8E4M3FN", swizzle=128)


def reading(body, *, cluster=None, tile=ROW):
    """A kernel whose role "read" of four warps is `body`, with a ring that another role fills."""
    module = Module()
    with module.kernel("k", cluster=cluster) as kernel:
        source, values, count = kernel.tensor_map("source", tile), kernel.array("values", ARRAY), kernel.index("count")
        ring = kernel.pipeline(2, tile=tile)
        with kernel.role("read", warps=4):
            body(kernel, ring, values, count)
        with kernel.role("load", warps=1):
            with kernel.range(count) as i:
                with ring.produce() as stage:
                    stage.load(tile=source[i, 0])
    with module.launch(b_block=64) as host:
        array, numbers = host.read("source", MemRef((None, None), tile.element)), host.read("values", ARRAY)
        host.launch(kernel, grid=1, source=array, values=numbers, count=array.extent(0))
    return module


def answers():
    """A scheduler that asks once, and roles that read the answer themselves."""
    module = Module()
    with module.kernel("k") as kernel:
        values, work = kernel.array("values", ARRAY), kernel.work_queue(2)
        with kernel.role("read", warps=4):
            more, cluster = kernel.variable(False), kernel.variable(0)
            with work.consume() as answer:
                is_more, number = answer.next_work()
                more.set(is_more)
                cluster.set(number)
            with kernel.when(more.get()):
                with work.consume() as answer:
                    answer.next_work()
                    values[0, cluster.get()]
        with kernel.role("scheduler", warps=1):
            stage = work.producer().acquire()
            for _ in range(2):
                stage.request_work()
                stage.release()
                work.producer().acquire()
            stage.request_work()
            stage.release()
            with work.produce() as stage:
                stage.request_work()
    with module.launch() as host:
        host.launch(kernel, grid=1, values=host.read("values", ARRAY))
    return module


def waits():
    """An end that is tested, waited for, and taken by a scope; then one that is taken without a scope."""
    def body(kernel, ring, values, count):
        with kernel.range(count // 2):
            total, end = kernel.zeros(TOTAL), ring.consumer()
            done = end.try_wait()
            values[0, end.index()]
            end.wait(unless=done)
            with ring.consume() as stage:
                total.add_row(stage["tile"])
            end.wait()
            stage = end.acquire()
            total.add_row(stage["tile"])
            stage.release()
    return reading(body)


def copies():
    """A copy into views, and a prefetch of the next."""
    module = Module()
    with module.kernel("k") as kernel:
        source, ring = kernel.tensor_map("source", ROW), kernel.pipeline(2, row=ROW)
        with kernel.role("load", warps=1):
            with kernel.for_each_tile(1, 1, scheduler="one_tile") as (i, j):
                with ring.produce() as stage:
                    kernel.copy(source[i, j], stage["row"], stage.mbarrier())
                    kernel.prefetch(source[i, j])
        with kernel.role("read", warps=4):
            with kernel.for_each_tile(1, 1, scheduler="one_tile"):
                with ring.consume() as stage:
                    kernel.zeros(TOTAL).add_row(stage["row"])
    with module.launch() as host:
        host.launch(kernel, grid=1, source=host.read("source", ARRAY))
    return module


def numbers():
    """Numbers that loops and branches change, and those of other lanes."""
    def body(kernel, ring, values, count):
        best = kernel.variable(0.0)
        place = kernel.variable(select(count > 1, count, 1))
        with kernel.for_each_tile(count, 1, band=4, band_of="columns") as (i, _):
            x = shuffle(values[0, kernel.lane_id()], i % 32)
            with kernel.when(x > best.get()):
                best.set(x)
                place.set(select(i < 7, i, 7))
            with kernel.otherwise():
                place.set(kernel.cluster_block_id())
            with ring.consume() as stage:
                total = kernel.zeros(TOTAL)
                total.add_row(stage["tile"])
                half = values[0, place.get()] * 0.5
                total.map(lambda e: maximum(math("fma", e * best.get(), math("tanh", half), half), best.get()))
    return reading(body, cluster=(1, 2))


def accumulators():
    """Accumulators that are handed over by hand, of a ring whose counts are stated."""
    module = Module()
    with module.kernel("k") as kernel:
        source, ring = kernel.tensor_map("source", OPERAND), kernel.pipeline(2, a=OPERAND)
        output = kernel.output_pipeline(1, (128, 128), producer_arrivals=1, consumer_arrivals=4)
        with kernel.role("read", warps=4):
            with output.epilogue_warp() as warp:
                with warp.consume_explicit() as stage:
                    kernel.zeros(TOTAL).read(stage)
                    stage.arrive()
        with kernel.role("mma", warps=1):
            with output.mma_warp() as warp:
                accumulator = warp.acquire()
                with ring.consume() as stage:
                    accumulator.mma(stage["a"], stage["a"])
                accumulator.release()
        with kernel.role("load", warps=1):
            with ring.produce() as stage:
                stage.load(a=source[0, 0])
    with module.launch() as host:
        host.launch(kernel, grid=1, source=host.read("source", MemRef((None, None), "f8E4M3FN")))
    return module


def parts():
    """A product of two parts, of which each is promoted, with a scale for each column."""
    rows = Tile((1, 128), "f32")
    whole, part = (Fragment((extent, 128), 4, "warpgroups") for extent in (128, 64))
    module = Module()
    with module.kernel("k") as kernel:
        source, scales = kernel.tensor_map("source", OPERAND), kernel.tensor_map("scales", rows)
        ring = kernel.pipeline(2, a=OPERAND, s=rows)
        with kernel.role("multiply", warps=4):
            total = kernel.zeros(whole)
            with ring.consume() as stage:
                for number in (0, 1):
                    product = kernel.multiply(stage["a"], stage["a"], part, part=number)
                    total.promote(product.wait(), stage["s"], stage["s"], part=number)
        with kernel.role("load", warps=1):
            with ring.produce() as stage:
                stage.load(a=source[0, 0], s=scales[0, 0])
    with module.launch() as host:
        host.launch(kernel, grid=1, source=host.read("source", MemRef((None, None), "f8E4M3FN")), scales=host.read("scales", ARRAY))
    return module


def read_rows(kernel, source):
    """Roles that load a row of the map and add it."""
    ring = kernel.pipeline(2, row=ROW)
    with kernel.role("load", warps=1):
        with kernel.range(1):
            with ring.produce() as stage:
                stage.load(row=source[0, 0])
    with kernel.role("read", warps=4):
        with ring.consume() as stage:
            kernel.zeros(TOTAL).add_row(stage["row"])


def constancies():
    """A role that need not wait for the kernel in front where what it loads is constant."""
    module = Module()
    with module.kernel("k", programmatic=True, signals_at_wait=True) as kernel:
        source = kernel.tensor_map("source", ROW)
        kernel.constancy("constant", source)
        read_rows(kernel, source)
    with module.launch() as host:
        array = host.read("source", ARRAY)
        host.launch(kernel, grid=1, source=array, constant=host.is_constant(array))
    return module


def boxes_that_fit():
    module = Module()
    with module.kernel("k") as kernel:
        source = kernel.tensor_map("source", ROW, fit_rows=True)
        read_rows(kernel, source)
    with module.launch() as host:
        host.launch(kernel, grid=1, source=host.read("source", ARRAY))
    return module


def test_a_constancy_is_of_parameters():
    module = Module()
    with pytest.raises(BuildError, match="'constant' tells of .*, which is no parameter of kernel 'k'"):
        with module.kernel("k") as kernel:
            kernel.constancy("constant", kernel.index("n") + 1)


@pytest.mark.parametrize("before", [True, False])
def test_the_bytes_of_a_box_leave_every_name_to_parameters(before, compiler):
    module = Module()
    with module.kernel("k") as kernel:
        names = ["source_bytes", "rows"] if before else ["rows", "source_bytes"]
        kernel.index(names[0])
        source = kernel.tensor_map("source", ROW, fit_rows=True)
        kernel.index(names[1])
        read_rows(kernel, source)
    with module.launch() as host:
        array = host.read("source", ARRAY)
        host.launch(kernel, grid=1, source=array, source_bytes=7, rows=array.extent(0))
    # The compiler checks that the launch passes the bytes of the map (H6).
    assert "fp8.box_bytes = 1 : i64" in compiler.accept(module.text())


WORDS = [
    (constancies, "sm_90a", ["fp8.is_constant", "fp8.constants = array<i64: 0>", "fp8.signals_at_wait"]),
    (boxes_that_fit, "sm_90a", ["fp8.fit_rows %", "fp8.box_bytes %", "fp8.box_bytes = 0 : i64"]),
    (answers, "sm_100a", ["fp8.work_queue", "fp8.request_work", "fp8.next_work"]),
    (waits, "sm_100a", ["fp8.try_wait", "fp8.wait ", "unless %", "fp8.index", "fp8.acquire", "fp8.release", "problem_options = {b_block = 64"]),
    (copies, "sm_90a", ["fp8.tma_copy", "fp8.tma_prefetch", "for_each_tile one_tile"]),
    (numbers, "sm_90a", ["band(4 columns)", "gpu.shuffle", "arith.select", "arith.cmpi ugt", "gpu.lane_id", "gpu.cluster_block_id"]),
    (accumulators, "sm_100a", ["fp8.consume_explicit", "{consumer_arrivals = 4 : i64, producer_arrivals = 1 : i64}"]),
    (parts, "sm_90a", ["part 1,", "row %"]),
]


@pytest.mark.parametrize("words, chip, ops", WORDS, ids=lambda x: getattr(x, "__name__", ""))
def test_words(words, chip, ops, compiler, tmp_path):
    text = compiler.accept(words().text())
    assert not [op for op in ops if op not in text]
    # The words are in some order that compiles; roles of these kernels may wait forever.
    compiler.ptx(words().text(), chip, tmp_path, prove=False)


def test_an_end_that_is_only_asked_for_is_closed(compiler):
    result = compiler.run(reading(lambda kernel, ring, values, count: ring.consumer()).text(), "--fp8-gemm-to-ptx=chip=sm_90a")
    assert "(K4)" in result.stderr and "this role closes its end unused" in result.stderr
