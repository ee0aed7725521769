# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a kernel by its seed, and the sizes that decide about it."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random

from choreography import Plan, draw_plan
from faults import Faults
from flattening import Flattening
from oracle import Oracle
from projection import Projection
from skeleton import Expression, If, Kernel, Loop, Name, Number, Operation, Statement, names_in, names_of
from states import Malformed, Typing

FAULTY = 0.8  # the share of kernels with a planted fault; many do no harm
SHALLOW = 0.25  # the share that is kept of the kernels that hang at once, since there are so many
CALM = 0.5  # the share of roles whose loops stand as in the plan
ARGUMENTS = ("T", "U", "K")
LIMIT = 250_000  # steps that all roles do together at all points, about
PRODUCT = 1000  # of the largest sizes


@dataclasses.dataclass
class Sample:
    """A kernel, what is interesting about it, and the sizes to run it at."""

    seed: int
    kernel: Kernel
    typing: Typing
    features: list[str]
    faults: list[str]
    ranges: dict[str, list[int]]
    far: list[dict[str, int]]


def generate(seed: int) -> Sample:
    """The kernel of a seed."""
    rng = random.Random(f"kernel {seed}")
    while True:
        plan = draw_plan(rng)
        faults: list[str] = []
        parts = [Projection(rng, plan, role, calm=rng.random() < CALM).make() for role in range(plan.roles)]
        if rng.random() < FAULTY:
            planted = Faults(rng, plan, parts).plant()
            faults += [planted] if planted else []
        try:
            kernel = assemble(rng, plan, parts)
            typing = Typing(kernel)
        except Malformed:
            continue  # a fault has left a type behind that does not fit
        oracle = Oracle(kernel, typing)
        if not is_natural(oracle):
            continue
        if hangs_at_once(oracle) and rng.random() > SHALLOW:
            continue
        ranges = draw_ranges(kernel)
        shrink(ranges, oracle)
        return Sample(seed, kernel, typing, sorted(plan.features), faults, ranges, far_sizes(rng, ranges))


def is_natural(oracle: Oracle) -> bool:
    """Whether all that the kernel computes is a natural number: a fault in a bound may have made a difference negative."""
    names = oracle.kernel.arguments
    try:
        for point in itertools.product((0, 1, 2, 5, 9, 17), repeat=len(names)):
            oracle.traces(dict(zip(names, point)))
    except ArithmeticError:
        return False
    return True


def hangs_at_once(oracle: Oracle) -> bool:
    """Whether a kernel hangs without or with one iteration of one of its loops."""
    names = oracle.kernel.arguments
    return any(oracle.run({name: int(name == one) for name in names}).stuck for one in ("", *names))


def assemble(rng: random.Random, plan: Plan, parts: list[list[Statement]]) -> Kernel:
    roles = [Flattening(rng, plan, role).make(part) for role, part in enumerate(parts)]
    # Roles that read tensor memory begin at a multiple of four warps.
    roles = [role for role in roles if role.ends]
    roles.sort(key=lambda role: role.warps != 4)
    persistent = any(loop.step == Name("grid") for role in roles for loop in loops_in(role.body))
    used = {name for role in roles for name in names_of(role.body)}
    return Kernel(plan.rings, roles, [name for name in ARGUMENTS if name in used], persistent)


def loops_in(block: list[Statement]) -> list[Loop]:
    found: list[Loop] = []
    for statement in block:
        if isinstance(statement, Loop):
            found += [statement, *loops_in(statement.body)]
        elif isinstance(statement, If):
            found += loops_in(statement.then) + loops_in(statement.otherwise)
    return found


# ----------------------------------------------------------------------------------------------------------------------------------------
# Sizes
# ----------------------------------------------------------------------------------------------------------------------------------------


def draw_ranges(kernel: Kernel) -> dict[str, list[int]]:
    """The sizes that show a fault if there is one: up to one more than the slots that a bad cycle can span."""
    loops = [loop for role in kernel.roles for loop in loops_in(role.body)]
    most, together = max(ring.slots for ring in kernel.rings), sum(ring.slots for ring in kernel.rings)
    around = {name for loop in loops if loops_in(loop.body) for name in names_in(loop.upper)}
    ranges = {}
    for name in kernel.arguments:
        sizes = {size for loop in loops for size in group_sizes(loop, name)}
        if sizes:
            ranges[name] = group_range(sizes, most)
        elif name in around:
            ranges[name] = list(range(most + 5))
        else:
            ranges[name] = list(range(min(max(together + 4, 10), 16)))
    if kernel.persistent:
        ranges["grid"] = [1, 2]
    return ranges


def group_sizes(loop: Loop, argument: str) -> set[int]:
    """The numbers of the argument's trips that a loop takes at once."""
    sizes = {size for bound in (loop.lower, loop.upper) for size in divisors(bound, argument)}
    if isinstance(loop.step, Number) and argument in names_in(loop.upper):
        sizes.add(loop.step.value)
    return sizes - {1}


def divisors(expression: Expression, argument: str) -> set[int]:
    """By what an expression divides the argument, or up to which number it takes of it."""
    if not isinstance(expression, Operation):
        return set()
    found = divisors(expression.left, argument) | divisors(expression.right, argument)
    if expression.operator in ("div", "ceildiv", "rem", "min") and argument in names_in(expression):
        found |= {side.value for side in (expression.left, expression.right) if isinstance(side, Number)}
    return found


def group_range(sizes: set[int], slots: int) -> list[int]:
    """Small sizes, and those around whole groups, up to one group more than there are slots."""
    found = set(range(10))
    for size in sizes:
        for groups in range(1, slots + 3):
            found |= {size * groups + rest for rest in (-1, 0, 1, 2)}
    return sorted(found)


def shrink(ranges: dict[str, list[int]], oracle: Oracle) -> None:
    """Makes the ranges smaller until all points can be run: the smallest sizes tell most, and the largest what accumulates."""

    def steps() -> float:
        most = {name: numbers[-1] for name, numbers in ranges.items()}
        return math.prod(map(len, ranges.values())) * sum(map(len, oracle.traces(most))) / 2

    def product() -> int:
        return math.prod(numbers[-1] + 1 for name, numbers in ranges.items() if name != "grid")

    while product() > PRODUCT or steps() > LIMIT:
        name = max(ranges, key=lambda name: len(ranges[name]))
        numbers = ranges[name]
        if len(numbers) <= 6:
            return
        ranges[name] = thinned(numbers) if len(numbers) > 12 and product() <= PRODUCT else numbers[: -max(1, len(numbers) // 6)]


def thinned(numbers: list[int]) -> list[int]:
    """Every other one of the larger ones."""
    return numbers[:5] + numbers[6:-1:2] + numbers[-1:]


def far_sizes(rng: random.Random, ranges: dict[str, list[int]]) -> list[dict[str, int]]:
    """Some sizes beyond the ranges: a kernel that is right at all sizes of the ranges must be right there. One argument at a time is large."""
    names = [name for name in ranges if name != "grid"]
    found = []
    for _ in range(8 if names else 0):
        large = rng.choice(names)
        sizes = {name: rng.randint(0, 5) for name in names}
        sizes[large] = rng.randint(ranges[large][-1] + 1, ranges[large][-1] + 24)
        found.append(sizes | ({"grid": rng.randint(1, 3)} if "grid" in ranges else {}))
    return found
