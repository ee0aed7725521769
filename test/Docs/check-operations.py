#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the tables of ops in docs/Semantics.md against the .td files: each op has one row, which names every rule that its description
names, and each row is of an op. Ops of phase 3 have no rows; their files are named here.

usage: check-operations.py SEMANTICS IR_DIRECTORY
"""

import collections
import os
import re
import sys

PHASE_3 = ("Barrier.td", "BarrierWork.td", "Profile.td")
# The base classes of ops take the mnemonic first; those of types and attributes are left out by their files.
OTHERS = ("Fp8Types.td", "Fp8Attrs.td", "Plan.td", "Fp8Base.td", "Fp8Interfaces.td", "Fp8Dialect.td")
OP = re.compile(r'^def Fp8_\w+Op\s*: \w+<"(\w+)".*?let (?:summary|description) = .*?^\}', re.M | re.S)
LABEL = re.compile(r"\(([A-Z]\d{1,2})\)")
TABLE = re.compile(r"^\| op \|(?:.*\|)? rules \|\n\|[-|]+\n((?:\|.*\n)+)", re.M)


def described(directory):
    """The labels in the description of each op."""
    ops = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".td") and name not in PHASE_3 + OTHERS:
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                text = file.read()
            for match in OP.finditer(text):
                ops[match[1]] = set(LABEL.findall(match[0]))
    return ops


def main():
    semantics, directory = sys.argv[1:]
    with open(semantics, encoding="utf-8") as file:
        tables = TABLE.findall(file.read())
    rows, rules = collections.Counter(), collections.defaultdict(set)
    for line in "".join(tables).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = cells[0].strip("`")
        rows[name] += 1
        rules[name] |= set(re.findall(r"[A-Z]\d{1,2}", cells[-1]))
    ops = described(directory)
    errors = ["%s has %d rows" % (name, rows[name]) for name in sorted(ops) if rows[name] != 1]
    errors += ["%s is no op" % name for name in sorted(set(rows) - set(ops))]
    # L1 to L9 hold for every op.
    errors += ["the row of %s lacks the rule %s" % (name, label) for name in sorted(set(ops) & set(rows))
               for label in sorted(ops[name] - rules[name]) if label[0] != "L"]
    for error in errors:
        print("%s: error: %s" % (semantics, error))
    print("%d ops checked, %d errors" % (len(ops), len(errors)))
    return 1 if errors or not ops else 0


if __name__ == "__main__":
    sys.exit(main())
