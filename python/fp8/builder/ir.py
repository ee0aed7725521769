# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the builder builds: ops with regions, values, and variables whose values are threaded through regions.

The handles of the dialect are linear: an op that uses one consumes it and gives the next one back. In Python the ring, the queue or the
fragment stays the same object; behind it stands a `Variable`, whose value changes. A region that changes a variable from outside gives it
to the op around it when it ends: a loop carries it, a scope yields it, a role takes it as an argument and closes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol, TypeVar, Union

from .errors import BuildError, Location, caller
from .types import Handle, Type

V = TypeVar("V", bound="Value")


class Value:
    """A value of the kernel: what an op computes, or what a region is given.

    Attributes:
        type: Its type in MLIR.
        location: The line of Python that made it.
    """

    def __init__(self, function: Function, type: Type, hint: str = "") -> None:
        self.function = function
        self.type = type
        self.hint = hint
        self.location = caller()
        self.region: Region | None = None
        self._stands_for: Value | None = None

    def resolve(self) -> Value:
        """Returns the value that it stands for: itself, or what a region captured that never changed it."""
        return self if self._stands_for is None else self._stands_for.resolve()

    def stand_for(self, other: Value) -> None:
        self._stands_for = other

    @property
    def noun(self) -> str:
        return f"{self.type.noun} '{self.hint}'" if self.hint else self.type.noun

    def __repr__(self) -> str:
        return f"<{self.noun}: {self.type}, made at {self.location}>"

    def __bool__(self) -> bool:
        raise BuildError(f"{self.noun} is not known while the kernel is built; branch on it by 'with kernel.when(...)'",
                         ("made here", self.location))

    def __iter__(self) -> NoReturn:
        raise BuildError(f"{self.noun} cannot be iterated over in Python; loop over it by 'with kernel.range(...)'",
                         ("made here", self.location))


@dataclass(frozen=True)
class Unavailable:
    """Stands in place of a variable's value where the variable cannot be used.

    Attributes:
        why: What is wrong with using the variable now, the rule and the cure.
        note: What stands at `location`, the cause.
    """

    why: str
    note: str
    location: Location


class Variable:
    """Something that is one object in Python and a sequence of values in the kernel.

    Attributes:
        order: Its place among what an op carries: warp handles, then what the kernel's entry makes, with the answers of a work queue behind
            the rest, then what a role holds; each in the order of making. So it does not matter which of them a body touches first.
    """

    WARP, ENTRY, ANSWERS, HELD = range(4)

    def __init__(self, noun: str, home: Region, value: Value, order: tuple[int, int] | None = None) -> None:
        self.noun = noun
        self.home = home
        self.order = order or home.function.next(self.HELD)
        self.location = caller()
        self.initial = value if value.region else home.define(value)
        home.bindings[self] = value


#: What the text of an op is made of: a string, a value, a type, a region, a tuple of parts, which follow one another, or a list of them, with commas between.
Part = Union[str, Value, Type, "Region", tuple["Part", ...], Sequence["Part"]]


@dataclass(eq=False)
class Op:
    """An op: its text in parts, and its results."""

    parts: list[Part]
    results: list[Value]
    location: Location


class Region:
    """A block of ops that is being built, or was.

    Attributes:
        noun: What messages call it: "role 'load'", "loop".
        parent: The region around it; None for a function's body.
        ops: Its ops, in order.
        bindings: The value of each variable that it made or touched.
        captured: What it took variables of its parent for, when it first touched them.
        obligations: Values that an op in this region has to consume, each with what does.
    """

    def __init__(self, function: Function, parent: Region | None, noun: str) -> None:
        self.function = function
        self.parent = parent
        self.noun = noun
        self.location = caller()
        self.ops: list[Op] = []
        self.bindings: dict[Variable, Value | Unavailable] = {}
        self.captured: dict[Variable, Value] = {}
        self.obligations: list[tuple[Value, str]] = []
        self.terminator: Op | None = None
        self.num_views = 0

    def define(self, value: V) -> V:
        """Makes the value one of this region: an argument, or a result of one of its ops."""
        value.region = self
        return value

    def append(self, op: Op) -> None:
        for result in op.results:
            self.define(result)
        self.ops.append(op)

    def lend(self, op: Op) -> None:
        """Adds an op that lends a view of what the region was given, behind those that did so before."""
        self.append(op)
        self.ops.insert(self.num_views, self.ops.pop())
        self.num_views += 1

    def ancestors(self) -> Iterator[Region]:
        region: Region | None = self
        while region is not None:
            yield region
            region = region.parent

    def read(self, variable: Variable) -> Value:
        """Returns what the variable holds here.

        Raises:
            BuildError: It was made in another region, or what it held has been consumed.
        """
        if variable.home not in self.ancestors():
            label = " (L2)" if variable.initial.type.linear else ""
            raise BuildError(f"{variable.noun} is used outside of the {variable.home.noun} that it belongs to{label}; use it inside",
                             ("made here", variable.location), (f"the {variable.home.noun}", variable.home.location))
        value = self.bindings.get(variable)
        if value is None:
            value = self.captured[variable] = self.bindings[variable] = self.capture(variable)
        if isinstance(value, Unavailable):
            raise BuildError(f"{variable.noun} {value.why}", (value.note, value.location))
        return value

    def capture(self, variable: Variable) -> Value:
        """Takes a variable of the parent into this region."""
        assert self.parent is not None
        return self.parent.read(variable)

    def changed(self) -> list[Variable]:
        """The parent's variables that hold something else at the region's end."""
        return [v for v in self.carried() if self.bindings[v] is not self.captured[v]]

    def carried(self) -> list[Variable]:
        """The parent's variables that it has touched."""
        return sorted(self.captured, key=lambda variable: variable.order)

    def final(self, variable: Variable, why: str) -> Value:
        """Returns what the variable holds at the region's end, which must be of the type that it came with; `why` says what is wrong if it has no value then."""
        value, before = self.bindings[variable], self.captured[variable]
        if isinstance(value, Unavailable):
            raise BuildError(f"{variable.noun} {why}", (value.note, value.location), (f"the {self.noun}", self.location))
        if isinstance(value.type, Handle) and value.type != before.type:
            state = value.type.state
            cure = {"acquired": "release it in", "waited for": "acquire it in"}.get(state, "do it after")
            raise BuildError(f"{variable.noun} is {state} in a {self.noun} that may run again, or not at all (L3); {cure} the {self.noun}",
                             (f"{state} here", value.location))
        return value


