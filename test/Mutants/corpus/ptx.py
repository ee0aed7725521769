# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PTX text as the operators see it: instructions, guards, what stands next to what, and edits that keep the text well formed."""

import dataclasses
import functools
import re

WORD = re.compile(r"%[\w$]+")
INSTRUCTION = re.compile(r"^\s*(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*(.*?);\s*$")

# Instructions that only compute: a copy of one is a computation more.
PURE = re.compile(r"(add|sub|mul|mad|and|or|xor|not|shl|shr|bfe|selp|setp|min|max|mov|cvt|mapa|cvta|ld\.param)\b")


@dataclasses.dataclass
class Instruction:
    line: int
    negated: bool
    guard: str  # the predicate, or ""
    mnemonic: str
    operands: str

    @property
    def arguments(self):
        """Operands, split at commas outside brackets."""
        found, depth, start = [], 0, 0
        for place, char in enumerate(self.operands):
            depth += (char in "[{") - (char in "]}")
            if char == "," and not depth:
                found.append(self.operands[start:place].strip())
                start = place + 1
        return found + [self.operands[start:].strip()]

    def defines(self):
        if not self.operands or re.match(r"(st|bra|bar|red|fence|cp|tcgen05\.(mma|commit|dealloc|st))\b", self.mnemonic):
            return []
        first = self.arguments[0]
        return [] if first.startswith("[") else WORD.findall(first)

    def uses(self):
        rest = self.operands if not self.defines() else ",".join(self.arguments[1:])
        return WORD.findall(rest) + ([self.guard] if self.guard else [])

    def text(self, mnemonic=None, arguments=None, guard=None):
        at = f"@{'!' if self.negated else ''}{self.guard} " if self.guard else ""
        at = at if guard is None else guard
        operands = self.operands if arguments is None else ", ".join(arguments)
        return f"\t{at}{mnemonic or self.mnemonic} {operands}".rstrip() + ";"


@dataclasses.dataclass
class Region:
    """What a forward branch jumps over: lines [first, last), executed where `taken` is false."""

    branch: int
    last: int
    predicate: str
    taken_if: bool

    def __contains__(self, line):
        return self.branch < line < self.last

    def prefix(self):
        return f"@{'!' if self.taken_if else ''}{self.predicate} "


