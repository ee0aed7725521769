# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.compile, verify and run_pipeline: kernels, their parts, and the compiler's errors as exceptions."""

from __future__ import annotations

import json
import sys
import threading
import typing

import fp8
import ml_dtypes
import numpy as np
import pytest
from conftest import ROOT
from fp8 import _reports
from fp8.builder import Module, Tile
from json_types import conforms
from problem import Problem

LEAK = """\
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @read(%end: !fp8.consumer<!ring>) attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  return
}
"""


def test_a_kernel_and_its_parts():
    kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32", bias_dtype="f32"), chip="sm_90a")
    assert kernel.chip == "sm_90a" and kernel.name == "gemm_kernel"
    assert ".target sm_90a" in kernel.ptx
    assert kernel.arguments == ("a", "a_scale", "b", "b_scale", "bias", "d")
    assert kernel.manifest["kernel"] == "gemm_kernel"
    assert {role["name"] for role in kernel.report["roles"]} >= {"load"}
    assert "fp8.blockwise_gemm" in kernel.mlir() and "fp8.produce" in kernel.mlir("structured")
    assert "fp8.acquire" in kernel.mlir(2) and "fp8.mbarrier_wait" in kernel.mlir("barriers") and "nvvm.mbarrier" in kernel.mlir(3) and "llvm.func" in kernel.mlir(4)
    assert repr(kernel).startswith("<fp8.Kernel gemm_kernel for sm_90a: ")
    with pytest.raises(ValueError, match="there is no phase 'five'; there are op, structured"):
        kernel.mlir("five")


def test_a_configuration_is_taken():
    kernel = fp8.compile(fp8.GemmSpec(config="tile = 64 x 64 x 128, stages = 3"), chip="sm_90a")
    assert "stages = 3" in kernel.mlir()
    assert kernel.report["rings"][0]["stages"] == 3


def test_a_problem_chooses_the_configuration():
    small = fp8.compile(fp8.GemmSpec(), chip="sm_90a", problem=(16, 7168, 2048))
    large = fp8.compile(fp8.GemmSpec(), chip="sm_90a", problem=(None, 7168, 2048))
    assert "config" in small.mlir() and small.mlir() != large.mlir()
    assert small.key != large.key == fp8.compile(fp8.GemmSpec(), chip="sm_90a", problem=(None, 7168, 2048)).key


def is_programmatic(kernel):
    assert kernel.manifest["launch"].get("programmatic", False) == ("griddepcontrol.wait" in kernel.ptx)
    return "griddepcontrol.wait" in kernel.ptx


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
def test_launches_of_chosen_kernels_are_programmatic(chip):
    def make(problem, **options):
        return fp8.compile(fp8.GemmSpec(**options), chip=chip, problem=problem, assemble=False)

    for m in (1, 16, 64, 128, 4096):
        problem = (m, 7168, 2048)
        assert is_programmatic(make(problem)) and not is_programmatic(make(problem, programmatic=False))
        assert is_programmatic(make(problem, programmatic=True))
    assert not is_programmatic(fp8.compile(fp8.GemmSpec(), chip=chip, assemble=False))
    unknown = fp8.compile(fp8.GemmSpec(programmatic=True), chip=chip, assemble=False)
    assert is_programmatic(unknown) and "launch = programmatic" in unknown.mlir()


