# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what a kernel does as a whole: its rings, its roles, and one sequential program of transfers, of which each role does its part.

A role that does its part of such a program as it stands never waits for ever, however few slots there are. What the roles make of it later
(`projection`, `faults`, `flattening`) may.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Union

from skeleton import Condition, End, Expression, Name, Number, Operation, Ring, RingKind

GROUPS = (8, 8, 8, 4, 3, 2)


@dataclasses.dataclass(eq=False)
class Transfer:
    """A slot of a ring goes through all ends."""

    ring: Ring


@dataclasses.dataclass(eq=False)
class Repeat:
    """`trips` times, counted by a variable."""

    variable: str
    trips: Expression
    body: list[Part]
    over_tiles: bool = False  # a persistent loop: blocks share out the trips


@dataclasses.dataclass(eq=False)
class Grouped:
    """`trips` times the body, and the heads in front of each group of `size` trips."""

    variable: str
    trips: Expression
    size: int
    heads: list[Part]
    body: list[Part]
    remainder_first: bool


@dataclasses.dataclass(eq=False)
class Choice:
    """One of two."""

    condition: Condition
    then: list[Part]
    otherwise: list[Part]


Part = Union[Transfer, Repeat, Grouped, Choice]


@dataclasses.dataclass
class Plan:
    """What the roles share."""

    rings: list[Ring]
    owners: dict[End, int]  # the role of each end
    roles: int
    body: list[Part]
    features: set[str]

    def ends_of(self, role: int) -> list[End]:
        return [end for ring in self.rings for end in ring.ends() if self.owners[end] == role]

    def payloads_of(self, role: int) -> list[Ring]:
        """The payload rings that the role empties."""
        return [end.ring for end in self.ends_of(role) if not end.produces and end.ring.kind is RingKind.PAYLOAD]

    def is_wide(self, role: int) -> bool:
        """Whether the role reads accumulators, which four warps do."""
        return any(end.ring.kind is RingKind.ACCUMULATOR and not end.produces for end in self.ends_of(role))


def draw_plan(rng: random.Random) -> Plan:
    """A plan by chance."""
    plan = draw_rings(rng)
    Shape(rng, plan).draw()
    return plan


# ----------------------------------------------------------------------------------------------------------------------------------------
# Rings and roles
# ----------------------------------------------------------------------------------------------------------------------------------------


def draw_rings(rng: random.Random) -> Plan:
    roles = rng.choices((2, 3, 4, 5), (25, 40, 25, 10))[0]
    edges, features = draw_edges(rng, roles)
    plan = Plan([], {}, roles, [], features)
    for number, (source, target) in enumerate(edges):
        ring = Ring(f"r{number}", RingKind.PAYLOAD, rng.choices((1, 2, 3, 4), (30, 35, 20, 15))[0])
        ring.kind = rng.choices((RingKind.PAYLOAD, RingKind.ARRIVALS, RingKind.IDLE), (60, 28, 12))[0]
        plan.rings.append(ring)
        sources, targets = [source], [target]
        if rng.random() < 0.2:
            targets.append(rng.randrange(roles))
            features.add("two consumers")
        if rng.random() < 0.1 and any(role not in targets for role in range(roles)):
            sources.append(rng.choice([role for role in range(roles) if role not in targets]))
            features.add("two producers")
        ring.producers, ring.consumers = len(sources), len(targets)
        if len(set(sources)) < len(sources) or len(set(targets)) < len(targets):
            features.add("two ends in one role")
        plan.owners.update(zip(ring.ends(), sources + targets))
    draw_accumulators(rng, plan)
    return plan


def draw_edges(rng: random.Random, roles: int) -> tuple[list[tuple[int, int]], set[str]]:
    """From which role to which each ring goes; every role has a ring."""
    kind = rng.choice(("chain", "cycle", "star", "feedback", "random"))
    if kind == "cycle" and roles >= 3:
        edges = [(i, (i + 1) % roles) for i in range(roles)]
    elif kind == "star":
        edges = [(0, i) if rng.random() < 0.6 else (i, 0) for i in range(1, roles)]
    else:
        edges = [(i, i + 1) for i in range(roles - 1)]
    more = {"feedback": 1, "random": rng.randint(0, 2)}.get(kind, rng.randint(0, 1))
    for _ in range(more):
        source, target = rng.sample(range(roles), 2)
        edges.append((1, 0) if kind == "feedback" else (source, target))
    return edges[:5], {f"{kind} of roles"}


