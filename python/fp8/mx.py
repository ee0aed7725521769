# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MXFP8: a scale for each 32 elements of a row, a power of two, in the tiles that Blackwell's tensor cores take."""

from __future__ import annotations

import math
from typing import Any

from ._annotations import NumPyOrTorch, Operand
from ._arrays import by
from ._call import BLOCK, BOTH_MX, MX_CURE, blocks, pair
from ._numeric import NumPy, Torch, arrays_of, encode
from ._types import E4M3, E8M0, type_name

__all__ = ["quantize_mx", "tile_scales"]

MX_BLOCK = 32
"""Elements of a row that share a scale."""
# Of a tile of scales (include/fp8/Gemm/Operands.h): its rows and blocks of the operand, and its own extents.
_ROWS, _BLOCKS, _TILE = 128, 4, (32, 16)
_BIAS, _NAN = 127, 255
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def quantize_mx(x: NumPyOrTorch) -> tuple[NumPyOrTorch, NumPyOrTorch]:
    """Quantises a matrix to MXFP8: `values = e4m3(x / scale)`, where a scale is the least power of two with which no value of the block passes 448.

    Args:
        x: A matrix, rows x K, of float16, bfloat16, float32 or float64: an array of NumPy, or a tensor of PyTorch on any device.

    Returns:
        The values, of x's shape, in float8_e4m3fn (NumPy without ml_dtypes: their bits, as uint8), and the scales as `tile_scales` makes them.
        Rounding is to nearest even, once.

        A block of zeros has the scale 1. The smallest scale is 2^-127. A block with NaN, an infinity, or a number past 448 * 2^127 has the scale NaN,
        so that its products are NaN.

    Raises:
        ValueError: x is no matrix, or of another type.
        TypeError: x is no array of NumPy or tensor of PyTorch.
    """
    xp = arrays_of(x)
    if len(x.shape) != 2:
        raise ValueError(f"x has {len(x.shape)} dimensions; quantise a matrix, or each matrix of a batch")
    if type_name(x.dtype) not in _FLOATS:
        raise ValueError(f"x is of {type_name(x.dtype)}; quantise a matrix of " + ", ".join(_FLOATS))
    rows, k = x.shape
    padded = xp.full((rows, blocks(k, MX_BLOCK) * MX_BLOCK), 0.0, "float64")
    padded[:, :k] = xp.cast(x, "float64")
    of_blocks = padded.reshape(rows, blocks(k, MX_BLOCK), MX_BLOCK)
    with xp.quiet():
        amax = xp.largest(abs(of_blocks))
        codes = xp.module.where(amax == 0, xp.full((), _BIAS, "int64"), _codes_of(xp, amax / E4M3.largest))
        quotients = (of_blocks / _powers(xp, codes)[..., None]).reshape(padded.shape)[:, :k]
        # Of float32 and narrower types the quotients that e4m3 tells from zero are numbers of float32.
        values = encode(xp, quotients if type_name(x.dtype) == "float64" else xp.cast(quotients, "float32"))
    return values, _tile(xp, codes)