def test_a_constant_b_takes_the_same_kernel():
    def make(constant):
        return fp8.compile(fp8.GemmSpec(d_dtype="f32", programmatic=True, constant_b=constant), chip="sm_90a", problem=(16, 7168, 2048), assemble=False)

    kernels = [make(False), make(True)]
    accesses = [{argument["name"]: argument["access"] for argument in kernel.manifest["arguments"]} for kernel in kernels]
    assert accesses[0] == {"a": "read", "a_scale": "read", "b": "read", "b_scale": "read", "d": "write"}
    assert accesses[1] == accesses[0] | {"b": "constant", "b_scale": "constant"}
    # The kernel is the same: whether it waits before it loads B, a parameter says, and of A another.
    assert kernels[0].ptx.replace(kernels[0].name, kernels[1].name) == kernels[1].ptx
    # Once for the kernel, once in front of its stores, and in each of three blocks of copies of A, and of B.
    assert kernels[0].ptx.count("griddepcontrol.wait") == 8
    told = [{"kind": "constant", "arguments": [factor, factor + "_scale"]} for factor in "ab"]
    assert kernels[0].manifest["parameters"][-2:] == kernels[1].manifest["parameters"][-2:] == told
    p = Problem(16, 72, 640)
    d = np.full((16, 72), np.nan, np.float32)
    kernels[1].simulate(p.a, np.ascontiguousarray(p.a_scale.T), p.b, p.b_scale, d)
    p.check(d)


def test_simulates():
    p = Problem(40, 72, 160)
    kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32"), chip="sm_100a")
    d = np.full((40, 72), np.nan, np.float32)
    scales = np.ascontiguousarray(p.a_scale.T)
    first = kernel.simulate(p.a, scales, p.b, p.b_scale, d)
    p.check(d)
    assert first.ctas >= 1 and first.mmas > 0
    other = kernel.simulate(p.a, scales, p.b, p.b_scale, d, schedule_seed=3)
    assert other.schedule_hash != first.schedule_hash


def test_strides_that_lead_nowhere_are_free():
    """NumPy gives an axis of one element, and all axes of an array without elements, any strides, and calls the array contiguous."""
    kernel = fp8.compile(ROOT / "examples" / "tutorial" / "gemm.mlir", chip="sm_90a", assemble=False)
    every = (np.arange(4 * 128).reshape(4, 128) % 3).astype(ml_dtypes.bfloat16)
    row, ones, d = every[::4], np.ones((64, 128), ml_dtypes.bfloat16), np.full((1, 64), np.nan, ml_dtypes.bfloat16)
    assert row.flags.c_contiguous and row.strides == (1024, 2)
    kernel.simulate(row, ones, d)
    assert (d == row.astype(np.float32).sum()).all()
    none, d = np.empty((64, 0), ml_dtypes.bfloat16), np.full((64, 64), np.nan, ml_dtypes.bfloat16)
    kernel.simulate(none, none, d)
    assert not d.any()


def test_profiles(tmp_path):
    p = Problem(40, 72, 160)
    d = np.full((40, 72), np.nan, np.float32)
    arrays = p.a, np.ascontiguousarray(p.a_scale.T), p.b, p.b_scale, d
    kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32"), chip="sm_100a", profile=True)
    assert kernel.key != fp8.compile(fp8.GemmSpec(d_dtype="f32"), chip="sm_100a").key
    timeline = kernel.profile(*arrays)
    p.check(d)
    timeline.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert tracks == {role["name"] for role in kernel.manifest["profile"]["roles"]}
    assert all(any(line.startswith(f"role '{track}': works") for line in timeline.summary) for track in tracks)
    assert str(timeline).splitlines() == list(timeline.summary)
    with pytest.raises(ValueError, match="kernel 'gemm_kernel' writes no stamps: compile it with profile=True"):
        fp8.compile(fp8.GemmSpec(d_dtype="f32"), chip="sm_100a").profile(*arrays)


