# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of tensor cores, bit by bit: the operands that the probes of sum_probes.py make, the model of
include/fp8/Chip/SumRule.h in exact integers, and which rules explain what a GPU gave.
"""

import struct
from typing import NamedTuple, Optional

COLUMNS = 16
ROW_BYTES = 32
# Of the counts that are hashed, those of B, and of the scales of A's rows and of B's, begin here.
B_AT, SCALES_A_AT, SCALES_B_AT = 1 << 20, 2 << 20, 3 << 20
SCALE_BIAS = 127  # of UE8M0
NAN = 0x7fffffff


class Type(NamedTuple):
    """An element type: its bits, those of the exponent and of the fraction."""
    bits: int
    exponent: int
    fraction: int

    @property
    def bias(self):
        return (1 << (self.exponent - 1)) - 1

    def parts(self, code):
        """(signed significand, its unit's exponent, the exponent that the format stores) of a finite number; None of 0."""
        low = self.bits - 1 - self.exponent - self.fraction  # bits that the tensor core does not look at: of tf32
        code >>= low
        fraction, exponent = code & ((1 << self.fraction) - 1), code >> self.fraction & ((1 << self.exponent) - 1)
        significand = fraction | (1 << self.fraction if exponent else 0)
        if not significand:
            return None
        stored = max(exponent, 1) - self.bias
        negative = code >> (self.exponent + self.fraction) & 1
        return (-significand if negative else significand), stored - self.fraction, stored


TYPES = {"e4m3": Type(8, 4, 3), "e5m2": Type(8, 5, 2), "f16": Type(16, 5, 10), "bf16": Type(16, 8, 7), "tf32": Type(32, 8, 10),
         "f32": Type(32, 8, 23)}


class Case(NamedTuple):
    """What is drawn: codes of A from `a[0]` to below `a[1]`, with either sign; of B likewise; `before`: the bits of f32 in every accumulator;
    `scales`: of kinds with a scale for each row, UE8M0, likewise."""
    name: str
    types: tuple
    a: tuple
    b: tuple
    before: int
    seed: int
    scales: Optional[tuple] = None

    @property
    def products(self):
        return ROW_BYTES * 8 // TYPES[self.types[0]].bits


class Rule(NamedTuple):
    """As SumRule.h has it; `term_bits` None: exact."""
    term_bits: Optional[int]
    result_bits: int
    toward_zero: bool

    def __str__(self):
        terms = "terms exact" if self.term_bits is None else "terms cut off at 2^-%d of the largest" % self.term_bits
        return "%s, sum %s to %d bits" % (terms, "cut off" if self.toward_zero else "rounded to nearest even", self.result_bits)


def draw(count, seed):
    """The hash of the probes' kernels."""
    x = (count * 0x9e3779b1 + seed) & 0xffffffff
    x = (x ^ x >> 15) * 0x85ebca77 & 0xffffffff
    x = (x ^ x >> 13) * 0xc2b2ae3d & 0xffffffff
    return x ^ x >> 16


def codes(case, count, first, limits, form):
    low, high = limits
    drawn = (draw(first + index, case.seed) for index in range(count))
    return [low + (x * (high - low) >> 32) | (x & 1) << (form.bits - 1) for x in drawn]


class Problem:
    """The operands of a case, `rows` x COLUMNS sums."""

    def __init__(self, case, rows):
        self.case = case
        self.a, self.b = (self.parts(*operand) for operand in ((rows, 0, case.a, case.types[0]), (COLUMNS, B_AT, case.b, case.types[1])))
        self.a_scales, self.b_scales = self.exponents(rows, SCALES_A_AT), self.exponents(COLUMNS, SCALES_B_AT)
        self.before = TYPES["f32"].parts(case.before)

    def parts(self, count, first, limits, name):
        k, form = self.case.products, TYPES[name]
        parts = [form.parts(code) for code in codes(self.case, count * k, first, limits, form)]
        return [parts[index * k:index * k + k] for index in range(count)]

    def exponents(self, count, first):
        if not self.case.scales:
            return [0] * count
        low, high = self.case.scales
        return [low + (draw(first + index, self.case.seed) * (high - low) >> 32) - SCALE_BIAS for index in range(count)]

    def terms(self, index):
        """(signed integer, its unit's exponent, the exponent that counts) of each term of a sum that is not 0."""
        row, column = divmod(index, COLUMNS)
        scale = self.a_scales[row] + self.b_scales[column]
        terms = [(x[0] * y[0], x[1] + y[1] + scale, x[2] + y[2] + scale) for x, y in zip(self.a[row], self.b[column]) if x and y]
        return terms + ([self.before] if self.before else [])


def shifted(value, places):
    """Toward zero."""
    if places >= 0:
        return value << places
    return -(-value >> -places) if value < 0 else value >> -places


def rounded(value, unit, rule):
    """The bits of f32 of value * 2^unit."""
    sign, value = (0x80000000, -value) if value < 0 else (0, value)
    if not value:
        return 0
    least = max(value.bit_length() + unit - 1 - rule.result_bits, -149)
    places = least - unit
    if places > 0:
        rest, value = value & ((1 << places) - 1), value >> places
        half = 1 << (places - 1)
        if not rule.toward_zero and (rest > half or rest == half and value & 1):
            value += 1
    else:
        value, least = value << -places, least
    # A carry may have made it one bit longer; value * 2^least is exact in f32 now.
    number = float(value) * 2.0 ** least
    try:
        return sign | struct.unpack("<I", struct.pack("<f", number))[0]
    except OverflowError:
        return sign | 0x7f800000


def total(terms, rule):
    """The bits of the sum of terms."""
    if not terms:
        return 0
    if rule.term_bits is None:
        unit = min(term[1] for term in terms)
    else:
        unit = max(term[2] for term in terms) - rule.term_bits
    return rounded(sum(shifted(value, at - unit) for value, at, _ in terms), unit, rule)


def model(case, rows, rule):
    """The bits of D by the rule, row by row."""
    problem = Problem(case, rows)
    return [total(problem.terms(index), rule) for index in range(rows * COLUMNS)]


def candidates():
    """Every rule that is tried."""
    return [Rule(terms, result, toward_zero) for result in (13, 23) for toward_zero in (True, False) for terms in [None, *range(11, 31)]]


def explain(measured, rows, sample=96):
    """The candidates that give every bit measured. `measured`: (case, words of D), all of one kind."""
    left = candidates()
    step = max(1, rows * COLUMNS // sample) | 1
    which = list(range(0, rows * COLUMNS, step))
    for case, words in measured:
        problem = Problem(case, rows)
        for index in which:
            terms = problem.terms(index)
            left = [rule for rule in left if total(terms, rule) == words[index]]
            if not left:
                return []
    return [rule for rule in left if all(model(case, rows, rule) == words for case, words in measured)]


def unpack(data):
    return list(struct.unpack("<%dI" % (len(data) // 4), data))


def compare(words, expected):
    """(how many differ, the first such index or None)"""
    differ = [index for index, pair in enumerate(zip(words, expected)) if pair[0] != pair[1]]
    return len(differ) + abs(len(words) - len(expected)), differ[0] if differ else None
