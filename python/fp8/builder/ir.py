# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the builder builds: ops with regions, values, and variables whose values are threaded through regions.

The handles of the dialect are linear: an op that uses one consumes it and gives the next one back. In Python the ring, the queue or the
fragment stays the same object; behind it stands a `Variable`, whose value changes. A region that changes a variable from outside gives it
to the op around it when it ends: a loop carries it, a scope yields it, a role takes it as an argument and closes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn, Protocol, TypeVar, Union

from .errors import BuildError, Location, caller
from .types import Type

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


class Variable:
    """Something that is one object in Python and a sequence of values in the kernel.

    Attributes:
        order: Its place among what an op carries: warp handles, then what the kernel's entry makes, with the answers of a work queue behind
            the rest, then what a role holds; each in the order of making. So it does not matter which of them a body touches first.
        values: All that it has held, in order.
        spent: True once an op has consumed what it held and given nothing back: there is nothing left to close.
    """

    WARP, ENTRY, ANSWERS, HELD = range(4)

    def __init__(self, noun: str, home: Region, value: Value, order: tuple[int, int] | None = None) -> None:
        self.noun = noun
        self.home = home
        self.order = order or home.function.next(self.HELD)
        self.location = caller()
        self.initial = value if value.region else home.define(value)
        self.values: list[Value] = []
        self.spent = False
        home.bind(self, value)

    def is_closeable(self, value: Value) -> bool:
        """Returns whether a role can close what the variable holds at its end. If not, the verifier names what it has to do first."""
        return not self.spent and value.type == self.initial.type


class Attribute(str):
    """An attribute as MLIR spells it. Python's numbers, strings, lists and dictionaries need none."""


def types_of(values: Sequence[Value]) -> tuple[Type, ...]:
    """Returns the type of each value."""
    return tuple(value.type for value in values)


#: What an op takes. If one of its operands is a list, each is a segment, whose length the op records; None is an empty one.
Operands = Union[Value, Sequence[Value], None]


@dataclass(eq=False)
class Op:
    """An op. An attribute that is None or False is left out, and one that is True is a unit."""

    name: str
    operands: Sequence[Operands]
    results: Sequence[Value]
    attributes: Mapping[str, object]
    regions: Sequence[Region]
    location: Location

    def values(self) -> list[Value]:
        """Returns the operands without their segments."""
        return [value for part in self.operands for value in _segment(part)]

    def all_attributes(self) -> dict[str, object]:
        """Returns the attributes with the lengths of the operands' segments, if there are any."""
        lengths = ", ".join(str(len(_segment(part))) for part in self.operands)
        segmented = any(isinstance(part, list) for part in self.operands)
        return {**self.attributes, "operandSegmentSizes": Attribute(f"array<i32: {lengths}>") if segmented else None}


def _segment(part: Operands) -> list[Value]:
    return list(part) if isinstance(part, Sequence) else [] if part is None else [part]


class Region:
    """A block of ops that is being built, or was.

    Attributes:
        noun: What messages call it: "role 'load'", "loop".
        parent: The region around it; None for a function's body.
        arguments: What its op gives it.
        ops: Its ops, in order.
        bindings: The value of each variable that it made or touched.
        captured: What it took variables of its parent for, when it first touched them.
    """

    def __init__(self, function: Function, parent: Region | None, noun: str, arguments: Iterable[Value] = ()) -> None:
        self.function = function
        self.parent = parent
        self.noun = noun
        self.location = caller()
        self.arguments = [self.define(argument) for argument in arguments]
        self.ops: list[Op] = []
        self.bindings: dict[Variable, Value] = {}
        self.captured: dict[Variable, Value] = {}
        self.terminator: Op | None = None
        self.num_views = 0

    def define(self, value: V) -> V:
        """Makes the value one of this region: an argument, or a result of one of its ops."""
        value.region = self
        return value

    def bind(self, variable: Variable, value: Value) -> None:
        """Makes the value what the variable holds from here on."""
        self.bindings[variable] = value
        variable.values.append(value)

    def append(self, op: Op) -> None:
        for result in op.results:
            self.define(result)
        self.ops.append(op)

    def lend(self, op: Op) -> None:
        """Adds an op that lends a view of what the region was given, behind those that did so before."""
        self.append(op)
        self.ops.insert(self.num_views, self.ops.pop())
        self.num_views += 1

    def terminate(self, op: str, values: Sequence[Value] = ()) -> None:
        """Makes the last op of the region one that yields the values."""
        self.terminator = Op(op, values, [], {}, [], caller())

    def ancestors(self) -> Iterator[Region]:
        region: Region | None = self
        while region is not None:
            yield region
            region = region.parent

    def read(self, variable: Variable, *types: Type) -> Value:
        """Returns what the variable holds here.

        Args:
            variable: What is read.
            types: If it holds something else, what it last held of these types is returned: the verifier says who consumed that.

        Raises:
            BuildError: It belongs to another region, see `Function.use`.
        """
        if variable.home not in self.ancestors():
            raise BuildError(f"{variable.noun} is used outside of the {variable.home.noun} that it belongs to; use it inside",
                             ("made here", variable.location), (f"the {variable.home.noun}", variable.home.location))
        if variable not in self.bindings:
            self.captured[variable] = self.capture(variable)
            self.bind(variable, self.captured[variable])
        value = self.bindings[variable]
        return next((old for old in reversed(variable.values) if old.type in types), value) if types and value.type not in types else value

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
        self.constants: dict[tuple[Type, str], Value] = {}
        self.scopes: dict[CalledScope, None] = {}
        self.abandoned: Location | None = None
        self._made = 0

    @property
    def arguments(self) -> list[Value]:
        """Its parameters."""
        return self.body.arguments

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
        """Checks that the value is in scope in the current region; if it is not, the text does not parse, and names no line of Python."""
        region = self.here()
        if value.function is not self:
            raise BuildError(f"{value.noun} of {value.function.noun} is used in {self.noun}; pass it as an argument of the launch",
                             ("made here", value.location))
        assert value.region is not None
        if value.region not in region.ancestors():
            raise BuildError(f"{value.noun} is used outside of the {value.region.noun} that it belongs to; use it inside",
                             ("made here", value.location), (f"the {value.region.noun}", value.region.location))

    def emit(self, op: str, /, *operands: Operands, results: Sequence[Value] = (), regions: Sequence[Region] = (),
             at: Location | None = None, attributes: Mapping[str, object] = MappingProxyType({})) -> None:
        """Adds an op to the current region, at the place `at` of the caller's source, or where it calls the builder."""
        made = Op(op, operands, results, attributes, regions, at or caller())
        region = self.here()
        for value in made.values():
            if not isinstance(value, Value):
                raise BuildError(f"an operand of '{op}' is {value!r}; give a value of the kernel")
            self.use(value.resolve())
        region.append(made)

    def open(self, region: Region) -> None:
        self.current = region

    def close(self, region: Region) -> None:
        """Ends the region, which must be the current one."""
        if self.current is not region:
            raise BuildError(f"the {region.noun} ends while another scope is open; end scopes in the order opposite to their beginning",
                             (f"the {region.noun}", region.location))
        self.current = region.parent

    def op(self) -> Op:
        """Returns the function as an op."""
        raise NotImplementedError

    def finish(self) -> None:
        """Ends the function."""
        if self.abandoned:
            raise BuildError(f"a scope of {self.noun} was left by an exception; build the function anew", ("the scope", self.abandoned))
        for scope in self.scopes:
            raise BuildError(f"'{scope.name}' was called but not entered; write 'with' before it", ("called here", scope.location))
        self.close(self.body)
