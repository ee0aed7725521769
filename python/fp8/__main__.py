# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m fp8: what a report of a problem should say of this installation.

python -m fp8 calibrate [--ordinal N] [--output FILE]: measures the constants by which configurations are chosen on this GPU.
"""

from __future__ import annotations

import argparse
import platform
import signal
import sys
from typing import Callable

from . import __version__, _cache, _library, _machine
from ._compiler import Chooser
from ._device import DeviceInfo, get_device
from ._errors import CompileError, DeviceError, Fp8Error
from ._ptxas import find_ptxas, version_of
from ._spec import GemmSpec


def _version() -> list[str]:
    return [f"{__version__}, Python {platform.python_version()}, {platform.platform()}"]


def _shared_library() -> list[str]:
    return [f"{_library.library_path()}, version {_library.version()}, build {_cache.build_id()}"]


def _chips() -> list[str]:
    return [", ".join(_library.chips())]


def _constants(info: DeviceInfo) -> str:
    """Which constants the cost model has for a GPU, and which file is of no use."""
    machine = _machine.find(info.name, info.driver_version, info.chip)
    try:
        Chooser(GemmSpec().mlir(), info.chip, machine=machine)
    except CompileError as error:
        return f"{_machine.describe(_machine.built_in(info.name))}, since {str(error).splitlines()[0]}"
    return _machine.describe(machine)


def _devices() -> list[str]:
    lines: list[str] = []
    count = 0
    while True:
        try:
            info = get_device(count).info
        except DeviceError as error:
            return lines or [f"none: {error}"]
        count += 1
        major, minor = info.capability
        runs = f"kernels for {info.chip}" if info.chip else "no kernels: it is neither Hopper nor Blackwell"
        driver = f"{info.driver_version // 1000}.{info.driver_version % 1000 // 10}"
        lines.append(f"{info.ordinal}: {info.name}, compute capability {major}.{minor}, CUDA {driver} driver, {runs}")
        if info.chip:
            lines.append(f"   configurations are chosen by {_constants(info)}")


def _ptxas() -> list[str]:
    path = find_ptxas()
    if path is None:
        return ["none of CUDA 12.9 or later: the driver assembles; 'pip install nvidia-cuda-nvcc' brings one"]
    major, minor = version_of(path)
    return [f"{path}, CUDA {major}.{minor}" if major else f"{path}, which does not run or does not tell its version"]


def _cache_folder() -> list[str]:
    folder = _cache.directory()
    if folder is None:
        return ["none: $FP8_CACHE_DIR is empty, or the user has no home"]
    count, size = _cache.usage()
    return [f"{folder}, {count} files, {size / 2**20:.1f} MiB"]


_PARTS: dict[str, Callable[[], list[str]]] = {
    "fp8": _version,
    "library": _shared_library,
    "chips": _chips,
    "devices": _devices,
    "ptxas": _ptxas,
    "cache": _cache_folder,
}


def _calibrate(options: argparse.Namespace) -> None:
    from .calibration import calibrate

    try:
        found = calibrate(ordinal=options.ordinal, output=options.output)
    except (Fp8Error, OSError) as error:
        sys.exit(f"error: {error}")
    width = max(map(len, found.constants))
    for name, value in found.constants.items():
        print(f"{name:{width}} {value:g}")
    print(
        f"{found.gpu}: {found.kernels} kernels in {found.seconds:.0f} s; half of them are predicted within {100 * found.median_error:.1f} %, nine in ten "
        f"within {100 * found.ninetieth_error:.1f} %"
    )
    print(f"fp8.gemm chooses by them from now on: {found.path}" if options.output is None and found.path else f"written to {found.path}" if found.path else "they are not kept, for there is no cache")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fp8", description="What a report of a problem should say of this installation.")
    calibrate = parser.add_subparsers().add_parser(
        "calibrate", help="measure the constants by which configurations are chosen on this GPU, in under a minute"
    )
    calibrate.add_argument("--ordinal", type=int, default=0, help="the GPU's number")
    calibrate.add_argument("--output", help="a file to write instead of the cache's")
    calibrate.set_defaults(run=_calibrate)
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as `head` ends its input
    if hasattr(options, "run"):
        options.run(options)
    else:
        _report()


def _report() -> None:
    for name, part in _PARTS.items():
        try:
            lines = part()
        except Fp8Error as error:
            lines = [f"error: {error}"]
        for at, line in enumerate(lines):
            print(f"{name if at == 0 else '':8} {line}")


if __name__ == "__main__":
    main()
