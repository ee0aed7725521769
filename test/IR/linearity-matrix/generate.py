#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks each linear type in each construct in each way, and compares what
fp8-opt says, whole and with its notes, with golden.txt.

usage: generate.py FP8-OPT [--update] [--show TYPE CONSTRUCT FAULT]

A type is one row of TYPES (each linear type that Fp8Types.td declares must have
one), a construct one function that writes its faults. A point that makes no
sense has a reason instead of a body; it is counted.

golden.txt has one section for a construct and a fault. What fp8-opt says is the
same for every type but for {handle}, what it calls the handle, and {op}, the op
that consumes it; where types differ otherwise, each section names its types. An
op that differs from type to type ends in a comment that names its role, such as
`consume 2`. golden.txt places a diagnostic at a role, or at the text in
backticks, which starts at its line and column; `#2` marks the second such line
of the module.
"""

import dataclasses
import difflib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden.txt")
DECLARATIONS = os.path.join(HERE, "../../../include/fp8/IR/Fp8Types.td")

ALIASES = """\
!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>
!acc = !fp8.output_pipeline<2, 128x128xf32>
"""

FAULTS = {
    "leak": "made or received in the construct, and dropped there",
    "one path": "consumed on one path through the construct, not on another",
    "double": "consumed, then consumed again",
    "after release": "consumed, then borrowed",
    "lent after release": "consumed, then what it lent is used",
    "captured": "used in a region that must be given it",
}


# ===----------------------------------------------------------------------===
# Types
# ===----------------------------------------------------------------------===


@dataclasses.dataclass
class Linear:
    """A linear type. In `consume` and `borrow`, {h} is the handle, and {k} a
    number that makes the names of results unique."""

    name: str  # in golden.txt
    handle: str  # what diagnostics call it
    type: str
    consume: list  # ops that consume it, and whatever they give back
    borrow: str = ""  # an op that borrows it
    lends: str = ""  # the op that uses what `borrow` lends as %l; none: nothing is lent
    cleanup: list = dataclasses.field(default_factory=list)  # for a linear value that `borrow` makes
    made_of: str = ""  # the type of the handle that `made_by` makes it of; none: a call makes it
    made_by: str = "fp8.acquire"

    def consumer(self):
        """The name of the op that consumes the handle."""
        return re.search(r"fp8\.\w+", next(op for op in self.consume if "{h}" in op))[0]


LOAD = "memref.load %m[%l{k}] : memref<?xf32>"


def ring_end(name, handle, kind, ring, consume="fp8.close", **more):
    end = "!fp8.%s<%s>" % (kind, ring)
    borrow = {"borrow": "%l{k} = fp8.index {h} : " + end, "lends": LOAD}
    return Linear(name, handle, end, ["%s {h} : %s" % (consume, end)], **(more or borrow))


def stage(name, handle, kind, end, close, borrow, lends):
    """A stage: released, and the end that it gives back consumed by `close`."""
    return Linear(name, handle, kind, ["%n{k} = fp8.release {h} : " + kind, "%s %%n{k} : %s" % (close, end)],
                  borrow="%l{k} = " + borrow + " : " + kind, lends=lends, made_of=end)


READ = ('fp8.promote %f, %l{k} scales(%s, %x) : !fp8.fragment<128x128xf32, 4>, !fp8.tmem<128x128xf32>, !tile')

TYPES = [
    ring_end("producer", "producer end", "producer", "!ring"),
    ring_end("producer-of-output", "producer end", "producer", "!acc"),
    ring_end("consumer", "consumer end", "consumer", "!ring"),
    ring_end("consumer-of-output", "consumer end", "consumer", "!acc",
             borrow="%l{k} = fp8.wait_tmem {h} : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>",
             cleanup=["func.call @keep(%l{k}) : (!fp8.tmem_ready<!acc>) -> ()"]),
    stage("producer-stage", "producer stage", "!fp8.producer_stage<!ring>", "!fp8.producer<!ring>", "fp8.close",
          "fp8.index {h}", LOAD),
    stage("consumer-stage", "consumer stage", "!fp8.consumer_stage<!ring>", "!fp8.consumer<!ring>", "fp8.close",
          "fp8.index {h}", LOAD),
    ring_end("mma-warp", "mma warp", "mma_warp", "!acc", "fp8.release_mma_warp"),
    ring_end("epilogue-warp", "epilogue warp", "epilogue_warp", "!acc", "fp8.release_epilogue_warp"),
    stage("mma-stage", "mma stage", "!fp8.mma_stage<!acc>", "!fp8.mma_warp<!acc>", "fp8.release_mma_warp",
          "fp8.accumulator {h}", READ),
    stage("epilogue-stage", "epilogue stage", "!fp8.epilogue_stage<!acc>", "!fp8.epilogue_warp<!acc>",
          "fp8.release_epilogue_warp", "fp8.accumulator {h}", READ),
    Linear("tmem-ready", "tensor-memory evidence", "!fp8.tmem_ready<!acc>",
           ["%e{k} = func.call @end() : () -> !fp8.consumer<!acc>",
            "%w{k} = fp8.create_epilogue_warp %e{k}, {h} : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>",
            "fp8.release_epilogue_warp %w{k} : !fp8.epilogue_warp<!acc>"]),
    Linear("ready", "ready end", "!fp8.ready<!fp8.consumer<!ring>>",
           ["%s{k} = fp8.acquire {h} : !fp8.ready<!fp8.consumer<!ring>>",
            "%n{k} = fp8.release %s{k} : !fp8.consumer_stage<!ring>", "fp8.close %n{k} : !fp8.consumer<!ring>"],
           borrow="%l{k} = fp8.index {h} : !fp8.ready<!fp8.consumer<!ring>>", lends=LOAD,
           made_of="!fp8.consumer<!ring>", made_by="fp8.wait"),
    Linear("signalled", "signalled stage", "!fp8.signalled<!fp8.producer_stage<!ring>>",
           ["%n{k} = fp8.step {h} : !fp8.signalled<!fp8.producer_stage<!ring>>", "fp8.close %n{k} : !fp8.producer<!ring>"],
           made_of="!fp8.producer_stage<!ring>", made_by="fp8.arrive"),
    Linear("store-queue", "store queue", "!fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4>",
           ["fp8.close {h} : !fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4>"]),
    Linear("exchange", "exchange", "!fp8.exchange<2, !fp8.fragment<64x64xf32, 4, warpgroups>>",
           ["fp8.close {h} : !fp8.exchange<2, !fp8.fragment<64x64xf32, 4, warpgroups>>"]),
    Linear("pending", "pending product", "!fp8.pending<!fp8.fragment<64x64xf32, 4, warpgroups>>",
           ["%n{k} = fp8.wait_mma {h} : !fp8.pending<!fp8.fragment<64x64xf32, 4, warpgroups>>"]),
]

# ===----------------------------------------------------------------------===
# Constructs
# ===----------------------------------------------------------------------===


class Body:
    """Writes ops on the handle under test, %h."""

    def __init__(self, linear):
        self.linear = linear
        self.count = 0

    def expand(self, ops, role, handle="%h"):
        """The ops, with the role behind the one that takes the handle."""
        return "\n".join(op.format(h=handle, k=self.count) + (" // %s %d" % (role, self.count) if "{h}" in op else "") for op in ops)

    def make(self, name="%h"):
        """The handle, from a call: anywhere."""
        return "%s = func.call @make() : () -> !h // make %s" % (name, name)

    def first(self):
        """The handle as it is usually made: once, in the function's entry block."""
        if self.linear.made_of:
            return "%%h = %s %%end : %s // make %%h" % (self.linear.made_by, self.linear.made_of)
        return self.make()

    def consume(self, handle="%h"):
        self.count += 1
        return self.expand(self.linear.consume, "consume", handle)

    def borrow(self):
        self.count += 1
        return self.expand([self.linear.borrow] + self.linear.cleanup, "borrow")

    def use(self):
        """Uses what the last borrow lent."""
        return "%use = " + self.linear.lends.format(k=self.count) + " // use"

    def captured(self):
        """An op of another dialect, with the handle consumed in its region."""
        return '"foreign.region"() ({\n%s\n"foreign.end"() : () -> ()\n}) : () -> ()' % self.consume()