def test_profiles_of_calls():
    """fp8.profile makes the twin that writes stamps, of the configuration that the call has."""
    p = Problem(40, 72, 1168)
    arrays = p.a, np.ascontiguousarray(p.a_scale.T), p.b, p.b_scale
    d = np.full((40, 72), np.nan, np.float32)
    timeline = fp8.profile(fp8.gemm, *arrays, out=d, simulate=True, chip="sm_100a")
    p.check(d)
    assert timeline.summary[-1].startswith("bottleneck: ") and not any("dropped" in line for line in timeline.summary)
    assert any("dropped" in line for line in fp8.profile(fp8.gemm, *arrays, d=d, simulate=True, stamps=4).summary)
    kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32"), chip="sm_90a")
    d.fill(np.nan)
    names = {role["name"] for role in kernel.report["roles"]}
    assert all(any(line.startswith(f"role '{name}': works") for line in fp8.profile(kernel, *arrays, d).summary) for name in names)
    p.check(d)
    with pytest.raises(TypeError, match="it must be fp8.gemm or a fp8.Kernel"):
        fp8.profile(print, *arrays)
    with pytest.raises(TypeError, match="a kernel has no options, and bias is given: they are fp8.gemm's"):
        fp8.profile(kernel, *arrays, bias=d)
    with pytest.raises(ValueError, match="c is 1 x 1; it must be M x N, 40 x 72"):
        fp8.profile(fp8.gemm, *arrays, residual=d[:1, :1], simulate=True)
    with pytest.raises(TypeError, match="d and out are one argument: pass d"):
        fp8.profile(fp8.gemm, *arrays, d=d, out=d, simulate=True)
    with pytest.raises(ValueError, match="stamps is 0; it must be at least 1"):
        fp8.profile(fp8.gemm, *arrays, d=d, simulate=True, stamps=0)
    with pytest.raises(TypeError, match="stamps is 1.5; it must be a whole number"):
        fp8.profile(kernel, *arrays, d, stamps=1.5)


def test_simulation_errors_are_the_rules():
    p = Problem(16, 32, 128)
    kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32"), chip="sm_90a")
    d = np.zeros((16, 32), np.float32)
    with pytest.raises(fp8.SimulationError, match="multiple of 16 bytes"):
        kernel.simulate(p.a, np.ones((1, 18), np.float32)[:, :16], p.b, p.b_scale, np.zeros((16, 33), np.float32)[:, :32])
    with pytest.raises(TypeError, match="kernel 'gemm_kernel' takes 5 arrays, a, a_scale, b, b_scale, d, and got 1"):
        kernel.simulate(p.a)
    with pytest.raises(TypeError, match="b is of float32 and the kernel takes float8_e4m3fn"):
        kernel.simulate(p.a, p.a_scale.T, p.c, p.b_scale, d)


def test_progress_and_interrupts(capsys, monkeypatch):
    p = Problem(40, 72, 160)
    kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32"), chip="sm_90a")
    arrays = (p.a, np.ascontiguousarray(p.a_scale.T), p.b, p.b_scale, np.full((40, 72), np.nan, np.float32))
    kernel.simulate(*arrays, progress=True)
    assert "simulating gemm_kernel [##" in capsys.readouterr().err

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fp8._progress.Progress._draw", interrupt)
    arrays[-1][:] = np.nan
    with pytest.raises(KeyboardInterrupt):
        kernel.simulate(*arrays, progress=True)
    assert np.isnan(arrays[-1]).all(), "a run that was ended has written"


def test_diagnostics_have_places_and_notes():
    with pytest.raises(fp8.CompileError) as raised:
        fp8.verify(LEAK, name="leak.mlir")
    (error,) = raised.value.diagnostics
    assert (error.severity, error.file, error.line, error.column) == ("error", "leak.mlir", 3, 12)
    assert error.message.startswith("consumer stage leaks: it is never consumed (L1)")
    assert [note.line for note in error.notes] == [4]
    shown = str(raised.value).splitlines()
    assert shown[1:3] == ["  %stage = fp8.acquire %end : !fp8.consumer<!ring>", " " * 11 + "^"]


def test_verify_takes_what_is_right():
    assert fp8.verify(fp8.GemmSpec().mlir()) == ()


def test_pipelines():
    text = fp8.run_pipeline(fp8.GemmSpec().mlir(), "fp8-gemm-to-ptx{chip=sm_100a phase=linear}")
    assert "fp8.acquire" in text
    fp8.verify(text)
    assert "loc(" in fp8.run_pipeline(fp8.GemmSpec().mlir(), "canonicalize", locations=True)
    with pytest.raises(fp8.CompileError, match="'no-such-pass' does not refer to a registered pass"):
        fp8.run_pipeline(fp8.GemmSpec().mlir(), "no-such-pass")
    with pytest.raises(TypeError, match="pipeline is a NoneType; it must be text"):
        fp8.run_pipeline(fp8.GemmSpec(), None)
    with pytest.raises(ValueError, match="which has a NUL, where the compiler would end it: leave it out"):
        fp8.run_pipeline(fp8.GemmSpec(), "canonicalize\0,no-such-pass")


