# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the blockwise-scaled GEMM takes: the operands and options of a call with their defaults, and the library's table of the operands."""

from __future__ import annotations

import functools
import json
import operator
from dataclasses import dataclass
from typing import NamedTuple, TypedDict, TypeVar

from . import _library
from ._annotations import DType, Number, Operand
from ._types import Format, of_mlir

T = TypeVar("T")

BLOCK = 128
"""Elements of K that share a scale, and rows of B, if nothing else is said."""

MX_CURE = "fp8.tile_scales lays scales of MXFP8 out for Blackwell; for Hopper convert them to float32, which is exact"
BOTH_MX = f"both operands have scales of float8_e8m0fnu, or neither: {MX_CURE}"
"""What messages say of scales of MXFP8 that do not fit."""

ALIASES = {"out_dtype": "d_dtype", "residual": "c", "out_scale": "d_scale", "out": "d"}
"""Other keywords of fp8.gemm's arguments."""


def merge(name: str, value: T, alias: str, aliased: T) -> T:
    """Returns what was passed by a keyword or by its alias.

    Raises:
        TypeError: it was passed by both.
    """
    if value is not None and aliased is not None:
        raise TypeError(f"{name} and {alias} are one argument: pass {name}")
    return aliased if value is None else value


class Call(NamedTuple):
    """The arguments of a call of `fp8.gemm`, as they were passed; docs are there."""

    a: Operand
    a_scale: Operand
    b: Operand
    b_scale: Operand
    d_dtype: DType | None = None
    bias: Operand | None = None
    c: Operand | None = None
    beta: Number = 1.0
    d_scale: Number | None = None
    d: Operand | None = None
    scale_layout: str | None = None
    b_block: int = BLOCK
    stream: int | None = None
    programmatic: bool | None = None
    constant_b: bool = False

    def operands(self) -> tuple[Number | None, ...]:
        """Returns what was passed for each operand, in the order of `parameters`; None where nothing was."""
        return tuple(getattr(self, parameter.name) for parameter in parameters())


class _Extent(TypedDict):
    axis: str
    block: int


class _Tiled(TypedDict, total=False):
    tile: list[int]


class _Operand(_Tiled):
    """A row of fp8GemmOperands or fp8GemmMxOperands, as far as it is read here."""

    name: str
    dtypes: list[str]
    rows: _Extent
    columns: _Extent
    optional: bool
    batched: bool
    by_tma: bool
    written: bool
    rule: str


@dataclass(frozen=True)
class Extent:
    """The blocks that cover an axis, rounded up.

    Attributes:
        axis: "M", "N" or "K"; "1" of an extent of 1.
        block: elements of the axis.
    """

    axis: str
    block: int

    def __str__(self) -> str:
        return self.axis if self.block == 1 else f"{self.axis}/{self.block}"

    @property
    def formula(self) -> str:
        """As rules have it: "M", "ceil(K/128)"."""
        return self.axis if self.block == 1 else f"ceil({self})"

    def of(self, m: int, n: int, k: int) -> int:
        """Returns the extent in a problem."""
        return blocks({"M": m, "N": n, "K": k, "1": 1}[self.axis], self.block)


@dataclass(frozen=True)
class Parameter:
    """An operand of the GEMM.

    Attributes:
        name: in fp8.gemm and its messages, in kernels and their manifests.
        formats: the types that its elements may have.
        extents: rows and columns of the kernel's argument, behind the extent of a batch.
        optional: whether a GEMM may lack it.
        batched: whether it has one matrix for each product of a batch.
        by_tma: whether TMA copies it; threads load the others.
        written: whether it is the result.
        rule: the label in docs/Semantics.md.
        tile: the extents of a tile of scales, behind rows and columns of tiles; empty where there are none.
    """

    name: str
    formats: tuple[Format, ...]
    extents: tuple[Extent, Extent]
    optional: bool
    batched: bool
    by_tma: bool
    written: bool
    rule: str
    tile: tuple[int, ...] = ()

    @property
    def is_number(self) -> bool:
        """True if the kernel reads it as one number."""
        return all(extent.axis == "1" for extent in self.extents)

    @property
    def field(self) -> str:
        """The attribute of `GemmSpec` that has its type, or says whether there is one; empty where both are fixed."""
        if self.is_number:
            return self.name
        return "" if len(self.formats) == 1 else f"{self.name}_dtype"


@functools.lru_cache(maxsize=None)
def parameters(b_block: int = BLOCK, mx: bool = False) -> tuple[Parameter, ...]:
    """The operands in the kernel's order, D last. `b_block` rows of B share a scale, 128, 64 or 1; or the scales are those of MXFP8."""
    library = _library.functions()
    rows: list[_Operand] = json.loads(library.fp8GemmMxOperands() if mx else library.fp8GemmOperands(b_block))
    found = [
        Parameter(
            row["name"],
            tuple(map(of_mlir, row["dtypes"])),
            (Extent(**row["rows"]), Extent(**row["columns"])),
            row["optional"],
            row["batched"],
            row["by_tma"],
            row["written"],
            row["rule"],
            tuple(row.get("tile", ())),
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda parameter: parameter.written))


def find_parameter(name: str, b_block: int = BLOCK, mx: bool = False) -> Parameter:
    """The operand of that name."""
    return next(found for found in parameters(b_block, mx) if found.name == name)


def pair(given: object, name: str, what: str) -> tuple[int, int]:
    """The two whole numbers that were given.

    Raises:
        TypeError, ValueError: they are no whole numbers, or not two.
    """
    rule = f"{name} is {given!r}; it must be {what}, two whole numbers"
    try:
        numbers = [operator.index(number) for number in given]  # type: ignore[attr-defined]  # TypeError is what tells
    except TypeError:
        raise TypeError(rule) from None
    if len(numbers) != 2:
        raise ValueError(rule)
    return numbers[0], numbers[1]


def check_mx_options(b_block: int, scale_layout: str | None = None) -> None:
    """Raises a ValueError if an option is given that scales of MXFP8 do not have."""
    if b_block != BLOCK:
        raise ValueError(f"b_block is {b_block!r}, but scales of float8_e8m0fnu are of single rows of B: leave b_block out")
    if scale_layout is not None:
        raise ValueError(f"scale_layout is {scale_layout!r}, but scales of float8_e8m0fnu lie in tiles: leave scale_layout out")


def blocks(extent: int, block: int = BLOCK) -> int:
    """Returns how many blocks cover the extent."""
    return -(-extent // block)


def extents_of(parameter: Parameter, m: int, n: int, k: int) -> tuple[int, ...]:
    """Returns the extents of the kernel's argument for a problem, without that of a batch."""
    rows, columns = parameter.extents
    return (rows.of(m, n, k), columns.of(m, n, k), *parameter.tile)
