# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constants of the cost model: fitted to times, kept by GPU and driver, found again, and refused where they are wrong."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import fp8
from fp8 import _machine, calibration
from fp8._choice import choices_of, forget_choices
from fp8._compiler import explain_configurations
from fp8.tuning import with_launch
from test_device import on_gpu  # noqa: F401  # pylint: disable=unused-import

H200 = "NVIDIA H200"


def predict(machine, problem, config):
    """Microseconds by the model, which does not know what L2 reads ahead."""
    spec = fp8.GemmSpec(d_contiguous=True, programmatic="launch = programmatic" in config)
    (explained,) = explain_configurations(spec, f"chip=sm_90a problem={'x'.join(map(str, problem))} launch={spec.launch} top=0 machine='{machine}'")
    return {one["config"].replace(", l2_promotion = 128", ""): one["us"] for one in explained["candidates"]}.get(config)


def times(machine):
    """What the plan's kernels would take on it; those that are no candidates are left out."""
    return [
        {"m": m, "n": n, "k": k, "config": config, "us": us}
        for (m, n, k), configs in calibration.plan()
        for config in configs
        if (us := predict(machine, (m, n, k), config))
    ]


@pytest.fixture(autouse=True)
def forgotten():
    """Nothing that another test chose."""
    forget_choices()
    yield
    forget_choices()


@pytest.fixture
def other(tmp_path):
    """A machine file with slower memory and slower launches than an H200's."""
    fields = json.loads(calibration.fit(times(H200)[:1], "sm_90a", "NVIDIA H0", H200))
    fields["constants"].update(dramBytesPerNs=2700, launchUs=3.4, promotionCycles=130)
    path = tmp_path / "other.json"
    path.write_text(json.dumps(fields))
    return path


def test_takes_the_number_of_multiprocessors_from_the_gpu(tmp_path):
    planted = times(H200)
    fields = json.loads(calibration.fit(planted[:30], "sm_90a", "NVIDIA H0", H200, multiprocessors=114))
    assert fields["constants"]["multiprocessors"] == 114
    assert fields["constants"]["clustersOf3"] == 114 // 3
    assert fields["constants"]["clustersOf8"] == 114 // 8
    path = tmp_path / "fewer.json"
    path.write_text(json.dumps(fields))
    # 132 tiles are one wave of an H200, and two of this GPU.
    problem, config = (512, 2112, 7168), "tile = 128 x 64 x 128, launch = programmatic, edge = first"
    assert predict(path, problem, config) > 1.3 * predict(H200, problem, config)
    same = json.loads(calibration.fit(planted[:30], "sm_90a", "NVIDIA H0", H200, multiprocessors=132))
    assert same == json.loads(calibration.fit(planted[:30], "sm_90a", "NVIDIA H0", H200))


def test_finds_what_was_planted(other):
    planted = times(other)
    assert len(planted) > 80
    found = json.loads(calibration.fit(planted, "sm_90a", "NVIDIA H0", H200))
    assert found["gpu"] == "NVIDIA H0" and found["chip"] == "sm_90a" and found["kernels"] == len(planted)
    assert found["median_error"] < 0.01 and found["ninetieth_error"] < 0.03
    assert found["constants"]["dramBytesPerNs"] == pytest.approx(2700, rel=0.03)
    assert found["constants"]["launchUs"] == pytest.approx(3.4, rel=0.05)


def test_fits_the_named_constants_alone(other):
    one, two = (json.loads(calibration.fit(times(other), "sm_90a", "NVIDIA H0", H200, constants=names))["constants"]
                for names in (("launchUs",), ("launchUs", "dramBytesPerNs")))
    assert "dramBytesPerNs" in {name for name in one if one[name] != two[name]} <= {"dramBytesPerNs", "launchUs"}
    with pytest.raises(fp8.CompileError, match="names 'multiprocessors', which is no constant that is fitted"):
        calibration.fit(times(other)[:1], "sm_90a", "NVIDIA H0", H200, constants=("multiprocessors",))
    with pytest.raises(fp8.CompileError, match="names 'scaledShare', which is 0 in the machine that the fit begins from"):
        calibration.fit(times(other)[:1], "sm_90a", "NVIDIA H0", H200, constants=("scaledShare",))


def test_the_plan_is_of_kernels(other):
    """Each configuration of the plan is one that the compiler has for the problem."""
    count = sum(len(configs) for _, configs in calibration.plan())
    assert 100 < count < 160
    missing = [(problem, config) for problem, configs in calibration.plan() for config in configs if predict(H200, problem, config) is None]
    # What the chooser does not try may be slow, and tells of a term; but not much of it.
    assert len(missing) < 0.2 * count, missing


def test_wrong_times():
    with pytest.raises(fp8.CompileError, match="has no entries to fit constants to"):
        calibration.fit([], "sm_90a", H200)
    with pytest.raises(fp8.CompileError, match="'tile = 256 x 256 x 128' of '.*' is no kernel of this op"):
        calibration.fit([{"m": 1, "n": 1, "k": 128, "config": "tile = 256 x 256 x 128", "us": 1}], "sm_90a", H200)
    with pytest.raises(fp8.CompileError, match="entry 0 .* is invalid: it needs m, n, k, config and us, and may have alone_us, more than 0 each"):
        calibration.fit([{"m": 1, "n": 1, "k": 128, "config": "tile = 64 x 64 x 128", "us": 0}], "sm_90a", H200)