@pytest.mark.parametrize("source", [None, 3, ["module {}"]])
def test_wrong_sources(source):
    for take in (fp8.compile, fp8.verify, lambda wrong: fp8.run_pipeline(wrong, "canonicalize")):
        with pytest.raises(TypeError, match=f"the source is a {type(source).__name__}; it must be MLIR text or bytecode, the pathlib.Path of a file"):
            take(source)


def test_files(tmp_path):
    path = tmp_path / "leak.mlir"
    path.write_text(LEAK)
    with pytest.raises(fp8.CompileError) as raised:
        fp8.verify(path)
    assert raised.value.diagnostics[0].file == str(path) and str(raised.value).splitlines()[1] == "  %stage = fp8.acquire %end : !fp8.consumer<!ring>"
    path.write_text(fp8.GemmSpec().mlir())
    assert fp8.compile(path, assemble=False).mlir() == fp8.compile(fp8.GemmSpec(), assemble=False).mlir()
    assert "fp8.acquire" in fp8.run_pipeline(path, "fp8-gemm-to-ptx{chip=sm_90a phase=linear}")
    with pytest.raises(FileNotFoundError, match="none.mlir"):
        fp8.compile(tmp_path / "none.mlir")


@pytest.mark.parametrize("name", ["gemm.mlir", "/none/gemm.mlirbc", __file__])
def test_text_that_names_a_file(name):
    for take in (fp8.compile, fp8.verify, lambda wrong: fp8.run_pipeline(wrong, "canonicalize")):
        with pytest.raises(ValueError, match=f"the source is the text '{name}', which names a file and is no module: pass pathlib.Path"):
            take(name)


@pytest.mark.parametrize("problem, words", [((2**31, 64, 64), "M is 2147483648 in problem; it must be from 1 to 2.31 - 1"), ((1, 0, 64), "N is 0"),
                                            ((1, None, 6.5), "K is 6.5"), ((1, 2), "it must be M, N and K"), (64, "problem is 64; it must be M, N and K"),
                                            ((64, 64, 100), "K is 100; it must be a multiple of 16: pad A and B with columns of zeros")])
def test_wrong_problems(problem, words):
    with pytest.raises(ValueError, match=words):
        fp8.compile(fp8.GemmSpec(), problem=problem)


def test_a_table_that_is_not_there():
    with pytest.raises(ValueError, match="cannot read the table of configurations none.json: No such file"):
        fp8.compile(fp8.GemmSpec(), tuned="none.json")


def test_the_path_of_a_table(tmp_path):
    table = tmp_path / "table.json"
    table.write_text('{"gpu": "NVIDIA H200", "chip": "sm_90a", "entries": [{"m": 64, "n": 7168, "k": 2048, "config": "tile = 64 x 16 x 128", "us": 5.5}]}')
    assert "tile = 64 x 16 x 128" in fp8.compile(fp8.GemmSpec(), problem=(64, 7168, 2048), tuned=table, assemble=False).mlir()


@pytest.mark.parametrize("name", ["debug_waits", "profile"])
def test_numbers_are_whole(name):
    with pytest.raises(TypeError, match=f"{name} is 1.5; it must be a whole number"):
        fp8.compile(fp8.GemmSpec(), **{name: 1.5})


def test_scales_of_mxfp8_are_proved_for_their_chip():
    (proof,) = fp8.prove(fp8.GemmSpec(a_scale_dtype="f8E8M0FNU", b_scale_dtype="f8E8M0FNU"))
    assert proof["properties"]["progress"]["verdict"] == "proved"


