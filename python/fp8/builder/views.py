# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays, tensor maps, and what a stage lends: tiles, an accumulator, a barrier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from .errors import BuildError
from .ir import Function, Value
from .scalars import Operand, Scalar, as_scalar
from .types import INDEX, MemRef, Number, TensorMap, Tile


def coordinates(function: Function, indices: Operand | Sequence[Operand]) -> list[Scalar]:
    """Returns the indices as values of the kernel."""
    if isinstance(indices, Sequence):
        return [as_scalar(function, i, INDEX) for i in indices]
    return [as_scalar(function, indices, INDEX)]


class Array(Value):
    """An array in global memory: `array[i, j]` reads an element, `array.extent(0)` is its first extent."""

    type: MemRef

    def __getitem__(self, indices: Operand | Sequence[Operand]) -> Scalar:
        element = Scalar(self.function, Number(self.type.element))
        self.function.emit("memref.load", self, *coordinates(self.function, indices), results=[element])
        return element

    def extent(self, axis: int) -> Scalar:
        """Emits a read of the extent along `axis`, in elements."""
        self._check_axis(axis)
        extent = Scalar(self.function, INDEX)
        self.function.emit("memref.dim", self, as_scalar(self.function, axis, INDEX), results=[extent])
        return extent

    def stride(self, axis: int) -> Scalar:
        """Emits a read of the distance between neighbours along `axis`, in elements."""
        self._check_axis(axis)
        rank = len(self.type.shape)
        base = Value(self.function, MemRef((), self.type.element), "base")
        sizes = [Scalar(self.function, INDEX, hint) for hint in ("offset", *["size"] * rank, *["stride"] * rank)]
        self.function.emit("memref.extract_strided_metadata", self, results=[base, *sizes])
        return sizes[1 + rank + axis]

    def _check_axis(self, axis: int) -> None:
        # The verifier accepts any index of memref.dim, and the results of extract_strided_metadata have no names.
        if not 0 <= axis < len(self.type.shape):
            raise BuildError(f"{self.noun} has no axis {axis}; name one from 0 to {len(self.type.shape) - 1}")

    def cast(self, type: MemRef) -> Array:
        """Returns the array as one of another type: of the same element, with extents, strides or an offset known or unknown."""
        expect(type, MemRef, f"the type that {self.noun} is cast to")
        array = Array(self.function, type, self.hint)
        self.function.emit("memref.cast", self, results=[array])
        return array

    def whole_units(self) -> WholeUnits:
        """Returns the array as one whose tensor map leaves out what follows the last whole 16 bytes of a row, as stores with `rest` need."""
        return WholeUnits(self)


@dataclass(frozen=True)
class WholeUnits:
    """An array of whose rows a tensor map describes the whole 16 bytes; see `Array.whole_units`."""

    array: Array


@dataclass(frozen=True)
class Box:
    """A box of a tensor: `tensor_map[row, column]`.

    Attributes:
        map: The tensor map, whose tile is the box.
        coordinates: Of its first element; row and column, in elements.
        axis: The direction of the cluster along which CTAs share the copy, "m" or "n"; empty for none.
    """

    map: Map
    coordinates: list[Scalar]
    axis: str = ""

    def multicast(self, axis: str) -> Box:
        """Returns the box as one that the CTAs along `axis`, "m" or "n", copy for one another."""
        return replace(self, axis=axis)


class Map(Value):
    """A tensor map, a parameter of the kernel: `map[row, column]` is a box of the tensor."""

    type: TensorMap

    def __getitem__(self, indices: Sequence[Operand]) -> Box:
        return Box(self, coordinates(self.function, indices))


class TileView(Value):
    """A tile in shared memory, lent by a stage: `tile[j]` reads an element of its only row, the same one in all threads."""

    type: Tile

    def __getitem__(self, column: int) -> Scalar:
        expect(column, int, f"the column of {self.noun}")
        element = Scalar(self.function, Number(self.type.element))
        self.function.emit("fp8.read_element", self, results=[element], attributes={"column": column})
        return element


class AccumulatorView(Value):
    """An accumulator in tensor memory, lent by a stage."""


class Barrier(Value):
    """The barrier on which a stage is handed over, lent by it."""


def expect(thing: object, kind: type, what: str) -> None:
    """Raises a BuildError if `thing` is not of that kind."""
    if not isinstance(thing, kind):
        raise BuildError(f"{what} is {thing!r}; give {'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}")
