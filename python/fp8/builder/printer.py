# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of a module: names of values, aliases of types and of locations."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .errors import Location
from .ir import Attribute, Function, Op, Region, Value, types_of
from .types import FunctionType, Type


class Names:
    """Names that differ from one another: the first `tile` is 'tile', the next 'tile_1'."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def make(self, hint: str) -> str:
        name, number = hint, 0
        while name in self._taken or not name:
            name = f"{hint}_{number + 1}" if hint else str(number)
            number += 1
        self._taken.add(name)
        return name


class Printer:
    """Prints one module, each op in the generic form, which is the same for all ops of all dialects."""

    def __init__(self) -> None:
        self._aliases: dict[Type, str] = {}
        self._alias_lines: list[str] = []
        self._alias_names = Names()
        self._locations: dict[Location, str] = {}
        self._names: dict[int, str] = {}
        self._value_names = Names()

    def module(self, kernels: Sequence[Function], hosts: Sequence[Function]) -> str:
        """Returns the text of a module of these functions."""
        lines = ["module attributes {gpu.container_module} {", "gpu.module @kernels {", *map(self._function, kernels), "}",
                 *map(self._function, hosts), "}"]
        locations = [f"{name} = loc({self._attribute(at.file)}:{at.line}:{at.column})" for at, name in self._locations.items()]
        return "\n".join([*self._alias_lines, *lines, *locations, ""])

    def _function(self, function: Function) -> str:
        self._value_names = Names()
        return self._op(function.op())

    def _op(self, op: Op) -> str:
        results, operands = ", ".join(map(self._value, op.results)), [value.resolve() for value in op.values()]
        regions = f" ({', '.join(map(self._region, op.regions))})" if op.regions else ""
        attributes = self._attribute(op.all_attributes())
        type = self.type(FunctionType(types_of(operands), types_of(op.results)))
        text = f'"{op.name}"({", ".join(map(self._value, operands))}){regions} {attributes} : {type}{self._location(op.location)}'
        return f"{results} = {text}" if results else text

    def _attribute(self, value: object) -> str:
        if isinstance(value, Attribute):
            return value
        if isinstance(value, Type):
            return self.type(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self._attribute, value))}]"
        if isinstance(value, dict):
            there = {key: item for key, item in value.items() if item is not None and item is not False}
            return "{" + ", ".join(key if item is True else f"{key} = {self._attribute(item)}" for key, item in there.items()) + "}"
        return json.dumps(value, ensure_ascii=False)

    def _value(self, value: Value) -> str:
        value = value.resolve()
        if id(value) not in self._names:
            self._names[id(value)] = "%" + self._value_names.make(value.hint)
        return self._names[id(value)]

    def _region(self, region: Region) -> str:
        arguments = ", ".join(f"{self._value(value)}: {self.type(value.type)}{self._location(value.location)}" for value in region.arguments)
        ops = [*region.ops, *([region.terminator] if region.terminator else [])]
        return "\n".join(["{", *([f"^bb0({arguments}):"] if arguments else []), *map(self._op, ops), "}"])

    def type(self, type: Type) -> str:
        """Returns the type's alias, which it makes, or its text if it has none."""
        if not type.alias:
            return type.spell(self.type)
        if type not in self._aliases:
            text = type.spell(self.type)
            self._aliases[type] = "!" + self._alias_names.make(type.alias)
            self._alias_lines.append(f"{self._aliases[type]} = {text}")
        return self._aliases[type]

    def _location(self, location: Location) -> str:
        return f" loc({self._locations.setdefault(location, f'#at{len(self._locations)}')})"
