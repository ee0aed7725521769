# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single faults in the dialect's IR, at each op of the dialect and each terminator that hands linear values on.

The ops come from the kernel itself: whatever `fp8.*` stands in it is mutated, so that a new op needs no row here. An operator yields
(what, text), what was done and the whole module with it done. Where an op is dropped, what it gave is replaced by
another value of that type, so that it is the verifier that meets the fault, not the parser; where there is none, the fault cannot be
written, and Unwritable says so.
"""

import re


class Unwritable(Exception):
    """There is no value of the type that the mutant needs."""


# What these do again changes nothing: they lend what they lent before.
REPEATABLE = {"fp8.tile", "fp8.accumulator", "fp8.mbarrier", "fp8.index", "fp8.zero", "fp8.try_wait"}
# Nor do these, unless the second takes what the first gave; and to store twice what is the same never does.
PURE = {"fp8.promote", "fp8.read", "fp8.add_tile", "fp8.add_row", "fp8.map"}
# Regions: what drop and repeat mean for them their bodies say.
SCOPES = {"fp8.role", "fp8.epilogue_warp", "fp8.mma_warp", "fp8.for_each_tile"}


def replacements(module, op):
    """For each result that is used, a value that may be in its place: an operand of that type, or the nearest."""
    names = {}
    for result in op.results():
        if not module.uses([result]):
            continue
        kind = module.types[result]
        same = [v for v in op.operands if module.types.get(v) == kind] or [
            v for v in origins(module, op) + module.visible(op) if module.types[v] == kind]
        if not same:
            raise Unwritable(result)
        names[result] = same[0]
    return names


def origins(module, op):
    """What the makers of an op's operands took: the end before the acquire."""
    makers = [module.maker(v) for v in op.operands]
    return [v for maker in makers if maker for v in maker.operands]


def lines_of(module, op):
    return {n: [] for n in range(op.line, op.last + 1)}


def drop(module, op):
    if op.name not in SCOPES:
        yield "drop", module.edit(lines_of(module, op), (op.last + 1, replacements(module, op)))


def repeat(module, op):
    """The op again: on the same operands, or on what the first gave where that fits."""
    if op.name in REPEATABLE | SCOPES or "yield" in op.name:
        return
    text = [replace_results(line, op, "again") for line in module.lines[op.line:op.last + 1]]
    if op.name not in PURE:
        yield "repeat", module.edit({op.last: [module.lines[op.last]] + rename_inner(module, op, text)})
    if op.name == "fp8.store":
        return
    chained = {r: v for r, v in chain(module, op).items()}
    if chained:
        text = [swap_values(line, {v: r for r, v in chained.items()}) for line in text]
        names = {r: renamed(r, "again") for r in op.results()}
        edited = module.edit({op.last: [module.lines[op.last]] + rename_inner(module, op, text)}).split("\n")
        behind = op.last + 1 + len(text)
        yield "repeat in turn", "\n".join(edited[:behind] + [swap_values(line, names) for line in edited[behind:]])


def chain(module, op):
    """Results that may be given to the op again, each with the operand it replaces."""
    found = {}
    for result in op.results():
        for operand in op.operands:
            if module.types.get(operand) == module.types[result] and operand not in found.values() and result not in found:
                found[result] = operand
    return found


def extra_turn(module, op):
    """A stage more than the other side knows of: acquired and released once again."""
    if op.name != "fp8.release" or not op.result:
        return
    stage, end = op.types
    one = f'{op.indent}%extra = "fp8.acquire"({op.result}) : ({end[0]}) -> {stage[0]}'
    two = f'{op.indent}%turned = "fp8.release"(%extra) : ({stage[0]}) -> {end[0]}'
    edited = module.edit({op.last: [module.lines[op.last], one, two]}).split("\n")
    behind = op.last + 3
    yield "extra turn", "\n".join(edited[:behind] + [swap_values(line, {op.result: "%turned"}) for line in edited[behind:]])


def retarget(module, op):
    """An operand exchanged for the nearest others of its type."""
    for place, operand in enumerate(op.operands):
        for other in module.alternatives(op, operand)[:2]:
            if not module.is_linear(operand) and trivial(module, operand, other):
                continue
            operands = op.operands[:place] + [other] + op.operands[place + 1:]
            text = module.edit({op.line: [op.text(operands)]})
            yield f"operand {place} of {short(module, operand, other)}", text


def trivial(module, one, other):
    """Two constants of one value, or two tiles that one op lends."""
    first, second = module.maker(one), module.maker(other)
    return bool(first and second and first.name == second.name and first.operands == second.operands and first.rest == second.rest)


def short(module, operand, other):
    """Names an alternative by where it comes from, which survives renumbering."""
    same = [v for v in module.types if module.types[v] == module.types[operand]]
    return f"{same.index(operand)}->{same.index(other)}"


def exchange_operands(module, op):
    """Two operands of one type, each in the other's place."""
    for first in range(len(op.operands)):
        for second in range(first + 1, len(op.operands)):
            a, b = op.operands[first], op.operands[second]
            if a == b or module.types[a] != module.types[b] or trivial(module, a, b):
                continue
            operands = list(op.operands)
            operands[first], operands[second] = b, a
            yield f"operands {first} and {second}", module.edit({op.line: [op.text(operands)]})