def draw_accumulators(rng: random.Random, plan: Plan) -> None:
    """Makes output pipelines of some rings, and of a ring that their producer empties, one with operands."""
    if rng.random() > 0.45:
        return
    candidates = [ring for ring in plan.rings if ring.producers == 1 and ring.consumers == 1]
    rng.shuffle(candidates)
    # Those of roles that can multiply what they read come first.
    candidates.sort(key=lambda ring: not plan.payloads_of(plan.owners[ring.ends()[0]]))
    for ring in candidates[: rng.choice((1, 1, 2))]:
        producer, consumer = (plan.owners[end] for end in ring.ends())
        if producer == consumer or plan.is_wide(producer):
            continue
        if any(end.ring.kind is RingKind.ACCUMULATOR and end.produces for end in plan.ends_of(consumer)):
            continue
        ring.kind = RingKind.ACCUMULATOR
        plan.features.add("accumulators")
        for end in plan.ends_of(consumer):
            if end.produces and end.ring.kind.is_copied:
                end.ring.kind = RingKind.ARRIVALS
        operands = plan.payloads_of(producer)
        if operands and rng.random() < 0.85:
            rng.choice(operands).kind = RingKind.OPERANDS
            plan.features.add("products")
    for ring in plan.rings:
        if ring.kind is RingKind.PAYLOAD and any(plan.is_wide(plan.owners[end]) for end in ring.ends() if end.produces):
            ring.kind = RingKind.IDLE


# ----------------------------------------------------------------------------------------------------------------------------------------
# The program
# ----------------------------------------------------------------------------------------------------------------------------------------


