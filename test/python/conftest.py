# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the Python package share: fp8-opt, which the environment names, the examples, operands, and a cache of kernels."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Compiler:
    """fp8-opt."""

    def __init__(self, path):
        self.path = path

    def run(self, text, *options):
        return subprocess.run([self.path, "-", *options], input=text, capture_output=True, text=True, check=False, timeout=300)

    def accept(self, text, *options):
        result = self.run(text, *options)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def ptx(self, text, chip, directory, *, prove=True):
        """The PTX without the lines that name the source, and the manifest."""
        self.accept(text, f"--fp8-gemm-to-ptx=chip={chip} prove={str(prove).lower()}", "--emit=ptx", "-o", str(directory / "kernel.ptx"))
        ptx = (directory / "kernel.ptx").read_text()
        return re.sub(r"^\s*\.(loc|file)\b.*\n", "", ptx, flags=re.MULTILINE), (directory / "kernel.ptx.json").read_text()


@pytest.fixture(scope="session")
def compiler():
    path = os.environ.get("FP8_OPT")
    assert path and os.access(path, os.X_OK), f"FP8_OPT must name fp8-opt, but is {path!r}"
    return Compiler(path)


@pytest.fixture(scope="session")
def example():
    """Runs a file of examples/python, as a user does, and returns what it prints."""

    def run(name, *arguments):
        script = ROOT / "examples" / "python" / f"{name}.py"
        return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=True, timeout=60).stdout

    return run


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Kernels go to a folder of the test session, and no test finds those of a user."""
    monkeypatch.setenv("FP8_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