def test_a_report_needs_pipelines():
    kernel = fp8.compile(fp8.run_pipeline(fp8.GemmSpec(), "fp8-gemm-to-ptx{chip=sm_90a phase=barriers}"), assemble=False)
    with pytest.raises(ValueError, match="kernel 'gemm_kernel' was compiled from a phase without pipelines"):
        kernel.report


def test_the_lines_of_ptx_are_the_sources():
    """Two sources that differ in places only are two kernels, for the PTX names the places."""
    text = fp8.GemmSpec(config="tile = 64 x 16 x 128").mlir()
    first, second = fp8.compile(text, assemble=False), fp8.compile("\n\n" + text, assemble=False)
    assert first.ptx != second.ptx
    assert second.ptx == fp8.compile("\n\n" + text, assemble=False, cache=False).ptx


def test_wrong_specs():
    with pytest.raises(TypeError, match="d_dtype is f64; it must be bfloat16, float16, float32, float8_e4m3fn or float8_e5m2"):
        fp8.GemmSpec(d_dtype="f64")
    with pytest.raises(TypeError, match="a_scale_dtype is float16; it must be float32 or bfloat16"):
        fp8.GemmSpec(a_scale_dtype="float16")
    assert fp8.GemmSpec(d_dtype="float32", bias_dtype="bfloat16") == fp8.GemmSpec(d_dtype="f32", bias_dtype="bf16")
    with pytest.raises(ValueError, match="beta is the factor of C, and there is none"):
        fp8.GemmSpec(beta=True)
    for name, value in (("programmatic", 1), ("d_scale", 0.0)):
        with pytest.raises(TypeError, match=f"{name} is {value}; it must be True, False or None"):
            fp8.GemmSpec(**{name: value})
    for name in ("beta", "batch", "constant_b", "d_contiguous"):
        with pytest.raises(TypeError, match=f"{name} is 'no'; it must be True or False"):
            fp8.GemmSpec(c_dtype="f32", **{name: "no"})
    with pytest.raises(TypeError, match="config is 5; it must be text, or None for the compiler to choose"):
        fp8.GemmSpec(config=5)
    assert fp8.GemmSpec(d_scale=None) == fp8.GemmSpec()
    with pytest.raises(ValueError, match="the config pins the launch, too: leave programmatic out, and add 'launch = programmatic' to the config"):
        fp8.GemmSpec(config="tile = 128 x 128 x 128", programmatic=True)
    with pytest.raises(fp8.CompileError, match="stages"):
        fp8.compile(fp8.GemmSpec(config="tile = 128 x 128 x 128, stages = 99"), chip="sm_90a")
    with pytest.raises(fp8.CompileError, match="tile M must be") as raised:
        fp8.compile(fp8.GemmSpec(config="tile = 100 x 128 x 128"), chip="sm_90a")
    assert str(raised.value).splitlines()[1:3] == ["    config <tile = 100 x 128 x 128>", " " * 11 + "^"]


def test_no_assembler(monkeypatch, tmp_path):
    monkeypatch.setenv("FP8_PTXAS", str(tmp_path / "ptxas"))
    with pytest.raises(fp8.CompileError, match="FP8_PTXAS names '.*ptxas', which is not a program: let it name a ptxas"):
        fp8.compile(fp8.GemmSpec(), chip="sm_90a", assemble=True)
    assert fp8.compile(fp8.GemmSpec(), chip="sm_90a", assemble=False).cubin is None


def test_threads_compile_at_the_same_time():
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda: texts.append(fp8.compile(fp8.GemmSpec(), chip="sm_90a", assemble=False, cache=False).ptx)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 3 and len(set(texts)) == 1


