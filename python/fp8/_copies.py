# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New arrays and copies, by whichever package the operands are of."""

from __future__ import annotations

from typing import Any, Callable

from ._arrays import BYTES, Array, describe, is_torch, stands_for

ALIGNMENT = 16  # bytes: of addresses and rows that TMA copies (PTX ISA, tensor maps)

_NAMES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f8E4M3FN": "float8_e4m3fn"}


def padded_row(columns: int, dtype: str) -> int:
    """The elements from a row to the next that TMA wants."""
    step = ALIGNMENT // BYTES[dtype]
    return max(-(-columns // step), 1) * step


class _Torch:
    def __init__(self, like: Any):
        import torch

        self._torch, self._device = torch, like.device

    def empty(self, rows: int, columns: int, dtype: str) -> Any:
        return self._torch.empty((rows, columns), dtype=getattr(self._torch, _NAMES[dtype]), device=self._device)

    def empty_like_bits(self, rows: int, columns: int, like: Any) -> Any:
        return self._torch.empty((rows, columns), dtype=like.dtype, device=like.device)

    def view(self, source: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        return source.as_strided(shape, strides)

    def copy(self, target: Any, source: Any) -> None:
        target.copy_(source)

    def contiguous(self, array: Any) -> Any:
        return array.contiguous()


class _NumPy:
    """numpy, or cupy, which has the same functions."""

    def __init__(self, package: Any):
        self._package = package

    def empty(self, rows: int, columns: int, dtype: str) -> Any:
        name: Any = _NAMES[dtype]
        if dtype in ("bf16", "f8E4M3FN"):
            if self._package.__name__ != "numpy":
                raise TypeError(f"{self._package.__name__} has no {name}: ask for out_dtype float32 or float16, or pass out with the bits' type")
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError(
                    f"numpy has no {name} without the package ml_dtypes: install it, or ask for out_dtype float32 or float16"
                ) from None
            name = getattr(ml_dtypes, name)
        return self._package.empty((rows, columns), dtype=name)

    def empty_like_bits(self, rows: int, columns: int, like: Any) -> Any:
        return self._package.empty((rows, columns), dtype=like.dtype)

    def view(self, source: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        size = source.dtype.itemsize
        return self._package.lib.stride_tricks.as_strided(source, shape, tuple(stride * size for stride in strides))

    def copy(self, target: Any, source: Any) -> None:
        target[...] = source

    def contiguous(self, array: Any) -> Any:
        return self._package.ascontiguousarray(array)


def _package_of(array: Any) -> Any:
    """What makes arrays like this one; None if nobody here knows."""
    if is_torch(array):
        return _Torch(array)
    name = type(array).__module__.partition(".")[0]
    if name in ("numpy", "cupy"):
        import importlib

        return _NumPy(importlib.import_module(name))
    return None


def in_rows(name: str, array: Array, by_tma: bool) -> Array:
    """The array, or a copy that the kernel can read: rows of contiguous elements, for TMA a multiple of 16 bytes apart.

    Raises:
        ValueError: it must be copied, and nobody here knows how.
    """
    rows, columns = array.shape
    # How far apart an only row and its neighbour, or the elements of an only column, would be is free.
    strides = (array.strides[0] if rows > 1 else padded_row(columns, array.dtype), array.strides[1] if columns > 1 else 1)
    array = Array(array.dtype, array.address, array.shape, strides, array.device, array.index, array.keep, array.read_only)
    is_row_major = strides[1] == 1 and strides[0] >= columns
    is_aligned = array.address % ALIGNMENT == 0 and strides[0] * BYTES[array.dtype] % ALIGNMENT == 0
    if is_row_major and (is_aligned or not by_tma):
        return array
    package = _package_of(array.keep)
    if package is None:
        raise ValueError(
            f"{name} has rows {strides[0]} elements apart and columns {strides[1]}, from address {array.address:#x}: its rows must be contiguous"
            f"{', aligned to 16 bytes and a multiple of 16 bytes apart' if by_tma else ''}; only arrays of torch, cupy and numpy are copied"
        )
    copy = package.empty_like_bits(rows, padded_row(columns, array.dtype), array.keep)
    package.copy(package.view(copy, (rows, columns), (copy.shape[1], 1)), package.view(array.keep, array.shape, array.strides))
    made = describe(copy)
    return Array(array.dtype, made.address, array.shape, (copy.shape[1], 1), array.device, array.index, copy)


def make_output(like: Any, place: str, rows: int, columns: int, dtype: str, out: Any) -> tuple[Array, Callable[[], Any]]:
    """Where D goes, and a function that gives it in the form that the caller wants, once it is there."""
    package = _package_of(like)
    row = padded_row(columns, dtype)
    if out is None:
        if package is None:
            raise ValueError(f"a is a {type(like).__name__}, of which no new array can be made here: pass out")
        made = package.empty(rows, row, dtype)
        view = package.view(made, (rows, columns), (row, 1))
        array = describe(made)
        kept = Array(dtype, array.address, (rows, columns), (row, 1), array.device, array.index, made)
        return kept, (lambda: made) if row == columns else (lambda: package.contiguous(view))
    given = describe(out, "out")
    if given.shape != (rows, columns):
        raise ValueError(f"out is {' x '.join(map(str, given.shape))}; it must be M x N, {rows} x {columns}")
    if not stands_for(given.dtype, dtype):
        raise TypeError(f"out is of {given.dtype} and out_dtype is {dtype}")
    if given.place != place:
        raise ValueError(f"out is on {given.place} and a on {place}: they must be on one device")
    if given.read_only:
        raise ValueError("out is read-only")
    given = given.as_type(dtype)
    strides = (given.strides[0] if rows > 1 else row, given.strides[1] if columns > 1 else 1)
    if strides[1] == 1 and strides[0] >= columns and given.address % ALIGNMENT == 0 and strides[0] * BYTES[dtype] % ALIGNMENT == 0:
        return Array(dtype, given.address, (rows, columns), strides, given.device, given.index, out), lambda: out
    if package is None:
        raise ValueError("the rows of out must be contiguous, aligned to 16 bytes and a multiple of 16 bytes apart")
    temporary = package.empty_like_bits(rows, row, out)
    array = describe(temporary)

    def copy_back() -> Any:
        package.copy(out, package.view(temporary, (rows, columns), (row, 1)))
        return out

    return Array(dtype, array.address, (rows, columns), (row, 1), array.device, array.index, temporary), copy_back
