# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a blockwise-scaled GEMM computes, in float64 (docs/Numerics.md)."""

from __future__ import annotations

import math
from typing import Any

from ._numeric import FORMATS, Format, NumPy, Torch, arrays_of, dtype_name, round_to

K_BLOCK = 128


def reference_gemm(a: Any, a_scale: Any, b: Any, b_scale: Any, *, out_dtype: Any = None, bias: Any = None, residual: Any = None,
                   beta: float = 1.0, b_block: int = 128, scale_layout: str | None = None) -> Any:
    """Computes `D = sum over K blocks of a_scale * b_scale * (A * B^T) + beta * C + bias` in float64 and rounds it once.

    All operands are arrays of NumPy, or tensors of PyTorch on one device. A, B, their scales, C and D may have a leading batch extent.

    Args:
        a: A, M x K, of float8_e4m3fn; its bits, as uint8; or of a floating-point type.
        a_scale: A's scales, one for each row and K block of 128: (ceil(K/128), M) "k_major" or (M, ceil(K/128)) "row_major".
        b: B, N x K, like A.
        b_scale: B's scales, (ceil(N/b_block), ceil(K/128)); with `b_block=1` in A's layouts.
        out_dtype: "bfloat16", "float16", "float32" or "float8_e4m3fn", by name or as a dtype; float64, unrounded, if left out.
        bias: N numbers, one for each column.
        residual: C, M x N.
        beta: What C is multiplied by. If it is 0, C is not read.
        b_block: The rows of B that share a scale: 128, 64 or 1.
        scale_layout: "k_major" or "row_major", of scales of single rows; needed where their shape fits both.

    Returns:
        D, M x N. Types that NumPy lacks without ml_dtypes are given by their bits, as uint8 or uint16. Of float8_e4m3fn, numbers past 448 and
        infinities become 448; of the other types, numbers past the largest become infinite.

    Raises:
        ValueError: Shapes do not fit, or the layout of scales is ambiguous.
    """
    xp = arrays_of(a)
    total, _ = accumulate(xp, a, a_scale, b, b_scale, bias, residual, beta, b_block, scale_layout)
    return total if out_dtype is None else xp.narrow(round_to(xp, total, output_format(out_dtype)), output_format(out_dtype))


def output_format(dtype: Any) -> Format:
    """Returns the format of an output type.

    Raises:
        ValueError: There is no such output.
    """
    if dtype_name(dtype) not in FORMATS:
        raise ValueError(f"D cannot be of type {dtype_name(dtype)}; use one of " + ", ".join(FORMATS))
    return FORMATS[dtype_name(dtype)]


def accumulate(xp: NumPy | Torch, a: Any, a_scale: Any, b: Any, b_scale: Any, bias: Any, residual: Any, beta: float, b_block: int,
               scale_layout: str | None) -> tuple[Any, Any]:
    """Returns D in float64, and the magnitude of what it is the sum of: `sum |a_scale * b_scale| * sum |A| |B| + |beta * C| + |bias|`."""
    wide_a, wide_b = (xp.widen(operand, FORMATS["float8_e4m3fn"]) for operand in (a, b))
    if len(a.shape) != len(b.shape) or len(a.shape) not in (2, 3) or a.shape[-1] != b.shape[-1] or a.shape[:-2] != b.shape[:-2]:
        raise ValueError(f"A is {_by(a)} and B {_by(b)}; A is M x K and B N x K, or both have a batch extent before that")
    if b_block not in (1, 64, 128):
        raise ValueError(f"b_block is {b_block}; B has a scale for 128, 64 or 1 of its rows")
    m, n, k = a.shape[-2], b.shape[-2], a.shape[-1]
    num_blocks = -(-k // K_BLOCK)
    a_rows = _row_scales(xp, a_scale, "a_scale", m, num_blocks, scale_layout)
    if b_block == 1:
        b_rows = _row_scales(xp, b_scale, "b_scale", n, num_blocks, scale_layout)
    else:
        _check_shape(b_scale, "b_scale", (-(-n // b_block), num_blocks))
        b_rows = xp.repeat_rows(xp.widen(b_scale), b_block)[..., :n, :]
    total = xp.full((*a.shape[:-2], m, n), 0.0, "float64")
    magnitude = xp.full((*a.shape[:-2], m, n), 0.0, "float64")
    with xp.quiet():
        for block in range(num_blocks):
            part = slice(block * K_BLOCK, (block + 1) * K_BLOCK)
            scale = a_rows[..., :, block, None] * b_rows[..., None, :, block]
            left, right = wide_a[..., part], wide_b[..., part].swapaxes(-1, -2)
            total = total + scale * (left @ right)
            magnitude = magnitude + abs(scale) * (abs(left) @ abs(right))
        if residual is not None and beta != 0:
            _check_shape(residual, "the residual C", (m, n))
            added = xp.widen(residual) * beta
            total, magnitude = total + added, magnitude + abs(added)
        if bias is not None:
            if math.prod(bias.shape) != n:
                raise ValueError(f"the bias is {_by(bias)}; it has one number for each of {n} columns")
            added = xp.widen(bias).reshape(n)
            total, magnitude = total + added, magnitude + abs(added)
    return total, magnitude


def _by(array: Any) -> str:
    return " x ".join(str(extent) for extent in array.shape)


def _check_shape(array: Any, name: str, shape: tuple[int, int]) -> None:
    if tuple(array.shape[-2:]) != shape:
        raise ValueError(f"{name} is {_by(array)}; it is {shape[0]} x {shape[1]} for these operands")


def _row_scales(xp: NumPy | Torch, scales: Any, name: str, rows: int, num_blocks: int, layout: str | None) -> Any:
    """Returns scales of single rows in float64 as (rows, K blocks)."""
    shapes = {"k_major": (num_blocks, rows), "row_major": (rows, num_blocks)}
    if layout is not None and layout not in shapes:
        raise ValueError(f"there is no layout {layout!r} of scales; use 'k_major' or 'row_major'")
    fitting = [key for key, shape in shapes.items() if tuple(scales.shape[-2:]) == shape and layout in (None, key)]
    if not fitting:
        wanted = [f"{shape[0]} x {shape[1]} ({key})" for key, shape in shapes.items() if layout in (None, key)]
        raise ValueError(f"{name} is {_by(scales)}; it is {' or '.join(wanted)} for these operands")
    if len(fitting) == 2 and rows > 1:
        raise ValueError(f"{name} is {_by(scales)}, which fits both layouts; say scale_layout='k_major' or 'row_major'")
    wide = xp.widen(scales)
    return wide.swapaxes(-1, -2) if fitting[0] == "k_major" else wide
