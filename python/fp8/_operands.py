# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operands of a call of fp8.gemm, checked, and brought into the kernel's order and layout."""

from __future__ import annotations

import ctypes
import math
import numbers
import sys
from typing import Any, NamedTuple

from ._arrays import CPU, CUDA, Array, by, describe, package_of, spelt, stands_for
from ._device import get_device
from ._layout import in_rows, padded_row, scale_layout
from ._spec import LARGEST_EXTENT, GemmSpec
from ._types import ADDENDS, BF16, E4M3, F32, OUTPUTS, SCALES, Format, format_of, one_of

_BLOCK = 128
_QUANTISED = ("f64", "f32", "f16", "bf16")  # types of numbers that quantize_blockwise takes
NO_GRADIENT = "fp8.gemm has no gradient, and an operand requires one: call it under torch.no_grad(), or detach the operand"
# What the caller calls the kernel's arguments.
SAID = {"c": "residual", "d_scale": "out_scale", "d": "out"}


class Call(NamedTuple):
    """The arguments of a call of `gemm`, as they were passed."""

    a: Any
    a_scale: Any
    b: Any
    b_scale: Any
    out_dtype: Any
    bias: Any
    residual: Any
    beta: Any
    out_scale: Any
    out: Any
    scale_layout: str | None
    b_block: int
    stream: int | None
    programmatic: bool | None = None


