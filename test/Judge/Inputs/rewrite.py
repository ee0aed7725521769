# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites PTX into the forms that SentryWard 0.1.1 reads. Lines keep their numbers, so that its witnesses name lines of the original."""

import re

# ptxas makes the same code of the text before and after; sass.test compares the bytes.
REWRITES = [
    # It knows the loop of a wait by the branch on the negated result of try_wait itself.
    (re.compile(r"^(\s*mbarrier\.try_wait\S*\s+(%p\d+), .*\n)\s*not\.pred\s+(%p\d+), \2;\n\s*@\3 (bra.*)$", re.M), r"\1\n\t@!\2 \4"),
    # Nor may a label stand in the loop. These mark places in the source, for debuggers, and nothing branches to them.
    (re.compile(r"^\$L__tmp\d+:$", re.M), ""),
    # The collector's default (PTX ISA, tcgen05.mma).
    (re.compile(r"\.collector::a::discard\b"), ""),
]

# With prefetches of tensor maps it does not find the maps. They are hints, and become instructions: a kernel is judged without them.
PREFETCH = re.compile(r"^\s*prefetch\.(param\.)?tensormap.*$", re.M)


def without_hints(ptx):
    return PREFETCH.sub("", ptx)


def rewrite(ptx):
    ptx = without_hints(ptx)
    for pattern, replacement in REWRITES:
        ptx = pattern.sub(replacement, ptx)
    return ptx
