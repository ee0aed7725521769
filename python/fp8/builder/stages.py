# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages: slots of a ring for as long as a scope holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

from .errors import BuildError, caller
from .ir import Attribute, Function, Op, Region, Value, Variable
from .regions import close_scope, like
from .scalars import Operand, Scalar, as_scalar
from .types import BOOL, INDEX, Accumulator, Handle, Number, OutputPipeline, Pipeline, Tile, Type, WorkQueue
from .views import AccumulatorView, Array, Barrier, Box, TileView, coordinates, expect

V = TypeVar("V", bound=Value)
S = TypeVar("S", bound="Stage")


class Stage:
    """A slot of a ring, held by the scope that gave it, or by an end that has acquired it; what it lends is as short-lived."""

    def __init__(self, body: Region, type: Handle, end: Variable, acquired: bool) -> None:
        self.function = body.function
        self.type = type
        self.ring = type.ring
        self.noun = f"stage of {end.noun}"
        self.location = caller()
        self.argument = Value(self.function, type, "stage")
        self._body = body
        self._end = end
        self._acquired = acquired
        self._variable = end if acquired else Variable(self.noun, body, self.argument)
        self._views: dict[str, list[Value]] = {}

    def __repr__(self) -> str:
        return f"<{self.noun}, held since {self.location}>"

    def _value(self) -> Value:
        return self.function.here().read(self._variable, self.type)

    def _view(self, op: str, view: V, **attributes: object) -> V:
        """Returns the view that `op` lends, of a scope's stage the one that is at hand already."""
        value, known_views = self._value(), self._views.setdefault(f"{op} {attributes}", [])
        for known in known_views:
            if any(known.region is region for region in self.function.here().ancestors()):
                return cast(V, known)
        if not self._acquired:
            known_views.append(view)
        lending = Op(f"fp8.{op}", [value], [view], attributes, [], caller())
        if self.function.here() is self._body and not self._acquired:
            self._body.lend(lending)  # first in the scope, where all in it can use it
        else:
            self.function.here().append(lending)
        return view

    def release(self) -> None:
        """Hands over a slot that an end has acquired, and advances the end."""
        end = like(self._end.initial)
        self.function.emit("fp8.release", self._value(), results=[end])
        self.function.here().bind(self._end, end)

    def index(self) -> Scalar:
        """Returns the number of the slot."""
        return self._view("index", Scalar(self.function, INDEX, "slot"))

    def mbarrier(self) -> Barrier:
        """Returns the barrier on which the stage is handed over."""
        return self._view("mbarrier", Barrier(self.function, Number("!fp8.mbarrier"), "mbarrier"))


class ReadStage(Stage):
    """A filled slot that is being read."""

    def arrive(self) -> None:
        """Hands the slot over now, in a scope of `consume_explicit`: once on every path (L1)."""
        signalled = Value(self.function, Handle("signalled", self.type), "signalled")
        self.function.emit("fp8.arrive", self._value(), results=[signalled])
        self.function.here().bind(self._variable, signalled)

    def signalled(self) -> Value:
        """Returns what the scope of `consume_explicit` yields."""
        return self._body.bindings[self._variable]


class TileStage(Stage):
    """A slot of a `pipeline`: `stage["a"]` is its tile of that name."""

    def _tile(self, name: str) -> Tile:
        assert isinstance(self.ring, Pipeline)
        tiles = dict(self.ring.tiles)
        if name not in tiles:
            raise BuildError(f"{self.noun} has no tile '{name}'; it has " + (", ".join(f"'{key}'" for key in tiles) or "none"))
        return tiles[name]

    def __getitem__(self, name: str) -> TileView:
        return self._view("tile", TileView(self.function, self._tile(name), name), name=name)


class ProducerStage(TileStage):
    """A slot that is being filled."""

    def load(self, **boxes: Box) -> None:
        """Starts a TMA copy of each box into the tile of its name: `stage.load(a=a[m, k], b=b[n, k])`."""
        for name, box in boxes.items():
            expect(box, Box, f"what is loaded into '{name}'")
            self.function.emit("fp8.tma_load", box.map, *box.coordinates, self._value(), attributes={
                "name": name, "multicast": Attribute(f"#fp8<axis {box.axis}>") if box.axis else None})

    def load_element(self, name: str, column: int, source: Array, indices: Sequence[Operand], exists: Scalar | None = None) -> None:
        """Starts the copy of one element of `source` into a column of the tile of that name; of zero where `exists` is false."""
        condition = None if exists is None else as_scalar(self.function, exists, BOOL)
        self.function.emit("fp8.load_element", source, coordinates(self.function, indices), self._value(), condition,
                           attributes={"name": name, "column": column})


