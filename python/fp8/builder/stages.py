# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages: slots of a ring for as long as a scope holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

from .errors import BuildError, caller
from .ir import Function, Gone, Op, Region, Value, Variable
from .regions import close_scope, like, types
from .scalars import Operand, Scalar, as_scalar
from .types import BOOL, INDEX, Accumulator, Handle, Number, OutputPipeline, Pipeline, Tile, Type
from .views import AccumulatorView, Array, Barrier, Box, TileView, coordinates, expect

V = TypeVar("V", bound=Value)


class Stage:
    """A slot of a ring, held by the scope that gave it; what it lends is as short-lived as the scope is."""

    def __init__(self, body: Region, type: Handle, noun: str) -> None:
        self.function = body.function
        self.ring = type.ring
        self.noun = noun
        self.argument = Value(self.function, type, "stage")
        self._body = body
        self._variable = Variable(noun, body, self.argument)
        self._views: dict[str, Value] = {}

    def __repr__(self) -> str:
        return f"<{self.noun}, held since {self._variable.location}>"

    def _value(self) -> Value:
        value = self.function.here().read(self._variable)
        if value.type != self.argument.type:
            raise BuildError(f"{self.noun} is used after it was handed over (L2); use it before its 'arrive'", ("handed over here", value.location))
        return value

    def _view(self, op: str, view: V, suffix: str = "") -> V:
        """Returns the view that `op` lends, the same one each time."""
        value = self._value()
        if op + suffix not in self._views:
            self._views[op + suffix] = view
            self._body.lend(Op([f"fp8.{op} ", self.argument, f"{suffix} : ", value.type], [view], caller()))
        return cast(V, self._views[op + suffix])

    def index(self) -> Scalar:
        """Returns the number of the slot."""
        return self._view("index", Scalar(self.function, INDEX, "slot"))

    def mbarrier(self) -> Barrier:
        """Returns the barrier on which the stage is handed over."""
        return self._view("mbarrier", Barrier(self.function, Number("!fp8.mbarrier"), "mbarrier"))


class TileStage(Stage):
    """A slot of a `pipeline`: `stage["a"]` is its tile of that name."""

    def _tile(self, name: str) -> Tile:
        assert isinstance(self.ring, Pipeline)
        tiles = dict(self.ring.tiles)
        if name not in tiles:
            raise BuildError(f"{self.noun} has no tile '{name}'; it has " + (", ".join(f"'{key}'" for key in tiles) or "none"))
        return tiles[name]

    def __getitem__(self, name: str) -> TileView:
        return self._view("tile", TileView(self.function, self._tile(name), name), f'["{name}"]')


class ProducerStage(TileStage):
    """A slot that is being filled."""

    def load(self, **boxes: Box) -> None:
        """Starts a TMA copy of each box into the tile of its name: `stage.load(a=a[m, k], b=b[n, k])`."""
        for name, box in boxes.items():
            expect(box, Box, f"what is loaded into '{name}'")
            self._tile(name)
            value = self._value()
            multicast = f" multicast along {box.axis}" if box.axis else ""
            self.function.emit("fp8.tma_load ", box.map, "[", box.coordinates, "], ", value, f'["{name}"]{multicast} : ',
                               [box.map.type, value.type])

    def load_element(self, name: str, column: int, source: Array, indices: Sequence[Operand], exists: Scalar | None = None) -> None:
        """Starts the copy of one element of `source` into a column of the tile of that name; of zero where `exists` is false."""
        self._tile(name)
        value = self._value()
        condition = (" if ", as_scalar(self.function, exists, BOOL)) if exists is not None else ()
        self.function.emit("fp8.load_element ", source, "[", coordinates(self.function, indices), "], ", value, f'["{name}", {column}]',
                           condition, " : ", [source.type, value.type])


class ConsumerStage(TileStage):
    """A filled slot that is being read."""

    def arrive(self) -> None:
        """Hands the slot over now, in a scope of `consume_explicit`: once on every path (L1)."""
        if not self._body.noun.endswith("explicit'"):
            raise BuildError(f"{self.noun} is handed over twice (L1): its scope does so at its end; take it by 'consume_explicit'",
                             ("the scope", self._body.location))
        value = self.function.here().read(self._variable)
        if value.type != self.argument.type:
            raise BuildError(f"{self.noun} is handed over twice (L1); keep one 'arrive'", ("handed over here", value.location))
        signalled = Value(self.function, Handle("signalled", value.type), "signalled")
        self.function.emit("fp8.arrive ", value, " : ", value.type, results=[signalled])
        self.function.here().bindings[self._variable] = signalled

    def signalled(self) -> Value:
        """Returns what the scope of `consume_explicit` yields."""
        value = self._body.bindings[self._variable]
        assert isinstance(value, Value)
        if value.type == self.argument.type:
            raise BuildError(f"{self.noun} is not handed over (L1); call its 'arrive' in the scope", ("the scope", self._body.location))
        return value


class _OutputStage(Stage):
    def accumulator(self) -> AccumulatorView:
        """Returns the accumulator in tensor memory."""
        assert isinstance(self.ring, OutputPipeline)
        type = Accumulator(self.ring.shape, self.ring.cta_group)
        return self._view("accumulator", AccumulatorView(self.function, type, "accumulator"))


class MmaStage(_OutputStage):
    """An accumulator that is being filled."""

    def mma(self, a: TileView, b: TileView, accumulate: Scalar | bool = False) -> None:
        """Starts the product A * B^T; adds to what is there where `accumulate` is true."""
        expect(a, TileView, "A")
        expect(b, TileView, "B")
        view = self.accumulator()
        condition = () if accumulate is False else (" accumulate(", as_scalar(self.function, accumulate, BOOL), ")")
        self.function.emit("fp8.mma ", [view, a, b], condition, " : ", types([view, a, b]))


class EpilogueStage(_OutputStage):
    """An accumulator that is being read."""


_STAGES: dict[str, tuple[str, type[Stage]]] = {
    "producer": ("producer_stage", ProducerStage), "consumer": ("consumer_stage", ConsumerStage),
    "mma_warp": ("mma_stage", MmaStage), "epilogue_warp": ("epilogue_stage", EpilogueStage)}


def hold(function: Function, op: str, ends: Sequence[Variable]) -> Iterator[tuple[Stage, ...]]:
    """Holds a slot of each end for the length of a scope: `fp8.produce` and its kin."""
    location = caller()
    outer = function.here()
    body = Region(function, outer, f"'{op}'")
    taken, stages = [], []
    for end in ends:
        value = outer.read(end)
        outer.bindings[end] = Gone("is held by another scope (L2); end that one first", "held here", location)
        mnemonic, kind = _STAGES[_handle(value.type).mnemonic]
        taken.append(value)
        stages.append(kind(body, Handle(mnemonic, _handle(value.type).ring), f"stage of {end.noun}"))
    function.open(body)
    for stage in stages:
        if isinstance(stage, _OutputStage):
            stage.accumulator()
    yield tuple(stages)
    explicit = [stage.signalled() for stage in stages if isinstance(stage, ConsumerStage)] if op == "consume_explicit" else []
    results = [like(value) for value in taken]
    bindings = dict(zip(ends, results))
    results += close_scope(function, body, explicit)
    bound = [(stage.argument, " = ", value) for stage, value in zip(stages, taken)]
    outer.append(Op([f"fp8.{op}(", bound, ") : ", types(taken), " -> (", types(results), ") ", body], results, location))
    outer.bindings.update(bindings)


def _handle(type: Type) -> Handle:
    assert isinstance(type, Handle)
    return type
