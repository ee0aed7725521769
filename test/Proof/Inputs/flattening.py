# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes events of a role's part: how each slot is waited for, filled, read and handed over, and where in its block."""

from __future__ import annotations

import random

from choreography import Plan, draw_argument_condition
from skeleton import End, Event, If, Item, Kind, Loop, RingKind, Role, Statement, touches


class Flattening:
    """The events of one role."""

    def __init__(self, rng: random.Random, plan: Plan, role: int):
        self.rng, self.plan, self.role = rng, plan, role
        self.ends = plan.ends_of(role)

    def make(self, part: list[Statement]) -> Role:
        body = self._block(part, [])
        body = self._with_closes(body)
        body = self._with_handles(body)
        copies = any(end.produces and (end.ring.kind.is_copied or end.ring.kind is RingKind.ACCUMULATOR) for end in self.ends)
        warps = 4 if self.plan.is_wide(self.role) else 1 if copies else self.rng.choices((1, 2, 4), (84, 11, 5))[0]
        if warps > 1:
            self.plan.features.add("role of several warps")
        return Role(f"role{self.role}", warps, self.ends, body)

    # Slots

    def _block(self, nodes: list[Statement], outer: list[End]) -> list[Statement]:
        """The events of a block, where the ends of `outer` have a slot."""
        before: dict[int, list[Statement]] = {}
        after: dict[int, list[list[Event]]] = {}
        opened: dict[int, list[Statement]] = {}
        held = list(outer)
        inside: list[Statement] = []
        for index, node in enumerate(nodes):
            if isinstance(node, Item):
                self._schedule(nodes, index, node, before, opened, after)
        for index, node in enumerate(nodes):
            inside += before.get(index, [])
            if isinstance(node, Item):
                inside += opened[index]
                held.append(node.end)
                inside += self._product(node.end, held)
            elif isinstance(node, Event):
                inside.append(node)
            elif isinstance(node, Loop):
                inside.append(Loop(node.variable, node.lower, node.upper, node.step, self._block(node.body, held)))
            else:
                inside.append(If(node.condition, self._block(node.then, held), self._block(node.otherwise, held)))
            ending = after.get(index, [])
            if self.rng.random() < 0.5:
                ending.reverse()
            for events in ending:
                inside += events
                held = [end for end in held if not any(event.end == end and event.kind in (Kind.RELEASE, Kind.ARRIVE) for event in events)]
        return inside

    @staticmethod
    def _free_until(nodes: list[Statement], index: int, end: End, wanted: int) -> int:
        """The last of the next `wanted` nodes up to which nothing else is done with the end."""
        last = index
        while last - index < wanted and last + 1 < len(nodes) and not touches(nodes[last + 1], end):
            last += 1
        return last

    @staticmethod
    def _free_from(nodes: list[Statement], index: int, end: End, wanted: int) -> int:
        """The same backwards."""
        first = index
        while index - first < wanted and first > 0 and not touches(nodes[first - 1], end):
            first -= 1
        return first

    def _schedule(
        self,
        nodes: list[Statement],
        index: int,
        item: Item,
        before: dict[int, list[Statement]],
        opened: dict[int, list[Statement]],
        after: dict[int, list[list[Event]]],
    ) -> None:
        """Chooses the events by which an item takes its slot and hands it over: in front of, at, and behind which node they stand."""
        rng = self.rng
        end, features = item.end, self.plan.features
        if not item.hold and rng.random() < 0.25:
            item.hold = rng.choice((1, 1, 2, 3))
            features.add("slot kept while others are taken")
        if not item.early and rng.random() < 0.06:
            item.early = rng.choice((1, 2))
        last = self._free_until(nodes, index, end, item.hold)
        kind = rng.choices(("acquire", "wait", "try"), (70, 18, 12))[0]
        first = self._free_from(nodes, index, end, item.early)
        if first < index:
            before.setdefault(first, []).append(Event(Kind.WAIT, end))
            opened[index] = [Event(Kind.ACQUIRE, end)]
            features.add("waits early")
        elif kind == "acquire":
            opened[index] = [Event(Kind.ACQUIRE, end)]
        else:
            opened[index] = [*([Event(Kind.TRY, end)] if kind == "try" else []), Event(Kind.WAIT, end), Event(Kind.ACQUIRE, end)]
            features.add("wait" if kind == "wait" else "try_wait")
        opened[index] += self._copies(end)
        if rng.random() < 0.7:
            after.setdefault(last, []).append([Event(Kind.RELEASE, end)])
            return
        features.add("arrive and step")
        stepped = self._free_until(nodes, index, end, last - index + rng.choice((0, 0, 1)))
        after.setdefault(last, []).append([Event(Kind.ARRIVE, end)] + [Event(Kind.STEP, end)] * (stepped == last))
        if stepped != last:
            after.setdefault(stepped, []).append([Event(Kind.STEP, end)])

    def _copies(self, end: End) -> list[Statement]:
        rng = self.rng
        kind = Kind.COPY_EXPLICIT if rng.random() < 0.2 else Kind.COPY
        copies: list[Statement] = [Event(kind, end, tile=tile) for tile in end.tiles()]
        if copies and end.ring.kind is RingKind.PAYLOAD and rng.random() < 0.06:
            self.plan.features.add("copy under a condition")
            return [If(draw_argument_condition(rng), copies, [])]
        return copies

    def _product(self, end: End, held: list[End]) -> list[Event]:
        """A product, where an accumulator and operands are at hand, and one of them has just been taken."""
        accumulators = [other for other in held if other.ring.kind is RingKind.ACCUMULATOR and other.produces]
        operands = [other for other in held if other.ring.kind is RingKind.OPERANDS and not other.produces]
        if not accumulators or not operands or end not in (accumulators[-1], operands[-1]):
            return []
        return [Event(Kind.PRODUCT, accumulators[-1], operands=operands[-1])]

    # Handles

    def _with_closes(self, body: list[Statement]) -> list[Statement]:
        """The ends are closed when the role is done, or rarely where it has used them last."""
        ends = list(self.ends)
        self.rng.shuffle(ends)
        for end in ends:
            close = Event(Kind.CLOSE, end)
            used = [index for index, statement in enumerate(body) if touches(statement, end)]
            if used and self.rng.random() < 0.08:
                body = [*body[: used[-1] + 1], close, *body[used[-1] + 1 :]]
                self.plan.features.add("closes early")
            else:
                body = [*body, close]
        return body

    def _with_handles(self, body: list[Statement]) -> list[Statement]:
        """Handles of accumulators are made when the role begins, or rarely where it needs them first."""
        for end in self.ends:
            if end.ring.kind is not RingKind.ACCUMULATOR:
                continue
            made = [Event(Kind.CREATE, end)] if end.produces else [Event(Kind.WAIT_TENSOR_MEMORY, end), Event(Kind.CREATE, end)]
            place = 0
            if self.rng.random() < 0.1:
                place = next(index for index, statement in enumerate(body) if touches(statement, end))
                self.plan.features.add("tensor memory is handed over late")
            body = [*body[:place], *made, *body[place:]]
        return body

