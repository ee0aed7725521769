# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants one fault into the parts of the roles. Whether it does harm only the oracle can tell."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from choreography import Plan, draw_argument_condition, draw_condition
from skeleton import Condition, Expression, If, Item, Loop, Name, Number, Operation, Statement, blocks_of, expressions_in


N = TypeVar("N", bound=Statement)


@dataclasses.dataclass
class Place(Generic[N]):
    """A node in a block, with the loops around it."""

    node: N
    block: list[Statement]
    index: int
    loops: list[Loop]


def places_in(block: list[Statement], kind: type[N], loops: tuple[Loop, ...] = ()) -> Iterator[Place[N]]:
    """All nodes of a kind in a block, and in the blocks of its nodes."""
    for index, node in enumerate(block):
        if isinstance(node, kind):
            yield Place(node, block, index, list(loops))
        for inner in blocks_of(node):
            yield from places_in(inner, kind, (*loops, node) if isinstance(node, Loop) else loops)


class Faults:
    """The faults that can be planted in the parts of a plan's roles."""

    def __init__(self, rng: random.Random, plan: Plan, parts: list[list[Statement]]):
        self.rng, self.plan, self.parts = rng, plan, parts

    def plant(self) -> str | None:
        """Plants one; gives its name, or None where the parts have no place for what was drawn."""
        fault = self.rng.choice(self.all())
        return fault.__name__.replace("_", " ") if fault() else None

    def all(self) -> list[Callable[[], bool]]:
        return [
            *[self.other_bound, self.transfer_under_condition, self.neighbours_exchanged, self.transfer_elsewhere] * 2,
            *[self.other_number_in_condition, self.branches_exchanged, self.fewer_slots, self.slot_kept_longer, self.out_of_the_loop],
            *[self.transfer_dropped, self.transfer_twice, self.tile_skipped, self.slot_left, self.slot_left],
        ]

    def _places(self, kind: type[N]) -> list[Place[N]]:
        return [place for part in self.parts for place in places_in(part, kind)]

    def _draw(self, kind: type[N], such: Callable[[Place[N]], bool] = lambda place: True) -> Place[N] | None:
        places = [place for place in self._places(kind) if such(place)]
        return self.rng.choice(places) if places else None

    # Loops and conditions

    def other_bound(self) -> bool:
        place = self._draw(Loop)
        if not place:
            return False
        loop = place.node
        bounds = self._other_bounds(loop.upper)
        if not bounds:
            return False
        loop.upper = self.rng.choice(bounds)
        return True

    def _other_bounds(self, bound: Expression) -> list[Expression]:
        if isinstance(bound, Number):
            return [Number(bound.value + 1), Number(max(bound.value - 1, 0))]
        if isinstance(bound, Name):
            others = [Name(name) for name in ("T", "U") if name != bound.name]
            return [*others, Operation("min", bound, Number(3)), Operation("max", bound, Number(1)), Operation("add", bound, ONE)]
        swapped = {"ceildiv": "div", "div": "ceildiv", "min": "max"}.get(bound.operator)
        if swapped == "max" and isinstance(bound.right, Operation):
            return [bound.left]  # a whole group instead of what is left of it
        found: list[Expression] = [Operation(swapped, bound.left, bound.right)] if swapped else []
        if isinstance(bound.right, Number) and bound.right.value > 1:
            found.append(Operation(bound.operator, bound.left, Number(bound.right.value - 1)))
        return found

    def other_number_in_condition(self) -> bool:
        place = self._draw(If, lambda place: isinstance(place.node.condition.right, Number))
        if not place:
            return False
        condition = place.node.condition
        assert isinstance(condition.right, Number)
        value = condition.right.value
        changed = value + 1 if value == 0 or self.rng.random() < 0.5 else value - 1
        # What a lag's guard subtracts must not become negative.
        if condition.predicate == "uge" and changed < value and subtracts(place.node):
            changed = value + 1
        place.node.condition = Condition(condition.predicate, condition.left, Number(changed))
        return True

    def branches_exchanged(self) -> bool:
        place = self._draw(If, lambda place: not subtracts(place.node))
        if not place:
            return False
        place.node.condition = place.node.condition.negated()
        return True

    def tile_skipped(self) -> bool:
        """A role that skips a tile."""
        place = self._draw(Loop, lambda place: any(isinstance(node, Loop) for node in place.node.body))
        if not place:
            return False
        loop = place.node
        loop.body = [If(draw_condition(self.rng, loop.variable, loop.upper), loop.body, [])]
        return True

    # Transfers

    def transfer_under_condition(self) -> bool:
        place = self._draw(Item)
        if not place:
            return False
        loop = self.rng.choice(place.loops) if place.loops and self.rng.random() < 0.75 else None
        condition = draw_condition(self.rng, loop.variable, loop.upper) if loop else draw_argument_condition(self.rng)
        place.block[place.index] = If(condition, [place.node], [])
        return True

    def transfer_dropped(self) -> bool:
        """Of an end that is used elsewhere, too: one that is not is refused."""
        ends = [place.node.end for place in self._places(Item)]
        place = self._draw(Item, lambda place: ends.count(place.node.end) > 1)
        if not place:
            return False
        del place.block[place.index]
        return True

    def transfer_twice(self) -> bool:
        place = self._draw(Item)
        if not place:
            return False
        place.block.insert(self.rng.randint(0, len(place.block)), Item(place.node.end))
        return True

    def slot_left(self) -> bool:
        """A last slot that nobody empties, of a ring whose producer does not wait for it when it closes."""
        places = [(part, place.node.end) for part in self.parts for place in places_in(part, Item)]
        places = [(part, end) for part, end in places if end.produces and end.ring.producers == 1 and not end.ring.kind.is_awaited_at_close]
        if not places:
            return False
        part, end = self.rng.choice(places)
        item: Statement = Item(end)
        part.append(item if self.rng.random() < 0.5 else If(draw_argument_condition(self.rng), [item], []))
        return True

    def neighbours_exchanged(self) -> bool:
        blocks = [block for part in self.parts for block in all_blocks(part) if len(block) > 1]
        if not blocks:
            return False
        block = self.rng.choice(blocks)
        index = self.rng.randrange(len(block) - 1)
        block[index], block[index + 1] = block[index + 1], block[index]
        return True

    def transfer_elsewhere(self) -> bool:
        place = self._draw(Item, lambda place: len(place.block) > 2)
        if not place:
            return False
        item = place.block.pop(place.index)
        place.block.insert(self.rng.randint(0, len(place.block)), item)
        return True

    def out_of_the_loop(self) -> bool:
        place = self._draw(Loop, lambda place: sum(isinstance(node, Item) for node in place.node.body) > 0 and len(place.node.body) > 1)
        if not place:
            return False
        item = self.rng.choice([node for node in place.node.body if isinstance(node, Item)])
        place.node.body.remove(item)
        place.block.insert(place.index + self.rng.randint(0, 1), item)
        return True

    # Slots

    def fewer_slots(self) -> bool:
        rings = [ring for ring in self.plan.rings if ring.slots > 1]
        if not rings:
            return False
        self.rng.choice(rings).slots -= 1
        return True

    def slot_kept_longer(self) -> bool:
        place = self._draw(Item, lambda place: place.index + 1 < len(place.block))
        if not place:
            return False
        place.node.hold = len(place.block)
        return True


ONE = Number(1)


def all_blocks(block: list[Statement]) -> Iterator[list[Statement]]:
    """A block, and all that are nested in it."""
    yield block
    for node in block:
        for inner in blocks_of(node):
            yield from all_blocks(inner)


def subtracts(node: If) -> bool:
    """Whether something in it is computed by a subtraction: there the condition keeps it from becoming negative."""
    return any(has_difference(expression) for expression in expressions_in([node]))


def has_difference(expression: Expression | Condition) -> bool:
    if isinstance(expression, Condition):
        return has_difference(expression.left) or has_difference(expression.right)
    if not isinstance(expression, Operation):
        return False
    return expression.operator == "sub" or has_difference(expression.left) or has_difference(expression.right)
