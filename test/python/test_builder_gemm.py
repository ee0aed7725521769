# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that the compiler makes of the GEMM op, written in Python, and a check that the builder has words for all that such kernels say."""

import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from test_builder_words import WORDS

from fp8.builder import Fragment, MemRef, Module, Tile, ceildiv, minimum


def gemm(config, options=""):
    """The GEMM op with what follows the sum, as test/Run/Inputs/epilogues.py spells it, and the configuration."""
    script = ROOT / "test" / "Run" / "Inputs" / "epilogues.py"
    command = [sys.executable, str(script), "--print", options, "--config", config]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("name, chip, config", [
    ("clc", "sm_100a", "tile = 128 x 128 x 128, cluster = 2 x 1, scheduler = clc, launch = programmatic"),
    ("split_k", "sm_90a", "tile = 64 x 128 x 128, split_k = 4"),
])
def test_example_is_the_kernel_of_the_op(name, chip, config, compiler, example, tmp_path):
    assert config in " ".join((ROOT / "examples" / "python" / f"{name}.py").read_text().split())
    assert compiler.ptx(example(name), chip, tmp_path) == compiler.ptx(gemm(config), chip, tmp_path)


def batched():
    """Of a batch, with beta * C and a bias, in clusters that share B, where the rows of D may end within 16 bytes (Hopper)."""
    tile = Tile((128, 128), "f8E4M3FN", swizzle=128)
    share, row, element = Tile((64, 128), "f8E4M3FN", swizzle=128), Tile((1, 128), "f32"), Tile((1, 4), "f32")
    c_tile, d_tile = Tile((128, 64), "bf16", swizzle=128), Tile((64, 64), "bf16", swizzle=128)
    product = Fragment((128, 128), warps=8, layout="warpgroups")
    number = MemRef((1, 1), "f32")
    strided = MemRef((None, None, None), "bf16", strides=(None, None, 1))
    anywhere = MemRef((None, None, None), "bf16", strides=(None, None, 1), offset=None)
    module = Module()
    with module.kernel("gemm_kernel", cluster=(2, 1)) as kernel:
        a, a_scale, b, d = (kernel.tensor_map(name, box, rank=3) for name, box in [("a", tile), ("a_scale", row), ("b", share), ("d", d_tile)])
        b_scale = kernel.array("b_scale", MemRef((None, None, None), "f32"))
        tiles_m, tiles_n, blocks, rows = (kernel.index(name) for name in ("tiles_m", "tiles_n", "blocks", "rows"))
        c, bias = kernel.tensor_map("c", c_tile, rank=3), kernel.tensor_map("bias", row)
        beta, d_rest = kernel.array("beta", number), kernel.array("d_rest", anywhere)

        pipeline = kernel.pipeline(4, a=tile, b=tile, a_scale=row, b_scale=element)
        queue = kernel.store_queue(2, d_tile, warps=8)
        bias_pipeline, c_pipeline = kernel.pipeline(1, bias=row), kernel.pipeline(2, c=c_tile)

        def add(total, stage):
            b_factor, a_view, b_view, a_factors = stage["b_scale"][0], stage["a"], stage["b"], stage["a_scale"]
            total.promote(kernel.multiply(a_view, b_view, product).wait(), a_factors, b_factor)

        with kernel.role("multiply", warps=8):
            with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                matrix, row_m = tile_m // rows, tile_m % rows
                total = kernel.zeros(product)
                with kernel.when(blocks != 0):
                    stage = pipeline.consumer().acquire()  # its successor is acquired before the loop's end: the last one is peeled
                    with kernel.range(blocks - 1):
                        add(total, stage)
                        stage.release()
                        pipeline.consumer().acquire()
                    add(total, stage)
                    stage.release()
                m, n, scale = row_m * 128, tile_n * 128, beta[0, 0]
                with bias_pipeline.consume() as slot:
                    total.add_row(slot["bias"])
                with kernel.when(scale != 0):
                    for column in (0, 64):
                        with c_pipeline.consume() as slot:
                            total.add_tile(slot["c"], column, scale)
                queue.store(total, d[matrix, m, n], rest=d_rest)

        with kernel.role("load", warps=1):
            with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                matrix, row_m = tile_m // rows, tile_m % rows
                m, n = row_m * 128, tile_n * 128
                block_n = n // 128
                with kernel.range(blocks) as kb:
                    with pipeline.produce() as slot:
                        k = kb * 128
                        slot.load_element("b_scale", 0, b_scale, [matrix, block_n, kb])
                        slot.load(a=a[matrix, m, k], b=b[matrix, n, k].multicast("m"), a_scale=a_scale[matrix, kb, m])

        with kernel.role("epilogue_load", warps=1):
            scale = beta[0, 0]
            with kernel.for_each_tile(tiles_m, tiles_n, band=8) as (tile_m, tile_n):
                matrix, row_m = tile_m // rows, tile_m % rows
                m, n = row_m * 128, tile_n * 128
                with bias_pipeline.produce() as slot:
                    slot.load(bias=bias[0, n])
                with kernel.when(scale != 0):
                    for column in (0, 64):
                        with c_pipeline.produce() as slot:
                            slot.load(c=c[matrix, m, n + column if column else n])

    with module.launch("gemm") as host:
        matrices = MemRef((None, None, None), "f8E4M3FN")
        arrays = {"a": host.read("a", matrices), "a_scale": host.read("a_scale", MemRef((None, None, None), "f32", strides=(None, None, 1))),
                  "b": host.read("b", matrices), "b_scale": host.read("b_scale", MemRef((None, None, None), "f32")),
                  "c": host.read("c", strided), "beta": host.read("beta", number),
                  "bias": host.read("bias", MemRef((1, None), "f32", strides=(None, 1)))}
        d_array = host.write("d", strided)
        rows_of_one, columns = ceildiv(arrays["a"].extent(1), 128), ceildiv(arrays["b"].extent(1), 128)
        host.launch(kernel, grid=minimum(rows_of_one * columns, 66) * 2, **arrays, d=d_array.whole_units(), d_rest=d_array.cast(anywhere),
                    tiles_m=arrays["a"].extent(0) * rows_of_one, tiles_n=columns, blocks=ceildiv(arrays["a"].extent(2), 128), rows=rows_of_one)
    return module


