# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's C library, libfp8.so: which file it is, and its errors as exceptions."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Callable

from . import _binding
from ._errors import DeviceError, Fp8Error, HangError


def library_path() -> Path:
    """The library of this package, or what $FP8_LIBRARY names."""
    named = os.environ.get("FP8_LIBRARY")
    path = Path(named) if named else Path(__file__).parent / "lib" / "libfp8.so"
    if path.is_file():
        return path
    origin = "$FP8_LIBRARY names" if named else "this package lacks"
    if named and path.is_dir():
        raise Fp8Error(f"$FP8_LIBRARY names {path}, which is a folder: let it name the libfp8.so of a build")
    raise Fp8Error(f"{origin} {path}, which is not there: install the package with pip, or let $FP8_LIBRARY name the libfp8.so of a build")


@functools.lru_cache(maxsize=None)
def library() -> _binding.Library:
    """The library, which is loaded at the first call."""
    path = library_path()
    try:
        return _binding.Library(path, (_binding.RUNTIME, _binding.SIMULATOR, _binding.COMPILER), _failure_as(DeviceError))
    except OSError as error:
        raise Fp8Error(f"cannot load {path}: {error}{'; let $FP8_LIBRARY name the libfp8.so of a build' * ('FP8_LIBRARY' in os.environ)}") from None
    except AttributeError as error:
        raise Fp8Error(f"{path} is not the library of this package ({error}): let $FP8_LIBRARY name the libfp8.so of a build, or leave it unset") from None


@functools.lru_cache(maxsize=None)
def functions() -> ctypes.CDLL:
    """The functions of the library; they let other threads run."""
    return library().functions


def describe_by(exchange: int) -> Callable[..., bytes] | None:
    """Returns fp8PythonDescribe's function for the exchange table at that address, which lives as long as the process; None if it cannot be read."""
    return library().builtin("fp8PythonDescribe", exchange)


@functools.lru_cache(maxsize=None)
def enqueue() -> Callable[[int, bytes, bytes, int, int], int]:
    """Returns fp8PythonEnqueue's function."""
    found = library().builtin("fp8PythonEnqueue")
    assert found is not None  # here is a Python
    return found


def last_error() -> str:
    """The message of this thread's last call that failed."""
    return library().last_error()


def _failure_as(error: type[Fp8Error]) -> Callable[[int, str], Fp8Error]:
    """Makes exceptions of that class, but HangError where a kernel did not end."""
    return lambda status, message: HangError(message) if status == _binding.HANG else error(message)


def call(name: str, *arguments: object, error: type[Fp8Error] = DeviceError) -> None:
    """Calls a function that returns a status; a failure raises `error`, or HangError, with the library's message."""
    library().call(name, *arguments, failure=_failure_as(error))


def check(status: int) -> None:
    """Raises what a status means."""
    library().check(status)


def own(make: str, free: str, *arguments: object, error: type[Fp8Error] = DeviceError) -> _binding.Owned:
    """Makes a handle, which is freed with the object that is returned."""
    return _binding.Owned(library(), make, free, *arguments, failure=_failure_as(error))


def take_text(text: _binding.Handle) -> bytes:
    """The bytes of an Fp8Text, which is freed."""
    try:
        return ctypes.string_at(functions().fp8TextData(text), functions().fp8TextSize(text))
    finally:
        functions().fp8TextFree(text)


def version() -> str:
    """The version of the library."""
    return str(functions().fp8Version(), "ascii")


def chips() -> tuple[str, ...]:
    """The chips that there is code for, such as "sm_90a"."""
    names: list[str] = []
    while name := functions().fp8ChipName(len(names)):
        names.append(name.decode())
    return tuple(names)


def machines() -> tuple[str, ...]:
    """The names of the GPUs whose constants of the cost model are built in, such as "NVIDIA H200"."""
    names: list[str] = []
    while name := functions().fp8MachineName(len(names)):
        names.append(name.decode())
    return tuple(names)


def ordinal_of(address: int) -> int:
    """The number of the GPU that memory of the driver's is on.

    Raises:
        DeviceError: there is no driver, or the memory is not its.
    """
    ordinal = ctypes.c_int32()
    call("fp8AddressOrdinal", None, address, ctypes.byref(ordinal))
    return ordinal.value