class ConsumerStage(TileStage, ReadStage):
    """A filled slot of tiles that is being read."""


class RequestStage(Stage):
    """A slot of a work queue that is being filled: the scheduler asks for one answer."""

    def request_work(self) -> None:
        """Asks for the work of a cluster that has not started; the answer fills the slot in every CTA of the cluster."""
        self.function.emit("fp8.request_work", self._value())


class AnswerStage(Stage):
    """A slot of a work queue that is being read."""

    def next_work(self) -> tuple[Scalar, Scalar]:
        """Returns whether there is more work, and the number of the cluster whose work it is."""
        answer = Scalar(self.function, BOOL, "more"), Scalar(self.function, INDEX, "cluster")
        self.function.emit("fp8.next_work", self._value(), results=answer)
        return answer


class _OutputStage(Stage):
    def accumulator(self) -> AccumulatorView:
        """Returns the accumulator in tensor memory."""
        assert isinstance(self.ring, OutputPipeline)
        type = Accumulator(self.ring.shape, self.ring.cta_group, self.ring.scale_slots, self.ring.swapped)
        return self._view("accumulator", AccumulatorView(self.function, type, "accumulator"))


class MmaStage(_OutputStage):
    """An accumulator that is being filled."""

    def mma(self, a: TileView, b: TileView, accumulate: Scalar | bool = False, *, scales: Sequence[TileView] = (),
            b_row: Operand | None = None) -> None:
        """Starts the product A * B^T; adds to what is there where `accumulate` is true.

        Args:
            a: A tile of A.
            b: A tile of B.
            accumulate: Whether the product is added to the accumulator, or overwrites it.
            scales: The scales of each 32 elements, tiles of 32 x 16 of `f8E8M0FNU`: of A's 128 rows, then of each 128 rows of B.
                If the accumulator is swapped, of B's 128 rows, then of A's.
            b_row: At which row of the first tile of B's (swapped, A's) scales its rows begin, a multiple of 32; 0 if left out.
        """
        condition = None if accumulate is False else as_scalar(self.function, accumulate, BOOL)
        row = None if b_row is None else as_scalar(self.function, b_row, INDEX)
        self.function.emit("fp8.mma", self.accumulator(), a, b, list(scales), row, None, condition)


class EpilogueStage(_OutputStage, ReadStage):
    """An accumulator that is being read."""


_STAGES: dict[tuple[str, type[Type]], tuple[str, type[Stage]]] = {
    ("producer", Pipeline): ("producer_stage", ProducerStage), ("consumer", Pipeline): ("consumer_stage", ConsumerStage),
    ("producer", WorkQueue): ("producer_stage", RequestStage), ("consumer", WorkQueue): ("consumer_stage", AnswerStage),
    ("mma_warp", OutputPipeline): ("mma_stage", MmaStage), ("epilogue_warp", OutputPipeline): ("epilogue_stage", EpilogueStage)}


def stage_of(body: Region, end: Variable, *, acquired: bool = False) -> Stage:
    """Returns the stage of the end's next slot: held by `body`, or `acquired` by the end."""
    type = _handle(end.initial.type)
    mnemonic, kind = _STAGES[type.mnemonic, type.ring.__class__]
    return kind(body, Handle(mnemonic, type.ring), end, acquired)


def free(region: Region, end: Variable) -> Value:
    """Returns the end, ready or not, of which a slot can be taken."""
    return region.read(end, end.initial.type, Handle("ready", end.initial.type))


def hold(function: Function, op: str, ends: Sequence[Variable]) -> Iterator[tuple[Stage, ...]]:
    """Holds a slot of each end for the length of a scope: `fp8.produce` and its kin."""
    location = caller()
    outer = function.here()
    body = Region(function, outer, f"'{op}'")
    taken, stages = [free(outer, end) for end in ends], [stage_of(body, end) for end in ends]
    body.arguments = [stage.argument for stage in stages]
    function.open(body)
    for stage in stages:
        if isinstance(stage, _OutputStage):
            stage.accumulator()
    yield tuple(stages)
    explicit = [stage.signalled() for stage in stages if isinstance(stage, ReadStage)] if op == "consume_explicit" else []
    results = [like(end.initial) for end in ends]
    others = close_scope(function, body, explicit)
    function.emit(f"fp8.{op}", *taken, results=[*results, *others], regions=[body], at=location)
    for end, result in zip(ends, results):
        outer.bind(end, result)


def hold_one(function: Function, op: str, end: Variable, kind: type[S]) -> Iterator[S]:
    """Holds a slot of one end, of a kind of stage that is known."""
    for (stage,) in hold(function, op, [end]):
        assert isinstance(stage, kind)
        yield stage


def _handle(type: Type) -> Handle:
    assert isinstance(type, Handle)
    return type
