#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the verifier on functions with many linear handles, and shows that twice
the size takes twice the time.

The time is what fp8-opt's timer gives for parsing with verification, less what
it gives without, the best of several runs of each: all of the verifier, not the
linearity check alone. Other work on the machine disturbs it.

usage: verifier.py FP8-OPT
"""

import re
import sys
import tempfile

import inputs

RUNS = 5
GOAL_S = 1.0  # 100,000 ops, 10,000 handles
MAX_GROWTH = 8.0  # of the time, for four times the size; quadratic would be 16
MEASURABLE_S = 0.1  # growth to less than this says nothing
SIZES = (5000, 10000, 20000)  # handles

HEADER = """\
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
!stage = !fp8.consumer_stage<!ring>
"""


def function(arguments, body):
    return "%sfunc.func @f(%%c: i1, %s) attributes {fp8.linear} {\n%s\nreturn\n}\n" % (
        HEADER, ", ".join(arguments), "\n".join(body))


def ends(count):
    return ["%%e%d: !end" % i for i in range(count)]


def close_all(count, name="e"):
    return ["fp8.close %%%s%d : !end" % (name, i) for i in range(count)]


def chain(handles):
    """One end goes through all stages, one after another, each borrowed many times."""
    body = []
    for i in range(handles // 2):
        body.append("%%s%d = fp8.acquire %%e%d : !end" % (i, i))
        body += ['%%t%d_%d = fp8.tile %%s%d["s"] : !stage' % (i, j, i) for j in range(18)]
        body.append("%%e%d = fp8.release %%s%d : !stage" % (i + 1, i))
    return function(["%e0: !end"], body + ["fp8.close %%e%d : !end" % (handles // 2)])


def together(handles):
    """All stages are alive at once, and borrowed in turn."""
    count = handles // 2
    body = ["%%s%d = fp8.acquire %%e%d : !end" % (i, i) for i in range(count)]
    body += ['%%t%d_%d = fp8.tile %%s%d["s"] : !stage' % (i, j, i) for j in range(17) for i in range(count)]
    body += ["%%r%d = fp8.release %%s%d : !stage" % (i, i) for i in range(count)]
    return function(ends(count), body + close_all(count, "r"))


def diamonds(handles):
    """All are alive across a row of diamonds of blocks, a tenth as many."""
    body, count = ["cf.br ^h0"], handles // 10
    for i in range(count):
        body += ["^h%d:" % i, "cf.cond_br %%c, ^l%d, ^r%d" % (i, i), "^l%d:" % i, "cf.br ^h%d" % (i + 1), "^r%d:" % i,
                 "cf.br ^h%d" % (i + 1)]
    return function(ends(handles), body + ["^h%d:" % count] + close_all(handles))


def loops(handles):
    """Blocks that loop hand ten handles each round; all others are alive across them."""
    body = []
    for i in range(0, handles, 10):
        group = range(i, i + 10)
        types = ", ".join(["!end"] * 10)
        body += ["cf.br ^b%d(%s : %s)" % (i, ", ".join("%%e%d" % j for j in group), types),
                 "^b%d(%s):" % (i, ", ".join("%%a%d: !end" % j for j in group)),
                 "cf.cond_br %%c, ^b%d(%s : %s), ^x%d" % (i, ", ".join("%%a%d" % j for j in reversed(group)), types, i),
                 "^x%d:" % i] + ["fp8.close %%a%d : !end" % j for j in group]
    return function(ends(handles), body)


def carried(handles):
    """Structured loops carry fifty handles each, and swap them; all others are alive across them."""
    body = ["%i0 = arith.constant 0 : index", "%i1 = arith.constant 1 : index"]
    for i in range(0, handles, 50):
        group = range(i, i + 50)
        types = ", ".join(["!end"] * 50)
        body += ["%%r%d:50 = scf.for %%i%d_ = %%i0 to %%i1 step %%i1 iter_args(%s) -> (%s) {" % (
            i, i, ", ".join("%%a%d = %%e%d" % (j, j) for j in group), types),
                 "scf.yield %s : %s" % (", ".join("%%a%d" % j for j in reversed(group)), types), "}"]
        body += ["fp8.close %%r%d#%d : !end" % (i, j) for j in range(50)]
    return function(ends(handles), body)


def arms(handles):
    """Consumed in both arms of branches four deep, a hundred to a branch."""
    body = []
    for i in range(0, handles, 100):
        close = ["fp8.close %%e%d : !end" % j for j in range(i, i + 100)]
        inner = close
        for _ in range(4):
            inner = ["scf.if %c {"] + inner + ["} else {"] + close + ["}"]
        body += inner
    return function(ends(handles), body)


SHAPES = [chain, together, diamonds, loops, carried, arms]


def parse_time(command):
    """The seconds that fp8-opt takes to parse, by its own timer."""
    return float(re.search(r"([\d.]+) \([ \d.]+%\)  Parser", inputs.run_tool(command, option="FP8-OPT", stream="stderr"))[1])


def verify_time(tool, text, directory):
    path = directory + "/handles.mlir"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    verified = [tool, path, "-o", "/dev/null", "-mlir-timing", "-mlir-print-skip-regions"]
    unverified = verified + ["-mlir-very-unsafe-disable-verifier-on-parsing"]
    times = [(parse_time(verified), parse_time(unverified)) for _ in range(RUNS)]
    return max(0.0, min(pair[0] for pair in times) - min(pair[1] for pair in times))


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    tool, = sys.argv[1:]
    status = 0
    print("verifier, seconds for %s handles, and lines of the second (goal %.1f s); growth from the first to the last"
          % (", ".join("%d" % size for size in SIZES), GOAL_S))
    with tempfile.TemporaryDirectory() as directory:
        for shape in SHAPES:
            texts = [shape(size) for size in SIZES]
            times = [verify_time(tool, text, directory) for text in texts]
            growth = times[2] / max(times[0], 0.001)
            good = times[1] <= GOAL_S and (growth <= MAX_GROWTH or times[2] < MEASURABLE_S)
            status |= not good
            print("  %-9s %s  %6d lines, x%.1f%s  %s" % (
                shape.__name__, "  ".join("%.3f" % time for time in times), texts[1].count("\n"), growth,
                "" if good else " TOO SLOW", shape.__doc__))
    return status


if __name__ == "__main__":
    inputs.run(main)
