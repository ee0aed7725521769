# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.choose: it names what fp8.gemm uses, and neither compiles nor needs a GPU."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import fp8
import numpy as np
import pytest
from conftest import ROOT
from fp8 import _choice, _measured
from fp8._choice import choices_of, forget_choices

H200, B200 = "NVIDIA H200", "NVIDIA B200"
MX = fp8.GemmSpec(a_scale_dtype="f8E8M0FNU", b_scale_dtype="f8E8M0FNU")
find_table = _choice._tuned_table
PROBLEMS = [(1, 2112, 7168), (40, 7168, 2048), (64, 2112, 7168), (303, 576, 9216), (4096, 7168, 2048)]
SPECS = [fp8.GemmSpec(), fp8.GemmSpec(d_dtype="f32", b_block=1), fp8.GemmSpec(c_dtype="bf16", bias_dtype="bf16", programmatic=False), fp8.GemmSpec(constant_b=True)]


@pytest.fixture(autouse=True)
def afresh(tmp_path, monkeypatch):
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("FP8_MACHINE", raising=False)
    monkeypatch.setattr(_measured, "_by_gpu", {})
    # A wheel brings tables, and a source tree has them: only tests that ask for one get it.
    monkeypatch.setattr(_choice, "_tuned_table", lambda gpu: None)
    forget_choices()
    yield
    forget_choices()


def gemm_config(spec, problem, chip="sm_90a", gpu=""):
    """What a call whose D fp8.gemm makes would compile."""
    spec = dataclasses.replace(spec, d_contiguous=problem[1] % 8 == 0)
    return choices_of(spec, chip, gpu)._config_for(problem)


@pytest.mark.parametrize("chip, gpu", [("sm_90a", ""), ("sm_90a", "NVIDIA H100 80GB HBM3"), ("sm_100a", "")])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_is_the_choice_of_the_gemm(spec, chip, gpu):
    for problem in PROBLEMS:
        choice = fp8.choose(*problem, spec, chip=chip, gpu=gpu)
        assert choice.config == gemm_config(spec, problem, chip, gpu)
        assert choice.source == "model" and 0 < choice.predicted_us <= choice.predicted_alone_us


def test_an_m_that_is_known_may_end_in_zeros():
    """The last tile stays last where rows of zeros save power: fp8.gemm knows M, and so does fp8.choose."""
    problem = (473, 9216, 7168)
    choice = fp8.choose(*problem, gpu=H200)
    assert "edge" not in choice.config and choice.config == gemm_config(fp8.GemmSpec(), problem, gpu=H200)


@pytest.mark.parametrize("first, last", [(17, 24), (121, 128), (129, 136), (1209, 1216)])
def test_rows_of_one_multiple_get_one_kernel(first, last):
    """All tiles have a multiple of eight rows."""
    for n, k in ((2112, 7168), (7168, 2048), (576, 9216)):
        assert len({gemm_config(fp8.GemmSpec(), (m, n, k), gpu=H200) for m in range(first, last + 1)}) == 1
        assert {fp8.choose(m, n, k, gpu=H200).predicted_us for m in (first, last)} == {fp8.choose(last, n, k, gpu=H200).predicted_us}


def test_is_what_a_call_compiles(monkeypatch):
    compiled = []
    original = _choice.compile
    monkeypatch.setattr(_choice, "compile", lambda spec, **options: compiled.append(spec) or original(spec, **options))
    a, a_scale = fp8.quantize_blockwise(np.ones((40, 256), np.float32))
    b, b_scale = fp8.quantize_blockwise(np.ones((72, 256), np.float32), (128, 128))
    fp8.gemm(a, a_scale, b, b_scale, d_dtype="float32", simulate=True)
    assert [spec.config for spec in compiled] == [fp8.choose(40, 72, 256, fp8.GemmSpec(d_dtype="float32")).config]


