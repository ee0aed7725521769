# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operands of a call of fp8.gemm, checked, and brought into the kernel's order and layout."""

from __future__ import annotations

import ctypes
import math
import numbers
import sys

from ._arrays import CPU, CUDA, Array, by, contiguous_strides, describe, package_of, spelt, stands_for
from ._call import BOTH_MX, MX_CURE, Call, Parameter, blocks, check_mx_options, extents_of, find_parameter, parameters
from ._device import get_device
from ._layout import in_rows, in_tiles, padded_row, scale_layout
from ._spec import LARGEST_EXTENT, GemmSpec, is_integer
from ._types import BF16, E4M3, E8M0, F32, format_of, one_of

_QUANTISED = ("f64", "f32", "f16", "bf16")  # types of numbers that quantize_blockwise takes
NO_GRADIENT = "fp8.gemm has no gradient, and an operand requires one: call it under torch.no_grad(), or detach the operand"


def _is_array(value: object) -> bool:
    return bool(package_of(value)) or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")


def as_number(value: object) -> float | None:
    """Returns the number that `value` is, one of numpy among them; None if it is none, but an array perhaps."""
    if isinstance(value, numbers.Real) or not _is_array(value) and hasattr(value, "__float__"):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    return None


def requires_gradient(*operands: object) -> bool:
    """Returns whether torch is to compute a gradient of one of these tensors; anything else needs none."""
    return any(operand is not None and getattr(operand, "requires_grad", False) for operand in operands)


def refuse_tangents(call: Call) -> None:
    """Refuses operands with a derivative in forward mode, as `refuse_gradients` does. torch.no_grad() leaves these as they are.

    Raises:
        ValueError: an operand has one.
    """
    torch, forward = sys.modules.get("torch"), sys.modules.get("torch.autograd.forward_ad")
    if torch is None or forward is None or getattr(forward, "_current_level", -1) < 0:
        return
    for name, operand in zip(Call._fields, call):
        if isinstance(operand, torch.Tensor) and forward.unpack_dual(operand).tangent is not None:
            raise ValueError(f"fp8.gemm has no derivative, and {name} has a tangent of forward mode: pass {name}.detach()")


def refuse_gradients(call: Call) -> None:
    """Refuses operands that require a gradient. There is none, and to leave it out silently would be wrong.

    Raises:
        ValueError: an operand requires one.
    """
    refuse_tangents(call)
    torch = sys.modules.get("torch")
    if torch is not None and requires_gradient(*call.operands()) and torch.is_grad_enabled():
        raise ValueError(NO_GRADIENT)


