# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The floor of a row: a kernel in Triton that reads A and B once, writes D once, and
computes nothing. No kernel of the row can be expected to take less time where memory
bounds it. It has no scales to read, no tile to wait for and no last product."""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

WARPS = 16


@triton.jit
def move(a, b, d, A_WORDS, B_WORDS, D_WORDS, SIZE: tl.constexpr, PROGRAMMATIC: tl.constexpr):
    """Words of 32 bits, SIZE at a time."""
    first, step = tl.program_id(0) * SIZE, tl.num_programs(0) * SIZE
    offsets = tl.arange(0, SIZE)
    if PROGRAMMATIC:
        gdc_wait()
    seen = tl.zeros((SIZE,), dtype=tl.int32)
    for word in range(first, B_WORDS, step):
        seen ^= tl.load(b + word + offsets, mask=word + offsets < B_WORDS, other=0)
    for word in range(first, A_WORDS, step):
        seen ^= tl.load(a + word + offsets, mask=word + offsets < A_WORDS, other=0)
    if PROGRAMMATIC:
        gdc_launch_dependents()
    for word in range(first, D_WORDS, step):
        tl.store(d + word + offsets, seen, mask=word + offsets < D_WORDS)


# (CTAs for each multiprocessor, words that a CTA asks for at a time)
CANDIDATES = [(2, 8192), (4, 4096), (4, 8192), (4, 16384)]


class Floor:
    name = "floor"

    def __init__(self, operands, candidate, multiprocessors, programmatic):
        ctas, self.size = candidate
        self.programs, self.programmatic = ctas * multiprocessors, programmatic
        self.configuration = "%d CTAs, %d words" % (self.programs, self.size) + ", programmatic" * programmatic
        self.sets = [tuple(tensor.view(torch.int32).flatten() for tensor in (one.a, one.b, one.d)) for one in operands.sets]

    def launch(self, index):
        words = self.sets[index]
        move[(self.programs,)](*words, *(tensor.numel() for tensor in words), SIZE=self.size, PROGRAMMATIC=self.programmatic,
                               num_warps=WARPS, launch_pdl=self.programmatic)


def tuned(operands, multiprocessors, programmatic, clock, say):
    """The fastest candidate on these operands by `clock`: peer -> microseconds."""
    timed = []
    for candidate in CANDIDATES:
        one = Floor(operands, candidate, multiprocessors, programmatic)
        timed.append((clock(one), one))
        say("%s %s: %.2f us" % (one.name, one.configuration, timed[-1][0]))
    return min(timed, key=lambda pair: pair[0])[1]
