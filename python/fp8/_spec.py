# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What GEMM is wanted, and its module in the dialect."""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from typing import SupportsIndex

from ._annotations import DType
from ._call import BOTH_MX, Parameter, check_mx_options, merge, parameters
from ._types import E8M0, format_of, type_name

DEFAULT_CHIP = "sm_90a"
LARGEST_EXTENT = 2**31 - 1
"""Coordinates of TMA are 32-bit numbers with a sign (rule G6 of docs/Semantics.md)."""


def is_integer(value: object) -> bool:
    """Whether it is a whole number, of Python or NumPy; True and False are none."""
    return isinstance(value, SupportsIndex) and not isinstance(value, bool)


def whole_number(value: object, name: str) -> int:
    """The number of Python that a value is.

    Raises:
        TypeError: it is none, such as 1.0.
    """
    try:
        return operator.index(value)  # type: ignore[arg-type]  # TypeError is what tells
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a whole number") from None


def check_problem(problem: tuple[int | None, int | None, int | None]) -> None:
    """Raises a ValueError if these are not M, N and K, each None or an extent that a kernel can have."""
    if not hasattr(problem, "__len__") or len(problem) != 3:
        raise ValueError(f"problem is {problem!r}; it must be M, N and K, with None for what is not known")
    for name, extent in zip("MNK", problem):
        if extent is not None and not (is_integer(extent) and 1 <= extent <= LARGEST_EXTENT):
            raise ValueError(f"{name} is {extent!r} in problem; it must be from 1 to 2^31 - 1, the range of TMA coordinates, or None if it is not known")
    if problem[2] is not None and problem[2] % 16:
        raise ValueError(f"K is {problem[2]}; it must be a multiple of 16: pad A and B with columns of zeros")


