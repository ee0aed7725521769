# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the types say: in which state each end is where an event stands, and with which event a slot is handed over.

The rule of the hand-over is that of docs/Semantics.md ("There is one `release` for all stages"): a producer's acquire announces the bytes of
its copies if they, and all hand-overs of the stage, stand in the block of its one acquire. Then the last copy hands the slot over, and
release adds nothing.
"""

from __future__ import annotations

import dataclasses
import enum

from skeleton import End, Event, If, Kernel, Kind, Loop, RingKind, Role, Statement


class State(enum.Enum):
    UNMADE = "end without a handle"  # of an output pipeline, before create
    EVIDENCE = "end with evidence"  # of an output pipeline, after wait_tmem
    END = "end"
    READY = "ready end"
    STAGE = "stage"
    SIGNALLED = "signalled stage"
    CLOSED = "nothing"


# From which states an event takes an end, and the state to which it brings it.
TRANSITIONS: dict[Kind, tuple[tuple[State, ...], State]] = {
    Kind.WAIT_TENSOR_MEMORY: ((State.UNMADE,), State.EVIDENCE),
    Kind.CREATE: ((State.UNMADE, State.EVIDENCE), State.END),
    Kind.TRY: ((State.END,), State.END),
    Kind.WAIT: ((State.END,), State.READY),
    Kind.ACQUIRE: ((State.END, State.READY), State.STAGE),
    Kind.COPY: ((State.STAGE,), State.STAGE),
    Kind.COPY_EXPLICIT: ((State.STAGE,), State.STAGE),
    Kind.PRODUCT: ((State.STAGE,), State.STAGE),
    Kind.ARRIVE: ((State.STAGE,), State.SIGNALLED),
    Kind.STEP: ((State.SIGNALLED,), State.END),
    Kind.RELEASE: ((State.STAGE,), State.END),
    Kind.CLOSE: ((State.END,), State.CLOSED),
}


class Malformed(Exception):
    """The types of the dialect do not allow the skeleton."""


@dataclasses.dataclass
class Stage:
    """A group of stages that are one value to the compiler: control flow makes one of another."""

    parent: Stage | None = None
    acquires: list[int] = dataclasses.field(default_factory=list)  # the blocks, by identity
    others: list[int] = dataclasses.field(default_factory=list)
    copies: list[Event] = dataclasses.field(default_factory=list)
    hand_overs: list[Event] = dataclasses.field(default_factory=list)

    def root(self) -> Stage:
        return self.parent.root() if self.parent else self

    def join(self, other: Stage) -> None:
        first, second = self.root(), other.root()
        if first is second:
            return
        for field in ("acquires", "others", "copies", "hand_overs"):
            getattr(first, field).extend(getattr(second, field))
        second.parent = first


# The state of each end at some place, and its last stage.
Held = dict[End, tuple[State, Stage]]


class Typing:
    """The state in front of each event, and which events signal and block."""

    def __init__(self, kernel: Kernel):
        self.before: dict[Event, State] = {}
        self.signals: set[Event] = set()
        self.stages: list[Stage] = []
        for role in kernel.roles:
            self._check_role(role)
        for stage in self.stages:
            if not stage.parent:
                self._place_signal(stage)

    def blocks(self, event: Event) -> bool:
        """Whether the event waits for the slot to be handed over."""
        return event.kind is Kind.WAIT or (event.kind is Kind.ACQUIRE and self.before[event] is State.END)

    def _check_role(self, role: Role) -> None:
        unmade = {end: State.UNMADE if end.ring.kind is RingKind.ACCUMULATOR else State.END for end in role.ends}
        after = self._check_block(role.body, {end: (state, Stage()) for end, state in unmade.items()})
        for end, (state, _) in after.items():
            if state is not State.CLOSED:
                raise Malformed(f"{end.name} is left as {state.value}")

    def _check_block(self, block: list[Statement], held: Held) -> Held:
        held = dict(held)
        for statement in block:
            if isinstance(statement, Event):
                self._check_event(statement, held, id(block))
            elif isinstance(statement, Loop):
                self._merge(held, held, self._check_block(statement.body, held))
            elif isinstance(statement, If):
                then = self._check_block(statement.then, held)
                self._merge(held, then, self._check_block(statement.otherwise, held))
        return held

    def _check_event(self, event: Event, held: Held, block: int) -> None:
        state, stage = held[event.end]
        takes, gives = TRANSITIONS[event.kind]
        if state not in takes:
            raise Malformed(f"'{event.kind.value}' of {event.end.name}, which is {state.value}")
        self.before[event] = state
        if event.kind is Kind.ACQUIRE:
            stage = Stage(acquires=[block])
            self.stages.append(stage)
        elif event.kind.is_copy:
            stage.root().copies.append(event)
            stage.root().others.append(block)
        elif event.kind in (Kind.ARRIVE, Kind.RELEASE):
            stage.root().hand_overs.append(event)
            stage.root().others.append(block)
        elif event.operands and held[event.operands][0] is not State.STAGE:
            raise Malformed(f"a product reads {event.operands.name}, which is {held[event.operands][0].value}")
        held[event.end] = (gives, stage)

    @staticmethod
    def _merge(held: Held, one: Held, other: Held) -> None:
        """Makes one of what two ways bring along."""
        for end in list(held):
            (state, stage), (other_state, other_stage) = one[end], other[end]
            if state is not other_state:
                raise Malformed(f"{end.name} is {state.value} on one way and {other_state.value} on another")
            if state in (State.STAGE, State.SIGNALLED):
                stage.join(other_stage)
            held[end] = (state, stage)

    def _place_signal(self, stage: Stage) -> None:
        announced = stage.copies and len(stage.acquires) == 1 and set(stage.others) == set(stage.acquires)
        if announced:
            self.signals.add(stage.copies[-1])
        else:
            self.signals.update(stage.hand_overs)
