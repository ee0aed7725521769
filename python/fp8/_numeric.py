# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What NumPy and PyTorch call differently, so that quantisation and reference are written once. Neither is imported before it is needed."""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any, NoReturn

from ._arrays import package_of, refuse_mask
from ._types import E4M3, Format, type_name


def numpy() -> Any:
    """Imports NumPy.

    Raises:
        ImportError: It is not installed.
    """
    try:
        return importlib.import_module("numpy")
    except ImportError as error:
        raise ImportError("fp8 needs NumPy for this; install it by 'pip install numpy', or pass tensors of PyTorch") from error


_NO_OPERAND = "{} is no type of an operand; bits of bfloat16 are given as uint16, and those of e4m3 as uint8"


class NumPy:
    """NumPy's arrays."""

    def __init__(self) -> None:
        self.module = numpy()

    def take(self, array: Any, name: str) -> Any:
        """Returns an array, or a tensor of PyTorch as one. Errors call it `name`."""
        refuse_mask(array, name)
        package = package_of(array)
        if package == "torch":
            bits = array.detach().cpu().resolve_neg().contiguous().view(getattr(importlib.import_module("torch"), f"int{8 * array.element_size()}")).numpy()
            return _with_type(bits, type_name(array.dtype))
        return array if package == "numpy" else _refuse(array, name)

    def full(self, shape: tuple[int, ...], value: float, dtype: str) -> Any:
        return self.module.full(shape, value, dtype)

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        """Returns a context in which NumPy does not warn of NaN and infinities, which are results like others."""
        context: contextlib.AbstractContextManager[Any] = self.module.errstate(all="ignore")
        return context

    def cast(self, array: Any, dtype: str) -> Any:
        with self.quiet():
            return array.astype(dtype, copy=False)

    def view(self, array: Any, dtype: str) -> Any:
        return array.view(dtype)

    def repeat_rows(self, array: Any, times: int) -> Any:
        return array.repeat(times, -2)

    def reorder(self, array: Any, axes: tuple[int, ...]) -> Any:
        return self.module.ascontiguousarray(array.transpose(axes))

    def largest(self, array: Any) -> Any:
        """Returns the largest along the last axis."""
        return array.max(-1)

    def narrow(self, array: Any, target: Format) -> Any:
        """Returns numbers of `target` that are given in float64 as such, or if NumPy lacks the type as bits."""
        if target.is_native:
            return self.cast(array, target.name)
        return self.typed(_bits(self.module, array, target), target)

    def typed(self, bits: Any, target: Format) -> Any:
        """Returns the bits as numbers of `target`, or as they are if NumPy lacks the type."""
        extension = ml_dtypes()
        return bits if extension is None else bits.view(getattr(extension, target.name))

    def to_e4m3(self, array: Any) -> Any:
        """Rounds numbers of float32 to the nearest of e4m3, ties to even; larger ones saturate, infinities and NaN become NaN."""
        module = self.module
        bits = array.view("uint32") & 0x7FFFFFFF
        # Above 2^-6 the upper bits are the code but for the exponent's bias; adding half a unit, less one where they are even, rounds them.
        normal = (bits + 0x7FFFF + (bits >> 20 & 1) >> 20) - (120 << 3)
        with self.quiet():
            subnormal = module.rint(abs(array) * 2.0**9).astype("uint8")
        code = module.where(bits < 0x3C800000, subnormal, module.minimum(normal, 0x7E).astype("uint8"))
        code = module.where(bits >= 0x7F800000, module.uint8(0x7F), code)
        return self.typed(code | (array.view("uint32") >> 24 & 0x80).astype("uint8"), E4M3)

    def widen(self, array: Any, bits_of: Format | None = None) -> Any:
        """Returns the numbers in float64; uint16 has the bits of bfloat16, and uint8 those of `bits_of` if that has 8."""
        if array.dtype == "uint16" and (bits_of is None or bits_of.size == 2):
            return (array.astype("uint32") << 16).view("float32").astype("float64")
        if array.dtype == "uint8" and bits_of is not None and bits_of.size == 1:
            return _table(bits_of).take(array)
        if array.dtype.kind in "iub":
            raise TypeError(_NO_OPERAND.format(type_name(array.dtype)))
        return self.cast(array, "float64")


class Torch:
    """PyTorch's tensors, on the device of the one that is looked at."""

    def __init__(self, tensor: Any) -> None:
        self.module = importlib.import_module("torch")
        self._device = tensor.device

    def take(self, array: Any, name: str) -> Any:
        """Returns a tensor, or an array of NumPy as one. Errors call it `name`."""
        refuse_mask(array, name)
        package = package_of(array)
        if package == "numpy":
            bits = self.module.from_numpy(numpy().array(array, array.dtype.newbyteorder("="), order="C").view(f"i{array.itemsize}")).to(self._device)
            return self.view(bits, type_name(array.dtype))
        return array if package == "torch" else _refuse(array, name)

    def full(self, shape: tuple[int, ...], value: float, dtype: str) -> Any:
        return self.module.full(shape, value, dtype=getattr(self.module, dtype), device=self._device)

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def cast(self, array: Any, dtype: str) -> Any:
        return array.to(getattr(self.module, dtype))

    def view(self, array: Any, dtype: str) -> Any:
        return array.view(getattr(self.module, dtype))

    def repeat_rows(self, array: Any, times: int) -> Any:
        return array.repeat_interleave(times, -2)

    def reorder(self, array: Any, axes: tuple[int, ...]) -> Any:
        return array.permute(axes).contiguous()

    def largest(self, array: Any) -> Any:
        """Returns the largest along the last axis."""
        return array.amax(-1)

    def typed(self, bits: Any, target: Format) -> Any:
        """Returns the bits as numbers of `target`."""
        return self.view(bits, target.name)

    def to_e4m3(self, array: Any) -> Any:
        clipped = array.clip(-448.0, 448.0)
        finite = self.module.where(array.isinf(), self.full((), float("nan"), "float32"), clipped)
        return self.cast(finite, "float8_e4m3fn")

    def narrow(self, array: Any, target: Format) -> Any:
        return self.cast(self.cast(array, "float32"), target.name)

    def widen(self, array: Any, bits_of: Format | None = None) -> Any:
        if array.dtype == self.module.uint16 and (bits_of is None or bits_of.size == 2):
            array = self.view(array, "bfloat16")
        elif array.dtype == self.module.uint8 and bits_of is not None and bits_of.size == 1:
            array = self.view(array, bits_of.name)
        elif not array.dtype.is_floating_point:
            raise TypeError(_NO_OPERAND.format(type_name(array.dtype)))
        return self.cast(array, "float64")