def test_batch_with_an_epilogue_is_the_kernel_of_the_op(compiler, tmp_path):
    config, options = "tile = 128 x 128 x 128, cluster = 2 x 1", "batch,c=bf16,beta,bias=f32,strided"
    (ptx, manifest), (by_op, its) = (compiler.ptx(text, "sm_90a", tmp_path) for text in (batched().text(), gemm(config, options)))
    assert ptx == by_op
    assert json.loads(manifest)["parameters"][:5] == json.loads(its)["parameters"][:5]


CONFIGS = {
    "sm_100a": ["tile = 128 x 128 x 128", "tile = 128 x 96 x 128, cluster = 1 x 2, scheduler = clc, launch = programmatic",
                "tile = 256 x 128 x 128, cta_group = 2, cluster = 4 x 2", "tile = 64 x 128 x 128, scheduler = one_tile"],
    "sm_90a": ["tile = 128 x 96 x 128", "tile = 256 x 128 x 128, cluster = 2 x 1", "tile = 24 x 128 x 128, split_k = 1",
               "tile = 48 x 64 x 128, split_k = 2", "tile = 64 x 256 x 128, scheduler = one_tile, launch = programmatic"],
}
FORMS = r"\b(whole_units|rest\(|part \d|row %|scaled|band\(\d+\)|band\(\d+ columns\)|multicast along +\w|from\(|of pair|of cluster|problem_options|" \
        r"programmatic|rank = 3|offset: \?|cta_group = 2|arith\.cmp[if] \w+|gpu\.shuffle +idx|persistent|one_tile|clc|accumulate)"


def said(text):
    """The ops that the text has, and the options of them."""
    ops = {match[1] for match in re.finditer(r"^ *(?:%[^=]*= )?([a-z_0-9]+\.[a-z_0-9.]+)", text, re.MULTILINE)}
    return ops | {" ".join(re.sub(r"\d+(?=\)| columns)", "8", match[1]).split()) for match in re.finditer(FORMS, text)}


@pytest.fixture(scope="module")
def words(example):
    """The ops and options of kernels that are written in Python."""
    texts = [example("clc"), example("split_k"), example("tensorwise_gemm"), batched().text(), *(kernel().text() for kernel, _, _ in WORDS)]
    return set().union(*(said(text) for text in texts))


# Phase 2's: a role, and the scope of a warp, say what these do.
PHASE_3 = ("Barrier.td", "BarrierWork.td", "Profile.td")  # families of ops that no author writes
LINEAR = {"close", "step", "create_mma_warp", "release_mma_warp", "wait_tmem", "create_epilogue_warp", "release_epilogue_warp"}


def test_all_ops_of_phase_1_have_words(words):
    families = [path.read_text() for path in (ROOT / "include" / "fp8" / "IR").glob("*.td") if path.name not in PHASE_3]
    ops = {name for family in families for name in re.findall(r'^def Fp8_\w+Op\s*: *Fp8_\w+<"(\w+)"', family, re.MULTILINE)}
    assert LINEAR < ops and "work_queue" in ops
    assert {f"fp8.{op}" for op in ops - LINEAR - {"blockwise_gemm"}} == {word for word in words if word.startswith("fp8.")}


def test_all_that_structured_gemms_say_has_words(compiler, words):
    for chip, configs in CONFIGS.items():
        for config in configs:
            plain = gemm(config)
            half = plain.replace(f"config <{config}>", f"config <{config}> {{b_block = 64}}")
            padded = re.sub(r"memref<\?x\?xf32>(?= {|\))", "memref<?x?xf32, strided<[?, 1]>>", half).replace("= 64}", "= 1}")
            batch, scaled = gemm(config, "batch,c=f32,beta,strided,d=f16"), gemm(config, "bias=bf16,function=silu,scale,d=f8E4M3FN")
            for text in (plain, half, padded, batch, scaled):
                missing = said(compiler.accept(text, f"--fp8-structure-gemm=chip={chip}")) - words
                assert not missing, text
