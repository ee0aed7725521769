# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other packages: where they are, of what type and shape.

torch's tensors are asked directly; cupy's and all others that have it by `__cuda_array_interface__`, numpy's by
`__array_interface__`, the rest by DLPack. Types are spelt as in MLIR. A package without 8-bit floats hands them over as uint8.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, replace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _dlpack, _library
from ._types import E8M0, by_mlir, by_name

if TYPE_CHECKING:
    import torch

CPU, CUDA = "cpu", "cuda"

_INTEGERS = {f"{prefix}int{bits}": f"{'u' if prefix else 'i'}{bits}" for prefix in ("", "u") for bits in (8, 16, 32, 64)}
_EXPONENTS = {E8M0.name: E8M0.mlir}
# Type strings of the array interfaces, without the order of bytes.
_BY_TYPESTR = {"f2": "f16", "f4": "f32", "f8": "f64", **{f"{name[0]}{int(name[1:]) // 8}": name for name in _INTEGERS.values()}}


@functools.lru_cache(maxsize=None)
def names() -> dict[str, str]:
    """The types of arrays, as MLIR spells them, by the names of NumPy and PyTorch."""
    return {**{name: format.mlir for name, format in by_name().items()}, **_EXPONENTS, **_INTEGERS}


@dataclass(frozen=True)
class Array:
    """A strided array. Strides count elements.

    `keep` holds whatever must live as long as the memory is used, `stream` the CUDA stream that still writes to it, if the array says so.
    """

    dtype: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str
    index: int
    keep: object = None
    read_only: bool = False
    stream: int | None = None

    def as_type(self, dtype: str) -> Array:
        """The same bits as another type that they stand for."""
        return replace(self, dtype=dtype)

    def laid_out(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
        """The same memory in other extents and strides."""
        return replace(self, shape=shape, strides=strides)

    @property
    def place(self) -> str:
        return f"{self.device}:{self.index}" if self.device == CUDA else self.device


def by(extents: tuple[int, ...]) -> str:
    """Extents as messages have them: 16 x 32."""
    return " x ".join(map(str, extents))


def spelt(dtype: str) -> str:
    """A type of MLIR as NumPy and PyTorch call it."""
    return next((name for name, mlir in names().items() if mlir == dtype), dtype)


def stands_for(found: str, wanted: str) -> bool:
    """Whether an array of type `found` can be meant as one of `wanted`, of which packages without it have the bits."""
    if wanted in _EXPONENTS.values():
        return found in (wanted, "u8")
    format = by_mlir().get(wanted)
    return found == wanted or format is not None and not format.is_native and found == f"u{8 * format.size}"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def package_of(array: object) -> str | None:
    """The package whose array this is: "torch", "numpy" or "cupy", without an import of any; None: another's."""
    for package, kind in (("torch", "Tensor"), ("numpy", "ndarray"), ("cupy", "ndarray")):
        module = sys.modules.get(package)
        if module is not None and isinstance(array, getattr(module, kind, ())):
            return package
    return None


def is_jax(array: object) -> bool:
    """Whether it is an array of jax: one that never changes, though its DLPack capsule does not say so."""
    return "jax" in sys.modules and isinstance(array, getattr(sys.modules["jax"], "Array", ()))


def refuse_mask(array: object, name: str) -> None:
    """Raises a TypeError if it is an array of numpy with a mask."""
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    if isinstance(array, masked):
        raise TypeError(f"{name} is a masked array, and its mask is not read: pass what its method filled() returns")


def is_torch(array: object) -> bool:
    # By name first, which is the quickest, for calls that are repeated.
    return type(array).__module__ in ("torch", "torch.nn.parameter") or package_of(array) == "torch"


def _from_torch(tensor: torch.Tensor, name: str) -> Array:
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
        raise TypeError(f"{name} is a tensor of layout {tensor.layout}, which no kernel reads: pass {name}.to_dense()")
    dtype = names().get(str(tensor.dtype).removeprefix("torch."))
    if dtype is None:
        raise TypeError(f"{name} is a tensor of {tensor.dtype}, which no kernel takes: convert it")
    if tensor.device.type not in (CPU, CUDA):
        raise TypeError(f"{name} is a tensor on {tensor.device}; kernels run on cuda devices: copy it to one")
    if getattr(tensor, "is_neg", bool)():  # as has z.conj().imag
        raise ValueError(f"{name} has a pending negation, which no kernel reads: pass {name}.resolve_neg()")
    address, shape, strides = tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride())
    return Array(dtype, address, shape, strides, tensor.device.type, tensor.device.index or 0, tensor)


def _from_interface(array: object, interface: Mapping[str, Any], name: str, device: str, index: int) -> Array:
    typestr = interface["typestr"]
    # NumPy's extensions, such as ml_dtypes', have a name and no type string.
    named = type_name if (type_name := str(getattr(getattr(array, "dtype", None), "name", ""))) in names() else ""
    dtype = names().get(named) or _BY_TYPESTR.get(typestr[1:])
    if dtype is None or typestr[0] == ">":
        raise TypeError(f"{name} is an array of {type_name or typestr}{' in big-endian order' * (typestr[0] == '>')}, which no kernel takes: convert it")
    size = int(typestr[2:])
    shape = tuple(interface["shape"])
    # The interface of numpy calls an array of one row contiguous, however far apart its rows are.
    strides = interface.get("strides") or getattr(array, "strides", None)
    if strides is not None and any(stride % size for stride in strides):
        raise ValueError(f"{name} has strides of {by(strides)} bytes, which are no multiples of its element's {size}: copy it")
    elements = tuple(stride // size for stride in strides) if strides is not None else contiguous_strides(shape)
    address, read_only = interface["data"]
    return Array(dtype, address or 0, shape, elements, device, index, array, read_only)


def describe(array: object, name: str, stream: int | None = None) -> Array:
    """What `array` is. Errors call it `name`; `stream` is the CUDA stream in which it will be used, None: the default one.

    Raises:
        TypeError: it is no array, or of a type or on a device that kernels do not take.
        DeviceError: it says that it is on a GPU, and the driver does not know its memory.
        ValueError: its strides cannot be counted in elements.
    """
    if isinstance(array, Array):
        return array
    if is_torch(array):
        return _from_torch(array, name)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        found = _from_interface(array, interface, name, CUDA, 0)
        # cupy enqueues to its current stream, which is the kernel's.
        if package_of(array) == "cupy":
            return replace(found, index=getattr(array, "device").id)
        return replace(found, index=_library.ordinal_of(found.address) if found.address else 0, stream=interface.get("stream"))
    # Of numpy's arrays only: a number of numpy has the interface of a temporary that is gone when it is read.
    if package_of(array) == "numpy":
        refuse_mask(array, name)
        return _from_interface(array, getattr(array, "__array_interface__"), name, CPU, 0)
    if hasattr(array, "__dlpack__"):
        exported = _dlpack.read(array, name, stream)
        strides = exported.strides if exported.strides is not None else contiguous_strides(exported.shape)
        keep, read_only = (array, exported.keep), exported.read_only or is_jax(array)
        return Array(exported.dtype, exported.address, exported.shape, strides, exported.kind, exported.ordinal, keep, read_only)
    raise TypeError(
        f"{name} is a {type(array).__name__}; it must be an array of numpy, torch or cupy, or have __dlpack__ or "
        "__cuda_array_interface__"
    )