class Skip(Exception):
    """Why a point makes no sense."""


def then_use(body, fault, consume):
    """`consume` (ops in which the handle is consumed), with the fault around it."""
    if fault == "double":
        return consume + "\n" + body.consume()
    if fault == "after release":
        return consume + "\n" + body.borrow()
    borrow = body.borrow()
    use = body.use()
    return borrow + "\n" + consume + "\n" + use


def arms(body, fault, form):
    """A branch: form(list of the ops in each arm). `double` and the rest come behind the arms."""
    first, made = body.first(), body.make()
    if fault == "leak":
        return form(made, "")
    if fault == "one path":
        return first + "\n" + form(body.consume(), "")
    if fault == "captured":
        return first + "\n" + form(body.captured(), body.consume())
    return first + "\n" + then_use(body, fault, form(body.consume(), body.consume()))


def construct_if(body, fault):
    return arms(body, fault, lambda then, other: "scf.if %%c {\n%s\n} else {\n%s\n}" % (then, other))


def construct_index_switch(body, fault):
    return arms(body, fault, lambda then, other: "scf.index_switch %%i\ncase 0 {\n%s\nscf.yield\n}\ncase 1 {\n%s\nscf.yield\n}"
                "\ndefault {\n%s\nscf.yield\n}" % (then, other, body.consume() if other else then.replace("%", "%x")
                                                   if fault != "leak" and other else other))