class Operands:
    """The arrays of a call, described and checked, in the kernel's order and orientation.

    Attributes:
        matrices: by the kernel's names, the arrays that are read; those of more than one number.
        numbers: likewise, what the kernel reads as one number.
        d: D, if the caller passed it.
        spec: the GEMM that these operands are for.

    Raises:
        TypeError, ValueError: each names the operand, the rule and what was found.
    """

    def __init__(self, call: Call):
        refuse_gradients(call)
        self.call = call
        self.a, self.b = (self._typed(find_parameter(name), given) for name, given in (("a", call.a), ("b", call.b)))
        _check_extents(self.a.shape, self.b.shape)
        (*batch, self.m, self.k), self.n = self.a.shape, self.b.shape[-2]
        self.batch = tuple(batch)
        self.device, self.index, self.place = self.a.device, self.a.index, self.a.place
        self.is_mx = self._takes_exponents()
        if self.is_mx:
            a_scale, b_scale = (self._tiles(find_parameter(name, mx=True), given) for name, given in (("a_scale", call.a_scale), ("b_scale", call.b_scale)))
            check_mx_options(call.b_block, call.scale_layout)
        else:
            a_scale = self._row_scales(find_parameter("a_scale"), call.a_scale)
            b_scale = self._b_scale(call.b_scale)
        # With the factor 1 C is added as it is; with 0 it is not read.
        beta, d_scale = as_number(call.beta), as_number(call.d_scale)
        if call.c is None and beta not in (0, 1):
            found = beta if beta is not None else "an array" if _is_array(call.beta) else repr(call.beta)
            raise ValueError(f"beta is {found}, the factor of C, and there is none: pass c, or leave beta out")
        adds_c = call.c is not None and beta != 0
        given = {
            "a": self.a,
            "a_scale": a_scale,
            "b": self.b,
            "b_scale": b_scale,
            "c": self._c(find_parameter("c"), call.c) if adds_c else None,
            "bias": self._bias(find_parameter("bias"), call.bias) if call.bias is not None else None,
        }
        self.matrices = {name: array for name, array in given.items() if array is not None}
        self.numbers: dict[str, float | Array] = {}
        if adds_c and beta != 1:
            self.numbers["beta"] = self._number(find_parameter("beta"), call.beta)
        if call.d_scale is not None and d_scale != 1:
            self.numbers["d_scale"] = self._number(find_parameter("d_scale"), call.d_scale)
        self.d = None if call.d is None else describe(call.d, "d", call.stream)
        self.spec = self._spec()
        self._check_places()

    def _spec(self) -> GemmSpec:
        types = {name: array.dtype for name, array in self.matrices.items()}
        d_dtype = self._output_type()
        return GemmSpec(
            d_dtype=d_dtype,
            a_scale_dtype=types["a_scale"],
            b_scale_dtype=types["b_scale"],
            b_block=self.call.b_block,
            bias_dtype=types.get("bias"),
            c_dtype=types.get("c"),
            beta="beta" in self.numbers,
            d_scale="d_scale" in self.numbers,
            batch=bool(self.batch),
            programmatic=self.call.programmatic,
            constant_b=self.call.constant_b,
            d_contiguous=self._is_contiguous(d_dtype),
        )

    def _is_contiguous(self, d_dtype: str) -> bool:
        """Whether D, which may not be there yet, has no gaps where TMA stores it."""
        if padded_row(self.n, d_dtype) != self.n:
            return False
        return self.d is None or self.d.strides == (*(self.m * self.n for _ in self.batch), self.n, 1)

    def _output_type(self) -> str:
        default = self.d.dtype if self.d else BF16.mlir
        formats = find_parameter("d").formats
        if self.call.d_dtype is not None:
            return format_of(self.call.d_dtype, "d_dtype", formats).mlir
        if self.d and default not in [format.mlir for format in formats]:
            raise TypeError(f"d is of {spelt(default)}; it must be of {one_of(formats)}, or have the bits of one that d_dtype names")
        return default

    @property
    def d_shape(self) -> tuple[int, ...]:
        return (*self.batch, self.m, self.n)

    @property
    def _lead(self) -> str:
        """The extent in front of those of a matrix, in words: that of a batch."""
        return "L x " * len(self.batch)

    # What an operand must be. Each returns the array as the kernel takes it, but for its layout.

    def _typed(self, parameter: Parameter, given: object) -> Array:
        """The array as one of the types that the operand may have."""
        name = parameter.name
        array = describe(given, name, self.call.stream)
        for format in parameter.formats:
            if stands_for(array.dtype, format.mlir):
                return array.as_type(format.mlir)
        raise TypeError(f"{name} is of {spelt(array.dtype)}; it must be of {one_of(parameter.formats)}{_cure(parameter, array.dtype)}")

    def _row_scales(self, parameter: Parameter, given: object) -> Array:
        """The scales of single rows, as K/128 x rows."""
        array = self._typed(parameter, given)
        rows = ("M", self.m) if parameter.name == "a_scale" else ("N", self.n)
        if scale_layout(parameter.name, array.shape, rows, blocks(self.k), self.call.scale_layout, self.batch) == "k_major":
            return array
        return array.laid_out(_transposed(array.shape), _transposed(array.strides))

    def _takes_exponents(self) -> bool:
        """Whether the scales are those of MXFP8: by their type, or, where a package has no such type, by its bits in tiles."""
        arrays = {name: describe(given, name, self.call.stream) for name, given in (("a_scale", self.call.a_scale), ("b_scale", self.call.b_scale))}
        are = {name: array.dtype == E8M0.mlir or array.dtype == "u8" and len(array.shape) >= 4 for name, array in arrays.items()}
        for name, array in arrays.items():
            if any(are.values()) and not are[name] and array.dtype != "u8":
                raise TypeError(f"{name} is of {spelt(array.dtype)}; {BOTH_MX}")
        return any(are.values())

    def _tiles(self, parameter: Parameter, given: object) -> Array:
        """The scales of MXFP8, in tiles: as such, or one after another in an array of one dimension."""
        array = self._typed(parameter, given)
        shape = (*self.batch, *extents_of(parameter, self.m, self.n, self.k))
        if array.shape == (math.prod(shape),):
            if array.strides != (1,) and array.shape != (1,):
                raise ValueError(f"{parameter.name} has strides of {by(array.strides)} elements; tiles in one dimension must be contiguous")
            return array.laid_out(shape, contiguous_strides(shape))
        if array.shape != shape:
            rows, columns = parameter.extents
            raise ValueError(f"{parameter.name} is {by(array.shape)}; scales of {E8M0.name} lie in tiles, {self._lead}{rows.formula} x {columns.formula} x "
                             f"{by(parameter.tile)}, {by(shape)}: {MX_CURE}")
        return array

    def _b_scale(self, given: object) -> Array:
        block = self.call.b_block
        if not is_integer(block) or block not in (128, 64, 1):
            raise ValueError(f"b_block is {block!r}; it must be 128, 64 or 1")
        parameter = find_parameter("b_scale", block)
        if block == 1:
            return self._row_scales(parameter, given)
        array = self._typed(parameter, given)
        shape = (*self.batch, *extents_of(parameter, self.m, self.n, self.k))
        if array.shape != shape:
            raise ValueError(f"b_scale is {by(array.shape)}; it must be {self._lead}{parameter.extents[0]} x {parameter.extents[1]}, {by(shape)}")
        return array

    def _c(self, parameter: Parameter, given: object) -> Array:
        array = self._typed(parameter, given)
        if array.shape != self.d_shape:
            raise ValueError(f"c is {by(array.shape)}; it must be {self._lead}M x N, {by(self.d_shape)}")
        return array

    def _bias(self, parameter: Parameter, given: object) -> Array:
        array = self._typed(parameter, given)
        if array.shape not in ((self.n,), (1, self.n)):
            raise ValueError(f"bias is {by(array.shape)}; it must have N elements, {self.n}")
        # There is one row. Only its tensor map asks how far away the next one is.
        return array.laid_out((1, self.n), (padded_row(self.n, array.dtype), array.strides[-1]))

    def _number(self, parameter: Parameter, given: object) -> float | Array:
        name, number = parameter.name, as_number(given)
        if number is not None:
            if math.isfinite(number) and abs(number) > F32.largest or math.isinf(number) and given not in (math.inf, -math.inf):
                raise ValueError(f"{name} is past the largest float32: pass a smaller number")
            return number
        try:
            array = self._typed(parameter, given)
        except TypeError as error:
            raise TypeError(f"{error}; or a number") from None
        if math.prod(array.shape) != 1 or array.place != self.place:
            raise ValueError(f"{name} is {by(array.shape) or 'a scalar'} on {array.place}; it must be a number, or an array of one float32 on {self.place}")
        return array.laid_out((1, 1), (1, 1))

    def _check_places(self) -> None:
        for parameter in parameters():
            array = self.matrices.get(parameter.name)
            if array is not None and array.place != self.place:
                raise ValueError(f"{parameter.name} is on {array.place} and a on {self.place}: they must be on one device")

    # What the kernel gets.

    def arrays(self, d: Array) -> tuple[Array, ...]:
        """Returns what the kernel takes, in its order; copies where it cannot read an operand."""
        by_tma = self.spec.read_by_tma
        taken = {"d": d}
        for parameter in parameters():
            name = parameter.name
            if name in self.matrices:
                taken[name] = in_tiles(name, self.matrices[name]) if self._is_tiled(name) else in_rows(name, self.matrices[name], name in by_tma)
            elif name in self.numbers:
                taken[name] = self._in_memory(self.numbers[name])
        if self.spec.constant_b:
            for name in ("b", "b_scale"):
                if taken[name].address != self.matrices[name].address:
                    raise ValueError(f"with constant_b, {name} is read before what is in front has ended, but it does not lie as the kernel reads it and would be "
                                     f"copied: keep a copy whose rows are contiguous and a multiple of 16 bytes apart, or leave constant_b out")
        return tuple(taken[name] for name in self.spec.arguments)

    def _is_tiled(self, name: str) -> bool:
        return self.is_mx and name in ("a_scale", "b_scale")

    def given(self) -> list[Array]:
        """Returns all arrays of the call, where they are."""
        others = [*self.numbers.values(), self.d]
        return [*self.matrices.values(), *(array for array in others if isinstance(array, Array))]

    def _in_memory(self, number: float | Array) -> Array:
        """One number, where the kernel reads it."""
        if isinstance(number, Array):
            return number
        if self.device == CUDA:
            return Array("f32", get_device(self.index).number(number), (1, 1), (1, 1), CUDA, self.index)
        value = ctypes.c_float(number)
        return Array("f32", ctypes.addressof(value), (1, 1), (1, 1), CPU, 0, value)


def _cure(parameter: Parameter, dtype: str) -> str:
    """What makes the operand of an array of that type, as the end of a message; nothing where we know of nothing."""
    if parameter.formats == (E4M3,) and dtype in _QUANTISED:
        return f": fp8.quantize_blockwise makes {parameter.name} and its scales of numbers"
    if parameter.name in ("a_scale", "b_scale") and dtype == "u8":
        return f": bits of {E8M0.name} are taken in tiles; {MX_CURE}"
    return ""


def _check_extents(a: tuple[int, ...], b: tuple[int, ...]) -> None:
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


def _transposed(pair: tuple[int, ...]) -> tuple[int, ...]:
    return (*pair[:-2], pair[-1], pair[-2])
