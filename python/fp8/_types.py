# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of elements: what MLIR, NumPy and PyTorch call them, and what numbers they have. The library has the table."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Iterable, TypedDict

from . import _library
from ._annotations import DType


class _Facts(TypedDict):
    """A row of fp8ElementTypes, as far as it is read here."""

    dtype: str
    name: str
    bytes: int
    exponent_bits: int
    mantissa_bits: int
    saturates: bool
    largest: float


@functools.lru_cache(maxsize=None)
def _facts() -> dict[str, _Facts]:
    """The rows of the library's table, by MLIR's name."""
    rows: list[_Facts] = json.loads(_library.functions().fp8ElementTypes())
    return {row["dtype"]: row for row in rows}


@dataclass(frozen=True)
class Format:
    """A floating-point format.

    Attributes:
        name: As NumPy (with ml_dtypes) and PyTorch name it.
        mlir: As MLIR and launch manifests name it.
    """

    name: str
    mlir: str

    @property
    def precision(self) -> int:
        """Significant bits, the hidden one included."""
        return _facts()[self.mlir]["mantissa_bits"] + 1

    @property
    def emin(self) -> int:
        """The exponent of the smallest normal number."""
        return int(2 - 2 ** (_facts()[self.mlir]["exponent_bits"] - 1))

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return _facts()[self.mlir]["largest"]

    @property
    def saturates(self) -> bool:
        """True if larger numbers become the largest; else they become infinite."""
        return _facts()[self.mlir]["saturates"]

    @property
    def size(self) -> int:
        """In bytes."""
        return 1 if self == E8M0 else _facts()[self.mlir]["bytes"]

    @property
    def is_native(self) -> bool:
        """True if NumPy has the type itself. Arrays of packages without a type hold its bits."""
        return self.name in ("float16", "float32", "float64")


BF16 = Format("bfloat16", "bf16")
F32 = Format("float32", "f32")
E4M3 = Format("float8_e4m3fn", "f8E4M3FN")
E8M0 = Format("float8_e8m0fnu", "f8E8M0FNU")
"""Powers of two, the scales of MXFP8: no numbers that fp8 computes with, so no row of the table."""


@functools.lru_cache(maxsize=None)
def by_mlir() -> dict[str, Format]:
    """All formats of numbers, by MLIR's name."""
    return {mlir: Format(row["name"], mlir) for mlir, row in _facts().items()}


@functools.lru_cache(maxsize=None)
def by_name() -> dict[str, Format]:
    """All formats of numbers, by the name of NumPy and PyTorch."""
    return {format.name: format for format in by_mlir().values()}


def of_mlir(mlir: str) -> Format:
    """The format of that name, of numbers or of scales."""
    return E8M0 if mlir == E8M0.mlir else by_mlir()[mlir]


def type_name(dtype: DType) -> str:
    """The name of a type of NumPy, ml_dtypes or PyTorch, or what is given as a name: "float32"."""
    if isinstance(dtype, str):
        return dtype.removeprefix("torch.")
    return str(getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype).removeprefix("torch.")


def one_of(formats: Iterable[Format]) -> str:
    *others, last = [format.name for format in formats]
    return f"{', '.join(others)} or {last}" if others else last


def format_of(dtype: DType, argument: str, known: Iterable[Format]) -> Format:
    """The format that a type of NumPy, ml_dtypes or PyTorch is, or that is given by name, also by MLIR's.

    Raises:
        TypeError: It is none of `known`; the message names the argument.
    """
    name = type_name(dtype)
    for format in known:
        if name in (format.name, format.mlir):
            return format
    raise TypeError(f"{argument} is {name}; it must be {one_of(known)}")