@dataclass(frozen=True, init=False)
class GemmSpec:
    """A blockwise-scaled GEMM, D = A B^T with scales: types, and what follows the sum. Extents are those of the launch.

    Types may be given as `gemm` takes them; they are kept as MLIR spells them. `out_dtype`, `residual_dtype` and `out_scale` are other keywords of
    `d_dtype`, `c_dtype` and `d_scale`.

    Attributes:
        d_dtype: of D: "bf16", "f16", "f32" or "f8E4M3FN".
        a_scale_dtype: "f32" or "bf16"; "f8E8M0FNU", with which the scales are those of MXFP8: of 32 elements of a row each, in tiles (docs/Python.md).
        b_scale_dtype: likewise; both have scales of MXFP8, or neither.
        b_block: rows of B that share a scale: 128, 64 or 1. With scales of MXFP8 it is 128, and says nothing.
        bias_dtype: of a bias for each column, "bf16", "f16" or "f32"; None: there is none.
        c_dtype: of the C that is added; None: none is.
        beta: whether C has a factor, which is read when the kernel runs.
        d_scale: whether the sum of all that has a factor, which is read likewise.
        batch: whether A, B, C, D and scales have a leading extent.
        config: pins the tile and so on: "tile = 128 x 128 x 128, stages = 4"; None: the compiler chooses.
        programmatic: whether the kernel may start while the one in front of it in its stream ends, for which it waits; None: where the
            compiler expects a gain. A config says so itself, by "launch = programmatic".
        constant_b: whether no kernel that may run when this one is launched writes B or its scales. A kernel that starts early then loads
            them before the one in front of it has ended.
        d_contiguous: whether rows of D follow one another without gaps, and so are multiples of 16 bytes long. Only then may the first row of tiles be the
            one that is not full ("edge = first"), which is faster where M ends within a tile.

    Raises:
        TypeError, ValueError: a type or b_block is none that there is, beta has no C, or programmatic stands beside a config.
    """

    d_dtype: str = "bf16"
    a_scale_dtype: str = "f32"
    b_scale_dtype: str = "f32"
    b_block: int = 128
    bias_dtype: str | None = None
    c_dtype: str | None = None
    beta: bool = False
    d_scale: bool = False
    batch: bool = False
    config: str | None = None
    programmatic: bool | None = None
    constant_b: bool = False
    d_contiguous: bool = False

    def __init__(
        self,
        d_dtype: DType | None = None,
        a_scale_dtype: DType = "f32",
        b_scale_dtype: DType = "f32",
        b_block: int = 128,
        bias_dtype: DType | None = None,
        c_dtype: DType | None = None,
        beta: bool = False,
        d_scale: bool | None = None,
        batch: bool = False,
        config: str | None = None,
        programmatic: bool | None = None,
        constant_b: bool = False,
        d_contiguous: bool = False,
        *,
        out_dtype: DType | None = None,
        residual_dtype: DType | None = None,
        out_scale: bool | None = None,
    ) -> None:
        d_dtype = merge("d_dtype", d_dtype, "out_dtype", out_dtype)
        c_dtype = merge("c_dtype", c_dtype, "residual_dtype", residual_dtype)
        d_scale = merge("d_scale", d_scale, "out_scale", out_scale)
        what = (d_dtype or "bf16", a_scale_dtype, b_scale_dtype, b_block, bias_dtype, c_dtype, beta, False if d_scale is None else d_scale, batch)
        values = (*what, config, programmatic, constant_b, d_contiguous)
        for field, value in zip(fields(self), values):
            object.__setattr__(self, field.name, value)
        self._check()

    def _check(self) -> None:
        for name in ("beta", "batch", "constant_b", "d_contiguous", "d_scale", "programmatic"):
            value, may_be_none = getattr(self, name), name in ("d_scale", "programmatic")
            if not isinstance(value, bool) and not (may_be_none and value is None):
                raise TypeError(f"{name} is {value!r}; it must be {'True, False or None' if may_be_none else 'True or False'}")
        if not isinstance(self.config, (str, type(None))):
            raise TypeError(f"config is {self.config!r}; it must be text, or None for the compiler to choose")
        if not is_integer(self.b_block) or self.b_block not in (128, 64, 1):
            raise ValueError(f"b_block is {self.b_block!r}; it must be 128, 64 or 1")
        for name in ("a_scale_dtype", "b_scale_dtype"):
            if type_name(getattr(self, name)) in (E8M0.name, E8M0.mlir):
                object.__setattr__(self, name, E8M0.mlir)
        if self.is_mx:
            check_mx_options(self.b_block)
            if self.a_scale_dtype != self.b_scale_dtype:
                raise TypeError(f"a_scale_dtype is {self.a_scale_dtype} and b_scale_dtype is {self.b_scale_dtype}: {BOTH_MX}")
        for parameter in parameters(mx=self.is_mx):
            name = parameter.field
            if name.endswith("_dtype") and (getattr(self, name) is not None or not parameter.optional):
                object.__setattr__(self, name, format_of(getattr(self, name), name, parameter.formats).mlir)
        if self.beta and not self.c_dtype:
            raise ValueError("beta is the factor of C, and there is none: set c_dtype")
        if self.programmatic is not None and self.config:
            raise ValueError("the config pins the launch, too: leave programmatic out, and add 'launch = programmatic' to the config if it is wanted")

    @property
    def out_dtype(self) -> str:
        """`d_dtype`."""
        return self.d_dtype

    @property
    def residual_dtype(self) -> str | None:
        """`c_dtype`."""
        return self.c_dtype

    @property
    def out_scale(self) -> bool:
        """`d_scale`."""
        return self.d_scale

    @property
    def is_mx(self) -> bool:
        """Whether the scales are those of MXFP8."""
        return E8M0.mlir in (self.a_scale_dtype, self.b_scale_dtype)

    @property
    def default_chip(self) -> str:
        """What a kernel is compiled for where neither a GPU nor the user says it: a chip that has one."""
        return "sm_100a" if self.is_mx else DEFAULT_CHIP

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The operands that the kernel takes, in its order."""
        return tuple(parameter for parameter in parameters(self.b_block, self.is_mx) if not parameter.field or getattr(self, parameter.field))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the kernel's arguments, in order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def read_by_tma(self) -> frozenset[str]:
        """The names of the arguments that TMA copies; threads load the others: numbers, and B's scales for blocks of rows."""
        return frozenset(parameter.name for parameter in self.parameters if parameter.by_tma)

    def dtype_of(self, parameter: Parameter) -> str:
        """Returns the type of an operand's elements, as MLIR spells it."""
        return str(getattr(self, parameter.field)) if parameter.field.endswith("_dtype") else parameter.formats[0].mlir

    @property
    def launch(self) -> str:
        """How the kernel of a chosen configuration is launched, as the compiler's passes call it."""
        return "fastest" if self.programmatic is None else "programmatic" if self.programmatic else "serial"

    def _type_of(self, parameter: Parameter) -> str:
        """The type of the kernel's argument in MLIR."""
        extents = ["1" if extent.axis == "1" else "?" for extent in parameter.extents]
        extents += map(str, parameter.tile)
        strides = ["?", "?", str(parameter.tile[1]), "1"] if parameter.tile else ["?", "1"]
        if self.batch and parameter.batched:
            extents, strides = ["?", *extents], ["?", *strides]
        layout = "" if parameter.is_number or (parameter.written and self.d_contiguous) else f", strided<[{', '.join(strides)}]>"
        return f"memref<{'x'.join(extents)}x{self.dtype_of(parameter)}{layout}>"

    def mlir(self) -> str:
        """The module of phase 0."""
        types = {parameter.name: self._type_of(parameter) for parameter in self.parameters}
        access = {parameter.name: "write" if parameter.written else "read" for parameter in self.parameters}
        if self.constant_b:
            access.update(b="constant", b_scale="constant")
        arguments = ", ".join(f'%{name}: {type} {{fp8.name = "{name}", fp8.access = "{access[name]}"}}' for name, type in types.items())
        inputs = ("a", "a_scale", "b", "b_scale")
        op = f"fp8.blockwise_gemm ins({', '.join('%' + i for i in inputs)} : {', '.join(types[i] for i in inputs)})"
        if self.c_dtype:
            scaled = (" scaled %beta", f", {types['beta']}") if self.beta else ("", "")
            op += f" residual(%c{scaled[0]} : {types['c']}{scaled[1]})"
        if self.bias_dtype:
            op += f" bias(%bias : {types['bias']})"
        op += f" outs(%d : {types['d']})"
        if self.d_scale:
            op += f" scale(%d_scale : {types['d_scale']})"
        if self.config:
            op += f"\n    config <{self.config}>"  # a line of its own, for errors point at it
        if self.b_block != 128:
            op += f" {{b_block = {self.b_block}}}"
        return f"""func.func @gemm({arguments}) attributes {{fp8.problem = "blockwise_gemm"}} {{
  {op}
  return
}}
"""
