# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warp-specialised FP8 GEMM kernels for Hopper and Blackwell: computed on a GPU, compiled, read, verified and simulated anywhere.

    import fp8

    d = fp8.gemm(a, a_scale, b, b_scale)                # torch, cupy, DLPack: on the current stream
    kernel = fp8.compile(fp8.GemmSpec(), chip="sm_100a")
    print(kernel.mlir("linear"), kernel.ptx, kernel.report)

docs/Python.md is the guide. Nothing beside Python is needed to compile; arrays are those of the packages that you have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _log
from ._cache import clear as clear_cache
from ._cache import directory as cache_directory
from ._compile import compile
from ._compiler import KernelObject, Resources, prove, run_pipeline, verify
from ._device import DeviceInfo
from ._errors import CompileError, DeviceError, Diagnostic, Fp8Error, HangError, ProofWarning, SimulationError
from ._foreign import Im2col, SimulationReport, Struct, TensorMap, simulate_ptx
from ._gemm import gemm
from ._kernel import PHASES, Kernel
from ._library import chips, version
from ._profile import profile
from ._simulator import SimulationStatistics
from ._spec import GemmSpec
from ._timeline import Timeline

if TYPE_CHECKING:
    from . import builder, calibration, mx, quantize, reference, testing, tuning
    from ._choose import Choice, choose
    from .calibration import Calibration, calibrate
    from .mx import quantize_mx, tile_scales
    from .quantize import quantize_blockwise
    from .reference import reference_gemm
    from .tuning import tune

__version__ = "0.1.0"

__all__ = [
    "Calibration",
    "Choice",
    "CompileError",
    "DeviceError",
    "DeviceInfo",
    "Diagnostic",
    "Fp8Error",
    "GemmSpec",
    "HangError",
    "Im2col",
    "Kernel",
    "KernelObject",
    "PHASES",
    "ProofWarning",
    "Resources",
    "SimulationError",
    "SimulationReport",
    "SimulationStatistics",
    "Struct",
    "TensorMap",
    "Timeline",
    "__version__",
    "builder",
    "cache_directory",
    "calibrate",
    "calibration",
    "chips",
    "choose",
    "clear_cache",
    "compile",
    "device_info",
    "gemm",
    "mx",
    "profile",
    "prove",
    "quantize",
    "quantize_blockwise",
    "quantize_mx",
    "reference",
    "reference_gemm",
    "run_pipeline",
    "simulate_ptx",
    "testing",
    "tile_scales",
    "tune",
    "tuning",
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


# What needs numpy, or is seldom needed, is imported when it is asked for.
_MODULES = ("builder", "calibration", "mx", "quantize", "reference", "testing", "tuning")
_HOMES = {
    "Calibration": ".calibration",
    "Choice": "._choose",
    "calibrate": ".calibration",
    "choose": "._choose",
    "quantize_blockwise": ".quantize",
    "quantize_mx": ".mx",
    "reference_gemm": ".reference",
    "tile_scales": ".mx",
    "tune": ".tuning",
}

if not TYPE_CHECKING:  # which knows these names from the imports above, and all others for mistakes

    def __getattr__(name):
        import importlib

        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name], __name__), name)
        raise AttributeError(f"module 'fp8' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


_log.configure()
