# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a tree whose C++ breaks each rule of check-shape.py, beside sources that just keep it.

usage: write-shapes.py ROOT
"""

import os
import sys

OPS = ["A%dOp" % number for number in range(25)]


def write(path, lines):
    path = os.path.join(sys.argv[1], path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def function(head, length, indent=""):
    return [indent + head + " {"] + [indent + "  step();"] * (length - 2) + [indent + "}"]


write("include/fp8/IR/Ops.td", ["def Fp8_%s : Fp8_Op<>;" % name for name in OPS])
write("include/fp8/Lists.h", [
    "inline bool few(Operation *op) {", "  return isa<%s>(op);" % ", ".join(OPS[:6]), "}",
    "inline bool many(Operation *op) { return isa<%s, Other>(op); }" % ",\n  ".join(OPS[:7]),
    "inline bool others = isa<%s>(op);" % ", ".join("B%dOp" % number for number in range(9))])
write("lib/Switch.cpp", ["void run(Operation *op) {", "  TypeSwitch<Operation *>(op)"] + ["      .Case<%s>([](auto) {})" % name for name in OPS[:7]] + ["      ;", "}"])
long = ["// Long."] + function("static void run(int argument)", 81) + ["struct S {"] + function("void run()", 81, "  ") + ["};"]
write("lib/Long.cpp", long + ["int x;"] * (453 - len(long)))
write("lib/Table.cpp", ["const int kTable[] = {"] + ["    1,"] * 100 + ["};"])
write("tools/fp8-run/Fine.cpp", function("int main(int argc, char **argv)", 80))