def test_is_found_by_gpu_and_driver(tmp_path, monkeypatch, other):
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path / "cache"))
    assert _machine.find(H200, 13000, "sm_90a") == H200
    assert _machine.find("NVIDIA H0", 13000, "sm_90a") is None
    path = _machine.keep("NVIDIA H0", 13000, other.read_text())
    assert _machine.find("NVIDIA H0", 13000, "sm_90a") == str(path)
    assert _machine.find("NVIDIA H0", 12090, "sm_90a") is None
    monkeypatch.setenv("FP8_MACHINE", "")
    assert _machine.find("NVIDIA H0", 13000, "sm_90a") is None
    monkeypatch.setenv("FP8_MACHINE", str(other))
    assert _machine.find(H200, 13000, "sm_90a") == str(other)
    assert fp8.clear_cache() == 0 and path.exists()


def test_decides_what_is_chosen(tmp_path, monkeypatch, other):
    """Where an exchange of sums takes long, K is not divided."""
    divides = []
    for exchange_us in (0.01, 40):
        fields = json.loads(other.read_text())
        fields["constants"].update(exchangeUs=exchange_us)
        monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path / str(exchange_us)))
        _machine.keep("NVIDIA H0", 0, json.dumps(fields))
        forget_choices()
        divides.append("split_k" in choices_of(fp8.GemmSpec(), "sm_90a", "NVIDIA H0")._config_for((16, 2112, 7168)))
    assert divides == [True, False]


@pytest.mark.parametrize("change, words", [
    (lambda fields: fields["constants"].pop("launchUs"), "it lacks the constant 'launchUs'"),
    (lambda fields: fields["constants"].update(launchUs=-1), "the constant 'launchUs' is -1"),
    (lambda fields: fields["constants"].update(tea=1), "it has an unknown constant 'tea'"),
    (lambda fields: fields.update(version=0), "is of version 0"),
    (lambda fields: fields.update(gpu="another"), "it is damaged, or not for NVIDIA H0"),
])
def test_a_file_that_is_wrong_costs_time_only(tmp_path, monkeypatch, other, change, words):
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path))
    fields = json.loads(other.read_text())
    change(fields)
    path = _machine.keep("NVIDIA H0", 0, json.dumps(fields))
    with pytest.warns(RuntimeWarning, match=words):
        assert choices_of(fp8.GemmSpec(), "sm_90a", "NVIDIA H0")._config_for((64, 7168, 2048))
    forget_choices()
    # What the user names is not left out.
    if "damaged" not in words:
        monkeypatch.setenv("FP8_MACHINE", str(path))
        with pytest.raises(fp8.CompileError, match=words):
            choices_of(fp8.GemmSpec(), "sm_90a", "NVIDIA H0")._config_for((64, 7168, 2048))


def test_calibrates(on_gpu, tmp_path):  # noqa: F811
    """On the driver that has no GPU: kernels end at once, and the times are those of its events."""
    lines = """
        from fp8 import _machine, calibration
        calibration._PLAN = (((16, 4096, 512), ("16x64", "16x128"), (False, True)),)
        expect(fp8.GemmSpec(config="tile = 16 x 64 x 128", d_contiguous=True))
        found = fp8.calibrate(progress=False)
        info = fp8.device_info()
        print(found.kernels, found.path == _machine.find(info.name, info.driver_version, info.chip) or str(found.path), len(found.constants) > 20)
        print(fp8.calibrate(output=os.environ["OUTPUT"]).path)
    """
    path = tmp_path / "machine.json"
    counted, written = on_gpu(lines, OUTPUT=str(path), FP8_CACHE_DIR=str(tmp_path / "cache")).splitlines()
    count, kept, enough = counted.split()
    assert (count, enough) == ("4", "True") and kept.startswith(str(tmp_path / "cache" / "machine-"))
    assert written == str(path) and json.loads(path.read_text())["version"] == 7


@pytest.mark.parametrize("cache", ["", "file/kernels"], ids=["none", "read-only"])
def test_without_a_cache_only_this_process_chooses_by_it(monkeypatch, tmp_path, other, cache):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FP8_CACHE_DIR", cache and str(tmp_path / cache))
    monkeypatch.setattr(_machine, "_unsaved", {})
    monkeypatch.delenv("FP8_MACHINE", raising=False)
    assert _machine.find(H200, 13000, "sm_90a") == H200
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a cache that cannot be written, once for a process
        assert _machine.keep(H200, 13000, other.read_text()) is None
    found = _machine.find(H200, 13000, "sm_90a")
    assert found != H200 and Path(found).read_text() == other.read_text()
    monkeypatch.setenv("FP8_MACHINE", "")
    assert _machine.find(H200, 13000, "sm_90a") == H200


def test_says_where_constants_are_from(other):
    assert _machine.describe(None) == "the constants of the chip"
    assert _machine.describe(H200) == "constants of NVIDIA H200"
    assert _machine.describe(str(other)) == f"constants of {other}, measured here"


@pytest.mark.parametrize("config", ["tile = 64 x 64 x 128", "tile = 64 x 64 x 128, split_k = 2", "tile = 64 x 64 x 128, split_k = 2, edge = first"])
def test_the_other_launch_is_spelt_as_the_compiler_does(config):
    early = with_launch(config, programmatic=True)
    text = fp8.run_pipeline(fp8.GemmSpec(config=early, d_contiguous=True), "fp8-choose-config{chip=sm_90a}")
    assert f"config <{early}>" in text
    assert with_launch(early, programmatic=True) == early and with_launch(early, programmatic=False) == config
