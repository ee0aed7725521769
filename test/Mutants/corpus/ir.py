# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR in the generic form as the operators see it: ops, values with their types, what is in scope, what lends what.

The generic form writes each op on one line, or with its regions between a first and a last line, its operands in parentheses and its
types at the end; an edit of one line leaves a module that parses.
"""

import dataclasses
import re

OP = re.compile(r'^(\s*)(?:(%[\w$.-]+)(?::(\d+))? = )?"([\w.]+)"\(([^)]*)\)(.*)$')
LINEAR = re.compile(r"!fp8\.(producer|consumer|mma|epilogue|ready|signalled|tmem_ready|store_queue|work)|!store_queue")
LENDS = {"fp8.tile", "fp8.accumulator", "fp8.mbarrier", "fp8.index", "fp8.try_wait"}


@dataclasses.dataclass
class Op:
    line: int
    last: int  # of its last line
    indent: str
    result: str
    count: int
    name: str
    operands: list
    rest: str
    block: int  # the line that begins its block
    types: tuple = ()  # of operands, of results

    def results(self):
        if not self.result:
            return []
        return [self.result] if self.count == 1 else [f"{self.result}#{n}" for n in range(self.count)]

    def text(self, operands=None, name=None, rest=None, result=None):
        result = self.result if result is None else result
        given = f"{result}{f':{self.count}' if self.count > 1 else ''} = " if result else ""
        return f'{self.indent}{given}"{name or self.name}"({", ".join(operands or self.operands)}){rest or self.rest}'


def split_types(text):
    found, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "<([{") - (char in ">)]}" and text[place - 1] != "-")
        if char == "," and not depth:
            found.append(text[start:place].strip())
            start = place + 1
    return found + ([text[start:].strip()] if text[start:].strip() else [])


def signature(rest):
    """The types after the last `: (` of an op."""
    depth = 0
    arrow = rest.rfind(" -> ")
    before, after = rest[:arrow], rest[arrow + 4:].strip()
    for place in range(len(before) - 1, -1, -1):
        depth += (before[place] == ")") - (before[place] == "(")
        if not depth:
            break
    results = after[1:-1] if after.startswith("(") else after
    return split_types(before[place + 1:-1]), split_types(results)


class Module:
    def __init__(self, text):
        self.lines = text.split("\n")
        self.aliases = dict(re.findall(r"^(!\w+) = (.*)$", text, re.M))
        self.ops, self.at, self.types, self.defined = [], {}, {}, {}
        self.parents = {}  # a block's line, and that of the op around it
        open_ops, blocks = [], [0]
        for number, line in enumerate(self.lines):
            label = re.match(r"^\s*\^\w+(?:\((.*)\))?:", line)
            found = OP.match(line)
            if label:
                if open_ops and open_ops[-1]["blocks"]:
                    blocks.pop()
                self.begin(number, open_ops, blocks)
                for argument in split_types(label[1] or ""):
                    name, kind = argument.split(": ", 1)
                    self.define(name, kind, number, number)
            elif re.match(r"^\s*\}", line):
                if open_ops[-1]["blocks"]:
                    blocks.pop()
                open_ops[-1]["blocks"] = 0
                if not line.rstrip().endswith("({") and not line.rstrip().endswith("{"):
                    self.close(open_ops.pop()["op"], number, line)
            if found and not label:
                if open_ops and not open_ops[-1]["blocks"]:
                    self.begin(number, open_ops, blocks)
                self.add(found, number, open_ops, blocks)
        self.kernel = next(op for op in self.ops if op.name == "gpu.func")

    def begin(self, number, open_ops, blocks):
        blocks.append(number)
        open_ops[-1]["blocks"] += 1
        self.parents[number] = open_ops[-1]["op"]

    def add(self, found, number, open_ops, blocks):
        operands = [o.strip() for o in found[5].split(",") if o.strip()]
        op = Op(number, number, found[1], found[2] or "", int(found[3] or 1), found[4], operands, found[6], blocks[-1])
        self.ops.append(op)
        self.at[number] = op
        if op.rest.rstrip().endswith("({"):
            open_ops.append({"op": op, "blocks": 0})
        else:
            self.close(op, number, op.rest)

    def close(self, op, number, line):
        op.last = number
        op.types = signature(line)
        for name, kind in zip(op.results(), op.types[1]):
            self.define(name, kind, op.last, op.block)

    def define(self, name, kind, line, block):
        self.types[name] = self.expand(kind)
        self.defined[name] = (line, block)

    def expand(self, kind):
        while any(alias in kind for alias in self.aliases):
            kind = re.sub(r"!\w+\b(?!\.)", lambda m: self.aliases.get(m[0], m[0]), kind)
        return kind

    def is_linear(self, value):
        return bool(LINEAR.search(self.types.get(value, "")))

    def inside_kernel(self):
        return [op for op in self.ops if self.kernel.line < op.line < self.kernel.last]

    def maker(self, value):
        name = value.split("#")[0]
        return next((op for op in self.ops if op.result == name), None)

    def visible(self, op):
        """Values that `op` may use, the nearest first."""
        blocks, block = set(), op.block
        while block in self.parents:
            blocks.add(block)
            block = self.parents[block].block
        seen = [(line, value) for value, (line, b) in self.defined.items() if b in blocks and line < op.line]
        return [value for _, value in sorted(seen, key=lambda pair: (-pair[0], pair[1]))]

    def alternatives(self, op, value):
        return [v for v in self.visible(op) if v != value and self.types[v] == self.types[value]]

    def uses(self, values):
        return [op for op in self.ops if set(op.operands) & set(values)]

    def root(self, value):
        """The handle that lends a value, or the value."""
        maker = self.maker(value)
        return self.root(maker.operands[0]) if maker and maker.name in LENDS and maker.operands else value

    def touched(self, op):
        """Handles and memory that an op, or what is in it, works on."""
        inside = [o for o in self.ops if op.line <= o.line <= op.last]
        return {self.root(v) for o in inside for v in o.operands if self.is_linear(self.root(v))}

    def edit(self, changes, rename=None):
        """The text with lines replaced, {line: [lines]}, and then values renamed, in the lines from a place on."""
        lines = []
        for number, line in enumerate(self.lines):
            new = changes.get(number, [line])
            if rename and number >= rename[0]:
                new = [replace_values(text, rename[1]) for text in new]
            lines += new
        return "\n".join(lines)


def replace_values(text, names):
    return re.sub(r"%[\w$.-]+(#\d+)?", lambda m: names.get(m[0], m[0]), text)