def construct_diamond(body, fault):
    first = body.first()
    if fault == "leak":
        return first + "\ncf.cond_br %c, ^left(%h : !h), ^right\n^left(%g: !h):\nreturn\n^right:\n" + body.consume()
    return arms(body, fault, lambda then, other: "cf.cond_br %%c, ^left, ^right\n^left:\n%s\ncf.br ^meet\n^right:\n%s\n"
                "cf.br ^meet\n^meet:" % (then, other)) if fault != "one path" else (
                    first + "\ncf.cond_br %c, ^left, ^right\n^left:\n" + body.consume() + "\nreturn\n^right:")


def in_loop(body, fault, form, around):
    """A loop. form(name of the carried value, body, what is yielded) carries a handle; around(body) carries nothing."""
    if fault == "leak":
        return around(body.make())
    if fault == "one path":
        return body.first() + "\n" + around(body.consume())
    if fault == "captured":
        return body.first() + "\n" + around(body.captured())
    given = body.make("%given")
    if fault == "double":
        return given + "\n" + form(body.consume(), "%h")
    return given + "\n" + form(then_use(body, fault, body.consume()) + "\n" + body.make("%next"), "%next")


def construct_for(body, fault):
    def form(ops, last):
        return ("%%r = scf.for %%j = %%i to %%i2 step %%i3 iter_args(%%h = %%given) -> !h {\n%s\nscf.yield %s : !h\n}\n" %
                (ops, last)) + body.consume("%r")

    return in_loop(body, fault, form, lambda ops: "scf.for %%j = %%i to %%i2 step %%i3 {\n%s\n}" % ops)


def construct_while(body, fault):
    if fault == "leak":
        return body.make("%given") + "\nscf.while (%h = %given) : (!h) -> () {\nscf.condition(%c)\n} do {\n" + \
            body.make("%next") + "\nscf.yield %next : !h\n}"

    def form(ops, last):
        return ("%%r = scf.while (%%b = %%given) : (!h) -> !h {\nscf.condition(%%c) %%b : !h\n} do {\n^bb0(%%h: !h):\n%s\n"
                "scf.yield %s : !h\n}\n" % (ops, last)) + body.consume("%r")

    return in_loop(body, fault, form, lambda ops: "scf.while : () -> () {\n%s\nscf.condition(%%c)\n} do {\nscf.yield\n}" % ops)


def construct_block_loop(body, fault):
    if fault == "leak":
        return body.make("%given") + "\ncf.br ^head(%given : !h)\n^head(%h: !h):\ncf.cond_br %c, ^body, ^exit\n^body:\n" + \
            body.consume() + "\n" + body.make("%next") + "\ncf.br ^head(%next : !h)\n^exit:"

    def form(ops, last):
        return "cf.br ^head(%%given : !h)\n^head(%%h: !h):\n%s\ncf.cond_br %%c, ^head(%s : !h), ^exit(%s : !h)\n^exit(%%r: !h):\n%s" \
            % (ops, last, last, body.consume("%r"))

    return in_loop(body, fault, form, lambda ops: "cf.br ^head\n^head:\n%s\ncf.cond_br %%c, ^head, ^exit\n^exit:" % ops)


def construct_call(body, fault):
    if fault == "leak":
        return body.make()
    if fault == "one path":
        raise Skip("a call has one path")
    if fault == "captured":
        raise Skip("a function is isolated: using a value from around it is MLIR's own error")
    return body.first() + "\n" + then_use(body, fault, "func.call @take(%h) : (!h) -> ()")