def arrays_of(array: Any) -> NumPy | Torch:
    """Returns the namespace of an array.

    Raises:
        TypeError: It is neither NumPy's nor PyTorch's, or has a mask.
    """
    refuse_mask(array, "an operand")
    package = package_of(array)
    if package == "torch":
        return Torch(array)
    if package == "numpy":
        return NumPy()
    raise TypeError(f"{type(array).__name__} is no array of NumPy or tensor of PyTorch; convert it to one")


def _refuse(array: object, name: str) -> NoReturn:
    raise TypeError(f"{name} is a {type(array).__name__}; it must be an array of NumPy or a tensor of PyTorch")


def _with_type(bits: Any, name: str) -> Any:
    """Returns the bits as numbers of the type of that name, or as they are, without a sign, if NumPy lacks it."""
    extension = ml_dtypes()
    unsigned = bits.view(f"u{bits.itemsize}")
    return unsigned.view(getattr(extension, name, None) or name) if hasattr(numpy(), name) or hasattr(extension, name) else unsigned


def ml_dtypes() -> Any:
    """Returns the module ml_dtypes, or None if it is not installed."""
    try:
        return importlib.import_module("ml_dtypes")
    except ImportError:
        return None


def _exponents(xp: NumPy | Torch, array: Any, target: Format) -> Any:
    bits = xp.view(array, "int64")
    return ((bits >> 52 & 0x7FF) - 1023).clip(target.emin, None)


def spacing(xp: NumPy | Torch, array: Any, target: Format) -> Any:
    """Returns the spacing (ulp) of the format at each number of float64."""
    return xp.view((_exponents(xp, array, target) - (target.precision - 1) + 1023) << 52, "float64")


def round_to(xp: NumPy | Torch, array: Any, target: Format) -> Any:
    """Rounds numbers of float64 to the nearest of the format, ties to even, once. NaN stays NaN."""
    ulp = spacing(xp, array, target)
    with xp.quiet():
        rounded = xp.module.round(array / ulp) * ulp
    if target.saturates:
        return rounded.clip(-target.largest, target.largest)
    infinite = xp.module.copysign(xp.full((), float("inf"), "float64"), rounded)
    return xp.module.where(abs(rounded) > target.largest, infinite, rounded)


def encode(xp: NumPy | Torch, quotients: Any) -> Any:
    """Rounds numbers of float32 or float64 to e4m3, once; larger ones saturate, infinities and NaN become NaN."""
    if type_name(quotients.dtype) == "float32":
        return xp.to_e4m3(quotients)
    rounded = round_to(xp, quotients, E4M3)
    return xp.narrow(xp.module.where(xp.module.isinf(quotients), xp.full((), float("nan"), "float64"), rounded), E4M3)


def _bits(module: Any, array: Any, target: Format) -> Any:
    """Returns the bits of numbers of the format, given in float64."""
    if target.name == "bfloat16":
        with module.errstate(all="ignore"):
            return (array.astype("float32").view("uint32") >> 16).astype("uint16")
    xp = NumPy()
    magnitude = module.where(module.isnan(array), 0.0, abs(array))
    units = magnitude / spacing(xp, magnitude, target)
    # Of e4m3 a normal number has 8 to 15 units, a subnormal one fewer; the exponent counts on from the latter.
    code = units.astype("int64") + (_exponents(xp, magnitude, target) - target.emin) * 2 ** (target.precision - 1)
    code = module.where(module.isnan(array), 0x7F, code)
    return (code | module.signbit(array) * 0x80).astype("uint8")


@functools.lru_cache(maxsize=None)
def _table(target: Format) -> Any:
    """Returns the 256 numbers of a format of 8 bits."""
    module = numpy()
    code, units = module.arange(256), 2 ** (target.precision - 1)
    exponent, mantissa = (code & 0x7F) // units, code % units
    magnitude = module.where(exponent == 0, mantissa, mantissa + units) * 2.0 ** (module.maximum(exponent, 1) - 1 + target.emin - target.precision + 1)
    # What is past the largest number is NaN, but for the infinity of a format that has one, its mantissa 0.
    past = module.where((mantissa == 0) & (magnitude > target.largest), module.inf, module.nan)
    magnitude = module.where(magnitude > target.largest, past, magnitude)
    return module.where(code & 0x80 != 0, -magnitude, magnitude)
