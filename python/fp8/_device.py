# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPUs, kernels loaded on them, and launches."""

from __future__ import annotations

import ctypes
import operator
import os
import struct
import threading
from dataclasses import dataclass
from typing import Iterable

from . import _binding, _library
from ._arrays import Array
from ._errors import DeviceError
from ._timeline import Timeline


_DEFAULT = 1  # another name of the default stream, 0 (CUDA Driver API, CU_STREAM_LEGACY)


@dataclass(frozen=True)
class DeviceInfo:
    """A GPU.

    Attributes:
        name: "NVIDIA H200".
        ordinal: its number.
        capability: compute capability, major and minor.
        multiprocessor_count: how many there are.
        l2_cache_bytes: of the whole device.
        max_shared_memory_per_block: bytes.
        driver_version: 13000 for 13.0.
        memory_bytes: of the whole device.
        chip: what kernels are compiled for, one of `fp8.chips()`; empty if it can run none.
    """

    name: str
    ordinal: int
    capability: tuple[int, int]
    multiprocessor_count: int
    l2_cache_bytes: int
    max_shared_memory_per_block: int
    driver_version: int
    memory_bytes: int
    chip: str


class Device:
    """A GPU that has been opened; one for each number in a process."""

    def __init__(self, ordinal: int):
        self._owned = _library.own("fp8DeviceOpen", "fp8DeviceClose", None, ordinal)
        self._numbers: dict[bytes, Buffer] = {}
        info = _binding.DeviceInfo()
        _library.functions().fp8DeviceGetInfo(self._owned.handle, ctypes.byref(info))
        self.info = DeviceInfo(
            info.name.decode(),
            info.ordinal,
            (info.major, info.minor),
            info.multiprocessor_count,
            info.l2_cache_bytes,
            info.max_shared_memory_per_block,
            info.driver_version,
            info.memory_bytes,
            self._chip(),
        )

    @property
    def handle(self) -> ctypes.c_void_p | None:
        return self._owned.handle

    def _chip(self) -> str:
        can_run = _library.functions().fp8DeviceCanRun
        # Its own, sm_103a, before that of a family, sm_100f.
        chips = sorted(_library.chips(), key=lambda chip: not chip.endswith("a"))
        return next((chip for chip in chips if can_run(self.handle, chip.encode()) == 0), "")

    def await_stream(self, stream: int) -> None:
        """Waits until what was enqueued to it is done."""
        _library.call("fp8DeviceAwait", self.handle, stream)

    def await_producers(self, arrays: Iterable[Array], stream: int) -> None:
        """Waits for other streams than that one that still write to the arrays, as these say."""
        for array in arrays:
            if array.stream is not None and (array.stream or _DEFAULT) != (stream or _DEFAULT):
                self.await_stream(array.stream)

    def known_number(self, value: float) -> int | None:
        """The address of a float32 that is on the device already, or None."""
        try:
            buffer = self._numbers.get(struct.pack("=f", value))
        except OverflowError:
            return None
        return buffer.address if buffer else None

    def number(self, value: float) -> int:
        """The address of a float32 on the device. It stays there: a captured CUDA graph may read it whenever it is replayed."""
        bits = struct.pack("=f", value)
        with _lock:
            if bits not in self._numbers:
                self._numbers[bits] = Buffer(self, bits)
            return self._numbers[bits].address


class Buffer:
    """Bytes on a device."""

    def __init__(self, device: Device, data: bytes):
        self._device = device
        self._owned = _library.own("fp8BufferAllocate", "fp8BufferFree", device.handle, b"scalar", len(data))
        _library.call("fp8BufferUpload", self._owned.handle, data, len(data))
        self.address: int = _library.functions().fp8BufferAddress(self._owned.handle)


_devices: dict[int, Device] = {}
_lock = threading.Lock()
_opened_in: int | None = None


def _forget() -> None:
    """In a process that was forked: another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)


def get_device(ordinal: int = 0) -> Device:
    """The GPU of that number.

    Raises:
        DeviceError: there is none, or its driver does not work, or this process was forked from one that used it.
    """
    global _opened_in
    ordinal = operator.index(ordinal)
    if not 0 <= ordinal < 2**31:
        raise DeviceError(f"there is no GPU of number {ordinal}: numbers count from 0")
    with _lock:
        if _opened_in not in (None, os.getpid()):
            raise DeviceError(
                "this process was forked from one that had used the GPU, and CUDA does not outlive a fork: start processes with "
                "multiprocessing's 'spawn', or before the first use of the GPU"
            )
        if ordinal not in _devices:
            _devices[ordinal] = Device(ordinal)
            _opened_in = os.getpid()
        return _devices[ordinal]


def driver_version() -> int:
    """The version of the driver, 13000 for 13.0, of this process's GPUs; 0 if it has used none."""
    return next((device.info.driver_version for device in _devices.values()), 0)


def as_arguments(arrays: tuple[Array, ...]) -> ctypes.Array[_binding.Argument]:
    """A C array of Fp8Argument."""
    return _binding.make_arguments([(array.dtype, array.address, array.shape, array.strides) for array in arrays])


class LoadedKernel:
    """A kernel on a device."""

    def __init__(self, device: Device, image: bytes, manifest: str):
        self.device = device
        self._owned = _library.own("fp8KernelLoad", "fp8KernelFree", device.handle, image, len(image), manifest.encode())

    def prepare(self, arrays: tuple[Array, ...]) -> Launch:
        return Launch(self, as_arguments(arrays))


class Launch:
    """A launch for arrays of certain types, shapes and strides, wherever they are: `enqueue(stream, *addresses)`.

    Threads may share it.
    """

    def __init__(self, kernel: LoadedKernel, arguments: ctypes.Array[_binding.Argument]):
        self._kernel = kernel  # lives as long
        self._owned = _library.own("fp8LaunchPrepare", "fp8LaunchFree", kernel._owned.handle, arguments, len(arguments), 0)
        self.handle: int = (self._owned.handle and self._owned.handle.value) or 0

    def enqueue(self, stream: int, *addresses: int) -> None:
        """Enqueues to a CUDA stream.

        Raises:
            DeviceError: the driver refuses it.
        """
        words = struct.pack(f"={len(addresses)}Q", *addresses)
        _library.check(_library.functions().fp8LaunchEnqueueAt(self.handle, words, len(addresses), stream))


def profile_launch(launch: Launch) -> Timeline:
    """Launches a profiled kernel, some times before, and waits for the end.

    Raises:
        DeviceError: the kernel writes no stamps, or the driver refuses it.
        HangError: it does not end.
    """
    timeline = _binding.CTimeline()
    _library.call("fp8LaunchProfile", launch.handle, ctypes.byref(timeline))
    return Timeline.take(timeline)


def time_launches(launches: list[Launch], replays: int = 30) -> float:
    """Microseconds of a launch: the median over replays of a CUDA graph of them all.

    Raises:
        DeviceError: the driver refuses it.
        HangError: it does not end.
    """
    handles = (_binding.Handle * len(launches))(*(launch.handle for launch in launches))
    timing = _binding.Timing()
    _library.call("fp8LaunchTime", handles, len(launches), replays, 0, ctypes.byref(timing))
    return float(timing.median_microseconds)