def within(body, fault, form):
    """A region that is given the handle as its argument %h."""
    if fault == "leak":
        return form("")
    if fault == "one path":
        return form("scf.if %%c {\n%s\n}" % body.consume())
    return form(then_use(body, fault, body.consume()))


def construct_role(body, fault):
    if fault == "captured":
        return body.first() + '\nfp8.role "work" warps(1) {\n%s\n}' % body.consume()
    return body.make("%given") + "\n" + within(
        body, fault, lambda ops: 'fp8.role "work" warps(1) (%%h = %%given) : !h {\n%s\n}' % ops)


def construct_nested(body, fault):
    def form(then, other):
        inner = "scf.if %%d {\n%s\n} else {\n%s\n}" % (then, other)
        return "scf.if %%c {\nscf.execute_region {\n%s\nscf.yield\n}\n} else {\n%s\n}" % (
            inner, "" if fault == "leak" else body.consume())

    return arms(body, fault, form)


def construct_foreign(body, fault):
    if fault == "captured":
        return body.first() + "\n" + body.captured()
    return within(body, fault,
                  lambda ops: '"foreign.with"() ({\n^bb0(%%h: !h):\n%s\n"foreign.end"() : () -> ()\n}) : () -> ()' % ops)


CONSTRUCTS = {
    "if": construct_if,
    "for": construct_for,
    "while": construct_while,
    "index_switch": construct_index_switch,
    "cf diamond": construct_diamond,
    "cf loop": construct_block_loop,
    "call": construct_call,
    "role": construct_role,
    "nested two deep": construct_nested,
    "argument of a foreign op": construct_foreign,
}

# ===----------------------------------------------------------------------===
# Points
# ===----------------------------------------------------------------------===


def write_module(linear, construct, fault):
    """The module of a point."""
    if fault in ("after release", "lent after release") and not linear.borrow:
        raise Skip("no op borrows it: each use after the first is a second consumption")
    if fault == "lent after release" and not linear.lends:
        raise Skip("it lends nothing")
    ops = CONSTRUCTS[construct](Body(linear), fault)
    arguments = ["%c: i1", "%d: i1", "%i: index", "%i2: index", "%i3: index", "%m: memref<?xf32>", "%x: f32"]
    arguments += ["%f: !fp8.fragment<128x128xf32, 4>", "%s: !tile"]
    if "%end" in ops:
        arguments.append("%%end: %s" % linear.made_of)
    lines = ["func.func @point(%s) attributes {fp8.linear} {" % ", ".join(arguments)]
    lines += [line for line in ops.splitlines() if line] + ["return", "}"]
    callees = {"make": "() -> !h", "take": "(!h)", "end": "() -> !fp8.consumer<!acc>", "keep": "(!fp8.tmem_ready<!acc>)"}
    for name, signature in callees.items():
        if "@%s(" % name in ops:
            lines.append("func.func private @%s%s attributes {fp8.linear}" % (name, signature))
    return ALIASES + "!h = %s\n" % linear.type + "\n".join(lines) + "\n"


def run(tool, modules):
    """What fp8-opt says about each module: lists of (line, column, kind, message)."""
    separator = "// -----\n"
    text = separator.join(modules)
    result = subprocess.run([tool, "-", "-split-input-file", "-allow-unregistered-dialect", "-o", os.devnull],
                            input=text, capture_output=True, text=True, check=False)
    owner = []  # of each line of the text: its module, and its number there
    for index, module in enumerate(modules):
        owner += [(index, number) for number in range(1, module.count("\n") + 2)]
    said = [[] for _ in modules]
    for line in result.stderr.splitlines():
        match = re.match(r"[^ ]*:(\d+):(\d+): (error|note): (.*)", line)
        if match:
            index, local = owner[int(match[1]) - 1]
            said[index].append((local, int(match[2]), match[3], match[4]))
        elif re.match(r"\S.*(error|note|warning|Assertion|PLEASE)", line):
            sys.exit("unexpected output of fp8-opt: " + line)
    return said


def check_point(linear, name, module, said):
    """What holds for every diagnostic, whatever golden.txt says."""
    errors = [entry for entry in said if entry[2] == "error"]
    definition = [number for number, line in enumerate(module.splitlines(), 1)
                  if re.search(r"(^|[(, ])%[hg](:| =)", line)]
    problems = []
    if len(errors) != 1:
        problems.append("%d errors instead of one" % len(errors))
    for number, _, _, message in errors:
        if number not in definition:
            problems.append("the error is not where the handle is made")
        if not message.startswith(linear.handle + " "):
            problems.append("the error does not name the handle")
        if not re.search(r"\(L\d\); \S", message):
            problems.append("the error has no label, or no cure behind it")
    if len(said) == len(errors):
        problems.append("no note points at a cause")
    return ["%s: %s" % (name, problem) for problem in problems]


