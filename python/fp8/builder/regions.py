# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How regions end: what a scope yields, what a loop carries, where the arms of a branch meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .errors import BuildError, Location, caller
from .ir import Function, Unavailable, Loop, Op, Part, Region, Value, Variable
from .types import Handle, Type


def types(values: Sequence[Value]) -> list[Type]:
    return [value.type for value in values]


def arrow(values: Sequence[Value]) -> tuple[Part, ...]:
    """Returns the part of an op that names the types of its results; nothing if there are none."""
    return (" -> (", types(values), ")") if values else ()


def terminate(region: Region, name: str, values: Sequence[Value]) -> None:
    """Ends the region with an op that yields the values."""
    if values:
        region.terminator = Op([f"{name} ", list(values), " : ", types(values)], [], caller())


def like(value: Value) -> Value:
    """Returns a new value of that type and name, for a result."""
    return Value(value.function, value.type, value.hint)


def close_scope(function: Function, body: Region, first: Sequence[Value] = ()) -> list[Value]:
    """Ends a region that runs once. It yields `first`, then the variables that it changed.

    Returns:
        The results, to be given to the op, that those variables now hold.
    """
    function.close(body)
    outer = function.here()
    yields, results = list(first), []
    for variable in body.changed():
        value = body.bindings[variable]
        if isinstance(value, Unavailable):
            outer.bindings[variable] = value
            continue
        result = like(value)
        outer.bindings[variable] = outer.define(result)
        yields.append(value)
        results.append(result)
    terminate(body, "fp8.yield", yields)
    return results


@dataclass
class Carried:
    """What a loop carries: (argument of the body, value before the loop) of each, and the results."""

    inits: list[tuple[Value, str, Value]]
    results: list[Value]

    @property
    def parts(self) -> tuple[Part, ...]:
        return (" iter_args(", self.inits, ")", *arrow(self.results)) if self.inits else ()


def close_loop(function: Function, body: Loop, terminator: str) -> Carried:
    """Ends a region that may run again; it carries the variables that it changed."""
    function.close(body)
    outer = function.here()
    carried, yields = Carried([], []), []
    changed = body.changed()
    for variable in body.carried():
        argument, before = body.captured[variable], outer.read(variable)
        if variable not in changed:
            argument.stand_for(before)
            continue
        yields.append(body.final(variable, f"is consumed inside a {body.noun} that may run again, or not at all (L3); "
                                           f"consume it after the {body.noun}"))
        result = like(argument)
        outer.bindings[variable] = outer.define(result)
        carried.inits.append((argument, " = ", before))
        carried.results.append(result)
    terminate(body, terminator, yields)
    return carried


@dataclass(eq=False)
class Branch:
    """A branch that is being built, in `outer`: its arms, and the variables that one of them changes."""

    function: Function
    outer: Region
    condition: Value
    location: Location = field(default_factory=caller)
    results: dict[Variable, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.op = Op([], [], self.location)
        self.before = dict(self.outer.bindings)
        self.then = Region(self.function, self.outer, "'when'")
        self.otherwise = Region(self.function, self.outer, "'otherwise'")

    def arm(self, region: Region) -> Iterator[None]:
        """Builds one of the arms; afterwards the op is that of both, as far as they have been built."""
        held = {v: self.before[v] for v in self.results}
        self.outer.bindings.update(held)
        self.function.open(region)
        yield
        self.function.close(region)
        self._meet()

    def _meet(self) -> None:
        changed = [v for arm in (self.then, self.otherwise) for v in arm.changed()]
        for variable in changed:
            if variable not in self.results:
                self.before[variable] = self._at_start(variable)
                self.results[variable] = self.outer.define(like(self._at_end(self.then, variable)))
        self.results = dict(sorted(self.results.items(), key=lambda item: item[0].order))
        results = list(self.results.values())
        for arm in (self.then, self.otherwise):
            terminate(arm, "scf.yield", [self._at_end(arm, v) for v in self.results])
        self.op.parts = ["scf.if ", self.condition, *arrow(results), " ", self.then]
        if results or self.otherwise.ops:
            self.op.parts += [" else ", self.otherwise]
        self.op.results = results
        self.outer.bindings.update(self.results)

    def check(self) -> None:
        """Raises a BuildError if a variable is of one type after one arm and of another after the other."""
        for variable in self.results:
            ends = [self._at_end(arm, variable) for arm in (self.then, self.otherwise)]
            changed = next((end.type for end in ends if end.type != self._at_start(variable).type), None)
            if isinstance(changed, Handle) and ends[0].type != ends[1].type:
                raise BuildError(f"{variable.noun} is {changed.state} on one path but not on another (L4); do the same in both arms",
                                 ("the branch", self.location))

    def _at_start(self, variable: Variable) -> Value:
        return (self.then.captured | self.otherwise.captured)[variable]

    def _at_end(self, arm: Region, variable: Variable) -> Value:
        value = arm.bindings.get(variable, self.before[variable])
        if isinstance(value, Unavailable):
            raise BuildError(f"{variable.noun} is consumed on one path but not on another (L4); consume it after they meet",
                             (value.note, value.location), ("the branch", self.location))
        return value