class Shape:
    """Draws the nest of loops around the transfers of a plan."""

    def __init__(self, rng: random.Random, plan: Plan):
        self.rng, self.plan = rng, plan
        self._variables = 0

    def draw(self) -> None:
        rng = self.rng
        transfers: list[Part] = [Transfer(ring) for ring in self.plan.rings]
        if rng.random() < 0.25:
            transfers.append(Transfer(rng.choice(self.plan.rings)))
            self.plan.features.add("ring used twice")
        rng.shuffle(transfers)
        kind = rng.choices(("loop", "nest", "groups", "tiles of groups", "free"), (32, 24, 20, 10, 14))[0]
        self.plan.features.add(kind)
        around: list[Part] = []
        if rng.random() < 0.2 and len(transfers) > 1:
            around = [transfers.pop()]
            self.plan.features.add("transfer outside of the loops")
        inner, outer = self._split(transfers)
        body: list[Part]
        if kind == "loop":
            body = [self._repeat(self._trips("T"), transfers)]
        elif kind == "nest":
            body = [self._tiles([*outer, self._repeat(self._trips("T"), inner)])]
        elif kind == "groups":
            body = [self._grouped(outer, inner)]
        elif kind == "tiles of groups":
            rest, heads = self._split(outer) if len(outer) > 1 else (outer, [])
            body = [self._tiles([*heads, self._grouped(rest, inner)])]
        else:
            body = self._free(transfers, 0, [])
        place = rng.randint(0, len(body))
        self.plan.body = [*body[:place], *around, *body[place:]]

    def _split(self, transfers: list[Part]) -> tuple[list[Part], list[Part]]:
        cut = self.rng.randint(1, len(transfers))
        return transfers[:cut], transfers[cut:]

    def _variable(self) -> str:
        self._variables += 1
        return f"g{self._variables}"

    def _trips(self, argument: str) -> Expression:
        """How often a loop runs: an argument for the most part."""
        rng = self.rng
        if rng.random() < 0.7:
            return Name(argument)
        self.plan.features.add("computed bound")
        return rng.choice(
            (
                Number(rng.randint(1, 5)),
                Operation("add", Name(argument), Number(rng.randint(1, 2))),
                Operation("min", Name(argument), Number(rng.randint(2, 4))),
                Operation("min", Name(argument), Name("U")),
                Operation("ceildiv", Name(argument), Number(2)),
                Operation("add", Name(argument), Name("U")),
            )
        )

    def _repeat(self, trips: Expression, body: list[Part]) -> Repeat:
        variable = self._variable()
        return Repeat(variable, trips, self._with_choices(body, variable, trips))

    def _tiles(self, body: list[Part]) -> Repeat:
        variable = self._variable()
        persistent = self.rng.random() < 0.4
        trips = Name("U") if persistent or self.rng.random() < 0.75 else Number(self.rng.randint(2, 3))
        if persistent:
            self.plan.features.add("persistent tiles")
        return Repeat(variable, trips, self._with_choices(body, variable, trips), over_tiles=persistent)

    def _grouped(self, heads: list[Part], body: list[Part]) -> Grouped:
        first = self.rng.random() < 0.4
        self.plan.features.add("remainder first" if first else "remainder last")
        variable = self._variable()
        return Grouped(variable, Name("K"), self.rng.choice(GROUPS), heads, self._with_choices(body, variable, Name("K")), first)

    def _free(self, transfers: list[Part], depth: int, variables: list[tuple[str, Expression]]) -> list[Part]:
        """Transfers in random nests of at most three loops."""
        parts: list[Part] = []
        rest = list(transfers)
        while rest:
            cut = self.rng.randint(1, len(rest))
            some, rest = rest[:cut], rest[cut:]
            if depth == 3 or (depth and self.rng.random() < 0.45):
                parts.extend(some)
                continue
            variable, trips = self._variable(), self._trips(("U", "T", "T")[depth])
            inner = self._free(some, depth + 1, [*variables, (variable, trips)])
            parts.append(Repeat(variable, trips, self._with_choices(inner, variable, trips)))
        return parts

    def _with_choices(self, body: list[Part], variable: str, trips: Expression) -> list[Part]:
        """The body, with some of its transfers under a condition."""
        if self.rng.random() > 0.25 or not body:
            return body
        place = self.rng.randrange(len(body))
        if not isinstance(body[place], Transfer):
            return body
        on_iteration = self.rng.random() < 0.6
        condition = draw_condition(self.rng, variable, trips) if on_iteration else draw_argument_condition(self.rng)
        self.plan.features.add("guard on the iteration" if on_iteration else "guard on an argument")
        then, otherwise, behind = [body[place]], [], place + 1
        if behind < len(body) and isinstance(body[behind], Transfer) and self.rng.random() < 0.6:
            otherwise = [body[behind]]
            behind += 1
            self.plan.features.add("else-branch")
        return [*body[:place], Choice(condition, then, otherwise), *body[behind:]]


def draw_condition(rng: random.Random, variable: str, trips: Expression) -> Condition:
    """A condition on the number of an iteration."""
    number = Name(variable)
    following = Operation("add", number, Number(1))
    return rng.choice(
        (
            Condition("ne", number, Number(0)),
            Condition("uge", number, Number(rng.randint(1, 3))),
            Condition("ult", number, Number(rng.randint(1, 3))),
            Condition("eq", following, trips),
            Condition("ult", following, trips),
            Condition("eq", Operation("rem", number, Number(2)), Number(0)),
        )
    )


def draw_argument_condition(rng: random.Random) -> Condition:
    """A condition on launch arguments."""
    return rng.choice(
        (
            Condition("ugt", Name("T"), Number(rng.randint(0, 3))),
            Condition("eq", Name("U"), Number(rng.randint(0, 2))),
            Condition("ne", Name("U"), Number(rng.randint(0, 2))),
            Condition("ult", Name("T"), Name("U")),
            Condition("eq", Operation("rem", Name("T"), Number(2)), Number(0)),
        )
    )
