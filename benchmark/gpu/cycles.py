# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The clock of the multiprocessors, from their cycle counters: %clock64 over
%globaltimer between two kernels (PTX ISA, "Special Registers"). What the driver
says is the clock that was asked for, not the one that power left."""

import statistics

import torch
import triton
import triton.language as tl

# CTAs for each multiprocessor, so that every one is read.
CTAS = 8


@triton.jit
def stamp(out):
    index = tl.program_id(0) + tl.arange(0, 1)
    cycles, nanoseconds, processor = tl.inline_asm_elementwise(
        "mov.u64 $0, %clock64; mov.u64 $1, %globaltimer; { .reg .b32 r; mov.u32 r, %smid; cvt.u64.u32 $2, r; }", "=l,=l,=l,r",
        [index], dtype=(tl.int64, tl.int64, tl.int64), is_pure=False, pack=1)
    tl.store(out + index * 3, processor)
    tl.store(out + index * 3 + 1, cycles)
    tl.store(out + index * 3 + 2, nanoseconds)


class Cycles:
    def __init__(self, multiprocessors):
        self.ctas = multiprocessors * CTAS

    def read(self):
        """(cycles, nanoseconds) of each multiprocessor, by number."""
        out = torch.empty(self.ctas, 3, dtype=torch.int64, device="cuda")
        stamp[(self.ctas,)](out, num_warps=1)
        return {processor: (cycles, nanoseconds) for processor, cycles, nanoseconds in out.tolist()}

    @staticmethod
    def megahertz(before, after):
        """The median over multiprocessors; None if none was read twice."""
        rates = [(after[one][0] - before[one][0]) / (after[one][1] - before[one][1]) * 1000
                 for one in before.keys() & after.keys() if after[one][1] > before[one][1]]
        return statistics.median(rates) if rates else None
