# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single faults in PTX: which instructions take part in the protocol, and what can be wrong with each.

An operator yields (what, text) for one instruction: what was done, and what makes the whole text with it done. It yields nothing where
the fault cannot be written. Faults that are none by construction are left out of FAMILIES: what is idempotent is not repeated; what may
wait longer or fence more is not strengthened; tcgen05.relinquish_alloc_permit, which only lets others allocate earlier, is not dropped; nor
is a wait that nothing follows, unless other CTAs signal there; barrier.cluster.arrive, behind which stands nothing but fence.mbarrier_init
or the end, is not relaxed (PTX ISA, fence.mbarrier_init).
"""

import re

from ptx import segments


def drop(program, i):
    if "try_wait" in i.mnemonic or i.mnemonic.startswith("elect"):
        predicate = i.arguments[0].split("|")[-1]
        yield "drop", program.edit({i.line: [f"\tmov.pred {predicate}, -1;"]})
    else:
        yield "drop", program.edit({i.line: []})


def duplicate(program, i):
    yield "duplicate", program.edit({i.line: [program.lines[i.line]] * 2})


def retarget_barrier(program, i):
    """Another mbarrier: of the next slot, or of the slot before."""
    places = [n for n, a in enumerate(i.arguments) if a.startswith("[")]
    place = places[-1] if "cp.async" in i.mnemonic or "try_cancel" in i.mnemonic else places[0]
    for distance in (8, -8, 16):
        arguments = i.arguments
        arguments[place] = moved(arguments[place], distance)
        yield f"barrier {distance:+}", program.edit({i.line: [i.text(arguments=arguments)]})


def moved(address, distance):
    found = re.match(r"\[([%\w]+)(?:\+(-?\d+))?(.*)\]", address)
    return f"[{found[1]}+{int(found[2] or 0) + distance}{found[3]}]"


def retarget_memory(program, i):
    """The first address that is not a barrier's, by one pattern of the swizzle, or by what the instruction moves."""
    distance = {"cp": 1024, "st": 1024, "ld": 16}.get(i.mnemonic.split(".")[0], 8)
    places = [n for n, a in enumerate(i.arguments) if a.startswith("[") and "{" not in a]
    arguments = i.arguments
    arguments[places[0]] = moved(arguments[places[0]], distance)
    yield "address", program.edit({i.line: [i.text(arguments=arguments)]})


def retarget_columns(program, i):
    """Tensor memory of another place: one accumulator further."""
    arguments = i.arguments
    place = next(n for n, a in enumerate(arguments) if a.startswith("["))
    register = arguments[place].strip("[]")
    arguments[place] = "[%mutant]"
    yield "columns", program.edit({i.line: [f"\tadd.s32 %mutant, {register}, 16;", i.text(arguments=arguments)]})


def number(last, *changes):
    """Changes the operand at `last`, a register or a literal."""

    def operator(program, i):
        for name, op, by in changes:
            arguments = i.arguments
            if not arguments[last].startswith("%"):
                arguments[last] = str(COMPUTE[op](int(arguments[last]), by))
                yield name, program.edit({i.line: [i.text(arguments=arguments)]})
                continue
            wide = "b16" if arguments[last].startswith("%rs") else "b32"
            register = "%mutant_h" if wide == "b16" else "%mutant"
            kind = {"add": "s", "shr": "u", "xor": "b", "shl": "b"}[op] + wide[1:]
            setup = f"\t{op}.{kind} {register}, {arguments[last]}, {by};"
            arguments[last] = register
            yield name, program.edit({i.line: [setup, i.text(arguments=arguments)]})

    return operator


def arrive_twice(program, i):
    """One arrival that counts two."""
    arguments = i.arguments[:2] + ["2"]
    yield "count 2", program.edit({i.line: [i.text(arguments=arguments)]})


def rename(*pairs):
    """Another instruction of the same operands: a weaker scope, the other half of a fence, the other CTA group."""

    def operator(program, i):
        for name, old, new in pairs:
            mnemonic = re.sub(old, new, i.mnemonic)
            if mnemonic != i.mnemonic:
                yield name, program.edit({i.line: [i.text(mnemonic)]})

    return operator


def without_multicast(program, i):
    """The mask, and what says that there is one."""
    mnemonic = re.sub(r"\.multicast::cluster(::all)?", "", i.mnemonic)
    if mnemonic != i.mnemonic:
        arguments = i.arguments if "try_cancel" in mnemonic else i.arguments[:-1]
        yield "not multicast", program.edit({i.line: [i.text(mnemonic, arguments)]})


