# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is a result of a blockwise-scaled GEMM right? Every element is judged, by the bound of docs/Numerics.md."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import Any, Callable, ParamSpec

from . import _library
from ._annotations import DType, Number, NumPyOrTorch, Operand
from ._call import Call, find_parameter, merge
from ._numeric import NumPy, Torch, arrays_of, round_to, spacing
from ._types import Format, format_of, type_name
from .reference import accumulate

_SHOWN = 5
_LARGEST_SUM = (2 - 2.0**-23) * 2.0**127
_ONE_SIGN = 24
"""What Hopper's tensor cores cut off adds up where products have one sign (docs/Numerics.md, "Operands of one sign")."""


@dataclass(frozen=True)
class Mismatch:
    """An element that is wrong: its place, what it is, what it should be, and how far off it may be."""

    index: tuple[int, ...]
    actual: float
    expected: float
    bound: float

    def __str__(self) -> str:
        place = ", ".join(map(str, self.index))
        return f"d[{place}] = {self.actual:g}, but the reference is {self.expected:g}: off by {abs(self.actual - self.expected):g}, of {self.bound:g}"


@dataclass(frozen=True)
class Comparison:
    """What the comparison of a result with its reference found.

    Attributes:
        elements: How many elements were compared.
        wrong: How many are wrong.
        largest: The largest error of a finite element, in units of its bound; right ones are at most 1.
        rel_err: The Frobenius distance from the reference rounded to D's type, relative to its norm, over finite elements.
        mismatches: The first wrong elements.
    """

    elements: int
    wrong: int
    largest: float
    rel_err: float
    mismatches: tuple[Mismatch, ...]

    @property
    def ok(self) -> bool:
        """True if no element is wrong."""
        return self.wrong == 0

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        head = f"{self.wrong} of {self.elements} elements wrong, largest error {self.largest:.3g} of the bound, rel_err {self.rel_err:.3g}"
        return "\n".join([f"<Comparison: {head}>", *(f"  {mismatch}" for mismatch in self.mismatches)])


def compare(d: NumPyOrTorch, a: NumPyOrTorch, a_scale: Operand, b: Operand, b_scale: Operand, *, d_dtype: DType | None = None,
            bias: Operand | None = None, c: Operand | None = None, beta: Number = 1.0, d_scale: Number | None = None, b_block: int = 128,
            scale_layout: str | None = None, out_dtype: DType | None = None, residual: Operand | None = None,
            out_scale: Number | None = None) -> Comparison:
    """Compares D with the reference of its operands: `|d - ref| <= ulp(ref) + 2^-11 * (S + 24 |ref|)`,
    where S is `sum |a_scale * b_scale| * sum |A| |B|`.

    NaN must be NaN. Where the bound of the reference reaches past the largest number of D's type, that number and infinity are both right. Where
    the sum of magnitudes is no finite f32, any value is right.

    Args:
        d: The result, of bfloat16, float16, float32, float8_e4m3fn or float8_e5m2, M x N.
        d_dtype: D's type, if `d` is given by its bits as uint8 or uint16.

    The other arguments are those of `fp8.reference_gemm`.
    """
    xp = arrays_of(d)
    d_dtype = merge("d_dtype", d_dtype, "out_dtype", out_dtype)
    c = merge("c", c, "residual", residual)
    d_scale = merge("d_scale", d_scale, "out_scale", out_scale)
    formats = find_parameter("d").formats
    target = format_of(d.dtype, "D", formats) if d_dtype is None else format_of(d_dtype, "d_dtype", formats)
    call = Call(a, a_scale, b, b_scale, bias=bias, c=c, beta=beta, d_scale=d_scale, b_block=b_block, scale_layout=scale_layout)
    expected, magnitude = accumulate(xp, call)
    if tuple(d.shape) != tuple(expected.shape):
        raise ValueError(f"D has the shape {tuple(d.shape)}; it is {tuple(expected.shape)} for these operands")
    if type_name(d.dtype) != target.name and type_name(d.dtype) != f"uint{8 * target.size}":
        raise ValueError(f"D is of type {d.dtype}, not {target.name}; leave d_dtype out, or convert D")
    with xp.quiet():
        return _judge(xp, xp.widen(d, target), expected, magnitude, target)


def _judge(xp: NumPy | Torch, actual: Any, expected: Any, magnitude: Any, target: Format) -> Comparison:
    m = xp.module
    rounded = round_to(xp, expected, target)
    exact = expected
    if target.saturates:
        expected = expected.clip(-target.largest, target.largest)
    bound = spacing(xp, expected, target) + _library.functions().fp8MagnitudeShare() * (magnitude + _ONE_SIGN * m.nan_to_num(abs(exact)))
    right = m.isnan(actual) & m.isnan(expected) | (actual == expected)
    if target.saturates:
        lowest, highest = ((exact + sign * bound).clip(-target.largest, target.largest) for sign in (-1, 1))
        right = right | (actual >= lowest) & (actual <= highest)
    else:
        right = right | (abs(actual - expected) <= bound) & m.isfinite(expected)
        outward = m.copysign(xp.full((), 1.0, "float64"), expected)
        right = right | (actual == outward * float("inf")) & (abs(expected) + bound > target.largest)
    right = right | (magnitude > _LARGEST_SUM) & m.isfinite(exact)
    finite = m.isfinite(actual) & m.isfinite(rounded)
    distance = m.where(finite, abs(actual - rounded), xp.full((), 0.0, "float64"))
    norm = float((m.where(finite, rounded, xp.full((), 0.0, "float64")) ** 2).sum()) ** 0.5
    error = m.where(m.isfinite(actual) & m.isfinite(expected), abs(actual - expected) / bound, xp.full((), 0.0, "float64"))
    places = [tuple(int(i) for i in row) for row in m.argwhere(~right)[:_SHOWN]]
    mismatches = tuple(Mismatch(at, *(float(array[at]) for array in (actual, expected, bound))) for at in places)
    elements = math.prod(actual.shape)
    return Comparison(elements, int((~right).sum()), float(error.max()) if elements else 0.0,
                      float((distance**2).sum()) ** 0.5 / norm if norm else 0.0, mismatches)


P = ParamSpec("P")


def _raising(comparing: Callable[P, Comparison]) -> Callable[P, Comparison]:
    """Returns a function of the same parameters that raises where `comparing` finds wrong elements."""

    def assert_close(*operands: P.args, **options: P.kwargs) -> Comparison:
        """Compares as `compare` does.

        Returns:
            What the comparison found.

        Raises:
            AssertionError: An element is wrong; the message names the first ones.
        """
        result = comparing(*operands, **options)
        if not result:
            raise AssertionError(repr(result))
        return result

    assert_close.__signature__ = inspect.signature(comparing)  # type: ignore[attr-defined]
    return assert_close


assert_close = _raising(compare)
