# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other packages: where they are, of what type and shape.

torch's tensors are asked directly; cupy's and all others that have it by `__cuda_array_interface__`, numpy's by
`__array_interface__`, the rest by DLPack. Types are spelt as in MLIR. A package without 8-bit floats hands them over as uint8.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

from . import _dlpack

CPU, CUDA = "cpu", "cuda"

BYTES = {"f8E4M3FN": 1, "f8E5M2": 1, "i8": 1, "bf16": 2, "f16": 2, "i16": 2, "f32": 4, "i32": 4, "f64": 8, "i64": 8}

_BY_NAME = {
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "uint8": "u8",
    "int8": "i8",
    "uint16": "u16",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
}
_BY_TYPESTR = {"f2": "f16", "f4": "f32", "f8": "f64", "u1": "u8", "i1": "i8", "u2": "u16", "i2": "i16", "i4": "i32", "i8": "i64"}
# What stands for a type in a package that lacks it.
_BITS = {"f8E4M3FN": "u8", "f8E5M2": "u8", "bf16": "u16"}


@dataclass(frozen=True)
class Array:
    """A strided array. Strides count elements.

    `keep` holds whatever must live as long as the memory is used.
    """

    dtype: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str
    index: int
    keep: Any = None
    read_only: bool = False

    def as_type(self, dtype: str) -> Array:
        """The same bits as another type that they stand for."""
        return replace(self, dtype=dtype)

    @property
    def place(self) -> str:
        return f"{self.device}:{self.index}" if self.device == CUDA else self.device


def stands_for(found: str, wanted: str) -> bool:
    """Whether an array of type `found` can be meant as one of `wanted`."""
    return found == wanted or _BITS.get(wanted) == found


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def is_torch(array: Any) -> bool:
    # torch.Tensor and its subclasses, torch.nn.Parameter among them, without an import of torch.
    kind = type(array)
    return kind.__module__ in ("torch", "torch.nn.parameter") or "torch" in sys.modules and isinstance(array, sys.modules["torch"].Tensor)


def _from_torch(tensor: Any) -> Array:
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in _BY_NAME:
        raise TypeError(f"a tensor of {tensor.dtype} has no type that kernels take")
    if tensor.device.type not in (CPU, CUDA):
        raise TypeError(f"a tensor on {tensor.device}: kernels run on cuda devices")
    return Array(
        _BY_NAME[name],
        tensor.data_ptr(),
        tuple(tensor.shape),
        tuple(tensor.stride()),
        tensor.device.type,
        tensor.device.index or 0,
        tensor,
    )


def _from_interface(interface: dict[str, Any], name: str, device: str, index: int, keep: Any) -> Array:
    typestr = interface["typestr"]
    dtype = _BY_NAME.get(name) or _BY_TYPESTR.get(typestr[1:])
    if dtype is None or typestr[0] == ">":
        raise TypeError(f"an array of {name or typestr} has no type that kernels take")
    size = int(typestr[2:])
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is not None and any(stride % size for stride in strides):
        raise ValueError("the strides of an array are no multiples of its element's size")
    elements = tuple(stride // size for stride in strides) if strides is not None else _contiguous(shape)
    address, read_only = interface["data"]
    return Array(dtype, address, shape, elements, device, index, keep, read_only)


def describe(array: Any, name: str = "an array") -> Array:
    """What `array` is.

    Raises:
        TypeError: it is no array, or of a type or on a device that kernels do not take.
    """
    if isinstance(array, Array):
        return array
    if is_torch(array):
        return _from_torch(array)
    dtype_name = str(getattr(getattr(array, "dtype", None), "name", ""))
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        device = getattr(array, "device", 0)
        index = getattr(device, "id", device)
        return _from_interface(interface, dtype_name, CUDA, index if isinstance(index, int) else 0, array)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return _from_interface(interface, dtype_name, CPU, 0, array)
    if hasattr(array, "__dlpack__"):
        kind, index, dtype, address, shape, strides, keep = _dlpack.read(array)
        return Array(dtype, address, shape, strides if strides is not None else _contiguous(shape), kind, index, (array, keep))
    raise TypeError(
        f"{name} is a {type(array).__name__}; it must be an array of numpy, torch or cupy, or have __dlpack__ or "
        "__cuda_array_interface__"
    )