def place(module, number, column):
    """What is at a line and a column of a module."""
    lines = [line.split(" // ") for line in module.splitlines()]
    text, *role = lines[number - 1]
    start = text.index(" = ") + 3 if text.startswith("%") else 0
    name = role[0] if role and column == start + 1 else "`%s`" % text[column - 1:]
    same = [other for other, line in enumerate(lines, 1) if line[-1] == lines[number - 1][-1]]
    return name + (" #%d" % (same.index(number) + 1) if len(same) > 1 else "")


def render(linear, module, said):
    """The lines of golden.txt for a point."""
    return ["  %s at %s: %s" % (kind, place(module, number, column),
                                re.sub("^%s " % linear.handle, "{handle} ", message).replace("'%s'" % linear.consumer(), "'{op}'"))
            for number, column, kind, message in said]


def section(construct, fault, types):
    """The section of a construct and a fault; the lines of each type are given, or why there are none."""
    alike, skipped = {}, {}
    for name, lines in types.items():
        if isinstance(lines, Skip):
            skipped.setdefault(str(lines), []).append(name)
        else:
            alike.setdefault("\n".join(lines), []).append(name)
    out = []
    for lines, names in alike.items():
        out += ["%s, %s%s" % (construct, fault, ": " + ", ".join(names) if len(alike) > 1 else ""), lines, ""]
    for reason, names in skipped.items():
        every = len(names) == len(TYPES)
        out += ["%s, %s is not applicable%s: %s" % (construct, fault, "" if every else " to " + ", ".join(names), reason), ""]
    return out


def check_types():
    """Every linear type has a row: those whose summary in Fp8Types.td says so."""
    with open(DECLARATIONS, encoding="utf-8") as file:
        declared = re.findall(r'def \w+\s*:\s*\w+<"\w+",\s*"(\w+)"[^{]*(?:\[\{.*?\}\][^{]*)?\{\s*let summary = "[^"]*\(linear\)"',
                              file.read(), re.S)
    assert len(declared) >= 10, "the declarations of linear types were not found"
    return ["!fp8.%s is linear and has no row" % name for name in declared
            if not any(linear.type.startswith("!fp8.%s<" % name) for linear in TYPES)]


def show(arguments):
    """Prints the module of one point."""
    name, construct, fault = arguments
    linear = next(linear for linear in TYPES if linear.name == name)
    print(write_module(linear, construct, fault), end="")


def run_points(tool):
    """What fp8-opt says, {(construct, fault): {name of a type: its lines, or Skip}}; the number of modules; the errors that check_point finds."""
    points = {(construct, fault): {} for construct in CONSTRUCTS for fault in FAULTS}
    count, failures = 0, []
    for linear in TYPES:
        modules = {}
        for point in points:
            try:
                modules[point] = write_module(linear, *point)
            except Skip as reason:
                points[point][linear.name] = reason
        count += len(modules)
        for (point, module), said in zip(modules.items(), run(tool, list(modules.values()))):
            failures += check_point(linear, "%s, %s, %s" % (linear.name, *point), module, said)
            points[point][linear.name] = render(linear, module, said)
    return points, count, failures


def main():
    tool, *options = sys.argv[1:]
    if options[:1] == ["--show"]:
        return show(options[1:])
    points, count, failures = run_points(tool)
    failures += check_types()
    text = "\n".join(line for point, types in points.items() for line in section(*point, types))
    if options == ["--update"]:
        with open(GOLDEN, "w", encoding="utf-8") as file:
            file.write(text)
    with open(GOLDEN, encoding="utf-8") as file:
        golden = file.read()
    failures += difflib.unified_diff(golden.splitlines(), text.splitlines(), "golden.txt", "fp8-opt", lineterm="")
    for failure in failures:
        print("error:", failure)
    reasons = [str(said) for types in points.values() for said in types.values() if isinstance(said, Skip)]
    for reason in sorted(set(reasons)):
        print("not applicable: %d (%s)" % (reasons.count(reason), reason))
    print("%d types, %d constructs, %d faults: %d points, %d not applicable; %s" % (
        len(TYPES), len(CONSTRUCTS), len(FAULTS), count, len(reasons), "not as expected" if failures else "all as expected"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