class Program:
    def __init__(self, text):
        self.lines = text.split("\n")
        self.at = {}
        self.labels = {}
        self.definitions = {}
        for number, line in enumerate(self.lines):
            label = re.match(r"^(\$\w+):", line)
            found = INSTRUCTION.match(line)
            if label:
                self.labels[label[1]] = number
            elif found and not line.strip().startswith("."):
                instruction = Instruction(number, found[1] == "!", found[2] or "", found[3], found[4])
                self.at[number] = instruction
                for register in instruction.defines():
                    self.definitions.setdefault(register, []).append(instruction)
        self.order = sorted(self.at)
        self.issuing = self.derived(lambda i: i.mnemonic.startswith("elect"), PREDICATES)
        self.regions = [r for r in map(self.region, self.order) if r]

    def derived(self, start, through):
        """Registers computed from what `start` defines, by instructions that `through` names."""
        found = {r for i in self.at.values() if start(i) for r in i.defines() if r.startswith("%p")}
        while True:
            more = {r for i in self.at.values() if through.match(i.mnemonic) and found & set(i.uses()) for r in i.defines()}
            if more <= found:
                return found
            found |= more

    def region(self, line):
        branch = self.at[line]
        if branch.mnemonic not in ("bra", "bra.uni") or not branch.guard:
            return None
        target = self.labels[branch.operands.strip()]
        return Region(line, target, branch.guard, not branch.negated) if target > line else None

    def issued_by_one(self, line):
        """The innermost region around a line that one lane enters."""
        around = [r for r in self.regions if line in r and r.predicate in self.issuing]
        return min(around, key=lambda r: r.last - r.branch, default=None)

    def sources(self, registers):
        """All that these registers are computed from."""
        seen, todo = set(), list(registers)
        while todo:
            register = todo.pop()
            if register not in seen:
                seen.add(register)
                todo += [u for i in self.definitions.get(register, []) if PURE.match(i.mnemonic) for u in i.uses()]
        return seen

    def follows(self, line, wanted):
        """Whether an instruction that is wanted may execute after one, outside the loop of a wait."""
        seen, todo = set(), [line + 1]
        while todo:
            at = todo.pop()
            while at < len(self.lines) and at not in seen:
                seen.add(at)
                i = self.at.get(at)
                if i and wanted(i):
                    return True
                if i and i.mnemonic in ("bra", "bra.uni"):
                    todo.append(self.labels[i.operands.strip()])
                if i and (i.mnemonic == "ret" or i.mnemonic in ("bra", "bra.uni") and not i.guard):
                    break
                at += 1
        return False

    def recomputed(self, instructions, first, last):
        """Copies of what stands in [first, last) and computes the operands of `instructions`; None where that is no copy."""
        needed, copies = set(), []
        for instruction in instructions:
            needed |= set(instruction.uses())
        for line in range(last - 1, first - 1, -1):
            instruction = self.at.get(line)
            if not instruction or not needed & set(instruction.defines()):
                continue
            once = all(len(self.definitions[r]) == 1 for r in instruction.defines())
            if not PURE.match(instruction.mnemonic) or not once or instruction.guard:
                return None
            needed |= set(instruction.uses())
            copies.insert(0, self.lines[line])
        return copies

    def edit(self, changes):
        """Makes the text with lines replaced, {line: [lines]}, when it is called. Registers %mutant, of each kind, may be used."""
        return functools.partial(self.build, changes)

    def build(self, changes):
        lines = []
        for number, line in enumerate(self.lines):
            lines += changes.get(number, [line])
        place = next(n for n, line in enumerate(lines) if re.match(r"\s*\.reg \.b32", line))
        lines[place:place] = ["\t.reg .b32 %mutant;", "\t.reg .b16 %mutant_h;", "\t.reg .b64 %mutant_d;", "\t.reg .pred %mutant_p;"]
        return "\n".join(lines)


PREDICATES = re.compile(r"(not|and|or)\.pred")


@dataclasses.dataclass
class Unit:
    """An instruction that moves as a whole: a wait with its loop, or one line."""

    first: int
    last: int  # after it
    region: Region  # that one lane enters, or None
    instruction: Instruction

    def outer(self):
        return self.region.branch if self.region else self.first


def segments(program, is_protocol):
    """Runs of units that execute one after another, whatever lanes a guard lets in."""
    found, run = [], []
    joins = {r.last for r in program.regions if r.predicate in program.issuing}
    line = 0
    while line < len(program.lines):
        if line in program.labels.values():
            loop = wait_loop(program, line)
            if loop:
                run.append(Unit(line, loop[1], None, loop[0]))
                line = loop[1]
                continue
            if line not in joins:
                found, run = found + [run], []
        instruction = program.at.get(line)
        if instruction and instruction.mnemonic in ("bra", "bra.uni", "ret"):
            region = next((r for r in program.regions if r.branch == line), None)
            if not region or region.predicate not in program.issuing:
                found, run = found + [run], []
        elif instruction and is_protocol(instruction):
            run.append(Unit(line, line + 1, program.issued_by_one(line), instruction))
        line += 1
    return [run for run in found + [run] if run]


def wait_loop(program, label):
    """The try_wait of the loop that a label begins, and where it ends; or None."""
    waits, name = None, program.lines[label].split(":")[0]
    for line in range(label + 1, min(label + 9, len(program.lines))):
        instruction = program.at.get(line)
        if instruction and "try_wait" in instruction.mnemonic:
            waits = instruction
        elif instruction and instruction.mnemonic == "bra" and waits:
            return (waits, line + 1) if instruction.operands.strip() == name else None
        elif line in program.labels.values():
            return None
    return None
