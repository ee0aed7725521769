# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of wgmma on Hopper: e4m3 by N, A from shared memory or registers, random operands."""

import ptx

A, B = 1024, 1024 + 8192
SHARED = B + 32768
COUNTS = (1, 17)


def smem_descriptor(register, offset):
    """K-major, 128-byte swizzle."""
    return ptx.lines("add.u32 %%r0, %%base, %d" % offset, "shr.u32 %r0, %r0, 4", "and.b32 %r0, %r0, 0x3fff", "cvt.u64.u32 %s, %%r0" % register,
                     "or.b64 %s, %s, %d" % (register, register, 1 << 62 | 64 << 32 | 1 << 16))


def probe(chip, n, registers=False):
    name = ptx.Names()
    accumulators = "{%s}" % ", ".join("%%v%d" % index for index in range(n // 2))
    a = "{%a0, %a1, %a2, %a3}" if registers else "%d0"
    step = ptx.lines("wgmma.mma_async.sync.aligned.m64n%dk32.f32.e4m3.e4m3 %s, %s, %%d1, 1, 1, 1" % (n, accumulators, a))
    zero = ptx.lines(*["mov.f32 %%v%d, 0f00000000" % index for index in range(n // 2)], *["mov.b32 %%a%d, 0x38373635" % index for index in range(4)])
    series = "".join(ptx.sampled(name, ptx.lines("wgmma.fence.sync.aligned") + step * count + ptx.lines(
        "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned 0"), writer="%p4") for count in COUNTS)
    # The sums are used, or ptxas leaves them out.
    total = ptx.lines("mov.f32 %f0, 0f00000000", *["add.f32 %%f0, %%f0, %%v%d" % index for index in range(n // 2)], "setp.eq.f32 %p5, %f0, 0f12345678",
                      "@%p5 st.shared.f32 [%base], %f0")
    text = ptx.fill(name, A, SHARED - A, 128) + ptx.lines("fence.proxy.async.shared::cta", "bar.sync 0", "setp.eq.u32 %p4, %th, 0") + zero
    text += smem_descriptor("%d0", A) + smem_descriptor("%d1", B) + series + total
    return ptx.Probe("wgmma-e4m3-64x%d%s" % (n, "-registers" if registers else ""), chip, text, ["chain of %d" % count for count in COUNTS], shared=SHARED,
                     registers="  .reg .f32 %%v<%d>;\n  .reg .b32 %%a<4>;\n" % (n // 2))


def probes(chip):
    return [probe(chip, n, registers) for registers in (False, True) for n in (8, 16, 32, 64, 96, 128, 192, 256)]
