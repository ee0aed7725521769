# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an abstract kernel exactly, at given sizes.

No role reads what others compute, so the launch arguments fix the sequence of events of each role: its trace. Each side of a ring counts how
many slots each of its ends has handed over. A role goes on until it waits for a slot that the other side has not handed over. Steps of
different roles commute and a step that can be done stays so, so one schedule decides how all end. `explore` does not rely on this.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

from skeleton import End, Event, If, Kernel, Kind, Loop, Ring, RingKind, Role, Statement, events_in, names_of, python_of
from states import Typing

Sizes = dict[str, int]
KEPT = 200  # traces of a role that are kept
GIVEN = ("T", "U", "K", "grid", "block")  # what is known when a block begins


@dataclasses.dataclass(frozen=True)
class Step:
    """Goes on when each of the counters `waits_for` is at least `level`, and then increments the counters of `signals`."""

    event: Event
    waits_for: tuple[int, ...] = ()
    level: int = 0
    signals: tuple[int, ...] = ()
    slot: int = 0  # the number of the slot it takes, counted from 0 over all laps
    parity: int | None = None  # of a wait at a slot's barrier: the parity of the phase that must be over


@dataclasses.dataclass
class Stuck:
    """A role that goes on no more."""

    role: Role
    step: Step


@dataclasses.dataclass
class Outcome:
    """How a run ends."""

    stuck: list[Stuck]
    left: list[tuple[Ring, int, int]]  # rings that are not drained: slots filled, and emptied by all consumers
    block: int = 0

    @property
    def verdict(self) -> str:
        return "deadlock" if self.stuck else "undrained" if self.left else "ends"


