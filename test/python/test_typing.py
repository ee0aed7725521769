# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a type checker sees of the installed package in a user's program."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

PROGRAM = '''
import pathlib
from typing import Any

import fp8
import numpy as np

x: np.ndarray[Any, np.dtype[np.float32]] = np.zeros((16, 128), np.float32)
a, a_scale = fp8.quantize_blockwise(x)
reveal_type(a)
d = fp8.gemm(a, a_scale, a, a_scale, b_block=1, simulate=True, out_dtype=np.dtype(np.float32), beta=1.0)
reveal_type(d)
print(d * 2.0 - d, d[0], d.sum())
reveal_type(fp8.reference_gemm(a, a_scale, a, a_scale, out_dtype="float32"))
kernel = fp8.compile(pathlib.Path("x.mlir"), problem=(16, None, 128))
reveal_type(kernel)
reveal_type(kernel.name)
reveal_type(kernel.ptx)
reveal_type(kernel.cubin)
reveal_type(kernel.arguments)
reveal_type(kernel.simulate(a, d).mmas)
reveal_type(fp8.tune(64, 128, 256)[0].config)
reveal_type(fp8.device_info().chip)
reveal_type(fp8.cache_directory())
reveal_type(fp8.__version__)
reveal_type(fp8.builder.Module)
reveal_type(fp8.testing.compare(d, a, a_scale, a, a_scale).ok)
'''
REVEALED = [
    "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.number]]",
    "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.number]]",
    "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.number]]",
    "fp8._kernel.Kernel",
    "str",
    "str",
    "bytes | None",
    "tuple[str, ...]",
    "int",
    "str",
    "str",
    "pathlib.Path | None",
    "str",
    "def () -> fp8.builder.module.Module",
    "bool",
]
WRONG = {
    "fp8.gem(1)": "attr-defined",
    "fp8.compile(3)": "arg-type",
    "fp8.gemm(np.zeros(2), [1.0], np.zeros(2), np.zeros(2))": "arg-type",
    'fp8.GemmSpec(out_dtype="f32", config=3)': "arg-type",
    "fp8.compile(fp8.GemmSpec(), chip=90)": "arg-type",
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What mypy says of two programs, one of them with mistakes."""
    folder = tmp_path_factory.mktemp("typing")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "mistakes.py").write_text("import fp8\nimport numpy as np\n" + "\n".join(WRONG) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={folder}/cache", "program.py", "mistakes.py"],
        capture_output=True, text=True, timeout=300, check=False, cwd=folder,
    )
    return done.stdout + done.stderr


def test_a_program_and_its_types(printed):
    # NumPy's releases differ in the parameters that `number` has.
    types = [re.sub(r"numpy.number\[.*?\](?=\])", "numpy.number", type.replace("builtins.", "")) for type in re.findall(r'^program.py:\d+: note: Revealed type is "(.*)"$', printed, flags=re.MULTILINE)]
    assert types == REVEALED and "program.py:" not in re.sub("program.py:.*note", "", printed), printed


def test_mistakes_are_found(printed):
    found = {int(line): code for line, code in re.findall(r"^mistakes.py:(\d+): error: .*\[([\w-]+)\]$", printed, flags=re.MULTILINE)}
    assert [found.get(line) for line in range(3, 3 + len(WRONG))] == list(WRONG.values()), printed
