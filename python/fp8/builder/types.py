# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of the dialect as small immutable classes; `str` of one is its MLIR text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from .errors import BuildError

#: How a type names another inside of it: by its alias, or in full.
Speller = Callable[["Type"], str]


class Type:
    """A type of MLIR.

    Attributes:
        alias: What an alias of it is called; empty for types that are spelled out.
        noun: What messages call a value of it.
        linear: True if each value of it is consumed exactly once (L1).
    """

    alias: ClassVar[str] = ""
    noun: ClassVar[str] = "value"
    linear: ClassVar[bool] = False

    def spell(self, name: Speller) -> str:
        """Returns the text of the type, with `name` for the types in it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spell(str)


def _by(shape: tuple[int | None, ...], element: str) -> str:
    return "".join(f"{'?' if extent is None else extent}x" for extent in shape) + element


def _pair(cta_group: int) -> str:
    return "" if cta_group == 1 else f", cta_group = {cta_group}"


def _swapped(swapped: bool) -> str:
    return ", swapped" if swapped else ""


def _scaled(scale_slots: int) -> str:
    return f", scale_slots = {scale_slots}" if scale_slots else ""


@dataclass(frozen=True)
class FunctionType(Type):
    """What an op or a function takes and gives."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...] = ()

    def spell(self, name: Speller) -> str:
        inputs, results = (", ".join(map(name, types)) for types in (self.inputs, self.results))
        return f"({inputs}) -> ({results})"


@dataclass(frozen=True)
class Number(Type):
    """A number: `index`, `i1`, `i32`, `f32` and so on, by MLIR's name."""

    name: str

    def spell(self, name: Speller) -> str:
        return self.name


INDEX = Number("index")
BOOL = Number("i1")
I32 = Number("i32")
F32 = Number("f32")


@dataclass(frozen=True)
class MemRef(Type):
    """An array in global memory.

    Attributes:
        shape: The extents; None for one that is known when the kernel is launched.
        element: MLIR's name of the element type, such as "f8E4M3FN".
        strides: In elements, None for unknown ones; row-major without gaps if left out.
        offset: Of the first element, in elements, None for an unknown one.
    """

    shape: tuple[int | None, ...]
    element: str
    strides: tuple[int | None, ...] | None = None
    offset: int | None = 0
    noun: ClassVar[str] = "array"

    def spell(self, name: Speller) -> str:
        layout = ""
        if self.strides is not None:
            offset = "" if self.offset == 0 else f", offset: {'?' if self.offset is None else self.offset}"
            layout = ", strided<[" + ", ".join("?" if s is None else str(s) for s in self.strides) + f"]{offset}>"
        return f"memref<{_by(self.shape, self.element)}{layout}>"


@dataclass(frozen=True)
class Tile(Type):
    """A tile in shared memory, `rows x columns`.

    Attributes:
        shape: Rows and columns, each in 1..256 (T1).
        element: MLIR's name of the element type.
        swizzle: The span in bytes within which TMA permutes chunks of 16: 0 (none), 32, 64 or 128.
    """

    shape: tuple[int, int]
    element: str
    swizzle: int = 0
    alias: ClassVar[str] = "tile"
    noun: ClassVar[str] = "tile"

    def __post_init__(self) -> None:
        if self.swizzle not in (0, 32, 64, 128):  # the text of such a type does not parse, and names no line of Python
            raise BuildError(f"there is no swizzle of {self.swizzle} bytes; use 32, 64 or 128, or 0 for none")

    def spell(self, name: Speller) -> str:
        swizzle = f", swizzle_{self.swizzle}b" if self.swizzle else ""
        return f"!fp8.tile<{_by(self.shape, self.element)}{swizzle}>"


@dataclass(frozen=True)
class TensorMap(Type):
    """A TMA descriptor, of a tensor of `rank` dimensions, whose box is `tile`."""

    tile: Tile
    rank: int = 2
    noun: ClassVar[str] = "tensor map"

    def spell(self, name: Speller) -> str:
        rank = "" if self.rank == 2 else f", rank = {self.rank}"
        return f"!fp8.tensor_map<{name(self.tile)}{rank}>"


@dataclass(frozen=True)
class Accumulator(Type):
    """`shape` f32 values in tensor memory, of one CTA or of a pair; `swapped`, their columns are the rows of the MMA."""

    shape: tuple[int, int]
    cta_group: int = 1
    scale_slots: int = 0
    swapped: bool = False
    noun: ClassVar[str] = "accumulator"

    def spell(self, name: Speller) -> str:
        return f"!fp8.tmem<{_by(self.shape, 'f32')}{_pair(self.cta_group)}{_scaled(self.scale_slots)}{_swapped(self.swapped)}>"