class Loop(Region):
    """A region that may run again, or not at all: what it changes is carried."""

    def capture(self, variable: Variable) -> Value:
        outside = super().capture(variable)
        return self.define(Value(self.function, outside.type, outside.hint))


class CalledScope(Protocol):
    """A scope that was made by a call, to be entered by `with`."""

    name: str
    location: Location


class Function:
    """A kernel or a host function while it is built.

    Attributes:
        name: Its symbol.
        noun: What messages call it.
        body: Its entry block.
        current: The region that ops are added to; None while the function is not open.
        arguments: Its parameters.
        constants: The constants of the entry block, by type and text.
        scopes: Scopes that were made and not yet entered, in order.
        abandoned: The scope that an exception left, if any.
    """

    def __init__(self, name: str, noun: str) -> None:
        self.name = name
        self.noun = noun
        self.location = caller()
        self.body = Region(self, None, noun)
        self.current: Region | None = None
        self.arguments: list[Value] = []
        self.constants: dict[tuple[Type, str], Value] = {}
        self.scopes: dict[CalledScope, None] = {}
        self.abandoned: Location | None = None
        self._made = 0

    def next(self, kind: int) -> tuple[int, int]:
        """Returns the order of a variable of that kind that is made now."""
        self._made += 1
        return kind, self._made

    def here(self) -> Region:
        """Returns the region that ops are added to.

        Raises:
            BuildError: The function is not open.
        """
        if self.current is None:
            raise BuildError(f"an op stands outside of {self.noun}; put it inside its 'with'", (self.noun, self.location))
        return self.current

    def use(self, value: Value) -> None:
        """Checks that the value may be used in the current region."""
        region = self.here()
        if value.function is not self:
            raise BuildError(f"{value.noun} of {value.function.noun} is used in {self.noun}; pass it as an argument of the launch",
                             ("made here", value.location))
        assert value.region is not None
        if value.region not in region.ancestors():
            raise BuildError(f"{value.noun} is used outside of the {value.region.noun} that it belongs to (L2); use it inside",
                             ("made here", value.location), (f"the {value.region.noun}", value.region.location))

    def emit(self, *parts: Part, results: Iterable[Value] = ()) -> None:
        """Adds an op, of these parts, that defines these results, to the current region."""
        region = self.here()
        for value in _values(parts):
            self.use(value)
        region.append(Op(list(parts), list(results), caller()))

    def open(self, region: Region) -> None:
        self.current = region

    def close(self, region: Region) -> None:
        """Ends the region, which must be the current one.

        Raises:
            BuildError: Another one is, or what the region had to consume is left.
        """
        if self.current is not region:
            raise BuildError(f"the {region.noun} ends while another scope is open; end scopes in the order opposite to their beginning",
                             (f"the {region.noun}", region.location))
        for value, cure in region.obligations:
            raise BuildError(f"{value.noun} is never consumed (L1); {cure}", ("made here", value.location))
        self.current = region.parent

    def finish(self) -> None:
        """Ends the function."""
        if self.abandoned:
            raise BuildError(f"a scope of {self.noun} was left by an exception; build the function anew", ("the scope", self.abandoned))
        for scope in self.scopes:
            raise BuildError(f"'{scope.name}' was called but not entered; write 'with' before it", ("called here", scope.location))
        self.close(self.body)


def _values(parts: Part) -> Iterator[Value]:
    if isinstance(parts, Value):
        yield parts.resolve()
    elif isinstance(parts, (list, tuple)):
        for part in parts:
            yield from _values(part)
