# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8-opt and fp8-run as pip installs them do what the tools of the build do. FP8_OPT names the one of the build."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sysconfig

import pytest
from conftest import ROOT

BIN = pathlib.Path(sysconfig.get_path("scripts"))
GEMM = str(ROOT / "examples" / "gemm.mlir")


def run(program, *arguments, **options):
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.fixture
def native():
    return pathlib.Path(os.environ["FP8_OPT"]).parent


@pytest.mark.parametrize("arguments", [[GEMM], [GEMM, "--fp8-gemm-to-ptx=chip=sm_90a phase=linear"], ["/none.mlir"], [GEMM, "--no-such-pass"], [GEMM, "--emit=ptx", "-o", "-"]])
def test_opt_is_the_tool_of_the_build(native, arguments):
    ours, theirs = run(BIN / "fp8-opt", *arguments), run(native / "fp8-opt", *arguments)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    assert ours.stderr == theirs.stderr.replace(f"{native}/", "")


def test_opt_reads_standard_input():
    text = "func.func @f() {\n  return\n}\n"
    assert "func.func @f()" in run(BIN / "fp8-opt", input=text).stdout


def test_opt_and_run_together(native, tmp_path):
    assert run(BIN / "fp8-opt", GEMM, "--fp8-gemm-to-ptx=chip=sm_90a", "--emit=ptx", "-o", str(tmp_path / "gemm.ptx")).returncode == 0
    arguments = (str(tmp_path / "gemm.ptx"), "--backend=sim", "--m=40", "--n=72", "--k=272")
    ours, theirs = run(BIN / "fp8-run", *arguments), run(native / "fp8-run", *arguments)
    assert ours.returncode == theirs.returncode == 0, ours.stderr
    assert '"ok":true' in ours.stdout.splitlines()[-1]


def test_run_refuses_as_the_tool_does(native):
    for arguments in (["--no-such-option"], ["/none.ptx"], ["--version"]):
        ours, theirs = run(BIN / "fp8-run", *arguments), run(native / "fp8-run", *arguments)
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(number):
    # What is started in the background is told to ignore Ctrl-C.
    process = subprocess.Popen(
        [str(BIN / "fp8-opt")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    )
    # Once it waits for its input, in a read of file 0, the tool runs and not Python.
    while not pathlib.Path(f"/proc/{process.pid}/syscall").read_text().startswith("0 0x0 "):
        assert process.poll() is None
    process.send_signal(number)
    assert process.wait(60) == -number


def test_a_closed_pipe_ends_it():
    """As it does the tool, and without a trace of Python."""
    done = run("bash", "-c", f"'{BIN}/fp8-opt' --help | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout == f"{128 + signal.SIGPIPE}\n" and "Traceback" not in done.stderr


def test_a_library_without_the_tools(tmp_path):
    library = os.environ.get("FP8_OTHER_LIBRARY")
    assert library, "FP8_OTHER_LIBRARY names the libfp8.so of the build, which has no tools"
    done = run(BIN / "fp8-opt", "--version", env=os.environ | {"FP8_LIBRARY": library})
    assert done.returncode == 1 and f"fp8-opt: error: {library} has no fp8-opt: let $FP8_LIBRARY name the Python package's" in done.stderr
    assert "Traceback" not in done.stderr
