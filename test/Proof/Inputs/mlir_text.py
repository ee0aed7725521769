# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes an abstract kernel in phase 2, with the function that launches it, and remembers the line of each event."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from skeleton import (
    OPERATORS,
    Condition,
    End,
    Event,
    Expression,
    If,
    Kernel,
    Kind,
    Loop,
    Name,
    Number,
    Ring,
    RingKind,
    Role,
    Statement,
    blocks_of,
    ends_in,
    events_in,
    expressions_in,
    numbers_in,
)
from states import State, Typing

TILES = {"s": "!fp8.tile<1x4xf32>", "a": "!fp8.tile<64x64xbf16, swizzle_128b>", "b": "!fp8.tile<8x64xbf16, swizzle_128b>"}
SOURCES = {"s": "memref<1x4xf32>", "a": "memref<64x64xbf16>", "b": "memref<8x64xbf16>"}
# What an end and a stage of an output pipeline are called; those of a pipeline are named after the side.
HANDLES = {True: ("mma_warp", "mma_stage"), False: ("epilogue_warp", "epilogue_stage")}
BORROWS = (Kind.TRY, Kind.COPY, Kind.COPY_EXPLICIT, Kind.PRODUCT)


def ring_type(ring: Ring) -> str:
    """The type of a ring, spelled out."""
    if ring.kind is RingKind.ACCUMULATOR:
        return f"!fp8.output_pipeline<{ring.slots}, 64x8xf32>"
    names = {RingKind.OPERANDS: "ab", RingKind.ARRIVALS: ""}.get(ring.kind, "s")
    return f"!fp8.pipeline<{', '.join([str(ring.slots), *(f'{name}: !tile_{name}' for name in names)])}>"


def type_of(end: End, state: State) -> str:
    """The type of the value that an end is in a state."""
    side = "producer" if end.produces else "consumer"
    made, stage = (side, f"{side}_stage")
    if end.ring.kind is RingKind.ACCUMULATOR and state not in (State.UNMADE, State.EVIDENCE):
        made, stage = HANDLES[end.produces]
    name = f"!{end.ring.name}"
    return {
        State.READY: f"!fp8.ready<!fp8.{made}<{name}>>",
        State.STAGE: f"!fp8.{stage}<{name}>",
        State.SIGNALLED: f"!fp8.signalled<!fp8.{stage}<{name}>>",
    }.get(state, f"!fp8.{made}<{name}>")


@dataclasses.dataclass
class Held:
    """The value that an end is at some place, and what was found out about it there."""

    value: str
    state: State
    extra: str = ""  # the evidence of wait_tmem, or the answer of try_wait