def mask(program, i):
    if "multicast::cluster." in i.mnemonic + "." and "::all" not in i.mnemonic:
        last = len(i.arguments) - 1
        yield from number(last, ("mask ^1", "xor", 1), ("mask ^2", "xor", 2), ("mask <<1", "shl", 1))(program, i)


def all_lanes(program, i):
    """An instruction that one lane issues, issued by the warp."""
    region = program.issued_by_one(i.line)
    if region:
        moved_out = program.recomputed([i], region.branch, i.line)
        if moved_out is not None:
            yield "all lanes", program.edit({region.branch: moved_out + [i.text(), program.lines[region.branch]], i.line: []})


def elects_nobody(program, i):
    yield "nobody", program.edit({i.line: [f"\tmov.pred {i.arguments[0].split('|')[-1]}, 0;"]})


def hoist(program, i):
    """Exchanges an instruction with the one of the protocol before it."""
    for run in program.segments:
        for before, unit, after in zip(run, run[1:], run[2:] + [None]):
            if unit.instruction is i and not announces_copies(before, unit, after):
                yield from exchange(program, before, unit)


def exchange(program, before, unit):
    if commute(before.instruction, unit.instruction):
        return
    same = unit.region and before.region and unit.region.branch == before.region.branch
    target = before.first if same else before.outer()
    lines = program.lines[unit.first:unit.last]
    if unit.region and not same:
        lines = [unit.instruction.text(guard=unit.region.prefix())]
    inside = [program.at[n] for n in range(unit.first, unit.last) if n in program.at]
    guards = [program.at[unit.region.branch]] if unit.region and not same else []
    copies = program.recomputed(inside[:1] + guards, target, unit.first)
    if copies is not None:
        changes = {n: [] for n in range(unit.first, unit.last)}
        changes[target] = copies + lines + changes.get(target, [program.lines[target]])
        yield "hoist", program.edit(changes)


def announces_copies(before, unit, after):
    """Whether a lane announces, behind a meeting of its warp, the bytes of copies that it starts next. To announce them in front of the
    meeting is no fault: the phase completes with the copies, which still come behind it, and so behind every lane's wait."""
    names = [family(u.instruction) if u else None for u in (before, unit, after)]
    return names == ["warp sync", "expect_tx", "copy in"] and bool(unit.region and after.region)


def commute(before, after):
    """Whether neither of two orders the other: to exchange them is no fault."""
    pair = family(before), family(after)
    if pair == ("mma", "mma"):
        return before.arguments[-1] == after.arguments[-1]  # both add to the accumulator
    if pair in FREE_PAIRS:
        return True
    return pair[0] == pair[1] and pair[0] in FREE_AMONG_THEMSELVES


# To read later, behind a wait for something else, is no fault before the slot is handed back. A fence orders wherever it stands on the
# path, tcgen05.fence orders tcgen05 instructions that are asynchronous (PTX ISA 9.7.16.6), no other fence, and tx-counts may go below zero
# until the last arrival (9.7.13.15).
FREE_PAIRS = {("expect_tx", "copy in"), ("proxy fence", "warp sync"), ("proxy fence", "tcgen05 fence"),
              ("tcgen05 fence", "proxy fence"), ("tcgen05 fence", "warp sync"), ("tcgen05 fence", "shared load"),
              ("tcgen05 fence", "dealloc"), ("arrive", "tcgen05 fence"), ("shared load", "tcgen05 load"), ("relinquish", "shared load"),
              ("arrive", "shared load"), ("shared load", "wait")}
FREE_AMONG_THEMSELVES = {"arrive", "commit", "copy in", "wait", "shared load", "shared store", "tcgen05 load", "expect_tx"}


def answered(program, i):
    """A work queue that is believed to be empty, or never to be."""
    for what, value in (("no more", 0), ("always more", -1)):
        yield what, program.edit({i.line: [f"\tmov.pred {i.arguments[0]}, {value};"]})


def flip_predicate(program, i):
    """An MMA that adds where it should overwrite, or the reverse."""
    arguments = i.arguments
    swapped = f"\tnot.pred %mutant_p, {arguments[-1]};"
    arguments[-1] = "%mutant_p"
    yield "accumulate", program.edit({i.line: [swapped, i.text(arguments=arguments)]})


