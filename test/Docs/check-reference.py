#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the generated reference of the dialect: the section of each op has an
example, a ```mlir fence, that uses this very op; each type stands in one of
the examples. That they parse and verify is check-fences.py's part.

usage: check-reference.py FILE
"""

import re
import sys

OP = re.compile(r"^### `(fp8\.\w+)`", re.M)
TYPE = re.compile(r"^### (\w+)Type$", re.M)
# What no op writes out: fp8.tma_copy implies it.
UNWRITTEN = ["!fp8.mbarrier"]
FENCE = re.compile(r"^```mlir\n(.*?)^```$", re.M | re.S)


def uses(text, name):
    return re.search(r"(?<![\w.])%s\b(?![.\w])" % re.escape(name), text)


def sections(text):
    """(op, section) of each op."""
    starts = list(OP.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return [(start[1], text[start.start():end]) for start, end in zip(starts, ends)]


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    errors, ops = [], sections(text)
    for op, section in ops:
        if not any(uses(fence, op) for fence in FENCE.findall(section)):
            errors.append("%s: error: no example of %s uses it" % (path, op))
    examples = "\n".join(FENCE.findall(text))
    types = ["!fp8." + re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in TYPE.findall(text)]
    for name in types:
        if not uses(examples, name) and name not in UNWRITTEN:
            errors.append("%s: error: no example has a %s" % (path, name))
    print("\n".join(errors + ["%d ops and %d types, %d without an example" % (len(ops), len(types), len(errors))]))
    return 1 if errors or not ops else 0


if __name__ == "__main__":
    sys.exit(main())
