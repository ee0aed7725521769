# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of a module: names of values, aliases of types and of locations, indentation."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .errors import Location
from .host import Host
from .ir import Function, Op, Part, Region, Value
from .kernel import Kernel
from .types import Type


class Names:
    """Names that differ from one another: the first `tile` is 'tile', the next 'tile_1'."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def make(self, hint: str, separator: str) -> str:
        name, number = hint, 0
        while name in self._taken or not name:
            name = f"{hint}{separator if hint else ''}{number + 1 if hint else number}"
            number += 1
        self._taken.add(name)
        return name


class Printer:
    """Prints one module."""

    def __init__(self, locations: bool) -> None:
        self._with_locations = locations
        self._aliases: dict[Type, str] = {}
        self._alias_lines: list[str] = []
        self._alias_names = Names()
        self._locations: dict[Location, str] = {}
        self._names: dict[int, str] = {}
        self._value_names = Names()
        self._lines: list[str] = []

    def module(self, kernels: Sequence[Kernel], hosts: Sequence[Host]) -> str:
        """Returns the text of a module of these functions."""
        self._lines = ["module attributes {gpu.container_module} {", "  gpu.module @kernels {"]
        for kernel in kernels:
            cluster = f"fp8.cluster = array<i64: {', '.join(map(str, kernel.cluster))}>, " if kernel.cluster else ""
            programmatic = ", fp8.programmatic" if kernel.programmatic else ""
            self._function(kernel, f"gpu.func @{kernel.name}", f" kernel attributes {{{cluster}fp8.linear{programmatic}}}", "gpu.return", 2)
        self._lines.append("  }")
        for host in hosts:
            self._function(host, f"func.func @{host.name}", f" attributes {{fp8.problem = {json.dumps(host.problem)}}}", "return", 1)
        self._lines.append("}")
        locations = [f"{name} = loc({json.dumps(at.file)}:{at.line}:{at.column})" for at, name in self._locations.items()]
        return "\n".join([*self._alias_lines, *self._lines, *locations, ""])

    def _function(self, function: Function, head: str, tail: str, terminator: str, depth: int) -> None:
        self._value_names = Names()
        arguments = []
        for value in function.arguments:
            access = f' {{fp8.name = "{value.hint}", fp8.access = "{function.access[value.hint]}"}}' if isinstance(function, Host) else ""
            arguments.append(f"{self._part(value, 0)}: {self.type(value.type)}{access}{self._location(value.location)}")
        indent = "  " * depth
        self._lines.append(f"{indent}{head}({', '.join(arguments)}){tail} {{")
        self._ops(function.body, depth + 1)
        self._lines.append(f"{indent}  {terminator}{self._location(function.location)}")
        self._lines.append(f"{indent}}}{self._location(function.location)}")

    def _ops(self, region: Region, depth: int) -> None:
        for op in [*region.ops, *([region.terminator] if region.terminator else [])]:
            self._lines.append("  " * depth + self._op(op, depth))

    def _op(self, op: Op, depth: int) -> str:
        results = ", ".join(self._part(result, depth) for result in op.results)
        text = "".join(self._part(part, depth) for part in op.parts)
        return f"{results} = {text}{self._location(op.location)}" if results else text + self._location(op.location)

    def _part(self, part: Part, depth: int) -> str:
        if isinstance(part, str):
            return part
        if isinstance(part, Value):
            value = part.resolve()
            if id(value) not in self._names:
                self._names[id(value)] = "%" + self._value_names.make(value.hint, "_")
            return self._names[id(value)]
        if isinstance(part, Type):
            return self.type(part)
        if isinstance(part, Region):
            return self._region(part, depth)
        return (", " if isinstance(part, list) else "").join(self._part(inner, depth) for inner in part)

    def _region(self, region: Region, depth: int) -> str:
        lines, self._lines = self._lines, []
        self._ops(region, depth + 1)
        body, self._lines = self._lines, lines
        return "\n".join(["{", *body, "  " * depth + "}"])

    def type(self, type: Type) -> str:
        """Returns the type's alias, which it makes, or its text if it has none."""
        if not type.alias:
            return type.spell(self.type)
        if type not in self._aliases:
            text = type.spell(self.type)
            self._aliases[type] = "!" + self._alias_names.make(type.alias, "_")
            self._alias_lines.append(f"{self._aliases[type]} = {text}")
        return self._aliases[type]

    def _location(self, location: Location) -> str:
        if not self._with_locations:
            return ""
        return f" loc({self._locations.setdefault(location, f'#at{len(self._locations)}')})"