def test_errors_show_the_lines_of_python():
    """Those that made the ops, and not the lines of those numbers in the module's text."""
    ring_tile, box = Tile((1, 128), "f32"), Tile((1, 64), "f32")
    module = Module()
    with module.kernel("copy") as kernel:
        source = kernel.tensor_map("source", box)
        ring = kernel.pipeline(2, row=ring_tile)
        with kernel.role("load", warps=1):
            with ring.produce() as stage:
                stage.load(row=source[0, 0])  # refused
        with kernel.role("read", warps=4):
            with ring.consume() as stage:
                stage.index()
    with pytest.raises(fp8.CompileError, match=r"must be the stage's tile '!fp8.tile<1x128xf32>' \(M1\)") as caught:
        fp8.verify(module)
    place, line, mark = str(caught.value).splitlines()
    assert place.startswith(f"{__file__}:") and line.endswith("stage.load(row=source[0, 0])  # refused")
    # Python tells columns from 3.11 on.
    assert mark.index("^") == (line.index("stage.load") if sys.version_info >= (3, 11) else 0)


@pytest.mark.parametrize("chip, spec, debug_waits", [
    ("sm_90a", fp8.GemmSpec(b_block=64, programmatic=True), 0),
    ("sm_100a", fp8.GemmSpec(bias_dtype="f32", c_dtype="bf16", beta=True, d_scale=True, batch=True), 100),
])
def test_manifests_and_reports_are_of_their_types(chip, spec, debug_waits):
    kernel = fp8.compile(spec, chip=chip, debug_waits=debug_waits, assemble=False, cache=False)
    assert conforms(_reports.Manifest, kernel.manifest) and conforms(_reports.Report, kernel.report)
    assert ("debug_waits" in kernel.manifest) == bool(debug_waits)


def test_the_types_of_manifests_are_those_of_the_schema():
    schema = json.loads((ROOT / "docs" / "manifest.schema.json").read_text())
    defined = schema["$defs"]
    barrier = defined["barriers"]["items"]
    for type, described in {
        _reports.Manifest: schema, _reports.Argument: defined["argument"], _reports.Constraint: defined["constraint"], _reports.Launch: defined["launch"],
        _reports.TensorMap: defined["tensorMap"], _reports.Pointer: defined["pointer"], _reports.Scalar: defined["scalar"],
        _reports.DebugWaits: defined["debugWaits"], _reports.DebugBarrier: barrier, _reports.Profile: defined["profile"],
    }.items():
        assert set(typing.get_type_hints(type)) == set(described["properties"]) and type.__required_keys__ == set(described["required"]), type


def scales_of(values):
    """Random UE8M0 scales for the rows of `values`, and in the tiles that the tensor cores take (docs/Semantics.md)."""
    rows, blocks = values.shape[0], values.shape[1] // 32
    exponents = np.random.default_rng(rows).integers(120, 130, (rows, blocks), dtype=np.uint8)
    tiles = np.zeros((-(-rows // 128), -(-blocks // 4), 32, 16), np.uint8)
    for row in range(rows):
        for block in range(blocks):
            tiles[row // 128, block // 4, row % 32, 4 * (row % 128 // 32) + block % 4] = exponents[row, block]
    return np.exp2(exponents.astype(np.float64) - 127), tiles


@pytest.mark.parametrize("spelt", ["float8_e8m0fnu", "uint8"])
def test_kernels_take_scales_of_mxfp8(example, spelt):
    """By their name, or as bits."""
    module = example("mxfp8_gemm", "--columns=32", "--ctas=1", "--cluster=1", "--stages=3")
    kernel = fp8.compile(module, chip="sm_100a", assemble=False, cache=False)
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((rows, 256)).astype(ml_dtypes.float8_e4m3fn) for rows in (100, 48))
    (of_a, a_tiles), (of_b, b_tiles) = scales_of(a), scales_of(b)
    d = np.full((100, 48), np.nan, ml_dtypes.bfloat16)
    dtype = getattr(ml_dtypes, spelt, np.uint8)
    kernel.simulate(a, a_tiles.view(dtype), b, b_tiles.view(dtype), d)
    expected = (a.astype(np.float64) * of_a.repeat(32, 1)) @ (b.astype(np.float64) * of_b.repeat(32, 1)).T
    np.testing.assert_allclose(d.astype(np.float64), expected, rtol=2**-8, atol=1e-2 * np.abs(expected).mean())
