# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages: slots of a ring for as long as a scope holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

from .errors import BuildError, Location, caller
from .ir import Function, Unavailable, Op, Region, Value, Variable
from .regions import close_scope, like, types
from .scalars import Operand, Scalar, as_scalar
from .types import BOOL, INDEX, Accumulator, Handle, Number, OutputPipeline, Pipeline, Tile, Type, WorkQueue
from .views import AccumulatorView, Array, Barrier, Box, TileView, coordinates, expect

V = TypeVar("V", bound=Value)
S = TypeVar("S", bound="Stage")


class Stage:
    """A slot of a ring, held by the scope that gave it, or by an end that has acquired it; what it lends is as short-lived."""

    def __init__(self, body: Region, type: Handle, noun: str, end: Variable | None = None) -> None:
        self.function = body.function
        self.type = type
        self.ring = type.ring
        self.noun = noun
        self.location = caller()
        self.argument = Value(self.function, type, "stage")
        self._body = body
        self._end = end
        self._variable = Variable(noun, body, self.argument) if end is None else end
        self._views: dict[str, list[Value]] = {}

    def __repr__(self) -> str:
        return f"<{self.noun}, held since {self.location}>"

    def _value(self) -> Value:
        value = self.function.here().read(self._variable)
        if value.type != self.type:
            state, op = ("handed over", "arrive") if self._end is None else ("released", "release")
            raise BuildError(f"{self.noun} is used after it was {state} (L2); use it before its '{op}'", (f"{state} here", value.location))
        return value

    def _view(self, op: str, view: V, suffix: str = "") -> V:
        """Returns the view that `op` lends, of a scope's stage the one that is at hand already."""
        value = self._value()
        for known in self._views.get(op + suffix, ()):
            if any(known.region is region for region in self.function.here().ancestors()):
                return cast(V, known)
        if self._end is None:
            self._views.setdefault(op + suffix, []).append(view)
        lending = Op([f"fp8.{op} ", value, f"{suffix} : ", value.type], [view], caller())
        if self.function.here() is self._body and self._end is None:
            self._body.lend(lending)  # first in the scope, where all in it can use it
        else:
            self.function.here().append(lending)
        return view

    def release(self) -> None:
        """Hands over a slot that an end has acquired, and advances the end."""
        if self._end is None:
            raise BuildError(f"{self.noun} is handed over twice (L1): its scope does so at its end; leave 'release' out",
                             ("the scope", self._body.location))
        value = self._value()
        self.close()
        end = Value(self.function, self._end.initial.type, self._end.initial.hint)
        self.function.emit("fp8.release ", value, " : ", value.type, results=[end])
        self.function.here().bindings[self._end] = end

    def close(self) -> None:
        """Checks, when it is about to be handed over, that what it had to do is done."""

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
        if self._end:
            raise BuildError(f"{self.noun} has been acquired by its end, which 'release' advances (L1); call that instead",
                             ("acquired here", self.function.here().read(self._end).location))
        if not self._body.noun.endswith("explicit'"):
            raise BuildError(f"{self.noun} is handed over twice (L1): its scope does so at its end; take it by 'consume_explicit'",
                             ("the scope", self._body.location))
        value = self.function.here().read(self._variable)
        if value.type != self.type:
            raise BuildError(f"{self.noun} is handed over twice (L1); keep one 'arrive'", ("handed over here", value.location))
        signalled = Value(self.function, Handle("signalled", value.type), "signalled")
        self.function.emit("fp8.arrive ", value, " : ", value.type, results=[signalled])
        self.function.here().bindings[self._variable] = signalled

    def signalled(self) -> Value:
        """Returns what the scope of `consume_explicit` yields."""
        value = self._body.bindings[self._variable]
        assert isinstance(value, Value)
        if value.type == self.type:
            raise BuildError(f"{self.noun} is not handed over (L1); call its 'arrive' in the scope", ("the scope", self._body.location))
        return value


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


class ConsumerStage(TileStage, ReadStage):
    """A filled slot of tiles that is being read."""


class RequestStage(Stage):
    """A slot of a work queue that is being filled: the scheduler asks for one answer."""

    requested: Location | None = None

    def request_work(self) -> None:
        """Asks for the work of a cluster that has not started; the answer fills the slot in every CTA of the cluster."""
        if self.requested:
            raise BuildError(f"{self.noun} asks twice (W2); keep one 'request_work'", ("asked here", self.requested))
        if self._end is None and self.function.here() is not self._body:
            raise BuildError(f"{self.noun} asks in another scope than that of its taking (W2); call 'request_work' where the slot is taken",
                             ("taken here", self.location))
        value = self._value()
        self.requested = caller()
        self.function.emit("fp8.request_work ", value, " : ", value.type)

    def close(self) -> None:
        if not self.requested:
            raise BuildError(f"{self.noun} asks for nothing (W2); call its 'request_work' before it is handed over",
                             ("taken here", self.location))
        self.requested = None


class AnswerStage(Stage):
    """A slot of a work queue that is being read."""

    def next_work(self) -> tuple[Scalar, Scalar]:
        """Returns whether there is more work, and the number of the cluster whose work it is."""
        value = self._value()
        answer = Scalar(self.function, BOOL, "more"), Scalar(self.function, INDEX, "cluster")
        self.function.emit("fp8.next_work ", value, " : ", value.type, results=answer)
        return answer


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
    return kind(body, Handle(mnemonic, type.ring), f"stage of {end.noun}", end if acquired else None)


def free(region: Region, end: Variable) -> Value:
    """Returns the end, ready or not, which must not hold a slot."""
    value = region.read(end)
    if _handle(value.type).state == "acquired":
        raise BuildError(f"{end.noun} holds a slot already (L2); release that first", ("acquired here", value.location))
    return value


def hold(function: Function, op: str, ends: Sequence[Variable]) -> Iterator[tuple[Stage, ...]]:
    """Holds a slot of each end for the length of a scope: `fp8.produce` and its kin."""
    location = caller()
    outer = function.here()
    body = Region(function, outer, f"'{op}'")
    taken, stages = [], []
    for end in ends:
        taken.append(free(outer, end))
        outer.bindings[end] = Unavailable("is held by another scope (L2); end that one first", "held here", location)
        stages.append(stage_of(body, end))
    function.open(body)
    for stage in stages:
        if isinstance(stage, _OutputStage):
            stage.accumulator()
    yield tuple(stages)
    for stage in stages:
        stage.close()
    explicit = [stage.signalled() for stage in stages if isinstance(stage, ReadStage)] if op == "consume_explicit" else []
    results = [like(end.initial) for end in ends]
    bindings = dict(zip(ends, results))
    results += close_scope(function, body, explicit)
    bound = [(stage.argument, " = ", value) for stage, value in zip(stages, taken)]
    outer.append(Op([f"fp8.{op}(", bound, ") : ", types(taken), " -> (", types(results), ") ", body], results, location))
    outer.bindings.update(bindings)


def hold_one(function: Function, op: str, end: Variable, kind: type[S]) -> Iterator[S]:
    """Holds a slot of one end, of a kind of stage that is known."""
    for (stage,) in hold(function, op, [end]):
        assert isinstance(stage, kind)
        yield stage


def _handle(type: Type) -> Handle:
    assert isinstance(type, Handle)
    return type
