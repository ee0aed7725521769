# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads DLPack capsules (https://dmlc.github.io/dlpack): DLManagedTensorVersioned, and DLManagedTensor of older packages."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
_VERSION = (1, 0)

# DLDeviceType: kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged.
_DEVICES = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}
TYPES = {
    (0, 8): "i8",
    (0, 16): "i16",
    (0, 32): "i32",
    (0, 64): "i64",
    (1, 8): "u8",
    (1, 16): "u16",
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (10, 8): "f8E4M3FN",
    (12, 8): "f8E5M2",
    (14, 8): "f8E8M0FNU",
}
"""MLIR's names of types, by DLDataTypeCode and bits. 10 is kDLFloat8_e4m3fn, 12 kDLFloat8_e5m2, 14 kDLFloat8_e8m0fnu."""

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.argtypes, get_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int


class Exported(NamedTuple):
    """What a capsule says: device kind and number, type, address, shape, strides (None: contiguous), what keeps the memory, and whether it may be written."""

    kind: str
    ordinal: int
    dtype: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    keep: object
    read_only: bool


def _export(array: object, stream: int | None) -> Any:
    """The capsule of an array, versioned if its package makes such ones."""
    device, export = getattr(array, "__dlpack_device__", None), getattr(array, "__dlpack__")
    on_gpu = device is not None and _DEVICES.get(device()[0]) == "cuda"
    # Its maker lets that stream wait for what still writes to it; 1 is the default stream (the array API standard, __dlpack__).
    options = {"stream": stream or 1} if on_gpu else {}
    try:
        return export(**options, max_version=_VERSION)
    except TypeError:  # a package that knows no versions, or refuses the array, and then again
        return export(**options)


def _open(capsule: Any, name: str) -> tuple[_DLTensor, bool]:
    """The tensor in a capsule, and whether it is read-only, which one without a version does not say."""
    if not _is_valid(capsule, b"dltensor_versioned"):
        return _DLTensor.from_address(get_pointer(capsule, b"dltensor")), False
    managed = _DLManagedTensorVersioned.from_address(get_pointer(capsule, b"dltensor_versioned"))
    if managed.major > _VERSION[0]:
        raise TypeError(f"{name} is shared by DLPack {managed.major}.{managed.minor}, and up to {_VERSION[0]} is read here: use another release of its package")
    return managed.tensor, bool(managed.flags & _READ_ONLY)


def read(array: object, name: str, stream: int | None) -> Exported:
    """Reads what an array shares, to be used in that stream. Errors call it `name`.

    The capsule is not consumed: its maker's destructor releases it, when what keeps it goes.
    """
    capsule = _export(array, stream)
    tensor, read_only = _open(capsule, name)
    kind = _DEVICES.get(tensor.device_type)
    if kind is None:
        raise TypeError(f"{name} is on DLPack device {tensor.device_type}; kernels run on cuda devices: copy it to one")
    dtype = TYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise TypeError(f"{name} is of DLPack type {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes, which no kernel takes: convert it")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    return Exported(kind, tensor.device_id, dtype, (tensor.data or 0) + tensor.byte_offset, shape, strides, capsule, read_only)
