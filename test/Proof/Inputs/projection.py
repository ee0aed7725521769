# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes each role's part of a plan, in one of the many forms that a loop can have."""

from __future__ import annotations

import random
from collections.abc import Callable

from choreography import Choice, Grouped, Part, Plan, Repeat, Transfer
from skeleton import Condition, End, Event, Expression, If, Item, Kind, Loop, Name, Number, Operation, Statement, touches


Numbering = dict[str, Expression]  # what stands for the variables of a plan's loops
Group = list[Statement]  # what a part of the plan has become; of a transfer, one end's
Body = Callable[[Expression], list[Group]]  # the body of a loop, for the number of an iteration: as many groups for each

ZERO, ONE = Number(0), Number(1)


def flat(groups: list[Group]) -> list[Statement]:
    return [node for group in groups for node in group]


class Projection:
    """The part of one role."""

    def __init__(self, rng: random.Random, plan: Plan, role: int, calm: bool):
        self.rng, self.plan, self.role = rng, plan, role
        self.calm = calm  # loops stand as in the plan
        self._variables = 0

    def make(self) -> list[Statement]:
        return self._block(self.plan.body, {})

    def _variable(self) -> str:
        self._variables += 1
        return f"i{self._variables}"

    def _groups(self, parts: list[Part], numbers: Numbering) -> list[Group]:
        groups: list[Group] = []
        for part in parts:
            nodes = self._part(part, numbers)
            groups += [[node] for node in nodes] if isinstance(part, Transfer) else [nodes]
        return [group for group in groups if group]

    def _block(self, parts: list[Part], numbers: Numbering) -> list[Statement]:
        return flat(self._groups(parts, numbers))

    def _part(self, part: Part, numbers: Numbering) -> list[Statement]:
        if isinstance(part, Transfer):
            return [Item(end) for end in part.ring.ends() if self.plan.owners[end] == self.role]
        if isinstance(part, Choice):
            return self._choice(part, numbers)
        if isinstance(part, Grouped):
            return Groups(self, part, numbers).make()
        if not self._block(part.body, {**numbers, part.variable: ZERO}):
            return []

        def body(number: Expression) -> list[Group]:
            return self._groups(part.body, {**numbers, part.variable: number})

        if part.over_tiles:
            variable = self._variable()
            return [Loop(variable, Name("block"), Name("U"), Name("grid"), flat(body(Name(variable))))]
        return self._loop(part.trips, body)

    def _choice(self, part: Choice, numbers: Numbering) -> list[Statement]:
        then, otherwise = self._block(part.then, numbers), self._block(part.otherwise, numbers)
        if not then and not otherwise:
            return []
        condition = substitute(part.condition, numbers)
        if self.rng.random() < 0.25:
            self.plan.features.add("condition written in another way")
            condition, then, otherwise = condition.negated(), otherwise, then
        return [If(condition, then, otherwise)]

    # The forms of a loop

    def plain(self, trips: Expression, body: Body) -> list[Statement]:
        variable = self._variable()
        return [Loop(variable, ZERO, trips, ONE, flat(body(Name(variable))))]

    def _loop(self, trips: Expression, body: Body) -> list[Statement]:
        if self.calm or self.rng.random() < 0.5:
            return self.plain(trips, body)
        forms = [self._peeled_first, self._unrolled, self._in_groups]
        if len(body(ZERO)) > 1:
            forms += [self._lag_by_guards, self._lag_by_prologue] * 2
        if any(isinstance(group[0], Item) for group in body(ZERO)):
            forms += [self._carried]
        form = self.rng.choice(forms)
        self.plan.features.add(form.__name__.strip("_").replace("_", " "))
        return form(trips, body)

    def _peeled_first(self, trips: Expression, body: Body) -> list[Statement]:
        variable = self._variable()
        loop = Loop(variable, ONE, trips, ONE, flat(body(Name(variable))))
        return [If(Condition("ne", trips, ZERO), [*flat(body(ZERO)), loop], [])]

    def _unrolled(self, trips: Expression, body: Body) -> list[Statement]:
        variable = self._variable()
        following = Operation("add", Name(variable), ONE)
        second = If(Condition("ult", following, trips), flat(body(following)), [])
        return [Loop(variable, ZERO, trips, Number(2), [*flat(body(Name(variable))), second])]

    def _in_groups(self, trips: Expression, body: Body) -> list[Statement]:
        size = Number(self.rng.choice((2, 4, 8)))
        outer, inner = self._variable(), self._variable()
        rest = Operation("min", size, Operation("sub", trips, Name(outer)))
        loop = Loop(inner, ZERO, rest, ONE, flat(body(Operation("add", Name(outer), Name(inner)))))
        return [Loop(outer, ZERO, trips, size, [loop])]

    def _split(self, body: Body) -> tuple[Body, Body]:
        """Two parts of a body, of which one is to run ahead."""
        length = len(body(ZERO))
        ahead = set(self.rng.sample(range(length), self.rng.randint(1, length - 1)))

        def part(which: bool) -> Body:
            return lambda number: [group for place, group in enumerate(body(number)) if (place in ahead) == which]

        return part(True), part(False)

    def _lag_by_guards(self, trips: Expression, body: Body) -> list[Statement]:
        """for k < N + h: if k < N, early(k); if k >= h, late(k - h)"""
        lag, variable = Number(self.rng.choice((1, 1, 2, 3))), self._variable()
        early, late = self._split(body)
        number = Name(variable)
        first = If(Condition("ult", number, trips), flat(early(number)), [])
        second = If(Condition("uge", number, lag), flat(late(Operation("sub", number, lag))), [])
        return [Loop(variable, ZERO, Operation("add", trips, lag), ONE, [first, second])]

    def _lag_by_prologue(self, trips: Expression, body: Body) -> list[Statement]:
        """for k < min(h, N): early(k); for k < N: if k + h < N, early(k + h); late(k)"""
        lag, first, second = Number(self.rng.choice((1, 1, 2, 3))), self._variable(), self._variable()
        early, late = self._split(body)
        ahead = Operation("add", Name(second), lag)
        parts: list[list[Statement]] = [[If(Condition("ult", ahead, trips), flat(early(ahead)), [])], flat(late(Name(second)))]
        if self.rng.random() < 0.4:
            parts.reverse()
        prologue = Loop(first, ZERO, Operation("min", trips, lag), ONE, flat(early(Name(first))))
        return [prologue, Loop(second, ZERO, trips, ONE, [*parts[0], *parts[1]])]

    def _carried(self, trips: Expression, body: Body) -> list[Statement]:
        """One of the slots, or a ready end, is carried around the loop: if N > 0, open; for k in 1 .. N: rest(k - 1), close, open; rest, close"""
        groups = body(ZERO)
        place = self.rng.choice([place for place, group in enumerate(groups) if isinstance(group[0], Item)])
        (item,) = groups[place]
        assert isinstance(item, Item)
        end = item.end
        if sum(touches(node, end) for node in flat(groups)) > 1:
            return self.plain(trips, body)
        opened, closed = self._opening(end)
        variable = self._variable()

        def rest(number: Expression) -> list[Statement]:
            return flat([group for at, group in enumerate(body(number)) if at != place])

        loop = Loop(variable, ONE, trips, ONE, [*rest(Operation("sub", Name(variable), ONE)), *closed(), *opened()])
        last = Operation("sub", trips, ONE)
        return [If(Condition("ne", trips, ZERO), [*opened(), loop, *rest(last), *closed()], [])]

    def _opening(self, end: End) -> tuple[Callable[[], list[Statement]], Callable[[], list[Statement]]]:
        """What is done in front of the back edge, and behind it."""

        def copies() -> list[Statement]:
            return [Event(Kind.COPY, end, tile=tile) for tile in end.tiles()]

        def acquired() -> list[Statement]:
            return [Event(Kind.ACQUIRE, end), *copies()]

        def released() -> list[Statement]:
            return [Event(Kind.RELEASE, end)]

        def awaited() -> list[Statement]:
            return [Event(Kind.WAIT, end)]

        def used() -> list[Statement]:
            return [*acquired(), *released()]

        return (acquired, released) if self.rng.random() < 0.6 else (awaited, used)