class Writer:
    """The text of one kernel: `lines`, and where each event stands."""

    def __init__(self, kernel: Kernel, typing: Typing, heading: Sequence[str] = ()):
        self.kernel, self.typing = kernel, typing
        self.lines: list[str] = [f"// {line}".rstrip() for line in heading]
        self.line_of: dict[Event, int] = {}
        self._depth, self._count = 0, 0
        self._write_module()

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    # Lines and names

    def _line(self, text: str) -> None:
        self.lines.append("  " * self._depth + text)

    @contextlib.contextmanager
    def _braces(self, opening: str, closing: str = "}") -> Iterator[None]:
        self._line(opening)
        self._depth += 1
        yield
        self._depth -= 1
        self._line(closing)

    def _fresh(self, stem: str = "v") -> str:
        self._count += 1
        return f"%{stem}_{self._count}"

    # Module, kernel, launch

    def _write_module(self) -> None:
        for name in self._tile_names():
            self._line(f"!tile_{name} = {TILES[name]}")
        for ring in self.kernel.rings:
            self._line(f"!{ring.name} = {ring_type(ring)}")
        with self._braces("module attributes {gpu.container_module} {"):
            with self._braces("gpu.module @kernels {"):
                self._write_kernel()
            self._write_launch()

    def _tile_names(self) -> list[str]:
        kinds = {ring.kind for ring in self.kernel.rings}
        return [*"s" * bool(kinds & {RingKind.PAYLOAD, RingKind.IDLE}), *"ab" * (RingKind.OPERANDS in kinds)]

    def _write_kernel(self) -> None:
        parameters = [f"%map_{name}: !fp8.tensor_map<!tile_{name}>" for name in self._tile_names()]
        parameters += [f"%{name}: index" for name in self.kernel.arguments]
        with self._braces(f"gpu.func @kernel({', '.join(parameters)}) kernel attributes {{fp8.linear}} {{"):
            for number in sorted(self._numbers()):
                self._line(f"%c{number} = arith.constant {number} : index")
            for ring in self.kernel.rings:
                self._write_ring(ring)
            for role in self.kernel.roles:
                self._write_role(role)
            self._line("gpu.return")

    def _numbers(self) -> set[int]:
        bodies = [role.body for role in self.kernel.roles]
        copied = {0 for body in bodies for event in events_in(body) if event.kind.is_copy}
        return copied | {number for body in bodies for expression in expressions_in(body) for number in numbers_in(expression)}

    def _write_ring(self, ring: Ring) -> None:
        ends = ring.ends()
        results = ", ".join(f"%{end.name}" for end in ends)
        if ring.kind is RingKind.ACCUMULATOR:
            self._line(f"{results} = fp8.output_pipeline : !{ring.name}")
        else:
            self._line(f"{results} = fp8.pipeline : {', '.join(type_of(end, State.END) for end in ends)}")

    def _write_launch(self) -> None:
        sizes = self.kernel.arguments + ["grid"] * self.kernel.persistent
        tiles = self._tile_names()
        parameters = [f'%source_{name}: {SOURCES[name]} {{fp8.name = "{name}", fp8.access = "read"}}' for name in tiles]
        parameters += [f'%size_{name}: memref<?xf32> {{fp8.name = "{name}", fp8.access = "read"}}' for name in sizes]
        with self._braces(f"func.func @launch({', '.join(parameters)}) {{"):
            self._line("%c0 = arith.constant 0 : index")
            self._line("%c1 = arith.constant 1 : index")
            self._line(f"%threads = arith.constant {32 * sum(role.warps for role in self.kernel.roles)} : index")
            for name in sizes:
                self._line(f"%{name} = memref.dim %size_{name}, %c0 : memref<?xf32>")
            for name in tiles:
                self._line(f"%map_{name} = fp8.tensor_map %source_{name} : {SOURCES[name]} -> !fp8.tensor_map<!tile_{name}>")
            arguments = [f"%map_{name} : !fp8.tensor_map<!tile_{name}>" for name in tiles] + [f"%{name} : index" for name in self.kernel.arguments]
            grid = "%grid" if self.kernel.persistent else "%c1"
            self._line(f"gpu.launch_func @kernels::@kernel blocks in ({grid}, %c1, %c1) threads in (%threads, %c1, %c1) args({', '.join(arguments)})")
            self._line("return")

    # Roles

    def _write_role(self, role: Role) -> None:
        bound = ", ".join(f"%{role.name}_{end.name} = %{end.name}" for end in role.ends)
        types = ", ".join(type_of(end, State.UNMADE if end.ring.kind is RingKind.ACCUMULATOR else State.END) for end in role.ends)
        names = {"block": "%block", "grid": "%grid"} | {name: f"%{name}" for name in self.kernel.arguments}
        held = {}
        for end in role.ends:
            state = State.UNMADE if end.ring.kind is RingKind.ACCUMULATOR else State.END
            held[end] = Held(f"%{role.name}_{end.name}", state)
        with self._braces(f'fp8.role "{role.name}" warps({role.warps}) ({bound}) : {types} {{'):
            if self.kernel.persistent:
                self._line("%block = gpu.block_id x")
                self._line("%grid = gpu.grid_dim x")
            self._write_block(role.body, held, names)

    def _write_block(self, block: list[Statement], held: dict[End, Held], names: dict[str, str]) -> None:
        for statement in block:
            if isinstance(statement, Event):
                self._write_event(statement, held)
            elif isinstance(statement, Loop):
                self._write_loop(statement, held, names)
            elif isinstance(statement, If):
                self._write_if(statement, held, names)

    # Values

    def _value(self, expression: Expression, names: dict[str, str]) -> str:
        if isinstance(expression, Name):
            return names[expression.name]
        if isinstance(expression, Number):
            return f"%c{expression.value}"
        left, right = self._value(expression.left, names), self._value(expression.right, names)
        result = self._fresh()
        self._line(f"{result} = {OPERATORS[expression.operator][1]} {left}, {right} : index")
        return result

    def _condition(self, condition: Condition, names: dict[str, str]) -> str:
        left, right = self._value(condition.left, names), self._value(condition.right, names)
        result = self._fresh()
        self._line(f"{result} = arith.cmpi {condition.predicate}, {left}, {right} : index")
        return result

    # Control flow

    @staticmethod
    def _carried(statement: Loop | If, held: dict[End, Held]) -> list[End]:
        """The ends that the statement takes and gives back; what it only borrows it captures."""
        taken = [end for end in ends_in([statement]) if end in held]
        return [end for end in taken if any(takes(block, end) for block in blocks_of(statement))]

    def _write_loop(self, loop: Loop, held: dict[End, Held], names: dict[str, str]) -> None:
        carried = self._carried(loop, held)
        lower, upper, step = (self._value(bound, names) for bound in (loop.lower, loop.upper, loop.step))
        inner = {end: Held(at.value, at.state) for end, at in held.items()}
        for end in carried:
            inner[end] = Held(self._fresh(end.name), held[end].state)
        variable = self._fresh(loop.variable)
        types = ", ".join(type_of(end, held[end].state) for end in carried)
        results = [self._fresh(end.name) for end in carried]
        start = ", ".join(f"{inner[end].value} = {held[end].value}" for end in carried)
        opening = f"{', '.join(results)} = " if carried else ""
        opening += f"scf.for {variable} = {lower} to {upper} step {step}"
        opening += f" iter_args({start}) -> ({types}) {{" if carried else " {"
        with self._braces(opening):
            self._write_block(loop.body, inner, {**names, loop.variable: variable})
            self._write_yield(carried, inner)
        for end, result in zip(carried, results):
            held[end] = Held(result, inner[end].state)

    def _write_if(self, statement: If, held: dict[End, Held], names: dict[str, str]) -> None:
        carried = self._carried(statement, held)
        condition = self._condition(statement.condition, names)
        then, otherwise = ({end: Held(at.value, at.state) for end, at in held.items()} for _ in range(2))
        results = [self._fresh(end.name) for end in carried]
        # The types are known when a branch is written: its text is put in place of a line that waits for it.
        place = len(self.lines)
        with self._braces("", "}" if not carried and not statement.otherwise else "} else {"):
            self._write_block(statement.then, then, names)
            self._write_yield(carried, then)
        types = ", ".join(type_of(end, then[end].state) for end in carried)
        opening = f"{', '.join(results)} = scf.if {condition} -> ({types}) {{" if carried else f"scf.if {condition} {{"
        self.lines[place] = "  " * self._depth + opening
        if carried or statement.otherwise:
            self._depth += 1
            self._write_block(statement.otherwise, otherwise, names)
            self._write_yield(carried, otherwise)
            self._depth -= 1
            self._line("}")
        for end, result in zip(carried, results):
            held[end] = Held(result, then[end].state)

    def _write_yield(self, carried: list[End], held: dict[End, Held]) -> None:
        if carried:
            values = ", ".join(held[end].value for end in carried)
            self._line(f"scf.yield {values} : {', '.join(type_of(end, held[end].state) for end in carried)}")

    # Events

    def _write_event(self, event: Event, held: dict[End, Held]) -> None:
        before = held[event.end]
        if event.kind is Kind.CLOSE:
            self._line(f"fp8.{closing_op(event.end)} {before.value} : {type_of(event.end, before.state)}")
            held[event.end] = Held("", State.CLOSED)
        elif event.kind is Kind.TRY:
            before.extra = self._fresh("done")
            self._line(f"{before.extra} = fp8.try_wait {before.value} : {type_of(event.end, before.state)}")
        elif event.kind is Kind.WAIT_TENSOR_MEMORY:
            before.extra, before.state = self._fresh("evidence"), State.EVIDENCE
            ready = f"!fp8.tmem_ready<!{event.end.ring.name}>"
            self._line(f"{before.extra} = fp8.wait_tmem {before.value} : {type_of(event.end, State.UNMADE)} -> {ready}")
        elif event.kind is Kind.CREATE:
            held[event.end] = self._write_create(event.end, before)
        elif event.kind.is_copy:
            self._write_copy(event, before)
        elif event.operands:
            self._write_product(event, event.operands, before, held[event.operands])
        else:
            held[event.end] = self._write_transition(event, before)
        self.line_of[event] = len(self.lines)

    def _write_create(self, end: End, before: Held) -> Held:
        made, taken = Held(self._fresh(end.name), State.END), type_of(end, State.UNMADE)
        if end.produces:
            self._line(f"{made.value} = fp8.create_mma_warp {before.value} : {taken} -> {type_of(end, State.END)}")
        else:
            types = f"{taken}, !fp8.tmem_ready<!{end.ring.name}> -> {type_of(end, State.END)}"
            self._line(f"{made.value} = fp8.create_epilogue_warp {before.value}, {before.extra} : {types}")
        return made

    def _write_copy(self, event: Event, at: Held) -> None:
        stage, tile = type_of(event.end, State.STAGE), f"!tile_{event.tile}"
        if event.kind is Kind.COPY:
            self._line(f'fp8.tma_load %map_{event.tile}[%c0, %c0], {at.value}["{event.tile}"] : !fp8.tensor_map<{tile}>, {stage}')
            return
        view, barrier = self._fresh("tile"), self._fresh("full")
        self._line(f'{view} = fp8.tile {at.value}["{event.tile}"] : {stage}')
        self._line(f"{barrier} = fp8.mbarrier {at.value} : {stage}")
        self._line(f"fp8.tma_copy %map_{event.tile}[%c0, %c0], {view}, {barrier} : !fp8.tensor_map<{tile}>, {tile}")

    def _write_product(self, event: Event, operands: End, accumulator: Held, read: Held) -> None:
        target, a, b = self._fresh("accumulator"), self._fresh("a"), self._fresh("b")
        self._line(f"{target} = fp8.accumulator {accumulator.value} : {type_of(event.end, State.STAGE)}")
        for name, value in (("a", a), ("b", b)):
            self._line(f'{value} = fp8.tile {read.value}["{name}"] : {type_of(operands, State.STAGE)}')
        self._line(f"fp8.mma {target}, {a}, {b} : !fp8.tmem<64x8xf32>, !tile_a, !tile_b")

    def _write_transition(self, event: Event, before: Held) -> Held:
        """wait, acquire, arrive, step, release: they take a value and give one."""
        state = {Kind.WAIT: State.READY, Kind.ACQUIRE: State.STAGE, Kind.ARRIVE: State.SIGNALLED}.get(event.kind, State.END)
        result = self._fresh(event.end.name)
        unless = f" unless {before.extra}" if event.kind is Kind.WAIT and before.extra else ""
        self._line(f"{result} = fp8.{event.kind.value} {before.value}{unless} : {type_of(event.end, before.state)}")
        return Held(result, state)


def closing_op(end: End) -> str:
    """The op that ends the life of an end."""
    if end.ring.kind is not RingKind.ACCUMULATOR:
        return "close"
    return "release_mma_warp" if end.produces else "release_epilogue_warp"


def takes(block: list[Statement], end: End) -> bool:
    """Whether a block consumes a handle of the end."""
    for statement in block:
        if isinstance(statement, Event):
            if statement.end == end and statement.kind not in BORROWS:
                return True
        elif any(takes(inner, end) for inner in blocks_of(statement)):
            return True
    return False
