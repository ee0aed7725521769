# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where NVIDIA's assembler is, beside the places that the compiler itself looks at."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Of packages that bring one: NVIDIA's own, and Triton's for its kernels.
_IN_PACKAGES = (
    "nvidia/cu13/bin/ptxas",
    "nvidia/cuda_nvcc/bin/ptxas",
    "triton/backends/nvidia/bin/ptxas-blackwell",
    "triton/backends/nvidia/bin/ptxas",
)
_LEAST = (12, 9)  # the CUDA that brought PTX ISA 8.8


def version_of(program: str) -> tuple[int, int]:
    """The CUDA that a ptxas is of, major and minor; 0, 0 if it does not tell."""
    try:
        text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20).stdout
        major, minor = text.split("release ")[1].split(",")[0].split(".")
        return int(major), int(minor)
    except (OSError, subprocess.SubprocessError, IndexError, ValueError):
        return 0, 0


def _candidates() -> list[str]:
    found = [shutil.which("ptxas") or ""]
    found += [os.path.join(os.environ[v], "bin", "ptxas") for v in ("CUDA_HOME", "CUDA_PATH") if v in os.environ]
    found.append("/usr/local/cuda/bin/ptxas")
    found += [str(Path(folder) / path) for path in _IN_PACKAGES for folder in sys.path if folder]
    return [path for path in found if path and os.access(path, os.X_OK)]


@functools.lru_cache(maxsize=None)
def _search(named: str | None) -> str | None:
    if named:
        return shutil.which(named) or named  # the latter is an error that names it
    return next((path for path in _candidates() if version_of(path) >= _LEAST), None)


def find_ptxas() -> str | None:
    """The ptxas of $FP8_PTXAS, else the first of CUDA 12.9 or later in PATH, CUDA's folders, or a Python package; None if there is none."""
    return _search(os.environ.get("FP8_PTXAS"))