def reorder(module, op):
    """Ahead of what comes before it in the block, if both work on one handle; and where that is nearest, first after its own operands."""
    before = [o for o in module.ops if o.block == op.block and o.last < op.line]
    free = []
    for other in reversed(before):
        if set(other.results()) & set(op.operands) or not inner_free(module, op, other):
            break
        free.append(other)
    touching = [o for o in free if module.touched(o) & module.touched(op) and not both_read(module, o, op)]
    if touching:
        target = touching[0]
        changes = lines_of(module, op)
        changes[target.line] = module.lines[op.line:op.last + 1] + [module.lines[target.line]]
        yield "before its neighbour", module.edit(changes)
    if len(touching) > 1:
        changes = lines_of(module, op)
        changes[touching[-1].line] = module.lines[op.line:op.last + 1] + [module.lines[touching[-1].line]]
        yield "before all", module.edit(changes)


def inner_free(module, op, other):
    inside = [o for o in module.ops if op.line <= o.line <= op.last]
    return not any(set(other.results()) & set(o.operands) for o in inside)


def both_read(module, one, other):
    """Neither consumes a handle: copies into one stage, or tiles that it lends, in either order."""
    return not consumes(module, one) and not consumes(module, other)


def consumes(module, op):
    return op.name not in REPEATABLE | {"fp8.tma_load", "fp8.tma_copy", "fp8.mma", "fp8.promote", "fp8.read", "fp8.add_tile",
                                        "fp8.add_row"} and any(module.is_linear(v) for v in op.operands)


def attributes(module, op):
    for what, pattern, new in ATTRIBUTES:
        rest, count = re.subn(pattern, new, op.rest, count=1)
        if count and rest != op.rest:
            yield what, module.edit({op.line: [op.text(rest=rest)]})


def stated_counts(module, op):
    """A count that differs from what the roles make."""
    if op.name in ("fp8.pipeline", "fp8.output_pipeline") and "arrivals" not in op.rest:
        sides = ["producer", "consumer"] if op.name == "fp8.pipeline" else []
        for side in sides:
            yield f"{side} arrivals", module.edit({op.line: [op.text(rest=f" <{{{side}_arrivals = 77 : i64}}>{op.rest}")]})


def trips(module, op):
    """A loop that carries handles, once less or once more."""
    if op.name not in ("scf.for", "fp8.for_each_tile") or not any(module.is_linear(v) for v in op.operands):
        return
    for place in [1] if op.name == "scf.for" else [0, 1]:
        for what, name in (("less", "arith.subi"), ("more", "arith.addi")):
            step = op.operands[2] if op.name == "scf.for" else "%one"
            one = f'{op.indent}%one = "arith.constant"() <{{value = 1 : index}}> : () -> index'
            bound = f'{op.indent}%bound = "{name}"({op.operands[place]}, {step}) : (index, index) -> index'
            operands = op.operands[:place] + ["%bound"] + op.operands[place + 1:]
            yield f"bound {place} {what}", module.edit({op.line: [one, bound, op.text(operands)]})


ATTRIBUTES = [
    ("warps +1", r"warps = (\d+)", lambda m: f"warps = {int(m[1]) + 1}"),
    ("warps x2", r"warps = (\d+)", lambda m: f"warps = {int(m[1]) * 2}"),
    ("other name", r'name = "(a|b|a_scale|s)"', lambda m: f'name = "{ {"a": "b", "b": "a"}.get(m[1], "a") }"'),
    ("other axis", r"axis<([mn])>", lambda m: f"axis<{'nm'['mn'.index(m[1])]}>"),
    ("no multicast", r", multicast = [^,>]*>|multicast = [^,>]*>, ", lambda m: ""),
    ("other scope", r"scope<(pair|cluster)>", lambda m: f"scope<{ {'pair': 'cluster', 'cluster': 'pair'}[m[1]] }>"),
    ("scheduler", r"scheduler<(\w+)>", lambda m: f"scheduler<{'one_tile' if m[1] == 'persistent' else 'persistent'}>"),
    ("band", r"band = 8", lambda m: "band = 4"),
    ("cluster", r"fp8.cluster = array<i64: (\d+), (\d+)>", lambda m: f"fp8.cluster = array<i64: {int(m[1]) * 2}, {m[2]}>"),
    ("no cluster", r"fp8.cluster = array<i64: \d+, \d+>, ", lambda m: ""),
]
OPERATORS = [drop, repeat, extra_turn, retarget, exchange_operands, reorder, attributes, stated_counts, trips]


def replace_results(line, op, prefix):
    return swap_values(line, {r: renamed(r, prefix) for r in op.results() + [op.result]}) if op.result else line


def renamed(value, prefix):
    return f"%{prefix}_{value[1:]}"


def swap_values(line, names):
    return re.sub(r"%[\w$.-]+(#\d+)?", lambda m: names.get(m[0], m[0]), line)


def rename_inner(module, op, lines):
    """New names for what a repeated op defines inside."""
    inner = [v for v, (line, _) in module.defined.items() if op.line < line < op.last]
    names = {v: renamed(v, "inner") for v in inner + [v.split("#")[0] for v in inner]}
    return [swap_values(line, names) for line in lines]


def is_site(module, op):
    if op.name.startswith("fp8."):
        return op.name != "fp8.yield" or any(module.is_linear(v) for v in op.operands)
    return op.name in ("scf.yield", "scf.for", "scf.condition") and any(module.is_linear(v) for v in op.operands) or op.name == "gpu.func"


def sites(module):
    """(op, which of its kind, what, text); text is None where the fault cannot be written."""
    count = {}
    for op in [module.kernel] + module.inside_kernel():
        if not is_site(module, op):
            continue
        which = count.setdefault(op.name, 0)
        count[op.name] += 1
        for operator in [attributes] if op.name == "gpu.func" else OPERATORS:
            try:
                for what, text in operator(module, op):
                    yield op.name, which, what, text
            except Unwritable:
                yield op.name, which, operator.__name__, None
