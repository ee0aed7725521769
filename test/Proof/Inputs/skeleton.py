# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Abstract kernels: roles as trees of loops, conditions and ring events.

A kernel is what its roles do with the ends of rings, and nothing else. `mlir_text` writes it in phase 2, `oracle` runs it.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import Union

# ----------------------------------------------------------------------------------------------------------------------------------------
# Expressions: numbers that are known when the kernel is launched, or count iterations
# ----------------------------------------------------------------------------------------------------------------------------------------

# Each operator: how Python computes it, and the op of arith that does. All operands and results are natural numbers.
OPERATORS = {
    "add": ("({0} + {1})", "arith.addi"),
    "sub": ("minus({0}, {1})", "arith.subi"),
    "mul": ("({0} * {1})", "arith.muli"),
    "div": ("({0} // {1})", "arith.divui"),
    "ceildiv": ("(-(-{0} // {1}))", "arith.ceildivui"),
    "rem": ("({0} % {1})", "arith.remui"),
    "min": ("min({0}, {1})", "arith.minui"),
    "max": ("max({0}, {1})", "arith.maxui"),
}
# Each predicate of arith.cmpi in Python, and the one that holds where it does not.
PREDICATES = {"eq": "==", "ne": "!=", "ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}
NEGATIONS = {"eq": "ne", "ne": "eq", "ult": "uge", "uge": "ult", "ule": "ugt", "ugt": "ule"}


@dataclasses.dataclass(frozen=True)
class Number:
    value: int


@dataclasses.dataclass(frozen=True)
class Name:
    """A launch argument (T, U, K), the block's number and the grid's size (block, grid), or a loop's variable."""

    name: str


@dataclasses.dataclass(frozen=True)
class Operation:
    operator: str
    left: Expression
    right: Expression


Expression = Union[Number, Name, Operation]


@dataclasses.dataclass(frozen=True)
class Condition:
    predicate: str
    left: Expression
    right: Expression

    def negated(self) -> Condition:
        return Condition(NEGATIONS[self.predicate], self.left, self.right)


def python_of(expression: Expression | Condition) -> str:
    """The expression as Python."""
    if isinstance(expression, Number):
        return str(expression.value)
    if isinstance(expression, Name):
        return expression.name
    left, right = python_of(expression.left), python_of(expression.right)
    if isinstance(expression, Condition):
        return f"{left} {PREDICATES[expression.predicate]} {right}"
    return OPERATORS[expression.operator][0].format(left, right)


def names_in(expression: Expression | Condition) -> set[str]:
    """The names that an expression reads."""
    if isinstance(expression, Number):
        return set()
    if isinstance(expression, Name):
        return {expression.name}
    return names_in(expression.left) | names_in(expression.right)


# ----------------------------------------------------------------------------------------------------------------------------------------
# Rings and their ends
# ----------------------------------------------------------------------------------------------------------------------------------------


class RingKind(enum.Enum):
    PAYLOAD = "payload"  # a pipeline with one tile, which TMA fills
    OPERANDS = "operands"  # a pipeline with the two tiles of a product
    IDLE = "idle"  # a pipeline with a tile that nobody fills
    ARRIVALS = "arrivals"  # a pipeline without tiles
    ACCUMULATOR = "accumulator"  # an output pipeline

    @property
    def is_copied(self) -> bool:
        return self in (RingKind.PAYLOAD, RingKind.OPERANDS)

    @property
    def is_awaited_at_close(self) -> bool:
        """Whether closing a producer end waits until all slots came back."""
        return self not in (RingKind.ARRIVALS, RingKind.ACCUMULATOR)


@dataclasses.dataclass
class Ring:
    name: str
    kind: RingKind
    slots: int
    producers: int = 1
    consumers: int = 1

    def ends(self) -> list[End]:
        """All ends, producers first, as the op of the ring yields them."""
        return [End(self, True, i) for i in range(self.producers)] + [End(self, False, i) for i in range(self.consumers)]


@dataclasses.dataclass(frozen=True)
class End:
    ring: Ring
    produces: bool
    number: int

    @property
    def name(self) -> str:
        return f"{self.ring.name}_{'p' if self.produces else 'c'}{self.number}"

    def __hash__(self) -> int:
        return hash(self.name)

    def tiles(self) -> list[str]:
        """The tiles that this producer end fills: several producers share them out."""
        if not self.produces or not self.ring.kind.is_copied:
            return []
        names = ["a", "b"] if self.ring.kind is RingKind.OPERANDS else ["s"]
        return names if self.ring.producers == 1 else names[self.number : self.number + 1]


# ----------------------------------------------------------------------------------------------------------------------------------------
# Statements
# ----------------------------------------------------------------------------------------------------------------------------------------


class Kind(enum.Enum):
    TRY = "try_wait"
    WAIT = "wait"
    ACQUIRE = "acquire"
    COPY = "tma_load"
    COPY_EXPLICIT = "tma_copy"
    PRODUCT = "mma"
    ARRIVE = "arrive"
    STEP = "step"
    RELEASE = "release"
    WAIT_TENSOR_MEMORY = "wait_tmem"
    CREATE = "create"  # create_mma_warp or create_epilogue_warp
    CLOSE = "close"  # close, release_mma_warp or release_epilogue_warp

    @property
    def is_copy(self) -> bool:
        return self in (Kind.COPY, Kind.COPY_EXPLICIT)


@dataclasses.dataclass(eq=False)
class Event:
    kind: Kind
    end: End
    tile: str = ""  # of a copy
    operands: End | None = None  # of a product: the end whose slot it reads


@dataclasses.dataclass(eq=False)
class Item:
    """A slot that an end takes and hands over. `flattening` puts events in its place."""

    end: End
    hold: int = 0  # for how many more statements of its block it keeps the slot
    early: int = 0  # how many statements of its block earlier it waits for the slot


@dataclasses.dataclass(eq=False)
class Loop:
    variable: str
    lower: Expression
    upper: Expression
    step: Expression
    body: list[Statement]


@dataclasses.dataclass(eq=False)
class If:
    condition: Condition
    then: list[Statement]
    otherwise: list[Statement]


Statement = Union[Event, Item, Loop, If]


@dataclasses.dataclass
class Role:
    name: str
    warps: int
    ends: list[End]
    body: list[Statement]


@dataclasses.dataclass
class Kernel:
    rings: list[Ring]
    roles: list[Role]  # in the order of the text, which deals out the warps
    arguments: list[str]  # the launch arguments that it has
    persistent: bool = False  # whether loops over tiles step by the grid

    @property
    def chip(self) -> str:
        return "sm_100a" if any(ring.kind is RingKind.ACCUMULATOR for ring in self.rings) else "sm_90a"


def numbers_in(expression: Expression | Condition) -> set[int]:
    """The numbers that stand in an expression."""
    if isinstance(expression, Number):
        return {expression.value}
    if isinstance(expression, Name):
        return set()
    return numbers_in(expression.left) | numbers_in(expression.right)


def blocks_of(statement: Statement) -> list[list[Statement]]:
    """The blocks of a statement."""
    if isinstance(statement, Loop):
        return [statement.body]
    if isinstance(statement, If):
        return [statement.then, statement.otherwise]
    return []


def events_in(block: list[Statement]) -> Iterator[Event]:
    """All events of a block, those of nested blocks as well, in the order of the text."""
    for statement in block:
        if isinstance(statement, Event):
            yield statement
        for inner in blocks_of(statement):
            yield from events_in(inner)


def touches(statement: Statement, end: End) -> bool:
    """Whether a statement has to do with an end, be it that it reads its slot."""
    if isinstance(statement, Event):
        return end in (statement.end, statement.operands)
    if isinstance(statement, Item):
        return statement.end == end
    return any(touches(inner, end) for block in blocks_of(statement) for inner in block)


def ends_in(block: list[Statement]) -> list[End]:
    """The ends that a block touches, each once, in the order of the text."""
    found: dict[End, None] = {}
    for event in events_in(block):
        found[event.end] = None
        if event.operands:
            found[event.operands] = None
    return list(found)


def expressions_in(block: list[Statement]) -> Iterator[Expression | Condition]:
    """The bounds and conditions of a block, those of nested blocks as well."""
    for statement in block:
        if isinstance(statement, Loop):
            yield from (statement.lower, statement.upper, statement.step)
        elif isinstance(statement, If):
            yield statement.condition
        for inner in blocks_of(statement):
            yield from expressions_in(inner)


def names_of(block: list[Statement]) -> set[str]:
    """The names that bounds and conditions read."""
    return {name for expression in expressions_in(block) for name in names_in(expression)}
