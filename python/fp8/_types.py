# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of elements: what MLIR, NumPy and PyTorch call them, and what numbers they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from ._annotations import DType


@dataclass(frozen=True)
class Format:
    """A floating-point format.

    Attributes:
        name: As NumPy (with ml_dtypes) and PyTorch name it.
        mlir: As MLIR and launch manifests name it.
        precision: Significant bits, the hidden one included.
        emin: The exponent of the smallest normal number.
        largest: The largest finite number.
        saturates: True if larger numbers become that, as in e4m3, which has no infinity; else they become infinite.
        size: In bytes.
    """

    name: str
    mlir: str
    precision: int
    emin: int
    largest: float
    saturates: bool
    size: int


BF16 = Format("bfloat16", "bf16", 8, -126, (2 - 2.0**-7) * 2.0**127, False, 2)
F16 = Format("float16", "f16", 11, -14, 65504.0, False, 2)
F32 = Format("float32", "f32", 24, -126, (2 - 2.0**-23) * 2.0**127, False, 4)
E4M3 = Format("float8_e4m3fn", "f8E4M3FN", 4, -6, 448.0, True, 1)

# What the operands of a GEMM may be.
OUTPUTS = (BF16, F16, F32, E4M3)
SCALES = (F32, BF16)
ADDENDS = (BF16, F16, F32)

FORMATS = {format.name: format for format in OUTPUTS}
BY_MLIR = {format.mlir: format for format in OUTPUTS}


def type_name(dtype: DType) -> str:
    """The name of a type of NumPy, ml_dtypes or PyTorch, or what is given as a name: "float32"."""
    if isinstance(dtype, str):
        return dtype.removeprefix("torch.")
    return str(getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype).removeprefix("torch.")


def one_of(formats: Iterable[Format]) -> str:
    *others, last = [format.name for format in formats]
    return f"{', '.join(others)} or {last}" if others else last


def format_of(dtype: DType, argument: str, known: tuple[Format, ...] = OUTPUTS) -> Format:
    """The format that a type of NumPy, ml_dtypes or PyTorch is, or that is given by name, also by MLIR's.

    Raises:
        TypeError: It is none of `known`; the message names the argument.
    """
    name = type_name(dtype)
    for format in known:
        if name in (format.name, format.mlir):
            return format
    raise TypeError(f"{argument} is {name}; it must be {one_of(known)}")
