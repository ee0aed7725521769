# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that the builder makes are those that are written by hand, and errors in them name lines of Python."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

import fp8
from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, math, maximum, minimum

ROW = Tile((1, 128), "f32")
OPERAND = Tile((128, 128), "f8E4M3FN", swizzle=128)


@pytest.mark.parametrize("name, chip", [("structured", "sm_100a"), ("hopper", "sm_90a"), ("bf16_gemm", "sm_100a"), ("tensorwise_gemm", "sm_100a"), ("mxfp8_gemm", "sm_100a")])
def test_example_is_the_kernel_written_by_hand(name, chip, compiler, example, tmp_path):
    by_hand = (ROOT / "examples" / f"{name}.mlir").read_text()
    assert compiler.ptx(example(name), chip, tmp_path) == compiler.ptx(by_hand, chip, tmp_path)


def test_text_round_trips(compiler, example):
    compiler.accept(example("structured"), "--verify-roundtrip")


def test_locations_are_the_lines_of_python(compiler, example):
    text = compiler.accept(example("structured"), "--mlir-print-debuginfo", "--mlir-print-local-scope")
    source = (ROOT / "examples" / "python" / "structured.py").read_text().splitlines()
    for op, call in [("fp8.promote", "total.promote("), ("fp8.mma ", "stage.mma("), ("fp8.store ", "queue.store("), ("fp8.tma_load", "stage.load(a")]:
        line = next(number for number, code in enumerate(source, 1) if call in code)
        start = text.index(op)
        assert f'structured.py":{line}:' in text[start:text.index("\n", start)]


def test_verifier_errors_stand_in_python():
    module = Module()
    with module.kernel("copy") as kernel:
        source = kernel.tensor_map("source", Tile((1, 64), "f32"))
        ring = kernel.pipeline(2, row=ROW)
        with kernel.role("load", warps=1):
            with ring.produce() as stage:
                stage.load(row=source[0, 0])  # wrong box
        with kernel.role("read", warps=4):
            with ring.consume() as stage:
                stage.index()
    source = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(number for number, code in enumerate(source, 1) if code.endswith("# wrong box"))
    for refuse in (str, fp8.verify, fp8.compile):
        with pytest.raises(fp8.CompileError) as caught:
            refuse(module)
        first, second, *_ = str(caught.value).splitlines()
        assert first.startswith(f"{__file__}:{line}:17: error: 'fp8.tma_load' op") and "(M1)" in first and second == source[line - 1]


def loops(body, **ring):
    """A kernel whose role of four warps reads rows in a loop; `body` is called in it."""
    module = Module()
    with module.kernel("loops") as kernel:
        source = kernel.tensor_map("source", ROW)
        count = kernel.index("count")
        ring = kernel.pipeline(2, row=ROW, **ring)
        with kernel.role("load", warps=1):
            with kernel.range(count) as i:
                with ring.produce() as stage:
                    stage.load(row=source[i, 0])
        with kernel.role("read", warps=4):
            body(kernel, ring, count)
    return module


def test_a_loop_carries_what_it_changes_and_nothing_else(compiler):
    def body(kernel, ring, count):
        kept, added = (kernel.zeros(Fragment((128, 128), warps=4)) for _ in range(2))
        with kernel.range(count):
            with ring.consume() as stage:
                added.add_row(stage["row"])
                kept.value()

    text = loops(body).text(locations=False)
    compiler.accept(text)
    header = text[text.index('role "read"'):]
    header = header[header.index("scf.for"):].split("\n")[0]
    assert header.count("=") - 1 == 2 and "-> (!fp8.consumer<!pipeline>, !fp8.fragment<128x128xf32, 4>)" in header


def test_scalars(compiler):
    def body(kernel, ring, count):
        with kernel.range(1, count, 2) as i:
            x = (i + 1) * 2 // 3 % 5 - i
            kernel.zeros(Fragment((128, 128), warps=4)).map(lambda e: maximum(minimum(e * 0.5 + 1e-5, 1.0), -1) / 3 - math("tanh", e))
            with kernel.when((x == 7) | ~(x < 3) & (ceildiv(x, 4) >= count)):
                maximum(x, minimum(3, i))
            with kernel.range(10 - x):
                with ring.consume() as stage:
                    stage.mbarrier()
                    3 // stage.index()

    text = loops(body, producer_arrivals=1).text()
    compiler.accept(text)
    for op in ("addi", "muli", "divui", "remui", "subi", "cmpi eq", "cmpi ult", "cmpi uge", "xori", "ori", "andi", "minui", "maxui", "ceildivui",
               "mulf", "addf", "minimumf", "maximumf", "divf", "subf"):
        assert f"arith.{op}" in text, op
    assert "math.tanh" in text and "9.99999974E-6 : f32" in text and "{producer_arrivals = 1 : i64} :" in text


