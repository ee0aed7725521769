#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each rule's label that a .td or .cpp file puts in parentheses, `(G7)`, has one row in a table of docs/Semantics.md, and that
each label there stands in one of these files.

usage: check-labels.py SEMANTICS ROOT...
"""

import collections
import os
import re
import sys

NAMED = re.compile(r"\(([A-Z]\d{1,2})\)")
MENTIONED = re.compile(r"\b[A-Z]\d{1,2}\b")
ROW = re.compile(r"^\| ([A-Z]\d{1,2}) \|", re.M)


def sources(roots):
    for root in roots:
        for directory, _, names in os.walk(root):
            for name in sorted(names):
                if name.endswith((".td", ".cpp")):
                    with open(os.path.join(directory, name), encoding="utf-8") as file:
                        yield os.path.join(directory, name), file.read()


def main():
    semantics, *roots = sys.argv[1:]
    with open(semantics, encoding="utf-8") as file:
        rows = collections.Counter(ROW.findall(file.read()))
    errors = ["%s has %d rows" % item for item in rows.items() if item[1] > 1]
    mentioned = set()
    for path, text in sources(roots):
        mentioned |= set(MENTIONED.findall(text))
        errors += ["%s of %s has no row" % (label, path) for label in sorted(set(NAMED.findall(text)) - set(rows))]
    errors += ["no source names %s" % label for label in sorted(set(rows) - mentioned)]
    for error in errors:
        print("%s: error: %s" % (semantics, error))
    print("%d labels checked, %d errors" % (len(rows), len(errors)))
    return 1 if errors or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