@dataclass(frozen=True)
class Fragment(Type):
    """`shape` f32 values in the registers of `warps` warps.

    Attributes:
        shape: Rows and columns.
        warps: Those of the role that holds it.
        layout: Which part a thread holds: "rows", "lane_halves", "warp_halves", "warpgroups", "warpgroup_columns" or "quarter_columns".
    """

    shape: tuple[int, int]
    warps: int
    layout: str = "rows"
    alias: ClassVar[str] = "fragment"
    noun: ClassVar[str] = "fragment"

    def spell(self, name: Speller) -> str:
        layout = "" if self.layout == "rows" else f", {self.layout}"
        return f"!fp8.fragment<{_by(self.shape, 'f32')}, {self.warps}{layout}>"


@dataclass(frozen=True)
class Pending(Type):
    """A product that warpgroups are computing into their registers."""

    fragment: Fragment
    noun: ClassVar[str] = "pending product"
    linear: ClassVar[bool] = True

    def spell(self, name: Speller) -> str:
        return f"!fp8.pending<{name(self.fragment)}>"


@dataclass(frozen=True)
class Pipeline(Type):
    """A ring of `stages` slots in shared memory, each with a tile of each name."""

    stages: int
    tiles: tuple[tuple[str, Tile], ...]
    cta_group: int = 1
    alias: ClassVar[str] = "pipeline"

    def spell(self, name: Speller) -> str:
        tiles = "".join(f", {key}: {name(tile)}" for key, tile in self.tiles)
        return f"!fp8.pipeline<{self.stages}{tiles}{_pair(self.cta_group)}>"


@dataclass(frozen=True)
class OutputPipeline(Type):
    """A ring of `stages` accumulators in tensor memory."""

    stages: int
    shape: tuple[int, int]
    cta_group: int = 1
    scale_slots: int = 0
    swapped: bool = False
    alias: ClassVar[str] = "output_pipeline"

    def spell(self, name: Speller) -> str:
        return f"!fp8.output_pipeline<{self.stages}, {_by(self.shape, 'f32')}{_pair(self.cta_group)}{_scaled(self.scale_slots)}{_swapped(self.swapped)}>"


@dataclass(frozen=True)
class WorkQueue(Type):
    """A ring of `stages` answers of cluster launch control."""

    stages: int
    alias: ClassVar[str] = "work_queue"

    def spell(self, name: Speller) -> str:
        return f"!fp8.work_queue<{self.stages}>"


@dataclass(frozen=True)
class SumExchange(Type):
    """Where `ctas` CTAs that divide K exchange shares of their sums."""

    ctas: int
    fragment: Fragment
    alias: ClassVar[str] = "exchange"
    noun: ClassVar[str] = "exchange"
    linear: ClassVar[bool] = True

    @property
    def share(self) -> Fragment:
        """What each CTA gets: an equal part of the columns, or of the rows where operands were swapped."""
        rows, columns = self.fragment.shape
        if self.fragment.layout in ("warpgroup_columns", "quarter_columns"):
            return replace(self.fragment, shape=(rows // self.ctas, columns))
        return replace(self.fragment, shape=(rows, columns // self.ctas))

    def spell(self, name: Speller) -> str:
        return f"!fp8.exchange<{self.ctas}, {name(self.fragment)}>"


@dataclass(frozen=True)
class StoreQueue(Type):
    """The staging tiles, `depth` slots for each of `warps` warps, through which a role stores; of a tile of 64 rows for each warpgroup,
    unless it is `of_warps`."""

    depth: int
    tile: Tile
    warps: int
    of_warps: bool = False
    alias: ClassVar[str] = "store_queue"
    noun: ClassVar[str] = "store queue"
    linear: ClassVar[bool] = True

    def spell(self, name: Speller) -> str:
        of_warps = ", of_warps" if self.of_warps else ""
        return f"!fp8.store_queue<{self.depth}, {name(self.tile)}, {self.warps}{of_warps}>"


@dataclass(frozen=True)
class Handle(Type):
    """A linear handle of a ring: an end, a stage, a warp.

    Attributes:
        mnemonic: The dialect's word: "producer", "consumer_stage", "mma_warp" and so on.
        ring: A `Pipeline`, an `OutputPipeline` or a `WorkQueue`; of a "signalled" one the stage, of a "ready" one the end.
    """

    mnemonic: str
    ring: Type
    linear: ClassVar[bool] = True

    def spell(self, name: Speller) -> str:
        return f"!fp8.{self.mnemonic}<{name(self.ring)}>"
