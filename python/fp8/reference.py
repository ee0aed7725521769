# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a blockwise-scaled GEMM computes, in float64 (docs/Numerics.md)."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from ._annotations import DType, Number, NumPyOrTorch, Operand
from ._arrays import by
from ._call import BLOCK, Call, blocks, check_mx_options, find_parameter, merge
from ._layout import scale_layout as layout_of
from ._numeric import NumPy, Torch, arrays_of, round_to
from ._operands import as_number
from ._spec import is_integer
from ._types import E4M3, F32, format_of
from .mx import MX_BLOCK, expand, is_tiled

__all__ = ["reference_gemm"]

_ARRAYS = ("a", "a_scale", "b", "b_scale", "bias", "c")


def reference_gemm(a: NumPyOrTorch, a_scale: Operand, b: Operand, b_scale: Operand, *, d_dtype: DType | None = None,
                   bias: Operand | None = None, c: Operand | None = None, beta: Number = 1.0, d_scale: Number | None = None,
                   b_block: int = 128, scale_layout: str | None = None, out_dtype: DType | None = None, residual: Operand | None = None,
                   out_scale: Number | None = None) -> NumPyOrTorch:
    """Computes `D = d_scale * (sum over K blocks of a_scale * b_scale * (A * B^T) + beta * C + bias)` in float64 and rounds it once.

    All operands are arrays of NumPy, or tensors of PyTorch on one device, or some of either. A, B, their scales, C and D may have a leading batch extent.

    Args:
        a: A, M x K, of float8_e4m3fn; its bits, as uint8; or of a floating-point type.
        a_scale: A's scales, one for each row and K block of 128: (ceil(K/128), M) "k_major" or (M, ceil(K/128)) "row_major". Or those of MXFP8,
            in tiles, as `fp8.tile_scales` makes them.
        b: B, N x K, like A.
        b_scale: B's scales, (ceil(N/b_block), ceil(K/128)); with `b_block=1` in A's layouts. In tiles if A's are.
        d_dtype: "bfloat16", "float16", "float32" or "float8_e4m3fn", by name or as a dtype; float64, unrounded, if left out.
        bias: N numbers, one for each column.
        c: C, M x N.
        beta: What C is multiplied by, a number or an array of one. If it is 0, C is not read.
        d_scale: What all that is multiplied by, likewise; None: 1.
        b_block: The rows of B that share a scale: 128, 64 or 1.
        scale_layout: "k_major" or "row_major", of scales of single rows; needed where their shape fits both.
        out_dtype: Another keyword of `d_dtype`.
        residual: Another keyword of `c`.
        out_scale: Another keyword of `d_scale`.

    Returns:
        D, M x N. Types that NumPy lacks without ml_dtypes are given by their bits, as uint8 or uint16. Of float8_e4m3fn and float8_e5m2,
        numbers past the largest, 448 and 57344, and infinities become the largest; of the other types, such numbers become infinite.

    Raises:
        ValueError: Shapes do not fit, or the layout of scales is ambiguous.
        TypeError: There is no such output, or an operand is of a type that is none's.
    """
    xp = arrays_of(a)
    d_dtype = merge("d_dtype", d_dtype, "out_dtype", out_dtype)
    c = merge("c", c, "residual", residual)
    d_scale = merge("d_scale", d_scale, "out_scale", out_scale)
    call = Call(a, a_scale, b, b_scale, bias=bias, c=c, beta=beta, d_scale=d_scale, b_block=b_block, scale_layout=scale_layout)
    total, _ = accumulate(xp, call)
    if d_dtype is None:
        unrounded: NumPyOrTorch = total
        return unrounded
    target = format_of(d_dtype, "d_dtype", find_parameter("d").formats)
    rounded: NumPyOrTorch = xp.narrow(round_to(xp, total, target), target)
    return rounded