def update_twice(program, i):
    if i.mnemonic.startswith("add") and i.arguments[-1].lstrip("-").isdigit():
        yield from number(2, ("step 2", "add", 1))(program, i)
    elif i.mnemonic.startswith("selp"):
        d, a, b, p = i.arguments
        yield "other arm", program.edit({i.line: [i.text(arguments=[d, b, a, p])]})
    elif i.mnemonic.startswith("xor"):
        yield "flip twice", program.edit({i.line: [program.lines[i.line]] * 2})


COMPUTE = {"add": lambda a, b: a + b, "xor": lambda a, b: a ^ b, "shl": lambda a, b: a << b, "shr": lambda a, b: a >> b}
COUNTS = [("count +1", "add", 1), ("count -1", "add", -1), ("count x2", "shl", 1), ("count /2", "shr", 1)]
BYTES = [("bytes +16", "add", 16), ("bytes -16", "add", -16), ("bytes x2", "shl", 1), ("bytes /2", "shr", 1)]
GROUP = ("cta_group", r"cta_group::([12])", lambda m: "cta_group::" + "21"[int(m[1]) - 1])

# Family, instruction, operators.
FAMILIES = [
    ("init", r"mbarrier\.init", [drop, duplicate, retarget_barrier, number(1, *COUNTS)]),
    ("init fence", r"fence\.mbarrier_init", [drop]),
    ("expect_tx", r"mbarrier\.arrive\.expect_tx",
     [drop, duplicate, retarget_barrier, number(2, *BYTES), all_lanes, hoist]),
    ("arrive", r"mbarrier\.arrive\.(?!expect)",
     [drop, duplicate, retarget_barrier, arrive_twice, all_lanes, hoist,
      rename(("relaxed", r"arrive\.shared", "arrive.relaxed.cluster.shared"))]),
    ("wait", r"mbarrier\.try_wait", [drop, retarget_barrier, number(2, ("parity", "xor", 1)), hoist,
                                     rename(("relaxed", r"parity\.shared", "parity.relaxed.cluster.shared"))]),
    ("copy in", r"cp\.async\.bulk\.tensor.*mbarrier",
     [drop, duplicate, retarget_barrier, retarget_memory, mask, without_multicast, rename(GROUP), all_lanes, hoist]),
    ("copy out", r"cp\.async\.bulk\.tensor.*bulk_group", [drop, retarget_memory, all_lanes, hoist]),
    ("commit_group", r"cp\.async\.bulk\.commit_group", [drop, hoist]),
    ("wait_group", r"cp\.async\.bulk\.wait_group", [drop, number(0, ("groups +1", "add", 1))]),
    ("answer", r"clusterlaunchcontrol\.query_cancel\.is_canceled", [answered]),
    ("proxy fence", r"fence\.proxy", [drop, hoist, rename(("generic fence", r"fence\.proxy.*", "fence.acq_rel.cta"))]),
    ("mma", r"tcgen05\.mma", [drop, retarget_columns, flip_predicate, rename(GROUP), all_lanes, hoist]),
    ("commit", r"tcgen05\.commit",
     [drop, duplicate, retarget_barrier, mask, without_multicast, rename(GROUP), all_lanes, hoist]),
    ("tcgen05 fence", r"tcgen05\.fence", [drop, hoist]),
    ("tcgen05 load", r"tcgen05\.ld", [drop, retarget_columns, hoist]),
    ("tcgen05 wait", r"tcgen05\.wait", [drop, hoist, rename(("other wait", r"wait::ld", "wait::st"))]),
    ("alloc", r"tcgen05\.alloc", [drop, duplicate, retarget_memory, number(1, ("columns x2", "shl", 1), ("columns /2", "shr", 1)),
                                  rename(GROUP), hoist]),
    ("relinquish", r"tcgen05\.relinquish", [hoist, rename(GROUP)]),
    ("dealloc", r"tcgen05\.dealloc",
     [drop, duplicate, number(0, ("columns", "add", 32)), number(1, ("columns x2", "shl", 1), ("columns /2", "shr", 1)),
      rename(GROUP), hoist]),
    ("bar", r"bar\.(sync|arrive)", [drop, hoist]),
    ("bar of some", r"bar\.(sync|arrive)(?=.*,)",
     [duplicate, number(0, ("barrier", "xor", 1)), number(1, ("threads +32", "add", 32), ("threads -32", "add", -32))]),
    ("warp sync", r"bar\.warp\.sync", [drop, hoist]),
    ("cluster arrive", r"barrier\.cluster\.arrive", [drop, duplicate, hoist]),
    ("cluster wait", r"barrier\.cluster\.wait", [drop, duplicate, hoist]),
    ("try_cancel", r"clusterlaunchcontrol\.try_cancel",
     [drop, duplicate, retarget_barrier, retarget_memory, without_multicast, all_lanes, hoist]),
    ("elect", r"elect\.sync", [drop, elects_nobody]),
    ("shared load", r"ld\.shared", [drop, retarget_memory, hoist]),
    ("shared store", r"st\.shared", [drop, retarget_memory, hoist]),
    ("remote address", r"mapa", [number(2, ("rank", "xor", 1))]),
]
BARRIER_OPERANDS = re.compile(r"mbarrier\.(arrive|try_wait)|tcgen05\.commit|cp\.async\.bulk\.tensor|try_cancel")