def test_terms_add_up():
    """docs/Chooser.md has the sum. In one wave all of the epilogue comes last; of an undivided K nothing else is added."""

    def norm(*values):
        return sum(value**6 for value in values) ** (1 / 6)

    choice = fp8.choose(40, 7168, 2048, fp8.GemmSpec(config="tile = 64 x 64 x 128"), gpu=H200)
    terms = choice.terms
    assert terms["wait"] > 0 and terms["fill"] > 0
    loop = norm(*(terms[bound] for bound in ("tensor", "promotion", "l1", "l2", "depth"))) + terms["wait"]
    assert choice.predicted_us == pytest.approx(terms["launch"] + norm(loop, terms["dram"], terms["fill"]) + terms["epilogue"])


def test_what_was_tuned_comes_first():
    spec = fp8.GemmSpec()
    _measured.keep(H200, dataclasses.replace(spec, d_contiguous=True), (64, 2112, 7168), "tile = 64 x 16 x 128")
    tuned = fp8.choose(64, 2112, 7168, spec, gpu=H200)
    assert (tuned.config, tuned.source) == ("tile = 64 x 16 x 128", "tuned") and tuned.predicted_us > 0
    assert fp8.choose(64, 2112, 7168, spec).source == "model"
    assert fp8.choose(65, 2112, 7168, spec, gpu=H200).source == "model"


def test_the_table_comes_next(monkeypatch):
    monkeypatch.setattr(_choice, "_tuned_table", find_table)
    choice = fp8.choose(64, 2112, 7168, gpu=H200)
    assert choice.source == "table" and choice.config == gemm_config(fp8.GemmSpec(), (64, 2112, 7168), gpu=H200)
    assert "from the tuned table" in choice.reason


@pytest.mark.parametrize("programmatic", [None, False, True])
def test_entries_and_the_model_make_one_choice(monkeypatch, programmatic):
    """fp8.gemm ranks nothing where an entry decides, and fp8.choose always: both weigh entries of a larger M against what they have."""
    monkeypatch.setattr(_choice, "_tuned_table", find_table)
    spec, sources = fp8.GemmSpec(programmatic=programmatic), set()
    for m in (*range(3, 600, 23), 1100, 1500, 3000):
        for n, k in ((2112, 7168), (4096, 7168), (24576, 1536)):
            choice = fp8.choose(m, n, k, spec, gpu=H200)
            assert choice.config == gemm_config(spec, (m, n, k), gpu=H200), (m, n, k)
            sources.add(choice.source)
    assert sources == {"table", "model"}


@pytest.mark.parametrize("launch", ["", ", launch = programmatic"])
def test_a_spec_that_pins_is_predicted_with_its_launch(launch):
    choice = fp8.choose(64, 7168, 2048, fp8.GemmSpec(config="tile = 64 x 32 x 128" + launch))
    assert (choice.config, choice.source) == ("tile = 64 x 32 x 128" + launch, "spec")
    assert choice.terms["launch"] == pytest.approx(2.09 if launch else 2.64, abs=0.01)


def test_what_the_model_does_not_know_has_no_time():
    choice = fp8.choose(64, 7168, 2048, fp8.GemmSpec(config="tile = 64 x 8 x 128, stages = 2"))
    assert choice.predicted_us is None and choice.predicted_alone_us is None and not choice.terms
    assert str(choice) == "tile = 64 x 8 x 128, stages = 2, by the spec"


def test_reads_as_a_line():
    assert str(fp8.choose(64, 7168, 2048)) == "tile = 64 x 64 x 128, launch = programmatic, signal = wait, by the model, 5.09 us on NVIDIA H200"


def test_the_source_tree_has_the_tables_of_a_wheel(monkeypatch, tmp_path):
    monkeypatch.setattr(_choice, "__file__", str(ROOT / "python" / "fp8" / "_choice.py"))
    assert _choice._tables() == ROOT / "benchmark" / "tuned"
    (tmp_path / "fp8" / "tuned").mkdir(parents=True)
    monkeypatch.setattr(_choice, "__file__", str(tmp_path / "fp8" / "_choice.py"))
    assert _choice._tables() == tmp_path / "fp8" / "tuned"


