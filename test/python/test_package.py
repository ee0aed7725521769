# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as a whole: its names, its version, what it logs, and `python -m fp8`."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys

import fp8
import pytest
from conftest import ROOT

SPEC = fp8.GemmSpec()


def python(*arguments, **environment):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, check=False, env=os.environ | environment)


def test_dir_shows_what_is_public():
    done = python("-c", "import fp8; print(*dir(fp8)); import sys; print('numpy' in sys.modules)")
    names, imported = done.stdout.splitlines()
    assert set(fp8.__all__) <= set(names.split()) and imported == "False"
    assert {"tune", "quantize_blockwise", "reference_gemm", "builder", "testing"} <= set(names.split())
    assert not [name for name in names.split() if name.startswith("_") and not name.startswith("__")]
    assert all(hasattr(fp8, name) for name in fp8.__all__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'fp8' has no attribute 'gem'"):
        fp8.gem


def test_one_version():
    assert fp8.__version__ == fp8.version()
    assert f"project(fp8 VERSION {fp8.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_the_long_description_has_no_links_into_the_repository():
    """An index shows it without the repository around it."""
    text = (ROOT / "python" / "README.md").read_text()
    assert 'readme = "python/README.md"' in (ROOT / "pyproject.toml").read_text()
    assert not re.findall(r"\]\((?!https?://)", text)


def test_main_tells_of_the_installation(tmp_path):
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / ("0" * 40 + ".json")).write_bytes(bytes(3 << 20))
    (kernels / "of-somebody-else").write_bytes(bytes(9 << 20))
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho Cuda compilation tools, release 13.7, V13.7.1\n")
    ptxas.chmod(0o755)
    done = python("-m", "fp8", FP8_CACHE_DIR=str(kernels), FP8_PTXAS=str(ptxas), FP8_CUDA_LIBRARY="/none/libcuda.so")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert lines["fp8"].startswith(f"{fp8.__version__}, Python 3.")
    assert re.search(rf"libfp8\.so, version {re.escape(fp8.version())}, build [0-9a-f]{{40,}}$", lines["library"])
    assert lines["chips"] == ", ".join(fp8.chips())
    assert lines["devices"].startswith("none: no CUDA driver: cannot load /none/libcuda.so")
    assert lines["ptxas"] == f"{ptxas}, CUDA 13.7"
    assert lines["cache"] == f"{kernels}, 1 files, 3.0 MiB"


def test_main_tells_of_what_is_missing(tmp_path):
    done = python("-m", "fp8", FP8_CACHE_DIR="", FP8_LIBRARY=str(tmp_path / "libfp8.so"), PATH="", CUDA_HOME="", CUDA_PATH="", FP8_PTXAS="/none/ptxas")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert lines["library"].startswith("error: $FP8_LIBRARY names ") and lines["devices"].startswith("error: ")
    assert lines["ptxas"] == "/none/ptxas, which does not run or does not tell its version"
    assert lines["cache"].startswith("none: $FP8_CACHE_DIR is empty")


def test_main_tells_of_another_library(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    libraries = {
        str(tmp_path): "which is a folder: let it name the libfp8.so of a build",
        os.environ["FP8_FAKECUDA"]: "is not the library of this package",
        str(tmp_path / "text.so"): "let $FP8_LIBRARY name the libfp8.so of a build",
    }
    for path, words in libraries.items():
        done = python("-m", "fp8", FP8_LIBRARY=path)
        assert done.returncode == 0 and words in done.stdout.splitlines()[1], done
        assert "Traceback" not in done.stderr


def test_main_ends_with_its_reader():
    command = f"'{sys.executable}' -m fp8 | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout in ("0\n", f"{128 + signal.SIGPIPE}\n") and not done.stderr


def test_main_lists_devices():
    assert "FP8_FAKECUDA" in os.environ, "FP8_FAKECUDA names the driver without a GPU"
    done = python("-m", "fp8", FP8_CUDA_LIBRARY=os.environ["FP8_FAKECUDA"])
    assert re.search(r"^devices +0: .*, compute capability 9\.0, CUDA \d+\.\d+ driver, kernels for sm_90a$", done.stdout, flags=re.MULTILINE), done.stdout


def messages(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "fp8"]


def test_logs_configurations_and_times(caplog, tmp_path):
    table = tmp_path / "table.json"
    table.write_text('{"gpu": "NVIDIA H200", "chip": "sm_90a", "entries": [{"m": 64, "n": 7168, "k": 2048, "config": "tile = 64 x 64 x 128", "us": 5.5}]}')
    wanted = {
        "configuration tile = 64 x 32 x 128, by the source: pinned": {"source": fp8.GemmSpec(config="tile = 64 x 32 x 128")},
        "configuration tile = 64 x 64 x 128, by the table of measurements: ": {"source": SPEC, "problem": (64, 7168, 2048), "tuned": str(table)},
        ", by the cost model: 'tile = ": {"source": SPEC, "problem": (64, 7168, 2048)},
        "configuration left open, by the lowering: M, N and K are unknown": {"source": SPEC},
    }
    caplog.set_level(logging.INFO, "fp8")
    for words, request in wanted.items():
        caplog.clear()
        fp8.compile(**request, chip="sm_90a", assemble=False, cache=False)
        chosen, made = messages(caplog)
        assert chosen.startswith("gemm for sm_90a: configuration ") and words in chosen
        assert re.fullmatch(r"gemm_kernel for sm_90a: lowered in \d+\.\d{3} s, made into PTX in \d+\.\d{3} s", made)


def test_logs_the_cache(caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path))
    caplog.set_level(logging.DEBUG, "fp8")
    kernel = fp8.compile(SPEC, assemble=False)
    assert [message for message in messages(caplog) if message.startswith(f"cache: no {kernel.key} in {tmp_path}")]
    assert [message for message in messages(caplog) if message.startswith(f"cache: wrote {kernel.key} to {tmp_path}, ")]
    caplog.clear()
    fp8.compile(SPEC, assemble=False)
    assert messages(caplog)[-1] == f"cache: found {kernel.key} in {tmp_path}"
    (tmp_path / f"{kernel.key}.json").write_text("x")
    fp8.compile(SPEC, assemble=False)
    assert f"cache: {kernel.key} in {tmp_path} is damaged" in messages(caplog)


COMPILE = "import fp8; fp8.compile(fp8.GemmSpec(), assemble=False, cache=False)"


def test_the_environment_sets_the_level():
    assert python("-c", COMPILE).stderr == ""
    shown = python("-c", COMPILE, FP8_LOG="info").stderr
    assert "fp8: gemm for sm_90a: configuration " in shown and "cache" not in shown
    shown = python("-c", "import logging; logging.basicConfig(); " + COMPILE, FP8_LOG="INFO").stderr
    assert shown.count("lowered in") == 1
    assert "RuntimeWarning: $FP8_LOG is 'loud', and nothing is logged: it must be debug, info, warning or error" in python("-c", "import fp8", FP8_LOG="loud").stderr
