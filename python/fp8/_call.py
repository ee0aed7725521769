# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the blockwise-scaled GEMM takes: the operands and options of a call with their defaults, and the types and extents that operands must have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ._annotations import DType, Number, Operand
from ._types import ADDENDS, E4M3, F32, OUTPUTS, SCALES, Format

BLOCK = 128
"""Elements of K that share a scale."""


class Call(NamedTuple):
    """The arguments of a call of `fp8.gemm`, as they were passed; docs are there."""

    a: Operand
    a_scale: Operand
    b: Operand
    b_scale: Operand
    out_dtype: DType | None = None
    bias: Operand | None = None
    residual: Operand | None = None
    beta: Number = 1.0
    out_scale: Number | None = None
    out: Operand | None = None
    scale_layout: str | None = None
    b_block: int = BLOCK
    stream: int | None = None
    programmatic: bool | None = None

    def operands(self) -> tuple[Number | None, ...]:
        """Returns what was passed for each operand, in the order of `PARAMETERS`; None where nothing was."""
        return tuple(getattr(self, parameter.keyword) for parameter in PARAMETERS)


@dataclass(frozen=True)
class Parameter:
    """An operand of the GEMM.

    Attributes:
        keyword: what `fp8.gemm` and its messages call it.
        argument: what the kernel and its manifest call it.
        formats: the types that its elements may have.
        extents: of the kernel's argument, slowest first: M, N, K, "K/128" and "N/b", which are rounded up, and 1. b is the block of rows of B that
            share a scale. In a batch, all but a bias and numbers have L in front.
        field: the attribute of `GemmSpec` that has its type, or says whether there is one; empty where both are fixed.
    """

    keyword: str
    argument: str
    formats: tuple[Format, ...]
    extents: tuple[str, str]
    field: str = ""

    @property
    def is_number(self) -> bool:
        """True if the kernel reads it as one number."""
        return self.extents == ("1", "1")

    @property
    def is_batched(self) -> bool:
        """True if it has one matrix for each product of a batch."""
        return self.extents[0] != "1"


# In the kernel's order.
PARAMETERS = (
    Parameter("a", "a", (E4M3,), ("M", "K")),
    Parameter("a_scale", "a_scale", SCALES, ("K/128", "M"), "a_scale_dtype"),
    Parameter("b", "b", (E4M3,), ("N", "K")),
    Parameter("b_scale", "b_scale", SCALES, ("N/b", "K/128"), "b_scale_dtype"),
    Parameter("residual", "c", ADDENDS, ("M", "N"), "residual_dtype"),
    Parameter("beta", "beta", (F32,), ("1", "1"), "beta"),
    Parameter("bias", "bias", ADDENDS, ("1", "N"), "bias_dtype"),
    Parameter("out_scale", "d_scale", (F32,), ("1", "1"), "out_scale"),
    Parameter("out", "d", OUTPUTS, ("M", "N"), "out_dtype"),
)
BY_KEYWORD = {parameter.keyword: parameter for parameter in PARAMETERS}
BY_ARGUMENT = {parameter.argument: parameter for parameter in PARAMETERS}


def blocks(extent: int, block: int = BLOCK) -> int:
    """Returns how many blocks cover the extent."""
    return -(-extent // block)


def extents_of(parameter: Parameter, m: int, n: int, k: int, b_block: int) -> tuple[int, int]:
    """Returns the extents of the kernel's argument for a problem, without that of a batch."""
    known = {"M": m, "N": n, "K": k, "K/128": blocks(k), "N/b": blocks(n, b_block), "1": 1}
    rows, columns = (known[letter] for letter in parameter.extents)
    # Scales of single rows of B are laid out as those of A.
    return (columns, rows) if parameter.keyword == "b_scale" and b_block == 1 else (rows, columns)
