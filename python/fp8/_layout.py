# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands in the layout that a kernel reads, and D in the one that it writes: where they are, or copies."""

from __future__ import annotations

import functools
from typing import Callable

from ._annotations import Operand
from ._arrays import Array, by, contiguous_strides, describe, is_jax, spelt, stands_for
from ._packages import Package, package
from ._types import by_mlir, of_mlir

ALIGNMENT = 16  # bytes: of addresses and rows that TMA copies (PTX ISA, tensor maps)
LINE = 128  # bytes of a line of L2: rows that begin with one are copied fastest (docs/Python.md, "Layouts of scales")


def scale_layout(name: str, shape: tuple[int, ...], rows: tuple[str, int], blocks: int, layout: str | None, batch: tuple[int, ...] = ()) -> str:
    """Which way round the scales of single rows are: "row_major", rows x K/128, or "k_major", K/128 x rows.

    Args:
        name: of the scales, for errors.
        shape: theirs.
        rows: the letter of their extent, M or N, and how many there are.
        blocks: ceil(K/128).
        layout: what the caller says; None: the shape tells.
        batch: extents in front.

    Raises:
        ValueError: the shape is neither, or both, or there is no such layout.
    """
    letter, count = rows
    lead = "L x " * len(batch)
    shapes = {"row_major": (*batch, count, blocks), "k_major": (*batch, blocks, count)}
    if layout not in (None, *shapes):
        raise ValueError(
            f"scale_layout is {layout!r}; it must be 'row_major' ({letter} x K/128), 'k_major' (K/128 x {letter}) or None (whichever the shape is)"
        )
    fitting = [key for key, wanted in shapes.items() if tuple(shape) == wanted and layout in (None, key)]
    if not fitting:
        words = {"row_major": f"{lead}{letter} x K/128", "k_major": f"{lead}K/128 x {letter}"}
        wanted = " or ".join(f"{words[key]}, {by(extents)}" for key, extents in shapes.items() if layout in (None, key))
        raise ValueError(f"{name} is {by(shape)}; it must be {wanted}" + (f", as scale_layout={layout!r} says" if layout else ""))
    # A column and a row of the same extent are told apart by neither.
    if len(fitting) == 2 and count > 1:
        raise ValueError(
            f"{name} is {by(shape)}, which is {lead}{letter} x K/128 and {lead}K/128 x {letter}: say which with scale_layout='row_major' "
            "or 'k_major'"
        )
    return fitting[0]


