# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rings: pipelines of tiles and of accumulators. Each role that uses one gets an end of its own, by using it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from .ends import End, S
from .errors import BuildError, caller
from .ir import Function, Op, Region, Value, Variable
from .regions import close_scope
from .scopes import scope
from .stages import AnswerStage, ConsumerStage, EpilogueStage, MmaStage, ProducerStage, RequestStage, Stage, hold, hold_one
from .types import Handle, OutputPipeline, Pipeline, WorkQueue

P = TypeVar("P", bound=Stage)
C = TypeVar("C", bound=Stage)


class Role(Region):
    """What a group of warps does. It is given the ends that it uses, and closes them."""

    def __init__(self, function: Function, name: str, warps: int) -> None:
        super().__init__(function, function.here(), f"role '{name}'")
        self.name = name
        self.warps = warps
        self._outside: dict[Variable, Value] = {}

    def given(self) -> list[tuple[Variable, Value]]:
        """Returns the linear variables that it is given, each with the value outside."""
        return [(variable, self._outside[variable]) for variable in self.carried() if variable in self._outside]

    def capture(self, variable: Variable) -> Value:
        outside = super().capture(variable)
        if not outside.type.linear:
            return outside
        self._outside[variable] = outside
        return self.define(Value(self.function, outside.type, outside.hint))


class Ring:
    """A ring of slots that roles hand to one another."""

    def __init__(self, function: Function, type: Pipeline | OutputPipeline | WorkQueue, noun: str, attributes: dict[str, int | None]) -> None:
        self.function = function
        self.type = type
        self.noun = noun
        self.location = caller()
        self.ends: dict[tuple[Role | None, str], Variable] = {}
        self.region = function.here()
        self._order = function.next(Variable.ENTRY)
        self._op = Op(f"fp8.{type.alias}", [], [], attributes, [], self.location)
        self.region.append(self._op)

    def __repr__(self) -> str:
        return f"<{self.noun}: {self.type}, made at {self.location}>"

    def end(self, side: str) -> Variable:
        """Returns the current role's end of that side, "producer" or "consumer"."""
        role = next((region for region in self.function.here().ancestors() if isinstance(region, Role)), None)
        if role is None:  # an end is made for the role that uses it
            raise BuildError(f"{self.noun} is used outside of a role; its ends are the roles', use it in 'with kernel.role(...)'",
                             ("made here", self.location))
        if isinstance(self.type, OutputPipeline) or isinstance(self.type, WorkQueue) and side == "producer":
            return self._end_of(None, side)  # there is one such end: the verifier refuses that two roles use it
        return self._end_of(role, side)

    def _end_of(self, role: Role | None, side: str) -> Variable:
        if (role, side) not in self.ends:
            value = Value(self.function, Handle(side, self.type), side)
            is_answers = isinstance(self.type, WorkQueue) and side == "consumer"
            order = self.function.next(Variable.ANSWERS) if is_answers else self._order
            self.ends[role, side] = Variable(f"{side} end of {self.noun}", self.region, value, order)
        return self.ends[role, side]

    def finish(self) -> None:
        """Completes the op that makes the ring, once all roles have taken their ends."""
        if isinstance(self.type, OutputPipeline):
            for side in ("producer", "consumer"):
                self._end_of(None, side)  # the op makes both
        self._op.results = [v.initial for side in ("producer", "consumer") for (_, key), v in self.ends.items() if key == side]


class _StageRing(Ring, Generic[P, C]):
    """A ring whose slots a role holds by a `with`, or by an end that acquires them: of stages `P` to be filled, and `C` to be read."""

    _produced: type[P]
    _consumed: type[C]

    def producer(self) -> End[P]:
        """Returns this role's producer end."""
        return End(self.function, self.end("producer"), self._produced)

    def consumer(self) -> End[C]:
        """Returns this role's consumer end."""
        return End(self.function, self.end("consumer"), self._consumed)

    @scope
    def produce(self) -> Iterator[P]:
        """Holds an empty slot, to be filled; of a work queue, to ask for an answer in it."""
        yield from hold_one(self.function, "produce", self.end("producer"), self._produced)

    @scope
    def consume(self) -> Iterator[C]:
        """Holds a full slot, to be read."""
        yield from hold_one(self.function, "consume", self.end("consumer"), self._consumed)


class WorkRing(_StageRing[RequestStage, AnswerStage]):
    """A `work_queue`: slots of answers of cluster launch control."""

    _produced, _consumed = RequestStage, AnswerStage


class TileRing(_StageRing[ProducerStage, ConsumerStage]):
    """A `pipeline`: slots of tiles in shared memory."""

    _produced, _consumed = ProducerStage, ConsumerStage

    @scope
    def consume_explicit(self) -> Iterator[ConsumerStage]:
        """Holds a full slot, which the body hands over by `stage.arrive()`."""
        yield from hold_one(self.function, "consume_explicit", self.end("consumer"), ConsumerStage)


class _Warp(End[S]):
    """A warp handle of an output pipeline, for the length of its scope."""

    @scope
    def per_k_stage(self, *inputs: TileRing) -> Iterator[tuple[Stage, ...]]:
        """Holds the stage of one K block together with a slot of each of the rings that go with it; gives them in that order."""
        yield from hold(self.function, "per_k_stage", [self._variable, *(ring.end("consumer") for ring in inputs)])


class MmaWarp(_Warp[MmaStage]):
    """The warp that owns the tensor memory."""

    @scope
    def produce(self) -> Iterator[MmaStage]:
        """Holds an accumulator, to be filled."""
        yield from hold_one(self.function, "produce", self._variable, MmaStage)


class EpilogueWarp(_Warp[EpilogueStage]):
    """The warps that read the tensor memory."""

    @scope
    def consume(self) -> Iterator[EpilogueStage]:
        """Holds an accumulator, to be read."""
        yield from hold_one(self.function, "consume", self._variable, EpilogueStage)

    @scope
    def consume_explicit(self) -> Iterator[EpilogueStage]:
        """Holds an accumulator, which the body hands over by `stage.arrive()`."""
        yield from hold_one(self.function, "consume_explicit", self._variable, EpilogueStage)


class AccumulatorRing(Ring):
    """An `output_pipeline`: accumulators in tensor memory."""

    @scope
    def mma_warp(self) -> Iterator[MmaWarp]:
        """Makes this role's warp the one that allocates and fills the accumulators, until the scope ends."""
        for variable in self._warp("producer", "mma_warp"):
            yield MmaWarp(self.function, variable, MmaStage)

    @scope
    def epilogue_warp(self) -> Iterator[EpilogueWarp]:
        """Makes this role's warps those that read the accumulators, until the scope ends."""
        for variable in self._warp("consumer", "epilogue_warp"):
            yield EpilogueWarp(self.function, variable, EpilogueStage)

    def _warp(self, side: str, op: str) -> Iterator[Variable]:
        location, outer, end = caller(), self.function.here(), self.end(side)
        before, end.spent = outer.read(end), True
        body = Region(self.function, outer, f"'{op}'", [Value(self.function, Handle(op, self.type), "warp")])
        variable = Variable(f"{op.replace('_', ' ')} of {self.noun}", body, body.arguments[0], self.function.next(Variable.WARP))
        self.function.open(body)
        yield variable
        results = close_scope(self.function, body, [body.bindings[variable]])
        self.function.emit(f"fp8.{op}", before, results=results, regions=[body], at=location)
