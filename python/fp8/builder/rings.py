# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rings: pipelines of tiles and of accumulators. Each role that uses one gets an end of its own, by using it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from .ends import End, S
from .errors import BuildError, caller
from .ir import Function, Unavailable, Op, Region, Value, Variable
from .regions import arrow, close_scope, types
from .scopes import scope
from .stages import AnswerStage, ConsumerStage, EpilogueStage, MmaStage, ProducerStage, RequestStage, Stage, hold, hold_one
from .types import Handle, OutputPipeline, Pipeline, WorkQueue

P = TypeVar("P", bound=Stage)
C = TypeVar("C", bound=Stage)


def check_free(region: Region, variable: Variable, last: Value) -> None:
    """Raises a BuildError if the end, which is closed where the region ends, has been waited for or holds a slot."""
    if isinstance(last.type, Handle) and last.type != variable.initial.type:
        cure = "release its stage" if last.type.state == "acquired" else "acquire it"
        raise BuildError(f"{variable.noun} is {last.type.state} and never given back (L1); {cure} before the {region.noun} ends",
                         (f"{last.type.state} here", last.location))


class Role(Region):
    """What a group of warps does. It is given the ends that it uses, and closes them."""

    def __init__(self, function: Function, name: str, warps: int) -> None:
        super().__init__(function, function.here(), f"role '{name}'")
        self.name = name
        self.warps = warps
        self._outside: dict[Variable, Value] = {}

    @property
    def inits(self) -> list[tuple[Value, str, Value]]:
        """What it is given: (argument, value outside) of each."""
        return [(self.captured[variable], " = ", self._outside[variable]) for variable in self.carried() if variable in self._outside]

    def capture(self, variable: Variable) -> Value:
        outside = super().capture(variable)
        if not outside.type.linear:
            return outside
        assert self.parent is not None
        self.parent.bindings[variable] = Unavailable(f"is already in the hands of another role (L6); use it in {self.noun} alone", "given away here",
                                              caller())
        self._outside[variable] = outside
        return self.define(Value(self.function, outside.type, outside.hint))


class Ring:
    """A ring of slots that roles hand to one another."""

    def __init__(self, function: Function, type: Pipeline | OutputPipeline | WorkQueue, noun: str, attributes: dict[str, int | None]) -> None:
        self.function = function
        self.type = type
        self.noun = noun
        self.location = caller()
        self.ends: dict[tuple[Role, str], Variable] = {}
        self._attributes = ", ".join(f"{key} = {value}" for key, value in attributes.items() if value is not None)
        self._order = function.next(Variable.ENTRY)
        self._op = Op([], [], self.location)
        function.here().append(self._op)

    def __repr__(self) -> str:
        return f"<{self.noun}: {self.type}, made at {self.location}>"

    def end(self, side: str) -> Variable:
        """Returns the current role's end of that side, "producer" or "consumer"."""
        role = next((region for region in self.function.here().ancestors() if isinstance(region, Role)), None)
        if role is None:
            raise BuildError(f"{self.noun} is used outside of a role; its ends are the roles', use it in 'with kernel.role(...)'",
                             ("made here", self.location))
        if (role, side) not in self.ends:
            value = Value(self.function, Handle(side, self.type), side)
            is_answers = isinstance(self.type, WorkQueue) and side == "consumer"
            order = self.function.next(Variable.ANSWERS) if is_answers else self._order
            self.ends[role, side] = Variable(f"{side} end of {self.noun}", self.function.body, value, order)
        return self.ends[role, side]

    def _values(self, side: str) -> list[Value]:
        return [variable.initial for (_, key), variable in self.ends.items() if key == side]

    def finish(self) -> None:
        """Completes the op that makes the ring, once all roles have taken their ends.

        Raises:
            BuildError: A side has no role (P1), or several where it takes one: those of an output pipeline, and who asks for work.
        """
        sides = {side: self._values(side) for side in ("producer", "consumer")}
        for side, ends in sides.items():
            if not ends:
                raise BuildError(f"{self.noun} has no {side} (P1); use it in a role", ("made here", self.location))
            single = isinstance(self.type, OutputPipeline) or isinstance(self.type, WorkQueue) and side == "producer"
            if single and len(ends) > 1:
                raise BuildError(f"{self.noun} has {len(ends)} {side}s, and takes one; make one role of them", ("made here", self.location),
                                 *((f"used in {role.noun}", v.location) for (role, key), v in self.ends.items() if key == side))
        self._op.results = [*sides["producer"], *sides["consumer"]]
        result_types = self.type if isinstance(self.type, OutputPipeline) else types(self._op.results)
        self._op.parts = [f"fp8.{self.type.alias} ", f"{{{self._attributes}}} " if self._attributes else "", ": ", result_types]


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
        before = outer.read(end)
        outer.bindings[end] = Unavailable(f"is used after the scope of its '{op}' (L2); use it inside", "the scope", location)
        body = Region(self.function, outer, f"'{op}'")
        warp = Value(self.function, Handle(op, self.type), "warp")
        variable = Variable(f"{op.replace('_', ' ')} of {self.noun}", body, warp, self.function.next(Variable.WARP))
        self.function.open(body)
        yield variable
        last = body.bindings[variable]
        assert isinstance(last, Value)
        check_free(body, variable, last)
        results = close_scope(self.function, body, [last])
        outer.append(Op([f"fp8.{op}(", warp, " = ", before, ") : ", before.type, *arrow(results), " ", body], results, location))
