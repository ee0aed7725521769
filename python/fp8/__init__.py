# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warp-specialised FP8 GEMM kernels for Hopper and Blackwell: computed on a GPU, compiled, read, verified and simulated anywhere.

    import fp8

    d = fp8.gemm(a, a_scale, b, b_scale)                # torch, cupy, DLPack: on the current stream
    kernel = fp8.compile(fp8.GemmSpec(), chip="sm_100a")
    print(kernel.mlir("linear"), kernel.ptx, kernel.report)

docs/Python.md is the guide. Nothing beside Python is needed to compile; arrays are those of the packages that you have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._cache import clear as clear_cache
from ._cache import directory as cache_directory
from ._compiler import KernelObject, Resources, run_pipeline, verify
from ._device import DeviceInfo
from ._errors import CompileError, DeviceError, Diagnostic, Fp8Error, HangError, SimulationError
from ._gemm import gemm
from ._kernel import PHASES, Kernel, SimulationStatistics, compile
from ._library import chips, version
from ._spec import GemmSpec

if TYPE_CHECKING:
    from . import builder, testing
    from .quantize import quantize_blockwise
    from .reference import reference_gemm
    from .tuning import tune

__all__ = [
    "CompileError",
    "DeviceError",
    "DeviceInfo",
    "Diagnostic",
    "Fp8Error",
    "GemmSpec",
    "HangError",
    "Kernel",
    "KernelObject",
    "PHASES",
    "Resources",
    "SimulationError",
    "SimulationStatistics",
    "builder",
    "cache_directory",
    "chips",
    "clear_cache",
    "compile",
    "device_info",
    "gemm",
    "quantize_blockwise",
    "reference_gemm",
    "run_pipeline",
    "testing",
    "tune",
    "verify",
    "version",
]


def device_info(ordinal: int = 0) -> DeviceInfo:
    """What the GPU of that number is.

    Raises:
        DeviceError: there is none, or its driver does not work; the message says which.
    """
    from ._device import get_device

    return get_device(ordinal).info


def __getattr__(name: str) -> Any:
    # What needs numpy, or is seldom needed, is imported when it is asked for.
    import importlib

    if name in ("builder", "testing"):
        return importlib.import_module(f".{name}", __name__)
    homes = {"quantize_blockwise": ".quantize", "reference_gemm": ".reference", "tune": ".tuning"}
    if name in homes:
        return getattr(importlib.import_module(homes[name], __name__), name)
    raise AttributeError(f"module 'fp8' has no attribute {name!r}")