def cursor_updates(program):
    """Instructions that carry a slot or a parity from one lap to the next."""
    used = [u for i in program.at.values() if BARRIER_OPERANDS.search(i.mnemonic) for u in i.uses()]
    carried = {r for r in program.sources(used) if len(program.definitions.get(r, [])) > 1 and r.startswith("%r")}
    for line in program.order:
        i = program.at[line]
        if set(i.defines()) & carried and re.match(r"(add|selp|xor)\.", i.mnemonic):
            yield i


def guards(program):
    """Branches that leave the instructions of a lane, or of a CTA, to others."""
    ranks = {r for i in program.at.values() if i.mnemonic.startswith("setp.") and i.arguments[-1] == "0" and ranked(program, i)
             for r in i.defines()}
    protocol = [i.line for i in program.at.values() if family(i)]
    for region in program.regions:
        inside = [line for line in protocol if line in region]
        # Bulk groups belong to the lane that formed them: the others have none to wait for.
        if region.predicate in program.issuing | ranks and {family(program.at[n]) for n in inside} - {"wait_group"}:
            yield program.at[region.branch]


def ranked(program, i):
    source = program.definitions.get(i.arguments[1], [])
    return any(d.mnemonic.startswith(("and", "mov")) and any(s.startswith("%tid") or "ctaid" in s for s in origin(program, d))
               for d in source)


def origin(program, i):
    names = i.uses()
    return names + [u for n in names for d in program.definitions.get(n, []) if d.mnemonic.startswith("mov") for u in d.uses()]


def unguard(program, i):
    yield "everybody", program.edit({i.line: []})


def family(i):
    text = f"{i.mnemonic} {i.operands}"
    return next((name for name, pattern, _ in FAMILIES if re.match(pattern, text)), None)


def neighbours(program):
    """For each line, the families of the protocol's instructions before and after it: a name that outlives changes elsewhere."""
    named = [(n, family(program.at[n])) for n in program.order]
    named = [(n, name) for n, name in named if name not in (None, "elect", "remote address")]
    for line in program.order:
        before = next((name for n, name in reversed(named) if n < line), "start")
        after = next((name for n, name in named if n > line), "end")
        yield line, f"{before} > {after}"


def sites(program):
    """(family, which of its kind and between what, what, text): every fault at every place."""
    between = dict(neighbours(program))
    program.segments = segments(program, lambda i: family(i) not in (None, "elect", "remote address"))
    tables = [(name, [program.at[n] for n in program.order if re.match(pattern, f"{program.at[n].mnemonic} {program.at[n].operands}")],
               operators) for name, pattern, operators in FAMILIES]
    name, waits, operators = next(table for table in tables if table[0] == "wait")
    last = [i for i in waits if not program.follows(i.line, lambda i: family(i) not in (None, "wait", "cluster arrive", "cluster wait"))]
    tables.remove((name, waits, operators))
    shared = any(i.mnemonic.startswith("barrier.cluster") for i in program.at.values())
    tables += [(name, [i for i in waits if i not in last], operators), ("last wait", last if shared else [], [drop])]
    tables += [("guard", list(guards(program)), [unguard]), ("cursor", list(cursor_updates(program)), [drop, update_twice])]
    for name, instructions, operators in tables:
        for which, instruction in enumerate(instructions):
            for operator in operators:
                for what, text in operator(program, instruction):
                    yield name, f"{which}: {between[instruction.line]}", what, text
