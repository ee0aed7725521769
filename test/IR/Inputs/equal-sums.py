#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a function that consumes one set of handles where it owns another.

The SplitMix64 finalizers of the numbers of both sets have one sum, by which the
linearity check once told sets apart: 32 handles leak and 32 are closed twice.

usage: equal-sums.py
"""

FIRST = (
    0, 1749, 2872, 4790, 5857, 7446, 8938, 10106, 11209, 13185, 14283, 15502, 16991, 18848, 20130, 21150, 22403,
    24037, 25300, 27297, 28124, 29557, 30917, 32795, 33652, 35300, 36782, 38022, 39407, 40902, 42226, 43466,
)
SECOND = (
    759, 2508, 4163, 5235, 6360, 7945, 9692, 10772, 12212, 13920, 14748, 16179, 17625, 19446, 20801, 22338, 23748,
    25127, 26220, 27856, 29281, 30776, 31757, 33159, 34628, 35881, 37335, 38550, 40031, 41636, 42927, 44597,
)
MASK = (1 << 64) - 1


def finalize(number):
    x = (number + 1) * 0x9E3779B97F4A7C15 & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def close(numbers):
    return "\n".join("  fp8.close %%a%d : !end" % number for number in numbers)


def main():
    assert sum(map(finalize, FIRST)) & MASK == sum(map(finalize, SECOND)) & MASK
    count = max(FIRST + SECOND) + 1
    others = sorted(set(range(count)) - set(FIRST) - set(SECOND))
    arguments = ", ".join("%%a%d: !end" % number for number in range(count))
    print("!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>")
    print("func.func @f(%%cond: i1, %s) attributes {fp8.linear} {" % arguments)
    print(close(others))
    print("  cf.cond_br %cond, ^first, ^second")
    print("^first:\n%s\n  cf.br ^meet" % close(FIRST))
    print("^second:\n%s\n  cf.br ^meet" % close(SECOND))
    print("^meet:\n%s\n  return\n}" % close(FIRST))


main()
