# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C API (include/fp8-c) by ctypes: structures, signatures, and handles that are freed with their owner.

It imports Python's own modules alone, so that benchmark/gpu has it beside a libfp8runtime.so and without the package.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import POINTER
from typing import Any, Callable, Union

HANG = 2
"""The status of a function that gave up waiting for a kernel."""

Handle = ctypes.c_void_p
_CType = Union[type[ctypes.c_int32], type[ctypes.c_int64], type[ctypes.c_uint32], type[ctypes.c_uint64], type[ctypes.c_double]]


def _each(kind: _CType, *names: str) -> list[tuple[str, _CType]]:
    """Returns fields of a structure that are of one type."""
    return [(name, kind) for name in names]


class Argument(ctypes.Structure):
    """Fp8Argument"""

    _fields_ = [
        ("dtype", ctypes.c_char_p),
        ("address", ctypes.c_uint64),
        ("rank", ctypes.c_size_t),
        ("shape", POINTER(ctypes.c_int64)),
        ("strides", POINTER(ctypes.c_int64)),
    ]


class DeviceInfo(ctypes.Structure):
    """Fp8DeviceInfo"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        *_each(ctypes.c_int32, "ordinal", "major", "minor", "multiprocessor_count", "l2_cache_bytes", "max_shared_memory_per_block", "driver_version"),
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
    ("notes", POINTER(CDiagnostic)),
]

DiagnosticHandler = ctypes.CFUNCTYPE(None, POINTER(CDiagnostic), ctypes.c_void_p)
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

    _fields_ = _each(ctypes.c_int64, "registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes", "shared_memory_bytes")


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
        ("threads", ctypes.c_uint32),
        ("strict", ctypes.c_int),
        ("memory_limit", ctypes.c_uint64),
        ("progress", Progress),
        ("progress_data", ctypes.c_void_p),
    ]


class SimulatorStatistics(ctypes.Structure):
    """Fp8SimulatorStatistics"""

    _fields_ = _each(
        ctypes.c_uint64, "warp_instructions", "mmas", "tma_loads", "tma_load_bytes", "tma_stores", "tma_store_bytes", "barrier_phases", "ctas",
        "schedule_hash", "warnings",
    )


class GivenArray(ctypes.Structure):
    """Fp8GivenArray"""

    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("read_only", ctypes.c_int)]


class CTimeline(ctypes.Structure):
    """Fp8Timeline"""

    _fields_ = [("summary", ctypes.c_void_p), ("trace", ctypes.c_void_p)]


class Timing(ctypes.Structure):
    """Fp8Timing"""

    _fields_ = [
        *_each(ctypes.c_double, "median_microseconds", "fastest_microseconds", "slowest_microseconds"),
        *_each(ctypes.c_uint32, "replays", "launches_per_replay"),
    ]


_Signatures = dict[str, Sequence[object]]

# Parameters of the functions that return a status, by what a library needs to have them.
RUNTIME: _Signatures = {
    "fp8DeviceOpen": [ctypes.c_char_p, ctypes.c_int, POINTER(Handle)],
    "fp8DeviceCanRun": [Handle, ctypes.c_char_p],
    "fp8DeviceAwait": [Handle, ctypes.c_void_p],
    "fp8AddressOrdinal": [ctypes.c_char_p, ctypes.c_uint64, POINTER(ctypes.c_int32)],
    "fp8BufferAllocate": [Handle, ctypes.c_char_p, ctypes.c_uint64, POINTER(Handle)],
    "fp8BufferUpload": [Handle, ctypes.c_void_p, ctypes.c_uint64],
    "fp8KernelLoad": [Handle, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, POINTER(Handle)],
    "fp8LaunchPrepare": [Handle, POINTER(Argument), ctypes.c_size_t, ctypes.c_int, POINTER(Handle)],
    "fp8LaunchRun": [Handle],
    "fp8LaunchProfile": [Handle, POINTER(CTimeline)],
    "fp8LaunchTime": [POINTER(Handle), ctypes.c_size_t, ctypes.c_uint32, ctypes.c_int, POINTER(Timing)],
    "fp8LaunchEnqueue": [Handle, ctypes.c_void_p],
    "fp8LaunchEnqueueAt": [Handle, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p],
}
_SIMULATE: Sequence[object] = [
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.c_char_p,
    ctypes.c_char_p,
    POINTER(Argument),
    ctypes.c_size_t,
    POINTER(SimulatorOptions),
    POINTER(SimulatorStatistics),
]
SIMULATOR: _Signatures = {
    "fp8Simulate": _SIMULATE,
    "fp8SimulateProfile": [*_SIMULATE, POINTER(CTimeline)],
    "fp8SimulateLaunch": [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_char_p,
        POINTER(GivenArray),
        ctypes.c_size_t,
        POINTER(SimulatorOptions),
        POINTER(SimulatorStatistics),
        POINTER(Handle),
    ],
}
COMPILER: _Signatures = {
    "fp8ContextCreate": [POINTER(Handle)],
    "fp8ModuleParse": [Handle, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, POINTER(Handle)],
    "fp8ModuleVerify": [Handle],
    "fp8ModuleRunPipeline": [Handle, ctypes.c_char_p],
    "fp8ModulePrint": [Handle, ctypes.c_int, POINTER(Handle)],
    "fp8ModuleReport": [Handle, ctypes.c_char_p, POINTER(Handle)],
    "fp8ModuleProve": [Handle, ctypes.c_char_p, POINTER(Handle)],
    "fp8ChooserCreate": [Handle, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, POINTER(Handle)],
    "fp8ChooserFit": [Handle, ctypes.c_char_p, ctypes.c_char_p, POINTER(Handle)],
    "fp8ChooserChoose": [Handle, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, POINTER(ctypes.c_char_p)],
    "fp8KernelObjectCreate": [Handle, POINTER(KernelObjectOptions), POINTER(Handle)],
}
# Parameters and results of the others; all libraries have the first five.
_OTHERS: dict[str, tuple[Sequence[object], object]] = {
    "fp8LastError": ([], ctypes.c_char_p),
    "fp8Version": ([], ctypes.c_char_p),
    "fp8GemmOperands": ([ctypes.c_int64], ctypes.c_char_p),
    "fp8GemmMxOperands": ([], ctypes.c_char_p),
    "fp8ElementTypes": ([], ctypes.c_char_p),
    "fp8MagnitudeShare": ([], ctypes.c_double),
    "fp8ChipName": ([ctypes.c_size_t], ctypes.c_char_p),
    "fp8MachineName": ([ctypes.c_size_t], ctypes.c_char_p),
    "fp8TextData": ([Handle], ctypes.c_void_p),
    "fp8TextSize": ([Handle], ctypes.c_size_t),
    "fp8ContextSetDiagnosticHandler": ([Handle, DiagnosticHandler, ctypes.c_void_p], None),
    "fp8KernelObjectName": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectChip": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectPTX": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectManifest": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectCertificate": ([Handle], ctypes.c_char_p),
    "fp8KernelObjectCubin": ([Handle, POINTER(ctypes.c_size_t)], ctypes.c_void_p),
    "fp8KernelObjectResources": ([Handle, POINTER(KernelResources)], ctypes.c_int),
    "fp8SimulatorOptionsInit": ([POINTER(SimulatorOptions)], None),
    "fp8DeviceGetInfo": ([Handle, POINTER(DeviceInfo)], None),
    "fp8BufferAddress": ([Handle], ctypes.c_uint64),
}
_OTHERS |= {
    name: ([Handle], None)
    for name in ("fp8TextFree", "fp8ContextFree", "fp8ModuleFree", "fp8ChooserFree", "fp8KernelObjectFree", "fp8DeviceClose", "fp8BufferFree", "fp8KernelFree", "fp8LaunchFree")
}

Failure = Callable[[int, str], Exception]
"""Makes the exception for a status that is not 0 and the library's message."""


