# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single faults in the PTX of any compiler, as edits of one instruction.

test/Mutants plants more kinds in the text of fp8-opt, whose shape it knows. These know only an instruction: an optional guard, a name,
operands up to the semicolon. What needs a register takes one in a scope of its own.
"""

import re

STATEMENT = re.compile(r"(?P<guard>@!?%?[\w$]+\s+)?(?P<name>[a-z][a-z0-9_]*(?:[.:]+[\w]+)+)(?P<operands>[^;{}]*(?:\{[^{};]*\}[^;{}]*)*);")


class Instruction:
    def __init__(self, match, line):
        self.begin, self.end, self.line = match.start(), match.end(), line
        self.guard, self.name, self.text = match["guard"] or "", match["name"], match[0]
        self.operands = split(match["operands"])

    def rewritten(self, name=None, operands=None):
        return f"{self.guard}{name or self.name} {', '.join(operands or self.operands)};"


def split(operands):
    """Operands, split at commas outside brackets."""
    found, depth, start = [], 0, 0
    for place, char in enumerate(operands):
        depth += (char in "[{(") - (char in "]})")
        if char == "," and not depth:
            found.append(operands[start:place].strip())
            start = place + 1
    last = operands[start:].strip()
    return found + [last] if last else found


def drop(_):
    return ""


def never_waits(i):
    """The first try is believed to succeed."""
    return f"{i.guard}mov.pred {i.operands[0].split('|')[0]}, -1;"


def computed(i, place, operation):
    """The operand at `place`, changed by an operation, or by its value if it is a literal."""
    operation, by = operation
    kind, value = {"add": "s32", "xor": "b32", "shr": "u32"}[operation], i.operands[place]
    changed = i.rewritten(operands=[*i.operands[:place], "fault_b32", *i.operands[place + 1:]])
    return f"{{ .reg .b32 fault_b32; {operation}.{kind} fault_b32, {value}, {by}; {changed} }}"


def operand(place, operation):
    return lambda i: computed(i, place, operation)


def flipped(i):
    """The last predicate of an MMA, which says whether it adds."""
    place = next(n for n in reversed(range(len(i.operands))) if re.fullmatch(r"%?p\w*", i.operands[n]))
    changed = i.rewritten(operands=[*i.operands[:place], "fault_p", *i.operands[place + 1:]])
    return f"{{ .reg .pred fault_p; not.pred fault_p, {i.operands[place]}; {changed} }}"


def relaxed(i):
    """It orders no memory any more."""
    name = re.sub(r"\.(acquire|release|acq_rel)\b", ".relaxed", i.name)
    return i.rewritten(name=name if name != i.name else re.sub(r"arrive", "arrive.relaxed", name))


def one_more(i):
    return i.rewritten(operands=[str(int(i.operands[0]) + 1)])


# What is done; to which instructions, by name and operands; how.
OPERATORS = [
    ("drop fence", r"fence\.(proxy|mbarrier_init)|fence\.acq_rel|wgmma\.fence", drop),
    ("drop tcgen05.fence", r"tcgen05\.fence", drop),
    ("drop init", r"mbarrier\.init", drop),
    ("count +1", r"mbarrier\.init", operand(1, ("add", 1))),
    ("wrong parity", r"mbarrier\.(try|test)_wait\.parity", operand(2, ("xor", 1))),
    ("drop wait", r"mbarrier\.(try|test)_wait\.parity", never_waits),
    ("drop arrive", r"mbarrier\.arrive\.(?!expect_tx)", drop),
    ("drop expect_tx", r"mbarrier\.(arrive\.)?expect_tx", drop),
    ("bytes +16", r"mbarrier\.(arrive\.)?expect_tx.*, *(%r\d+|\d+)$", None),
    ("bytes halved", r"mbarrier\.(arrive\.)?expect_tx.*, *(%r\d+|\d+)$", None),
    ("drop commit", r"tcgen05\.commit|wgmma\.commit_group|cp\.async\.bulk\.commit_group", drop),
    ("drop copy", r"cp\.async\.bulk\.tensor.*mbarrier|tcgen05\.cp", drop),
    ("drop tcgen05.wait", r"tcgen05\.wait", drop),
    ("drop wgmma wait", r"wgmma\.wait_group", drop),
    ("one group more", r"wgmma\.wait_group", one_more),
    ("drop store wait", r"cp\.async\.bulk\.wait_group", drop),
    ("drop barrier", r"(bar|barrier)\.(cta\.)?sync", drop),
    ("drop cluster barrier", r"barrier\.cluster\.wait", drop),
    ("adds or not", r"tcgen05\.mma", flipped),
    ("swapped scale", r"tcgen05\.mma\S*block_scale", operand(3, ("xor", 0x20000000))),
    ("drop shared store", r"st\.shared", drop),
    ("early store", r"cp\.async\.bulk\.tensor.*bulk_group", "early"),
    ("early arrive", r"mbarrier\.arrive\.(?!expect_tx)", "early"),
    ("early commit", r"tcgen05\.commit", "early"),
    ("drop dealloc", r"tcgen05\.dealloc", drop),
    ("drop map fence", r"tensormap\.cp_fenceproxy", drop),
]
# Those of threads that synchronise by other means than a GEMM's.
OTHER_OPERATORS = [
    ("drop bulk copy", r"cp\.(reduce\.)?async\.bulk\.(shared|global)", drop),
    ("drop remote write", r"(st|red)\.async", drop),
    ("drop copy wait", r"cp\.async\.(wait_group|wait_all|mbarrier)", drop),
    ("drop grid wait", r"griddepcontrol\.wait", drop),
    ("drop flag", r"(st|red)\.(release|volatile)", drop),
    ("relaxed flag", r"(ld|st|atom|red)\.(acquire|release|acq_rel)", relaxed),
    ("relaxed arrive", r"mbarrier\.arrive\S*\.release", relaxed),
    ("relaxed cluster barrier", r"barrier\.cluster\.arrive(?!\.relaxed)", relaxed),
    ("drop warp barrier", r"bar\.warp\.sync", drop),
]
BYTES = {"bytes +16": ("add", 16), "bytes halved": ("shr", 1)}
# What an instruction that comes too early is put in front of.
ORDERS = re.compile(r"(bar|barrier)\.|fence\.|mbarrier\.(try|test)_wait|tcgen05\.(wait|fence|mma)|wgmma\.wait|ld\.shared|tcgen05\.ld")


def instructions(text):
    lines, at = 1, 0
    for match in STATEMENT.finditer(text):
        lines += text.count("\n", at, match.start())
        at = match.start()
        if not text[text.rfind("\n", 0, at) + 1:at].lstrip().startswith(("//", ".")):
            yield Instruction(match, lines)


def straight(between):
    """Whether text runs through from its beginning to its end."""
    return not re.search(r"^\s*[\w$]+:|\bbra\b|[{}]|\bret\b", re.sub(r"\{[%\w, \t\n]*\}", "", between), re.MULTILINE)


def earlier(text, found, number):
    """The text with an instruction exchanged with the last one that orders it; None where other code may come between."""
    i = found[number]
    for before in reversed(found[max(0, number - 40):number]):
        if not straight(text[before.end:i.begin]):
            return None
        if ORDERS.match(before.name):
            return text[:before.begin] + i.text + "\n\t" + text[before.begin:i.begin] + text[i.end:]
    return None


def faults(text, operators):
    """(what, where, text with the fault, text that traps there), each fault at each place."""
    found = list(instructions(text))
    for number, i in enumerate(found):
        whole = f"{i.name} {', '.join(i.operands)}"
        for what, pattern, change in operators:
            if not re.match(pattern, whole):
                continue
            if change == "early":
                changed = earlier(text, found, number)
            else:
                new = computed(i, len(i.operands) - 1, BYTES[what]) if what in BYTES else change(i)
                changed = text[:i.begin] + new + text[i.end:]
            if changed:
                yield what, f"line {i.line}: {i.name}", changed, text[:i.begin] + f"{i.guard}trap;" + text[i.end:]
