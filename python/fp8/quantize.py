# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blockwise quantisation to e4m3: one scale for each block, amax / 448."""

from __future__ import annotations

from typing import Any

from ._annotations import DType, NumPyOrTorch
from ._call import find_parameter, pair
from ._layout import LINE, padded_row
from ._numeric import NumPy, Torch, arrays_of, encode, round_to
from ._types import E4M3, Format, format_of, type_name

_SMALLEST_SCALE = 2.0**-126
_INPUTS = ("float16", "bfloat16", "float32", "float64")


def quantize_blockwise(x: NumPyOrTorch, block: tuple[int, int] = (1, 128), *, scale_dtype: DType = "float32", scale_layout: str | None = None
                       ) -> tuple[NumPyOrTorch, NumPyOrTorch]:
    """Quantises a matrix block by block: `values = e4m3(x / scale)`, `scale = amax / 448` of the block.

    Activations have `block=(1, 128)`, weights `block=(128, 128)`. The last blocks of a row or a column may be shorter. Rounding is to nearest
    even, once, and saturates at 448.

    Args:
        x: A matrix, rows x columns, of float16, bfloat16, float32 or float64: an array of NumPy, or a tensor of PyTorch on any device.
        block: The rows and columns that share a scale.
        scale_dtype: "float32" or "bfloat16", by name or as a dtype. The values are divided by the scale as it is stored.
        scale_layout: "row_major", (blocks of rows, blocks of columns), or "k_major", its transpose, whose rows are padded to whole 128
            bytes, the lines of L2. If left out, "k_major" for blocks of one row and "row_major" for others, as the GEMM takes them.

    Returns:
        The values, of x's shape, in float8_e4m3fn (NumPy without ml_dtypes: their bits, as uint8), and the scales.

        A block of zeros has the scale 1. The smallest scale is 2^-126, so that none is zero or subnormal. NaN and infinities do not count in
        amax; each becomes NaN, for e4m3 has no infinity.

    Raises:
        ValueError: x is no matrix or of another type, or an argument is out of range.
        TypeError: x is no array of NumPy or tensor of PyTorch, or there are no scales of that type.
        ImportError: Scales in bfloat16 are asked for in NumPy without ml_dtypes.
    """
    xp = arrays_of(x)
    scale_format = format_of(scale_dtype, "scale_dtype", find_parameter("a_scale").formats)
    rows, columns = pair(block, "block", "the rows and columns that share a scale")
    layout = scale_layout or ("k_major" if rows == 1 else "row_major")
    if len(x.shape) != 2:
        raise ValueError(f"x has {len(x.shape)} dimensions; quantise a matrix, or each matrix of a batch")
    if type_name(x.dtype) not in _INPUTS:
        raise ValueError(f"x is of type {x.dtype}; quantise one of " + ", ".join(_INPUTS))
    if rows < 1 or columns < 1:
        raise ValueError(f"a block of {rows} x {columns} is empty; use (1, 128) or (128, 128)")
    if layout not in ("k_major", "row_major"):
        raise ValueError(f"there is no layout {layout!r} of scales; use 'k_major' or 'row_major'")

    with xp.quiet():
        return _quantize(xp, x, rows, columns, scale_format, layout)


def _quantize(xp: NumPy | Torch, x: Any, rows: int, columns: int, scale_format: Format, layout: str) -> tuple[Any, Any]:
    blocks = _in_blocks(xp, x, rows, columns)
    amax = xp.module.amax(abs(blocks), (1, 3))
    if not bool(xp.module.isfinite(amax).all()):
        finite = xp.module.where(xp.module.isfinite(blocks), blocks, xp.full((), 0.0, type_name(blocks.dtype)))
        amax = xp.module.amax(abs(finite), (1, 3))
    scales = _scales(xp, amax, scale_format)
    quotients = blocks / xp.cast(scales, type_name(blocks.dtype))[:, None, :, None]
    padded = quotients.reshape(quotients.shape[0] * rows, quotients.shape[2] * columns)
    values = encode(xp, padded[: x.shape[0], : x.shape[1]])
    return values, _lay_out(xp, scales, scale_format, layout)


def _in_blocks(xp: NumPy | Torch, x: Any, rows: int, columns: int) -> Any:
    """Returns x in the type that it is computed in, with zeros behind its edges, as (row block, row, column block, column)."""
    compute = "float64" if type_name(x.dtype) == "float64" else "float32"
    shape = (-(-x.shape[0] // rows), rows, -(-x.shape[1] // columns), columns)
    padded = x
    if (shape[0] * rows, shape[2] * columns) != tuple(x.shape):
        padded = xp.full((shape[0] * rows, shape[2] * columns), 0.0, compute)
        padded[: x.shape[0], : x.shape[1]] = xp.cast(x, compute)
    return xp.cast(padded, compute).reshape(shape)


def _scales(xp: NumPy | Torch, amax: Any, target: Format) -> Any:
    """Returns the scales in float64, rounded to the type in which they are stored."""
    exact = xp.cast(amax, "float64") / E4M3.largest
    scales = round_to(xp, exact, target).clip(_SMALLEST_SCALE, target.largest)
    return xp.module.where(amax == 0, xp.full((), 1.0, "float64"), scales)


def _lay_out(xp: NumPy | Torch, scales: Any, target: Format, layout: str) -> Any:
    if layout == "k_major":
        scales, extent = scales.T, scales.shape[0]
        padded = xp.full((scales.shape[0], padded_row(extent, target.mlir, LINE)), 1.0, "float64")
        padded[:, :extent] = scales
        return _stored(xp, padded, target)[:, :extent]
    return _stored(xp, scales, target)


def _stored(xp: NumPy | Torch, scales: Any, target: Format) -> Any:
    stored = xp.narrow(scales, target)
    if type_name(stored.dtype) != target.name:
        raise ImportError(f"NumPy has no type {target.name}; install ml_dtypes, or use scales of float32")
    return stored