class Oracle:
    """Traces and runs of one kernel."""

    def __init__(self, kernel: Kernel, typing: Typing):
        self.kernel, self.typing = kernel, typing
        self._events = [list(events_in(role.body)) for role in kernel.roles]
        self._tracers = [compile_trace(role, events) for role, events in zip(kernel.roles, self._events)]
        self._names = [sorted(names_of(role.body) & set(GIVEN)) for role in kernel.roles]
        self._traces: list[dict[tuple[int, ...], list[Step]]] = [{} for _ in kernel.roles]
        self._made: list[dict[tuple[int, int], Step | None]] = [{} for _ in kernel.roles]
        self._counters: dict[tuple[str, str], int] = {}
        for ring in kernel.rings:
            for end in ring.ends():
                self._counter("slots", end)
            if ring.kind is RingKind.ACCUMULATOR:
                self._counters[("allocated", ring.name)] = len(self._counters)
                self._counters[("read", ring.name)] = len(self._counters)

    def _counter(self, what: str, end: End) -> int:
        return self._counters.setdefault((what, end.name), len(self._counters))

    def _side(self, ring: Ring, produces: bool) -> tuple[int, ...]:
        return tuple(self._counter("slots", end) for end in ring.ends() if end.produces == produces)

    # Traces

    def traces(self, sizes: Sizes, block: int = 0) -> list[list[Step]]:
        """What each role does at these sizes."""
        everything = {"T": 0, "U": 0, "K": 0, "grid": 1, **sizes, "block": block}
        found = []
        for role, names in enumerate(self._names):
            read = tuple(everything[name] for name in names)
            if read not in self._traces[role]:
                if len(self._traces[role]) > KEPT:
                    self._traces[role].clear()
                numbers = {name: everything[name] for name in GIVEN}
                self._traces[role][read] = self._steps(role, self._tracers[role](**numbers))
            found.append(self._traces[role][read])
        return found

    def _steps(self, role: int, trace: list[int]) -> list[Step]:
        events, made = self._events[role], self._made[role]
        slots: dict[str, int] = {}
        steps: list[Step] = []
        for number in trace:
            event = events[number]
            slot = slots.get(event.end.name, 0)
            key = (number, slot)
            if key not in made:
                made[key] = self._step(event, slot)
            step = made[key]
            if step:
                steps.append(step)
            if event.kind in (Kind.STEP, Kind.RELEASE):
                slots[event.end.name] = slot + 1
        return steps

    def _step(self, event: Event, slot: int) -> Step | None:
        """What an event does to the counters; None if it neither waits nor signals."""
        end, ring = event.end, event.end.ring
        if self.typing.blocks(event):
            return self._wait(event, slot)
        if event.kind is Kind.CLOSE:
            return self._close(event, slot)
        if event.kind is Kind.CREATE and end.produces:
            return Step(event, signals=(self._counters[("allocated", ring.name)],))
        if event.kind is Kind.WAIT_TENSOR_MEMORY:
            return Step(event, (self._counters[("allocated", ring.name)],), 1)
        if event in self.typing.signals:
            return Step(event, signals=(self._counter("slots", end),), slot=slot)
        return None

    def _wait(self, event: Event, slot: int) -> Step:
        end, ring = event.end, event.end.ring
        parity = (slot // ring.slots + end.produces) % 2
        level = slot + 1 - (ring.slots if end.produces else 0)
        return Step(event, self._side(ring, not end.produces), level, slot=slot, parity=parity)

    def _close(self, event: Event, slot: int) -> Step:
        end, ring = event.end, event.end.ring
        if ring.kind is RingKind.ACCUMULATOR:
            read = (self._counters[("read", ring.name)],)
            return Step(event, read, 1, slot=slot) if end.produces else Step(event, signals=read, slot=slot)
        if end.produces and ring.kind.is_awaited_at_close:
            return Step(event, self._side(ring, False), slot, slot=slot)
        return Step(event, slot=slot)

    # One schedule

    def run(self, sizes: Sizes, block: int = 0) -> Outcome:
        """One schedule to its end: that of each role as far as it goes."""
        traces = self.traces(sizes, block)
        counters, places = [0] * len(self._counters), [0] * len(traces)
        moved = True
        while moved:
            moved = False
            for role, trace in enumerate(traces):
                place = advance(trace, places[role], counters)
                moved |= place != places[role]
                places[role] = place
        return self._outcome(traces, places, counters, block)

    def _outcome(self, traces: list[list[Step]], places: list[int], counters: list[int], block: int) -> Outcome:
        stuck = [Stuck(role, trace[place]) for role, trace, place in zip(self.kernel.roles, traces, places) if place < len(trace)]
        left = []
        for ring in self.kernel.rings:
            if ring.kind is RingKind.ARRIVALS:
                continue  # a slot that holds nothing may be left
            filled = [counters[i] for i in self._side(ring, True)]
            emptied = [counters[i] for i in self._side(ring, False)]
            if min(filled + emptied) != max(filled + emptied):
                left.append((ring, min(filled), min(emptied)))
        return Outcome(stuck, left, block)

    def run_grid(self, sizes: Sizes) -> Outcome:
        """All blocks of a launch: the first that is not well, or the last."""
        outcome = Outcome([], [])
        for block in range(sizes.get("grid", 1)):
            outcome = self.run(sizes, block)
            if outcome.verdict != "ends":
                break
        return outcome

    # All schedules

    def explore(self, sizes: Sizes, limit: int) -> str | None:
        """Every interleaving at these sizes: what contradicts that one schedule decides, or that parity tells what counters do; "too many" beyond
        the limit of states."""
        traces = self.traces(sizes)
        start = (0,) * len(traces)
        seen, todo, ends = {start}, [start], set()
        while todo:
            places = todo.pop()
            counters = self._counters_at(traces, places)
            following = []
            for role, trace in enumerate(traces):
                if places[role] == len(trace):
                    continue
                step = trace[places[role]]
                enabled = all(counters[i] >= step.level for i in step.waits_for)
                if step.parity is not None and self._parity_lets_pass(step, step.parity, counters) != enabled:
                    return f"parity and counters differ at '{step.event.kind.value}' of {step.event.end.name}, slot {step.slot}"
                if enabled:
                    following.append((*places[:role], places[role] + 1, *places[role + 1 :]))
            if not following:
                ends.add(places)
            for state in following:
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
            if len(seen) > limit:
                return "too many"
        if len(ends) != 1:
            return f"{len(ends)} ways to end"
        (last,) = ends
        outcome = self._outcome(traces, list(last), self._counters_at(traces, last), 0)
        expected = self.run(sizes)
        same = [(s.role.name, s.step) for s in outcome.stuck] == [(s.role.name, s.step) for s in expected.stuck]
        return None if same else "another end than that of one schedule"

    def _counters_at(self, traces: list[list[Step]], places: tuple[int, ...]) -> list[int]:
        counters = [0] * len(self._counters)
        for trace, place in zip(traces, places):
            for step in trace[:place]:
                for i in step.signals:
                    counters[i] += 1
        return counters

    @staticmethod
    def _parity_lets_pass(step: Step, parity: int, counters: list[int]) -> bool:
        """PTX ISA, mbarrier.test_wait: true when the phase of that parity is over, be it the last one or the one before the first."""
        ring = step.event.end.ring
        slot = step.slot % ring.slots
        completed = min((counters[i] - slot + ring.slots - 1) // ring.slots for i in step.waits_for)
        return max(completed, 0) % 2 != parity


def advance(trace: list[Step], place: int, counters: list[int]) -> int:
    """Does the steps of a role from a place on until it waits; gives the place then."""
    while place < len(trace):
        step = trace[place]
        for i in step.waits_for:
            if counters[i] < step.level:
                return place
        for i in step.signals:
            counters[i] += 1
        place += 1
    return place


def minus(left: int, right: int) -> int:
    """A difference of natural numbers: what a kernel computes otherwise depends on the width of its index."""
    if left < right:
        raise ArithmeticError(f"{left} - {right} is negative")
    return left - right


def compile_trace(role: Role, events: list[Event]) -> Callable[..., list[int]]:
    """A function from sizes to the numbers of the events that a role does, in their order."""
    numbers = {event: number for number, event in enumerate(events)}
    lines = ["def trace(T, U, K, grid, block):", " done = []"]

    def write(block: list[Statement], indent: str) -> None:
        lines.append(f"{indent}pass")
        for statement in block:
            if isinstance(statement, Event):
                lines.append(f"{indent}done.append({numbers[statement]})")
            elif isinstance(statement, Loop):
                bounds = ", ".join(python_of(bound) for bound in (statement.lower, statement.upper, statement.step))
                lines.append(f"{indent}for {statement.variable} in range({bounds}):")
                write(statement.body, indent + " ")
            elif isinstance(statement, If):
                lines.append(f"{indent}if {python_of(statement.condition)}:")
                write(statement.then, indent + " ")
                lines.append(f"{indent}else:")
                write(statement.otherwise, indent + " ")

    write(role.body, " ")
    lines.append(" return done")
    scope: dict[str, Any] = {"minus": minus}
    exec("\n".join(lines), scope)  # noqa: S102: the text is our own
    trace: Callable[..., list[int]] = scope["trace"]
    return trace


# ----------------------------------------------------------------------------------------------------------------------------------------
# Sizes
# ----------------------------------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Judgement:
    """The verdict on a kernel, and the smallest sizes that show it."""

    verdict: str  # ends, deadlock or undrained
    sizes: Sizes | None
    outcome: Outcome | None
    undrained: Sizes | None  # the smallest at which all roles end and slots are left
    runs: int


def judge(oracle: Oracle, ranges: dict[str, list[int]], far: list[Sizes]) -> Judgement:
    """Runs the kernel at all sizes of the ranges, the smallest first, and at some that are far beyond. A deadlock outweighs what is undrained."""
    points = sorted(itertools.product(*ranges.values()), key=lambda point: (sum(point), point))
    undrained: tuple[Sizes, Outcome] | None = None
    candidates = [dict(zip(ranges, point)) for point in points] + far
    for count, sizes in enumerate(candidates, 1):
        outcome = oracle.run_grid(sizes)
        if outcome.stuck:
            sizes = lowered(oracle, sizes) if count > len(points) else sizes
            return Judgement("deadlock", sizes, oracle.run_grid(sizes), undrained and undrained[0], count)
        if outcome.left and not undrained:
            undrained = (sizes, outcome)
    if undrained:
        return Judgement("undrained", *undrained, undrained[0], len(candidates))
    return Judgement("ends", None, None, None, len(candidates))


def lowered(oracle: Oracle, sizes: Sizes) -> Sizes:
    """Sizes with a deadlock of which none can be less by one without losing it."""
    for name, size in sizes.items():
        less = {**sizes, name: size - 1}
        if size > (1 if name == "grid" else 0) and oracle.run_grid(less).stuck:
            return lowered(oracle, less)
    return sizes