class Library:
    """A shared library that has the C API, or a part of it.

    Args:
        path: of the file.
        parts: of the API that it must have: `RUNTIME`, `SIMULATOR` and `COMPILER`.
        failure: makes exceptions where a call names no other maker.

    Raises:
        OSError: the file cannot be loaded.
        AttributeError: it lacks a function of these parts.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], parts: Sequence[_Signatures], failure: Failure):
        self._path = str(path)
        self.functions = ctypes.CDLL(self._path)
        self._failure = failure
        for signatures in parts:
            for name, parameters in signatures.items():
                self._declare(name, parameters, ctypes.c_int)
        for name, (parameters, result) in _OTHERS.items():
            if hasattr(self.functions, name):
                self._declare(name, parameters, result)

    def _declare(self, name: str, parameters: Sequence[object], result: object) -> None:
        function = getattr(self.functions, name)
        function.argtypes, function.restype = list(parameters), result

    def builtin(self, maker: str, *addresses: int) -> Callable[..., Any] | None:
        """Returns a function of Python's own kind that the library makes, or None if it makes none."""
        make = getattr(ctypes.PyDLL(self._path), maker)  # which keeps Python's lock
        make.argtypes, make.restype = [ctypes.c_void_p] * len(addresses), ctypes.py_object
        found: Callable[..., Any] | None = make(*addresses)
        return found

    def last_error(self) -> str:
        """Returns the message of this thread's last call that failed."""
        return str(self.functions.fp8LastError(), errors="replace")

    def check(self, status: int, failure: Failure | None = None) -> None:
        """Raises what a status means."""
        if status:
            raise (failure or self._failure)(status, self.last_error())

    def call(self, name: str, *arguments: object, failure: Failure | None = None) -> None:
        """Calls a function that returns a status, and raises what that means."""
        self.check(getattr(self.functions, name)(*arguments), failure)


class Owned:
    """A handle that is freed with this object. A process that was forked leaves it alone, for it is the parent's.

    Args:
        library: has the functions.
        make: makes the handle, and returns it by its last parameter.
        free: frees it.
        arguments: of `make`, in front of the handle.
        failure: as `Library.call` takes it.
    """

    __slots__ = ("handle", "_free", "_process", "__weakref__")

    def __init__(self, library: Library, make: str, free: str, *arguments: object, failure: Failure | None = None):
        self.handle: ctypes.c_void_p | None = Handle()
        self._free, self._process = getattr(library.functions, free), os.getpid()
        library.call(make, *arguments, ctypes.byref(self.handle), failure=failure)

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle and self._process == os.getpid():
            self._free(handle)


def make_arguments(arrays: Sequence[tuple[str, int, Sequence[int], Sequence[int]]]) -> ctypes.Array[Argument]:
    """Returns a C array of Fp8Argument, from the type, address, extents and strides of each; strides count elements."""
    arguments = (Argument * len(arrays))()
    for argument, (dtype, address, shape, strides) in zip(arguments, arrays):
        vector = ctypes.c_int64 * len(shape)
        argument.dtype, argument.address, argument.rank = dtype.encode(), address, len(shape)
        argument.shape, argument.strides = vector(*shape), vector(*strides)
    return arguments