def tile_scales(scales: NumPyOrTorch, shape: tuple[int, int], block: tuple[int, int] = (1, MX_BLOCK)) -> NumPyOrTorch:
    """Lays scales out for tensor cores: those of 128 rows and 128 elements of K in a tile of 32 x 16, 512 bytes.

    The scale of row r and of elements 32 kb to 32 kb + 31 is in tile (r / 128, kb / 4), there in row r mod 32 and column r mod 128 / 32 * 4 + kb mod 4.
    cuBLAS and torch's scaled_mm take the same layout.

    Args:
        scales: A scale for each block, (ceil(rows / block[0]), ceil(K / block[1])): float8_e8m0fnu, its bits as uint8, or powers of two in float16,
            bfloat16, float32 or float64. Of a batch, lay out each matrix's, and stack the tiles.
        shape: The rows and K of the operand.
        block: The rows and columns that share a scale. A scale of a larger block than 1 x 32 is repeated: (1, 128) and (128, 128) are those of DeepSeek-V3.1.

    Returns:
        (ceil(rows/128), ceil(K/128), 32, 16) of float8_e8m0fnu; its bits, as uint8, in NumPy without ml_dtypes. Scales behind rows and K are 1.

    Raises:
        ValueError: The shape does not fit, a block is no multiple of 32 columns, or a scale is neither NaN nor a power of two from 2^-127 to 2^127.
        TypeError: They are no array of NumPy or tensor of PyTorch, or of another type.
    """
    xp = arrays_of(scales)
    rows, k = pair(shape, "shape", "the rows and K of the operand")
    block_rows, block_columns = pair(block, "block", "the rows and columns that share a scale")
    if block_rows < 1 or block_columns < MX_BLOCK or block_columns % MX_BLOCK:
        raise ValueError(f"a block is {block_rows} x {block_columns}; it must have rows, and a multiple of {MX_BLOCK} columns")
    wanted = (blocks(rows, block_rows), blocks(k, block_columns))
    if tuple(scales.shape) != wanted:
        raise ValueError(f"the scales are {by(tuple(scales.shape))}; they must be {by(wanted)}, one for each {block_rows} x {block_columns} of {rows} x {k}")
    codes = _codes(xp, scales)
    codes = xp.repeat_rows(codes, block_rows)[:rows]
    codes = xp.repeat_rows(codes.T, block_columns // MX_BLOCK).T[:, : blocks(k, MX_BLOCK)]
    tiles: NumPyOrTorch = _tile(xp, codes)
    return tiles


def untile(xp: NumPy | Torch, tiles: Any, rows: int, k: int) -> Any:
    """Returns scales in tiles as numbers of float64, (rows, ceil(K/32)), behind the extent of a batch if there is one.

    The tensor cores multiply scales behind K by zeros. So one of them that is NaN makes the sum NaN, as that of the last block would.
    """
    *batch, of_rows, of_k = tiles.shape[:-2]
    lead = len(batch)
    codes = _codes(xp, tiles).reshape(*batch, of_rows, of_k, 32, 4, _BLOCKS)
    codes = xp.reorder(codes, (*range(lead), lead, lead + 3, lead + 2, lead + 1, lead + 4))
    codes = codes.reshape(*batch, of_rows * _ROWS, of_k * _BLOCKS)[..., :rows, :]
    count = blocks(k, MX_BLOCK)
    powers = _powers(xp, codes[..., :count])
    if count:
        beyond = (codes[..., count:] == _NAN).any(-1)
        powers[..., -1] = xp.module.where(beyond, xp.full((), math.nan, "float64"), powers[..., -1])
    return powers


def is_tiled(scales: Operand) -> bool:
    """Whether these are scales of MXFP8: by their type, or by the bits of it in tiles."""
    name, shape = type_name(getattr(scales, "dtype")), getattr(scales, "shape")
    return name == E8M0.name or name == "uint8" and len(shape) >= 4


def expand(xp: NumPy | Torch, scales: Any, name: str, batch: tuple[int, ...], rows: int, k: int) -> Any:
    """Returns scales in tiles, or tiles one after another, as `untile` does.

    Raises:
        TypeError: they are of another type.
        ValueError: they are of another shape.
    """
    wanted = (*batch, blocks(rows, _ROWS), blocks(k, BLOCK), *_TILE)
    if type_name(scales.dtype) not in (E8M0.name, "uint8"):
        raise TypeError(f"{name} is of {type_name(scales.dtype)}; {BOTH_MX}")
    if tuple(scales.shape) not in (wanted, (math.prod(wanted),)):
        raise ValueError(f"{name} is {by(tuple(scales.shape))}; in tiles it is {by(wanted)} for these operands: {MX_CURE}")
    return untile(xp, scales.reshape(wanted), rows, k)


def _codes(xp: NumPy | Torch, scales: Any) -> Any:
    """Returns the codes of scales as integers."""
    name = type_name(scales.dtype)
    if name in (E8M0.name, "uint8"):
        return xp.cast(scales if name == "uint8" else xp.view(scales, "uint8"), "int64")
    if name not in _FLOATS:
        raise TypeError(f"the scales are of {name}; they must be of {E8M0.name}, uint8 with its bits, or of " + ", ".join(_FLOATS))
    numbers = xp.cast(scales, "float64")
    codes = _codes_of(xp, numbers)
    wrong = (_powers(xp, codes) != numbers) & ~xp.module.isnan(numbers)
    if bool(wrong.any()):
        place = tuple(int(i) for i in xp.module.argwhere(wrong)[0])
        raise ValueError(f"scale {', '.join(map(str, place))} is {float(numbers[place]):g}, no power of two from 2^-127 to 2^127, which are all that tensor "
                         f"cores apply: quantise with fp8.quantize_mx")
    return codes


def _codes_of(xp: NumPy | Torch, numbers: Any) -> Any:
    """Returns the code of the least power of two that is no less than each number of float64; that of NaN if there is none."""
    bits = xp.view(numbers, "int64")
    exponents = (bits >> 52 & 0x7FF) - 1023 + _BIAS + xp.cast(bits & (1 << 52) - 1 != 0, "int64")
    in_range = xp.module.isfinite(numbers) & (exponents < _NAN)
    return xp.module.where(in_range, exponents.clip(0, None), xp.full((), _NAN, "int64"))


def _powers(xp: NumPy | Torch, codes: Any) -> Any:
    powers = xp.view(codes - _BIAS + 1023 << 52, "float64")
    return xp.module.where(codes == _NAN, xp.full((), math.nan, "float64"), powers)


def _tile(xp: NumPy | Torch, codes: Any) -> Any:
    """Returns codes, (rows, blocks), in tiles."""
    rows, columns = codes.shape
    of_rows, of_columns = blocks(rows, _ROWS), blocks(columns, _BLOCKS)
    padded = xp.full((of_rows * _ROWS, of_columns * _BLOCKS), _BIAS, "uint8")
    padded[:rows, :columns] = xp.cast(codes, "uint8")
    split = padded.reshape(of_rows, 4, 32, of_columns, _BLOCKS)
    return xp.typed(xp.reorder(split, (0, 3, 2, 1, 4)).reshape(of_rows, of_columns, *_TILE), E8M0)