def padded_row(columns: int, dtype: str, alignment: int = ALIGNMENT) -> int:
    """The elements from a row to the next, if rows are so many bytes apart, by default as TMA wants them."""
    step = alignment // of_mlir(dtype).size
    return max(-(-columns // step), 1) * step


def _tidy_strides(array: Array) -> tuple[int, ...]:
    """Its strides, but where an extent is 1 or 0, and how far apart its only elements would be is free, as TMA, and D without gaps, want them."""
    *batch, rows, columns = array.shape
    *outer, row, element = array.strides
    element = element if columns > 1 else 1
    row = row if rows > 1 else padded_row(columns, array.dtype)
    return (*(stride if extent > 1 and 0 not in array.shape else rows * row for stride, extent in zip(outer, batch)), row, element)


def _is_laid_out(array: Array, by_tma: bool) -> bool:
    """Whether rows are contiguous, neither they nor matrices overlap and, for TMA, all are aligned."""
    *outer, row, element = array.strides
    size, rows = by_mlir()[array.dtype].size, array.shape[-2]
    is_apart = element == 1 and row >= array.shape[-1] and all(stride >= rows * row for stride in outer)
    is_aligned = array.address % ALIGNMENT == 0 and all(stride * size % ALIGNMENT == 0 for stride in (*outer, row))
    return is_apart and (is_aligned or not by_tma)


def _overlaps(array: Array) -> bool:
    """Whether elements may share memory: where a stride does not reach past all that the smaller ones cover."""
    reach = 0
    for step, extent in sorted((abs(stride), extent) for stride, extent in zip(array.strides, array.shape) if extent > 1):
        if step <= reach:
            return 0 not in array.shape
        reach += step * (extent - 1)
    return False


def _padded(shape: tuple[int, ...], dtype: str, alignment: int = ALIGNMENT) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The extents of an array whose rows are so many bytes apart, and its strides."""
    extents = (*shape[:-1], padded_row(shape[-1], dtype, alignment))
    return extents, contiguous_strides(extents)


def in_rows(name: str, array: Array, by_tma: bool) -> Array:
    """The array, or a copy that the kernel can read: rows of contiguous elements, for TMA a multiple of 16 bytes apart.

    Rows of a copy begin with lines of L2.

    Raises:
        ValueError: it must be copied, and nobody here knows how.
    """
    array = array.laid_out(array.shape, _tidy_strides(array))
    if _is_laid_out(array, by_tma):
        return array
    made_by = package(array.keep)
    if made_by is None:
        raise ValueError(
            f"{name} has strides of {by(array.strides)} elements, from address {array.address:#x}: its rows must be "
            f"contiguous{', aligned to 16 bytes and a multiple of 16 bytes apart' if by_tma else ''}; only arrays of torch, cupy and numpy are copied"
        )
    extents, strides = _padded(array.shape, array.dtype, LINE)
    copy = made_by.empty_like(extents, array.keep)
    made_by.copy(made_by.view(copy, array.shape, strides), made_by.view(array.keep, array.shape, array.strides))
    return describe(copy, name).as_type(array.dtype).laid_out(array.shape, strides)


def in_tiles(name: str, array: Array) -> Array:
    """The scales in tiles, or a copy in which each tile is 512 bytes without gaps, aligned to 16 bytes.

    Raises:
        ValueError: they must be copied, and nobody here knows how.
    """
    wanted = contiguous_strides(array.shape)
    outer = tuple(stride if extent > 1 else other for extent, stride, other in zip(array.shape[:-2], array.strides, wanted))
    array = array.laid_out(array.shape, (*outer, *array.strides[-2:]))
    is_aligned = array.address % ALIGNMENT == 0 and all(stride % ALIGNMENT == 0 for stride in outer)
    if array.strides[-2:] == wanted[-2:] and is_aligned and all(stride >= wanted[-3] for stride in outer):
        return array
    made_by = package(array.keep)
    if made_by is None:
        raise ValueError(f"{name} has strides of {by(array.strides)} bytes, from address {array.address:#x}: its tiles must be 512 bytes without gaps, aligned to "
                         f"16 bytes; only arrays of torch, cupy and numpy are copied")
    copy = made_by.contiguous(made_by.view(array.keep, array.shape, array.strides))
    return describe(copy, name).as_type(array.dtype)


def make_output(like: object, place: str, shape: tuple[int, ...], dtype: str, d: Operand | None, given: Array | None) -> tuple[Array, Callable[[], Operand]]:
    """Where D goes, and a function that gives it in the form that the caller wants, once it is there.

    Args:
        like: A, of whose package a new D is.
        place: where A is.
        shape: of D.
        dtype: of D.
        d: what the caller passed for D, or None.
        given: what that is.
    """
    return _new_output(like, shape, dtype) if d is None or given is None else _given_output(place, shape, dtype, d, given)


def _new_output(like: object, shape: tuple[int, ...], dtype: str) -> tuple[Array, Callable[[], Operand]]:
    made_by = package(like)
    if made_by is None:
        raise ValueError(f"a is a {type(like).__name__}, of which no new array can be made here: pass d")
    extents, strides = _padded(shape, dtype)
    made = made_by.empty(extents, by_mlir()[dtype])
    array = describe(made, "d").as_type(dtype).laid_out(shape, strides)
    array = array.laid_out(shape, _tidy_strides(array))
    return array, lambda: made if extents == shape else made_by.contiguous(made_by.view(made, shape, strides))


def _written(made_by: Package | None, d: Operand) -> Operand:
    if made_by:
        made_by.mark_written(d)
    return d


def _given_output(place: str, shape: tuple[int, ...], dtype: str, d: Operand, given: Array) -> tuple[Array, Callable[[], Operand]]:
    if given.shape != shape:
        raise ValueError(f"d is {by(given.shape)}; it must be {'L x ' * (len(shape) - 2)}M x N, {by(shape)}")
    if not stands_for(given.dtype, dtype):
        raise TypeError(f"d is of {spelt(given.dtype)} and d_dtype is {spelt(dtype)}: they must be one type, or d has the bits of it")
    if given.place != place:
        raise ValueError(f"d is on {given.place} and a on {place}: they must be on one device")
    if given.read_only:
        raise ValueError(f"d is read-only{', as all arrays of jax are' * is_jax(d)}; it is what the GEMM writes to: pass one that can be written")
    if _overlaps(given):
        raise ValueError(f"d has strides of {by(given.strides)} elements, so that elements may share memory: pass one that has room for each")
    given = given.as_type(dtype)
    given = given.laid_out(shape, _tidy_strides(given))
    made_by = package(d)
    if _is_laid_out(given, by_tma=True):
        return given, functools.partial(_written, made_by, d)
    if made_by is None:
        raise ValueError(
            "the rows of d must be contiguous, aligned to 16 bytes and a multiple of 16 bytes apart; only arrays of torch, cupy and numpy "
            "are copied"
        )
    extents, strides = _padded(shape, dtype)
    temporary = made_by.empty_like(extents, d)

    def copy_back() -> Operand:
        made_by.copy(d, made_by.view(temporary, shape, strides))
        return d

    return describe(temporary, "d").as_type(dtype).laid_out(shape, strides), copy_back