@pytest.mark.parametrize("both", [True, False])
def test_arms_meet(both, compiler):
    def body(kernel, ring, count):
        total = kernel.zeros(Fragment((128, 128), warps=4))
        with ring.consume_explicit() as stage:
            with kernel.when(count > 3):
                total.add_row(stage["row"])
                if both:
                    stage.arrive()
            with kernel.otherwise():
                total.map(lambda x: x * 2)
                if both:
                    stage.arrive()
            if not both:
                stage.arrive()
        total.value()

    text = loops(body).text(locations=False)
    compiler.accept(text)
    assert text.count("fp8.arrive") == 1 + both and text.count("} else {") == 1


def test_several_roles_share_a_ring(compiler):
    module = Module()
    with module.kernel("two") as kernel:
        source = kernel.tensor_map("source", ROW)
        ring = kernel.pipeline(2, left=ROW, right=ROW)
        for side in ("left", "right"):
            with kernel.role(f"load {side}", warps=1):
                with ring.produce() as stage:
                    stage.load(**{side: source[0, 0]})
        with kernel.role("read", warps=4):
            with ring.consume() as stage:
                kernel.zeros(Fragment((128, 128), warps=4)).add_row(stage["left"])
    compiler.accept(str(module))
    assert "fp8.pipeline : !fp8.producer<!pipeline>, !fp8.producer<!pipeline>, !fp8.consumer<!pipeline>" in module.text(locations=False)


def test_multicast_cluster_and_unused_rows(compiler):
    module = Module()
    with module.kernel("share", cluster=(1, 4)) as kernel:
        share = kernel.tensor_map("share", Tile((32, 128), "f8E4M3FN", swizzle=128))
        values = kernel.array("values", MemRef((None,), "f32", strides=(None,)))
        ring = kernel.pipeline(2, a=OPERAND, row=ROW)
        with kernel.role("load", warps=1):
            with ring.produce() as stage:
                stage.load(a=share[0, 0].multicast("n"))
                stage.load_element("row", 3, values, [5], exists=values[0] > 0)
        with kernel.role("read", warps=4):
            with ring.consume():
                pass
    compiler.accept(str(module))
    assert "multicast = #fp8<axis n>" in module.mlir() and "fp8.cluster = array<i64: 1, 4>" in str(module)


def test_threads():
    def threads(warps, multiply):
        module = Module()
        with module.kernel("k") as kernel:
            ring = kernel.pipeline(2, a=OPERAND)
            with kernel.role("load", warps=1):
                with ring.produce():
                    pass
            with kernel.role("read", warps=warps):
                with ring.consume() as stage:
                    if multiply:
                        kernel.multiply(stage["a"], stage["a"], Fragment((64 * warps // 4, 128), warps, "warpgroups")).wait()
        return kernel.threads

    assert (threads(8, False), threads(8, True), threads(4, True)) == (288, 384, 160)


def test_reprs():
    module = Module()
    with module.kernel("k") as kernel:
        ring = kernel.pipeline(2, row=ROW)
        with kernel.role("load", warps=1) as role:
            scope = ring.produce()
            with scope as stage:
                text = [repr(x) for x in (kernel, ring, scope, stage, kernel.zeros(Fragment((128, 128), 4)))]
        with kernel.role("read", warps=4):
            with ring.consume() as stage:
                text.append(repr(stage["row"]))
    assert role.warps == 1
    expected = ["<kernel 'k', warps {load: 1}", "<pipeline 'row': !fp8.pipeline<2, row: !fp8.tile<1x128xf32>>", "<scope 'produce' of kernel 'k'",
                "<stage of producer end of pipeline 'row'", "<fragment: !fp8.fragment<128x128xf32, 4>", "<tile 'row': !fp8.tile<1x128xf32>"]
    assert len(text) == len(expected)
    for start, actual in zip(expected, text):
        assert actual.startswith(start) and "test_builder.py:" in actual


def test_mlir_needs_no_library(compiler):
    program = "from fp8.builder import Module\nmodule = Module()\nwith module.kernel('k'): pass\nprint(module.mlir())"
    run = subprocess.run([sys.executable, "-c", program], env={**os.environ, "FP8_LIBRARY": "/no/library.so"}, capture_output=True, text=True, check=True)
    assert "gpu.func @k()" in compiler.accept(run.stdout)


def test_names_of_files_are_kept():
    program = "module = Module()\nwith module.kernel('k') as kernel:\n    kernel.pipeline(2, row=ROW)"
    names = {"Module": Module, "ROW": ROW}
    exec(compile(program, "/källa \"k\".py", "exec"), names)
    with pytest.raises(fp8.CompileError) as caught:
        fp8.verify(names["module"])
    assert [(one.file, one.line) for one in caught.value.diagnostics] == [("/källa \"k\".py", 3)]
