# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How regions end: what a scope yields, what a loop carries, where the arms of a branch meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .errors import Location, caller
from .ir import Function, Loop, Op, Region, Value, Variable


def like(value: Value) -> Value:
    """Returns a new value of that type and name, for a result."""
    return Value(value.function, value.type, value.hint)


def close_scope(function: Function, body: Region, first: Sequence[Value] = ()) -> list[Value]:
    """Ends a region that runs once. It yields `first`, then the variables that it changed.

    Returns:
        The results, to be given to the op, that those variables now hold.
    """
    function.close(body)
    outer, changed = function.here(), body.changed()
    results = [outer.define(like(body.bindings[variable])) for variable in changed]
    body.terminate("fp8.yield", [*first, *(body.bindings[variable] for variable in changed)])
    for variable, result in zip(changed, results):
        outer.bind(variable, result)
    return results


@dataclass
class Carried:
    """What a loop carries: the values before the loop, and the results."""

    inits: list[Value]
    results: list[Value]


def close_loop(function: Function, body: Loop, terminator: str) -> Carried:
    """Ends a region that may run again; it carries the variables that it changed.

    A variable that is of another type at the end, an end that holds a slot, say, cannot be carried. The body then uses what is outside of
    it, which the verifier refuses.
    """
    function.close(body)
    outer = function.here()
    carried, yields = Carried([], []), []
    for variable in body.carried():
        argument, before, last = body.captured[variable], outer.read(variable), body.bindings[variable]
        if last is argument or last.type != argument.type:
            argument.stand_for(before)
            continue
        yields.append(last)
        body.arguments.append(argument)
        carried.inits.append(before)
        carried.results.append(outer.define(like(argument)))
        outer.bind(variable, carried.results[-1])
    body.terminate(terminator, yields)
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
        self.before = dict(self.outer.bindings)
        self.then = Region(self.function, self.outer, "'when'")
        self.otherwise = Region(self.function, self.outer, "'otherwise'")
        self.op = Op("scf.if", [self.condition], [], {}, [self.then, self.otherwise], self.location)

    def arm(self, region: Region) -> Iterator[None]:
        """Builds one of the arms; afterwards the op is that of both, as far as they have been built."""
        self.outer.bindings.update({v: self.before[v] for v in self.results})
        self.function.open(region)
        yield
        self.function.close(region)
        self._meet()

    def _meet(self) -> None:
        arms, changed = (self.then, self.otherwise), {*self.then.changed(), *self.otherwise.changed()}
        self.before.update({v: (self.then.captured | self.otherwise.captured)[v] for v in changed})
        ends = {v: [arm.bindings.get(v, self.before[v]) for arm in arms] for v in sorted(changed, key=lambda v: v.order)}
        # What is of one type after one arm and of another after the other has no result: the verifier refuses that one arm consumes it.
        ends = {v: values for v, values in ends.items() if values[0].type == values[1].type}
        self.results = {v: self.outer.define(like(values[0])) for v, values in ends.items()}
        self.op.results = list(self.results.values())
        for number, arm in enumerate(arms):
            if arm.ops or ends or arm is self.then:
                arm.terminate("scf.yield", [values[number] for values in ends.values()])
        for variable, result in self.results.items():
            self.outer.bind(variable, result)
