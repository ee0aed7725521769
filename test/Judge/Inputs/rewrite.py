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


# A store by all threads of a role, of one value at one place, is a race to it, and it looks no further.
REGISTERS = re.compile(r"^(\s*\.reg \.pred .*)$", re.M)
PLAIN_STORE = re.compile(r"^(\s*)(st\.global\.\S+\s.*)$", re.M)
# Whether a thread is the last lane of one of the warps in a mask: not the one that is elected, whose order with copies and signals is its own.
IS_ONE = """mov.u32 %thread, %tid.x; shr.u32 %role, %thread, 5; shr.u32 %role, {mask}, %role; and.b32 %role, %role, 1; and.b32 %thread, %thread, 31;
add.s32 %thread, %thread, %role; setp.eq.s32 %one, %thread, 32;""".replace("\n", " ")


def with_one_thread_storing(ptx, first_warps):
    """The text in which one thread of each role, whose first warps are given, alone makes the stores that have no guard. That is the same
    kernel if all threads of the role store one value at one place."""
    is_one = IS_ONE.format(mask=sum(1 << warp for warp in first_warps))
    ptx = REGISTERS.sub(r"\1 .reg .pred %one; .reg .b32 %role, %thread;", ptx, count=1)
    return PLAIN_STORE.sub(rf"\1{is_one} @%one \2", ptx)


def without_hints(ptx):
    return PREFETCH.sub("", ptx)


def rewrite(ptx):
    ptx = without_hints(ptx)
    for pattern, replacement in REWRITES:
        ptx = pattern.sub(replacement, ptx)
    return ptx