class Groups:
    """The forms of a loop with groups: K trips, and something in front of each group of them."""

    def __init__(self, projection: Projection, part: Grouped, numbers: Numbering):
        self.projection, self.part, self.numbers = projection, part, numbers
        self.size = Number(part.size)
        self.rest = Operation("rem", part.trips, self.size)

    def make(self) -> list[Statement]:
        rng, heads, body = self.projection.rng, self._heads(), self._body(ZERO)
        if not heads and not body:
            return []
        if not heads and rng.random() < 0.6:
            return self.projection.plain(self.part.trips, lambda number: [self._body(number)])
        first = self.part.remainder_first
        if rng.random() < 0.12:
            first = not first
            self.projection.plan.features.add("remainders at different ends")
        if first:
            return self._remainder_first()
        forms = [self._by_step, self._by_number, self._floor_and_tail]
        if not self.projection.calm:
            forms += [self._flat, self._ahead]
            if len(heads) == 1 and isinstance(heads[0], Item):
                forms.append(self._carried)
        form = rng.choice(forms)
        self.projection.plan.features.add(f"groups {form.__name__.strip('_').replace('_', ' ')}")
        return form()

    def _heads(self) -> list[Statement]:
        """The heads; a consumer keeps its slot for the whole group more often than not."""
        heads = self.projection._block(self.part.heads, self.numbers)
        for head in heads:
            if isinstance(head, Item) and not head.end.produces and self.projection.rng.random() < 0.6:
                head.hold = len(heads)
        return heads

    def _body(self, number: Expression) -> list[Statement]:
        return self.projection._block(self.part.body, {**self.numbers, self.part.variable: number})

    def _group(self, start: Expression, trips: Expression) -> list[Statement]:
        variable = self.projection._variable()
        body = self._body(Operation("add", start, Name(variable)))
        return [*self._heads(), *([Loop(variable, ZERO, trips, ONE, body)] if body else [])]

    def _by_step(self) -> list[Statement]:
        start = self.projection._variable()
        trips = Operation("min", self.size, Operation("sub", self.part.trips, Name(start)))
        return [Loop(start, ZERO, self.part.trips, self.size, self._group(Name(start), trips))]

    def _by_number(self) -> list[Statement]:
        group = self.projection._variable()
        start = Operation("mul", Name(group), self.size)
        trips = Operation("min", self.size, Operation("sub", self.part.trips, start))
        return [Loop(group, ZERO, Operation("ceildiv", self.part.trips, self.size), ONE, self._group(start, trips))]

    def _floor_and_tail(self) -> list[Statement]:
        group, whole = self.projection._variable(), Operation("div", self.part.trips, self.size)
        loop = Loop(group, ZERO, whole, ONE, self._group(Operation("mul", Name(group), self.size), self.size))
        tail = self._group(Operation("mul", whole, self.size), self.rest)
        return [loop, If(Condition("ne", self.rest, ZERO), tail, [])]

    def _remainder_first(self) -> list[Statement]:
        start = self.projection._variable()
        loop = Loop(start, self.rest, self.part.trips, self.size, self._group(Name(start), self.size))
        return [If(Condition("ne", self.rest, ZERO), self._group(ZERO, self.rest), []), loop]

    def _flat(self) -> list[Statement]:
        variable = self.projection._variable()
        number = Name(variable)
        head = If(Condition("eq", Operation("rem", number, self.size), ZERO), self._heads(), [])
        return [Loop(variable, ZERO, self.part.trips, ONE, [*([head] if head.then else []), *self._body(number)])]

    def _ahead(self) -> list[Statement]:
        """The heads of a group some trips earlier."""
        variable, ahead = self.projection._variable(), Number(self.projection.rng.randint(1, self.part.size - 1))
        number = Operation("add", Name(variable), ahead)
        there = If(Condition("ult", number, self.part.trips), self._heads(), [])
        head = If(Condition("eq", Operation("rem", number, self.size), ZERO), [there], [])
        start = If(Condition("ne", self.part.trips, ZERO), self._heads(), [])
        loop = Loop(variable, ZERO, self.part.trips, ONE, [*([head] if there.then else []), *self._body(Name(variable))])
        return [start, loop] if start.then else [loop]

    def _carried(self) -> list[Statement]:
        """The slot of a group is kept from its first trip to the next group's."""
        (item,) = self._heads()
        assert isinstance(item, Item)
        if any(touches(node, item.end) for node in self._body(ZERO)):
            return self._flat()
        opened, closed = self.projection._opening(item.end)
        variable = self.projection._variable()
        number = Name(variable)
        change = If(Condition("ne", number, ZERO), [*closed(), *opened()], [])
        head = If(Condition("eq", Operation("rem", number, self.size), ZERO), [change], [])
        loop = Loop(variable, ZERO, self.part.trips, ONE, [head, *self._body(number)])
        return [If(Condition("ne", self.part.trips, ZERO), [*opened(), loop, *closed()], [])]


def substitute(condition: Condition, numbers: Numbering) -> Condition:
    """A plan's condition where the number of an iteration is an expression of the role's."""

    def inside(expression: Expression) -> Expression:
        if isinstance(expression, Name):
            return numbers.get(expression.name, expression)
        if isinstance(expression, Number):
            return expression
        return Operation(expression.operator, inside(expression.left), inside(expression.right))

    return Condition(condition.predicate, inside(condition.left), inside(condition.right))