@pytest.mark.parametrize(
    "spec, gpu, chip",
    [
        (fp8.GemmSpec(), H200, "sm_90a"),
        (fp8.GemmSpec(), "NVIDIA H100 80GB HBM3", "sm_90a"),
        (fp8.GemmSpec(), B200, "sm_100a"),
        (MX, B200, "sm_100a"),
        (fp8.GemmSpec(), "NVIDIA Jetson T5000", "sm_110a"),
        (MX, "NVIDIA Jetson T5000", "sm_110a"),
    ],
)
def test_a_gpu_has_its_chip(spec, gpu, chip):
    choice = fp8.choose(64, 8192, 4096, spec, gpu=gpu)
    assert choice.machine == gpu and choice == fp8.choose(64, 8192, 4096, spec, gpu=gpu, chip=chip)


def test_no_gpu_and_no_terms():
    choice = fp8.choose(64, 7168, 2048, gpu=None)
    assert choice == fp8.choose(64, 7168, 2048) and len({choice, fp8.choose(64, 7168, 2048)}) == 1


def test_needs_no_gpu_and_compiles_nothing(tmp_path):
    script = "import fp8; print(fp8.choose(64, 7168, 2048, gpu='NVIDIA H200')); import sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | {"FP8_CUDA_LIBRARY": "/none/libcuda.so"}, check=True)
    assert done.stdout.splitlines()[1] == "False" and not done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments, options, error, words", [
    ((64, 64, 100), {}, ValueError, "K is 100; it must be a multiple of 16"),
    ((0, 64, 128), {}, ValueError, "M is 0 in problem"),
    ((64, 64.5, 128), {}, TypeError, "'float' object"),
    ((64, 64, 128), {"chip": "sm_80"}, ValueError, "there is no chip 'sm_80'"),
    ((64, 64, 128), {"chip": "sm_80", "gpu": B200}, ValueError, "there is no chip 'sm_80'"),
    ((64, 64, 128), {"chip": "sm_90a", "gpu": B200}, ValueError, "NVIDIA B200 has another chip than sm_90a: pass chip='sm_100a', or leave chip out"),
    ((64, 64, 128, None), {}, TypeError, "spec is a NoneType; it must be an fp8.GemmSpec"),
    ((64, 64, 128, fp8.GemmSpec(config="tile = 1")), {}, fp8.CompileError, "expected 'x'"),
])
def test_refuses(arguments, options, error, words):
    with pytest.raises(error, match=words):
        fp8.choose(*arguments, **options)


def test_paths_are_quoted(tmp_path, monkeypatch):
    """Temporary folders and machine files may have blanks and a quotation mark in their names; what no option can say is an error."""
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    machine = folder / "machine.json"
    machine.write_text("{}")
    monkeypatch.setenv("FP8_MACHINE", str(machine))
    with pytest.raises(fp8.CompileError, match="with .FP8_MACHINE=.*: the machine file '.*it's a folder/machine.json' needs"):
        fp8.choose(64, 7168, 2048)
    monkeypatch.delenv("FP8_MACHINE")
    forget_choices()
    assert fp8.choose(64, 7168, 2048).config
    monkeypatch.setenv("FP8_MACHINE", str(tmp_path / "a{b}.json"))
    forget_choices()
    with pytest.raises(ValueError, match="has a brace or both kinds of quotation marks"):
        fp8.choose(64, 7168, 2048)


def test_a_file_that_nests_deeply_is_an_error(tmp_path, monkeypatch):
    """The parser of JSON calls itself for each level: one that overflows the stack would end the process."""
    path = tmp_path / "deep.json"
    path.write_text("[" * 200000)
    monkeypatch.setenv("FP8_MACHINE", str(path))
    with pytest.raises(fp8.CompileError, match="nests deeper than 64 levels"):
        fp8.choose(64, 7168, 2048)
    with pytest.raises(fp8.CompileError, match="nests deeper than 64 levels"):
        fp8.compile(fp8.GemmSpec(), problem=(64, 7168, 2048), tuned=str(path), cache=False)
