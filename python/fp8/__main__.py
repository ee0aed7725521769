# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m fp8: what a report of a problem should say of this installation."""

from __future__ import annotations

import platform
from typing import Callable

from . import __version__, _cache, _library
from ._device import get_device
from ._errors import DeviceError, Fp8Error
from ._ptxas import find_ptxas, version_of


def _version() -> list[str]:
    return [f"{__version__}, Python {platform.python_version()}, {platform.platform()}"]


def _shared_library() -> list[str]:
    return [f"{_library.library_path()}, version {_library.version()}"]


def _chips() -> list[str]:
    return [", ".join(_library.chips())]


def _devices() -> list[str]:
    lines: list[str] = []
    while True:
        try:
            info = get_device(len(lines)).info
        except DeviceError as error:
            return lines or [f"none: {error}"]
        major, minor = info.capability
        runs = f"kernels for {info.chip}" if info.chip else "no kernels: it is neither Hopper nor Blackwell"
        driver = f"{info.driver_version // 1000}.{info.driver_version % 1000 // 10}"
        lines.append(f"{info.ordinal}: {info.name}, compute capability {major}.{minor}, CUDA {driver} driver, {runs}")


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


def main() -> None:
    for name, part in _PARTS.items():
        try:
            lines = part()
        except Fp8Error as error:
            lines = [f"error: {error}"]
        for at, line in enumerate(lines):
            print(f"{name if at == 0 else '':8} {line}")


if __name__ == "__main__":
    main()
