# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a role holds in registers: fragments, products that are being computed, and the queue through which fragments are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from .errors import BuildError, caller
from .ir import Function, Operands, Region, Value, Variable
from .scalars import Operand, Scalar, as_scalar
from .stages import EpilogueStage
from .types import F32, INDEX, Fragment, Pending, StoreQueue, SumExchange
from .views import Array, Box, TileView, expect

T = TypeVar("T", StoreQueue, SumExchange)


class Registers:
    """A tile of f32 in the registers of a role, which its methods change in place."""

    def __init__(self, function: Function, value: Value) -> None:
        assert isinstance(value.type, Fragment)
        self.function = function
        self.type = value.type
        self._variable = Variable("fragment", function.here(), value)

    def __repr__(self) -> str:
        return f"<fragment: {self.type}, made at {self._variable.location}>"

    def value(self) -> Value:
        """Returns what it holds now."""
        return self.function.here().read(self._variable)

    def _become(self, op: str, *operands: Operands, **attributes: int) -> None:
        result = Value(self.function, self.type, "sum")
        self.function.emit(op, *operands, results=[result], attributes=attributes)
        self.function.here().bind(self._variable, result)

    def read(self, stage: EpilogueStage) -> None:
        """Becomes the stage's accumulator, as it is."""
        self.value()
        self._become("fp8.read", stage.accumulator())

    def promote(self, partial: EpilogueStage | Registers, a_scale: TileView, *b_scales: Scalar | TileView, a_row: Operand | None = None,
                part: int = 0) -> None:
        """Adds `a_scale * b_scale * partial`.

        Args:
            partial: A stage's accumulator, or a product in registers.
            a_scale: A row of scales, one for each row of the fragment.
            b_scales: Numbers, each for an equal part of the columns, or a tile with one for each column.
            a_row: Which row of `a_scale`, if it has several.
            part: Which part of the fragment the product is.
        """
        view = partial.accumulator() if isinstance(partial, EpilogueStage) else partial.value()
        row = [scale for scale in b_scales if isinstance(scale, TileView)]
        numbers = [as_scalar(self.function, scale, F32) for scale in b_scales if not isinstance(scale, TileView)]
        which = None if a_row is None else as_scalar(self.function, a_row, INDEX)
        self._become("fp8.promote", self.value(), view, a_scale, which, numbers, row, part=part)

    def add_tile(self, tile: TileView, column: int = 0, scale: Scalar | None = None) -> None:
        """Adds a tile, times `scale`, to the columns from `column` on."""
        scaled = [] if scale is None else [as_scalar(self.function, scale, F32)]
        self._become("fp8.add_tile", self.value(), tile, *scaled, column=column)

    def add_row(self, row: TileView) -> None:
        """Adds a row to each of its rows."""
        self._become("fp8.add_row", self.value(), row)

    def map(self, body: Callable[..., Operand], *others: Registers) -> None:
        """Computes each element anew: `total.map(lambda x: maximum(x, 0.0))`; with `others`, from their elements too."""
        location = caller()
        inits = [self.value(), *(other.value() for other in others)]
        elements = [Scalar(self.function, F32, "x") for _ in inits]
        region = Region(self.function, self.function.here(), "'map'", elements)
        self.function.open(region)
        region.terminate("fp8.yield", [as_scalar(self.function, body(*elements), F32)])
        self.function.close(region)
        if region.changed():
            raise BuildError("the body of 'map' changes what is outside of it; compute a number of its arguments")
        result = Value(self.function, self.type, "sum")
        self.function.emit("fp8.map", *inits, results=[result], regions=[region], at=location)
        self.function.here().bind(self._variable, result)


class Product:
    """A product that warpgroups are computing into their registers. It is waited for once, before its tiles are handed back."""

    def __init__(self, function: Function, value: Value) -> None:
        self.function = function
        self._value = value

    def __repr__(self) -> str:
        return f"<{self._value.type.noun}: {self._value.type}, made at {self._value.location}>"

    def wait(self) -> Registers:
        """Waits for the product and returns it."""
        assert isinstance(self._value.type, Pending)
        product = Value(self.function, self._value.type.fragment, "product")
        self.function.emit("fp8.wait_mma", self._value, results=[product])
        return Registers(self.function, product)


class _Resource(Generic[T]):
    """A value that the kernel's entry makes and one role holds: each op that uses it gives the next one."""

    def __init__(self, function: Function, type: T) -> None:
        self.function = function
        self.type: T = type
        value = self._next()
        function.emit(f"fp8.{type.alias}", results=[value])
        self._variable = Variable(type.noun, function.here(), value, function.next(Variable.ENTRY))

    def __repr__(self) -> str:
        return f"<{self.type.noun}: {self.type}, made at {self._variable.location}>"

    def _next(self) -> Value:
        return Value(self.function, self.type, self.type.alias.rpartition("_")[2])


class Queue(_Resource[StoreQueue]):
    """A store queue: the staging tiles of one role, through which it stores fragments by TMA."""

    def store(self, fragment: Registers, box: Box, rest: Array | None = None) -> None:
        """Rounds the fragment to the box's elements and copies it there; `rest` is the array for what TMA leaves at the end of its rows."""
        expect(box, Box, "the place of the store")
        queue, following = self.function.here().read(self._variable), self._next()
        self.function.emit("fp8.store", fragment.value(), box.map, queue, box.coordinates, rest, results=[following])
        self.function.here().bind(self._variable, following)


class Exchange(_Resource[SumExchange]):
    """Where the CTAs that divide K add up their sums: each gets its share of the columns, or of swapped products its rows."""

    def reduce_scatter(self, fragment: Registers) -> Registers:
        """Adds up what all of the CTAs hold, and returns this CTA's share."""
        exchange = self.function.here().read(self._variable)
        share, following = Value(self.function, self.type.share, "share"), self._next()
        self.function.emit("fp8.reduce_scatter", fragment.value(), exchange, results=[share, following])
        self.function.here().bind(self._variable, following)
        return Registers(self.function, share)