def _blocks(extent: int, block: int = _BLOCK) -> int:
    return -(-extent // block)


def as_number(value: Any) -> float | None:
    """The number that `value` is, one of numpy among them; None: it is none, but an array perhaps."""
    is_array = package_of(value) or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")
    if isinstance(value, numbers.Real) or not is_array and hasattr(value, "__float__"):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return None


def requires_gradient(*operands: Any) -> bool:
    """Whether torch is to compute a gradient of one of these tensors; what is none does not count."""
    return any(operand is not None and getattr(operand, "requires_grad", False) for operand in operands)


def refuse_gradients(call: Call) -> None:
    """There is no gradient, and to leave one out unseen would be wrong.

    Raises:
        ValueError: an operand requires one.
    """
    torch = sys.modules.get("torch")
    operands = (call.a, call.a_scale, call.b, call.b_scale, call.bias, call.residual, call.beta, call.out_scale, call.out)
    if torch is not None and requires_gradient(*operands) and torch.is_grad_enabled():
        raise ValueError(NO_GRADIENT)


class Operands:
    """The arrays of a call, described and checked, in the kernel's order and orientation.

    Raises:
        TypeError, ValueError: each names the operand, the rule and what was found.
    """

    def __init__(self, call: Call):
        refuse_gradients(call)
        self.stream = call.stream
        self.a, self.b = self._typed("a", call.a, (E4M3,)), self._typed("b", call.b, (E4M3,))
        self._check_extents()
        (*batch, self.m, self.k), self.n = self.a.shape, self.b.shape[-2]
        self.batch = tuple(batch)
        self.a_scale = self._row_scales("a_scale", call.a_scale, ("M", self.m), call.scale_layout)
        self.b_scale = self._b_scale(call)
        # With the factor 1 C is added as it is; with 0 it is not read.
        beta, out_scale = as_number(call.beta), as_number(call.out_scale)
        if call.residual is None and beta not in (0, 1):
            raise ValueError(f"beta is {'an array' if beta is None else beta}, the factor of a residual, and there is none: pass residual, or leave beta out")
        self.c = self._residual(call.residual) if call.residual is not None and beta != 0 else None
        self.bias = self._bias(call.bias)
        self.device, self.index, self.place = self.a.device, self.a.index, self.a.place
        # What the kernel reads as one number.
        self.numbers: dict[str, float | Array] = {}
        if self.c and beta != 1:
            self.numbers["beta"] = self._number("beta", call.beta)
        if call.out_scale is not None and out_scale != 1:
            self.numbers["d_scale"] = self._number("out_scale", call.out_scale)
        self.out = None if call.out is None else describe(call.out, "out", self.stream)
        default = self.out.dtype if self.out else BF16.mlir
        self.spec = GemmSpec(
            out_dtype=_output_type(call, default),
            a_scale_dtype=self.a_scale.dtype,
            b_scale_dtype=self.b_scale.dtype,
            b_block=call.b_block,
            bias_dtype=self.bias.dtype if self.bias else None,
            residual_dtype=self.c.dtype if self.c else None,
            beta="beta" in self.numbers,
            out_scale="d_scale" in self.numbers,
            batch=bool(batch),
            programmatic=call.programmatic,
        )
        self._check_places()

    def _typed(self, name: str, given: Any, wanted: tuple[Format, ...]) -> Array:
        """What `given` is, as one of the types that it may be."""
        array = describe(given, name, self.stream)
        for format in wanted:
            if stands_for(array.dtype, format.mlir):
                return array.as_type(format.mlir)
        cure = f": fp8.quantize_blockwise makes {name} and its scales of numbers" if wanted == (E4M3,) and array.dtype in _QUANTISED else ""
        raise TypeError(f"{name} is of {spelt(array.dtype)}; it must be of {one_of(wanted)}{cure}")

    @property
    def d_shape(self) -> tuple[int, ...]:
        return (*self.batch, self.m, self.n)

    def _check_extents(self) -> None:
        a, b = self.a.shape, self.b.shape
        for name, shape, wanted in (("a", a, "M x K"), ("b", b, "N x K")):
            if len(shape) not in (2, 3):
                raise ValueError(f"{name} has {len(shape)} dimensions; it must be {wanted}, or L x {wanted} of a batch")
        if a[:-2] != b[:-2]:
            raise ValueError(f"a is {by(a)} and b is {by(b)}: they must be matrices, or batches of as many")
        if a[-1] != b[-1]:
            raise ValueError(f"a is {by(a)} and b is {by(b)}: both have K columns, b is not transposed")
        for name, extent in (("M", a[-2]), ("N", b[-2]), ("K", a[-1]), *(("L", extent) for extent in a[:-2])):
            if extent > LARGEST_EXTENT:
                raise ValueError(f"{name} is {extent}; it must be below 2^31, the range of TMA coordinates: compute the product in parts")
        if a[-1] % 16:
            raise ValueError(f"K is {a[-1]}; it must be a multiple of 16: pad a and b with columns of zeros")

    def _row_scales(self, name: str, given: Any, rows: tuple[str, int], layout: str | None) -> Array:
        """The scales of single rows, as K/128 x rows."""
        array = self._typed(name, given, SCALES)
        if scale_layout(name, array.shape, rows, _blocks(self.k), layout, self.batch) == "k_major":
            return array
        return array.laid_out(_turned(array.shape), _turned(array.strides))

    def _b_scale(self, call: Call) -> Array:
        block = call.b_block
        if block not in (128, 64, 1):
            raise ValueError(f"b_block is {block!r}; it must be 128, 64 or 1")
        if block == 1:
            return self._row_scales("b_scale", call.b_scale, ("N", self.n), call.scale_layout)
        array = self._typed("b_scale", call.b_scale, SCALES)
        shape = (*self.batch, _blocks(self.n, block), _blocks(self.k))
        if array.shape != shape:
            raise ValueError(f"b_scale is {by(array.shape)}; it must be {self._lead}N/{block} x K/128, {by(shape)}")
        return array

    @property
    def _lead(self) -> str:
        """What a batch has in front of its extents, in words."""
        return "L x " * len(self.batch)

    def _residual(self, given: Any) -> Array:
        array = self._typed("residual", given, ADDENDS)
        if array.shape != self.d_shape:
            raise ValueError(f"residual is {by(array.shape)}; it must be {self._lead}M x N, {by(self.d_shape)}")
        return array

    def _bias(self, given: Any) -> Array | None:
        if given is None:
            return None
        array = self._typed("bias", given, ADDENDS)
        if array.shape not in ((self.n,), (1, self.n)):
            raise ValueError(f"bias is {by(array.shape)}; it must have N elements, {self.n}")
        # One row; how far the next would be only its tensor map asks.
        return array.laid_out((1, self.n), (padded_row(self.n, array.dtype), array.strides[-1]))

    def named(self) -> list[tuple[str, Array]]:
        arrays = [("a", self.a), ("a_scale", self.a_scale), ("b", self.b), ("b_scale", self.b_scale), ("c", self.c), ("bias", self.bias)]
        return [(name, array) for name, array in arrays if array is not None]

    def arrays(self, out: Array) -> tuple[Array, ...]:
        """What the kernel takes, in its order; copies where it cannot read an operand."""
        by_tma = self.spec.read_by_tma
        found = {name: in_rows(SAID.get(name, name), array, name in by_tma) for name, array in self.named()}
        found |= {name: self._in_memory(value) for name, value in self.numbers.items()}
        found["d"] = out
        return tuple(found[name] for name in self.spec.arguments)

    def given(self) -> list[Array]:
        """All arrays of the call, where they are."""
        others = [*self.numbers.values(), self.out]
        return [array for _, array in self.named()] + [array for array in others if isinstance(array, Array)]

    def _in_memory(self, number: float | Array) -> Array:
        """One number, where the kernel reads it."""
        if isinstance(number, Array):
            return number
        if self.device == CUDA:
            return Array("f32", get_device(self.index).number(number), (1, 1), (1, 1), CUDA, self.index)
        value = ctypes.c_float(number)
        return Array("f32", ctypes.addressof(value), (1, 1), (1, 1), CPU, 0, value)

    def _number(self, name: str, given: Any) -> float | Array:
        number = as_number(given)
        if number is not None:
            if math.isfinite(number) and abs(number) > F32.largest or math.isinf(number) and given not in (math.inf, -math.inf):
                raise ValueError(f"{name} is past the largest float32: pass a smaller number")
            return number
        try:
            array = self._typed(name, given, (F32,))
        except TypeError as error:
            raise TypeError(f"{error}; or a number") from None
        if math.prod(array.shape) != 1 or array.place != self.place:
            raise ValueError(f"{name} is {by(array.shape) or 'a scalar'} on {array.place}; it must be a number, or an array of one float32 on {self.place}")
        return array.laid_out((1, 1), (1, 1))

    def _check_places(self) -> None:
        for name, array in self.named():
            if array.place != self.place:
                raise ValueError(f"{SAID.get(name, name)} is on {array.place} and a on {self.place}: they must be on one device")


def _turned(pair: tuple[int, ...]) -> tuple[int, ...]:
    return (*pair[:-2], pair[-1], pair[-2])


def _output_type(call: Call, default: str) -> str:
    if call.out_dtype is not None:
        return format_of(call.out_dtype, "out_dtype").mlir
    if call.out is not None and default not in [format.mlir for format in OUTPUTS]:
        raise TypeError(f"out is of {spelt(default)}; it must be of {one_of(OUTPUTS)}, or have the bits of one that out_dtype names")
    return default