def accumulate(xp: NumPy | Torch, call: Call) -> tuple[Any, Any]:
    """Returns D in float64, and the magnitude of what it is the sum of: `|d_scale| * (sum |a_scale * b_scale| * sum |A| |B| + |beta * C| + |bias|)`."""
    call = call._replace(**{name: xp.take(value, name) for name in _ARRAYS if (value := getattr(call, name)) is not None})
    fields: tuple[Any, ...] = call
    a, a_scale, b, b_scale, _, bias, c, beta, d_scale, _, _, b_block, *_ = fields
    reads_c = c is not None and _number("beta", beta) != 0
    beta, d_scale = _rounded("beta", beta), _rounded("d_scale", 1.0 if d_scale is None else d_scale)
    wide_a, wide_b = (xp.widen(operand, E4M3) for operand in (a, b))
    if len(a.shape) != len(b.shape) or len(a.shape) not in (2, 3) or a.shape[-1] != b.shape[-1] or a.shape[:-2] != b.shape[:-2]:
        raise ValueError(f"A is {by(a.shape)} and B {by(b.shape)}; A is M x K and B N x K, or both have a batch extent before that")
    if not is_integer(b_block) or b_block not in (1, 64, 128):
        raise ValueError(f"b_block is {b_block}; B has a scale for 128, 64 or 1 of its rows")
    m, n, k = a.shape[-2], b.shape[-2], a.shape[-1]
    batch = tuple(a.shape[:-2])
    is_mx = is_tiled(a_scale) or is_tiled(b_scale)
    if is_mx:
        check_mx_options(b_block, call.scale_layout)
    depth = MX_BLOCK if is_mx else BLOCK
    a_rows, b_rows = (_scales_of_tiles if is_mx else _scales_of_blocks)(xp, call, batch, m, n, k)
    total = xp.full((*batch, m, n), 0.0, "float64")
    magnitude = xp.full((*batch, m, n), 0.0, "float64")
    with xp.quiet():
        for block in range(blocks(k, depth)):
            part = slice(block * depth, (block + 1) * depth)
            scale = a_rows[..., :, block, None] * b_rows[..., None, :, block]
            left, right = wide_a[..., part], wide_b[..., part].swapaxes(-1, -2)
            total = total + scale * (left @ right)
            magnitude = magnitude + abs(scale) * (abs(left) @ abs(right))
        if reads_c:
            _check_shape(c, "C", (*batch, m, n))
            added = xp.widen(c) * beta
            total, magnitude = total + added, magnitude + abs(added)
        if bias is not None:
            if math.prod(bias.shape) != n:
                raise ValueError(f"the bias is {by(bias.shape)}; it has one number for each of {n} columns")
            added = xp.widen(bias).reshape(n)
            total, magnitude = total + added, magnitude + abs(added)
        return total * d_scale, magnitude * abs(d_scale)


def _scales_of_tiles(xp: NumPy | Torch, call: Call, batch: tuple[int, ...], m: int, n: int, k: int) -> tuple[Any, Any]:
    """Returns the scales of A and B in float64, one for each row and K block of 32."""
    return expand(xp, call.a_scale, "a_scale", batch, m, k), expand(xp, call.b_scale, "b_scale", batch, n, k)


def _scales_of_blocks(xp: NumPy | Torch, call: Call, batch: tuple[int, ...], m: int, n: int, k: int) -> tuple[Any, Any]:
    """The same for each row and K block of 128."""
    b_scale: Any = call.b_scale
    num_blocks, layout = blocks(k), call.scale_layout
    a_rows = _row_scales(xp, call.a_scale, "a_scale", batch, ("M", m), num_blocks, layout)
    if call.b_block == 1:
        return a_rows, _row_scales(xp, b_scale, "b_scale", batch, ("N", n), num_blocks, layout)
    _check_shape(b_scale, "b_scale", (*batch, blocks(n, call.b_block), num_blocks))
    return a_rows, xp.repeat_rows(xp.widen(b_scale), call.b_block)[..., :n, :]


def _number(name: str, factor: Any) -> float:
    if math.prod(getattr(factor, "shape", ())) != 1:
        raise ValueError(f"{name} is {by(factor.shape)}; it is a number, or an array of one")
    number = as_number(factor.item() if hasattr(factor, "item") else factor)
    if number is None:
        raise TypeError(f"{name} is {factor!r}; it is a number, or an array of one")
    return number


def _rounded(name: str, factor: Any) -> float:
    """The number as a kernel reads it, which is float32."""
    number = _number(name, factor)
    if math.isfinite(number) and abs(number) > F32.largest:
        raise ValueError(f"{name} is past the largest float32: pass a smaller number")
    return ctypes.c_float(number).value


def _check_shape(array: Any, name: str, shape: tuple[int, ...]) -> None:
    if tuple(array.shape) != shape:
        raise ValueError(f"{name} is {by(array.shape)}; it is {by(shape)} for these operands")


def _row_scales(xp: NumPy | Torch, scales: Any, name: str, batch: tuple[int, ...], rows: tuple[str, int], num_blocks: int, layout: str | None) -> Any:
    """Returns scales of single rows in float64 as (rows, K blocks), behind a batch extent if there is one."""
    is_k_major = layout_of(name, tuple(scales.shape), rows, num_blocks, layout, batch) == "k_major"
    wide = xp.widen(scales)
    return wide.swapaxes(-1, -2) if is_k_major else wide
