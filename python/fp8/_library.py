# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C library, libfp8.so, by ctypes: signatures, and errors as exceptions."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

from ._errors import DeviceError, Fp8Error, HangError

_HANG = 2

Handle = ctypes.c_void_p
_pointer = ctypes.POINTER


class Argument(ctypes.Structure):
    """Fp8Argument"""

    _fields_ = [
        ("dtype", ctypes.c_char_p),
        ("address", ctypes.c_uint64),
        ("rank", ctypes.c_size_t),
        ("shape", _pointer(ctypes.c_int64)),
        ("strides", _pointer(ctypes.c_int64)),
    ]


class DeviceInfo(ctypes.Structure):
    """Fp8DeviceInfo"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("ordinal", ctypes.c_int32),
        ("major", ctypes.c_int32),
        ("minor", ctypes.c_int32),
        ("multiprocessor_count", ctypes.c_int32),
        ("l2_cache_bytes", ctypes.c_int32),
        ("max_shared_memory_per_block", ctypes.c_int32),
        ("driver_version", ctypes.c_int32),
        ("memory_bytes", ctypes.c_uint64),
    ]


class CDiagnostic(ctypes.Structure):
    """Fp8Diagnostic"""


CDiagnostic._fields_ = [
    ("severity", ctypes.c_int),
    ("message", ctypes.c_char_p),
    ("file", ctypes.c_char_p),
    ("line", ctypes.c_uint32),
    ("column", ctypes.c_uint32),
    ("note_count", ctypes.c_size_t),
    ("notes", _pointer(CDiagnostic)),
]

DiagnosticHandler = ctypes.CFUNCTYPE(None, _pointer(CDiagnostic), ctypes.c_void_p)
Progress = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p)


class KernelObjectOptions(ctypes.Structure):
    """Fp8KernelObjectOptions"""

    _fields_ = [
        ("kernel", ctypes.c_char_p),
        ("assemble", ctypes.c_int),
        ("ptxas", ctypes.c_char_p),
        ("strict", ctypes.c_int),
    ]


class KernelResources(ctypes.Structure):
    """Fp8KernelResources"""

    _fields_ = [
        ("registers", ctypes.c_int64),
        ("spill_store_bytes", ctypes.c_int64),
        ("spill_load_bytes", ctypes.c_int64),
        ("stack_bytes", ctypes.c_int64),
        ("shared_memory_bytes", ctypes.c_int64),
    ]


class SimulatorOptions(ctypes.Structure):
    """Fp8SimulatorOptions"""

    _fields_ = [
        ("schedule_seed", ctypes.c_uint64),
        ("complete_at_issue", ctypes.c_int),
        ("step_limit", ctypes.c_uint64),
        ("grid_limit", ctypes.c_uint64),
        ("max_errors", ctypes.c_uint32),
        ("multiprocessors", ctypes.c_uint32),
        ("resident_clusters", ctypes.c_uint32),
        ("memory_limit", ctypes.c_uint64),
        ("progress", Progress),
        ("progress_data", ctypes.c_void_p),
    ]


class SimulatorStatistics(ctypes.Structure):
    """Fp8SimulatorStatistics"""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "warp_instructions",
            "mmas",
            "tma_loads",
            "tma_load_bytes",
            "tma_stores",
            "tma_store_bytes",
            "barrier_phases",
            "ctas",
            "schedule_hash",
        )
    ]


class Timing(ctypes.Structure):
    """Fp8Timing"""

    _fields_ = [
        ("median_microseconds", ctypes.c_double),
        ("fastest_microseconds", ctypes.c_double),
        ("slowest_microseconds", ctypes.c_double),
        ("replays", ctypes.c_uint32),
        ("launches_per_replay", ctypes.c_uint32),
    ]


# Of functions that return a status, by name; those of other results follow.
_STATUS = {
    "fp8ContextCreate": [_pointer(Handle)],
    "fp8ModuleParse": [Handle, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, _pointer(Handle)],
    "fp8ModuleVerify": [Handle],
    "fp8ModuleRunPipeline": [Handle, ctypes.c_char_p],
    "fp8ModulePrint": [Handle, ctypes.c_int, _pointer(Handle)],
    "fp8ModuleReport": [Handle, ctypes.c_char_p, _pointer(Handle)],
    "fp8KernelObjectCreate": [Handle, _pointer(KernelObjectOptions), _pointer(Handle)],
    "fp8Simulate": [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_char_p,
        _pointer(Argument),
        ctypes.c_size_t,
        _pointer(SimulatorOptions),
        _pointer(SimulatorStatistics),
    ],
    "fp8DeviceOpen": [ctypes.c_char_p, ctypes.c_int, _pointer(Handle)],
    "fp8DeviceCanRun": [Handle, ctypes.c_char_p],
    "fp8DeviceAwait": [Handle, ctypes.c_void_p],
    "fp8AddressOrdinal": [ctypes.c_char_p, ctypes.c_uint64, _pointer(ctypes.c_int32)],
    "fp8BufferAllocate": [Handle, ctypes.c_char_p, ctypes.c_uint64, _pointer(Handle)],
    "fp8BufferUpload": [Handle, ctypes.c_void_p, ctypes.c_uint64],
    "fp8KernelLoad": [Handle, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, _pointer(Handle)],
    "fp8LaunchPrepare": [Handle, _pointer(Argument), ctypes.c_size_t, ctypes.c_int, _pointer(Handle)],
    "fp8LaunchTime": [_pointer(Handle), ctypes.c_size_t, ctypes.c_uint32, ctypes.c_int, _pointer(Timing)],
    "fp8LaunchEnqueueAt": [Handle, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p],
}
_FREE = ["fp8TextFree", "fp8ContextFree", "fp8ModuleFree", "fp8KernelObjectFree", "fp8DeviceClose", "fp8BufferFree", "fp8KernelFree", "fp8LaunchFree"]
_OTHER = {
    "fp8LastError": ([], ctypes.c_char_p),
    "fp8Version": ([], ctypes.c_char_p),
    "fp8ChipName": ([ctypes.c_size_t], ctypes.c_char_p),
    "fp8TextData": ([Handle], ctypes.c_void_p),
    "fp8TextSize": ([Handle], ctypes.c_size_t),
    "fp8ContextSetDiagnosticHandler": ([Handle, DiagnosticHandler, ctypes.c_void_p], None),
    "fp8KernelObjectName": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectChip": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectPTX": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectManifest": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectCubin": ([Handle, _pointer(ctypes.c_size_t)], ctypes.c_void_p),
    "fp8KernelObjectResources": ([Handle, _pointer(KernelResources)], ctypes.c_int),
    "fp8SimulatorOptionsInit": ([_pointer(SimulatorOptions)], None),
    "fp8DeviceGetInfo": ([Handle, _pointer(DeviceInfo)], None),
    "fp8BufferAddress": ([Handle], ctypes.c_uint64),
}


def library_path() -> Path:
    """The library of this package, or what $FP8_LIBRARY names."""
    named = os.environ.get("FP8_LIBRARY")
    path = Path(named) if named else Path(__file__).parent / "lib" / "libfp8.so"
    if path.is_file():
        return path
    origin = "$FP8_LIBRARY names" if named else "this package lacks"
    raise Fp8Error(f"{origin} {path}, which is not there: install the package with pip, or let $FP8_LIBRARY name the libfp8.so of a build")


@functools.lru_cache(maxsize=None)
def functions() -> ctypes.CDLL:
    """The functions of the library, which is loaded at the first call; they let other threads run."""
    path = library_path()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise Fp8Error(f"cannot load {path}: {error}") from None
    for name, arguments in _STATUS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, ctypes.c_int
    for name in _FREE:
        function = getattr(library, name)
        function.argtypes, function.restype = [Handle], None
    for name, (arguments, result) in _OTHER.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


def last_error() -> str:
    return str(functions().fp8LastError(), errors="replace")


def call(name: str, *arguments: object, error: type[Fp8Error] = DeviceError) -> None:
    """Calls a function that returns a status; a failure raises `error`, or HangError, with the library's message."""
    check(getattr(functions(), name)(*arguments), error)


def check(status: int, error: type[Fp8Error] = DeviceError) -> None:
    """Raises what a status means."""
    if status == _HANG:
        raise HangError(last_error())
    if status:
        raise error(last_error())


class Owned:
    """A handle, freed with this object; not in a process that was forked, for it is the parent's."""

    __slots__ = ("handle", "_free", "_process", "__weakref__")

    def __init__(self, make: str, free: str, *arguments: object, error: type[Fp8Error] = DeviceError):
        self.handle: ctypes.c_void_p | None = Handle()
        self._free, self._process = getattr(functions(), free), os.getpid()
        call(make, *arguments, ctypes.byref(self.handle), error=error)

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle and self._process == os.getpid():
            self._free(handle)


def take_text(text: Handle) -> bytes:
    """The bytes of an Fp8Text, which is freed."""
    library = functions()
    try:
        return ctypes.string_at(library.fp8TextData(text), library.fp8TextSize(text))
    finally:
        library.fp8TextFree(text)


def version() -> str:
    """The version of the library."""
    return str(functions().fp8Version(), "ascii")


def chips() -> tuple[str, ...]:
    """The chips that there is code for, such as "sm_90a"."""
    names: list[str] = []
    while name := functions().fp8ChipName(len(names)):
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
