# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of one MMA on operands that they draw themselves, for the sums of tensor cores bit by bit; the cases.

A kernel is for a pair of types; the manifest of a case has its ranges, accumulator and seed as parameters. Kinds whose
terms are sums of several products (SumRule::perTerm) have no model in sums.py yet.
"""

import random

import mma_probes
import ptx
import sums

# Kinds by the ProductKind of SumRules.cpp: pairs of types, and the kind of tcgen05.mma.
KINDS = {"Float8": [("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2")], "Float16": [("f16", "f16"), ("bf16", "bf16")], "TF32": [("tf32", "tf32")]}
SCALED_KINDS = {"ScaledFloat8": [("e4m3", "e4m3"), ("e5m2", "e4m3")]}
MMA_KINDS = {"Float8": "f8f6f4", "Float16": "f16", "TF32": "tf32", "ScaledFloat8": "mxf8f6f4"}
CODES = {"e4m3": 0, "e5m2": 1, "f16": 0, "bf16": 1, "tf32": 2}
# Codes: all finite numbers; about 1; subnormal ones and 0; large ones.
RANGES = {"e4m3": ((0, 127), (0x30, 0x48), (0, 8), (100, 127)), "e5m2": ((0, 0x7c), (0x34, 0x44), (0, 4), (0x68, 0x7c)),
          "f16": ((0, 0x7c00), (0x3800, 0x4400), (0, 0x400), (0x6c00, 0x7c00)), "bf16": ((0x3b00, 0x4300), (0x3f00, 0x4080), (0, 0x80), (0x7000, 0x7e80)),
          "tf32": ((0x3b000000, 0x43000000), (0x3f000000, 0x40800000), (0, 0x800000), (0x70000000, 0x7e800000))}
# f32: 0; 33.3; 0.7; 1e6; 1e-4
SCALES = (sums.SCALE_BIAS - 12, sums.SCALE_BIAS + 12)
ZERO, SOME, ONE, LARGE, SMALL = 0, 0x42053333, 0x3f333333, 0x49742400, 0x38d1b717


def cases(kind, types, seed):
    """What the published models of tensor cores disagree about lies at the edges: of exponents, of the accumulator beside the products."""
    (all_a, near_a, low_a, high_a), (all_b, near_b, low_b, high_b) = RANGES[types[0]], RANGES[types[1]]
    drawn = random.Random(seed)
    rows = [("all", all_a, all_b, SOME), ("near", near_a, near_b, ONE), ("large-sum", near_a, near_b, LARGE), ("small-sum", all_a, all_b, SMALL),
            ("subnormal", low_a, high_b, ZERO), ("uneven", high_a, low_b, SMALL)]
    scales = SCALES if kind in SCALED_KINDS else None
    return [sums.Case("%s-%s-%s-%s" % (MMA_KINDS[kind], *types, name), types, a, b, before, drawn.getrandbits(32), scales) for name, a, b, before in rows]


def hashed(target, count):
    """As sums.draw; %r30 is the seed."""
    mixed = [f"mul.lo.u32 {target}, {count}, 0x9e3779b1", f"add.u32 {target}, {target}, %r30"]
    for places, factor in ((15, "0x85ebca77"), (13, "0xc2b2ae3d"), (16, None)):
        mixed += [f"shr.u32 %r29, {target}, {places}", f"xor.b32 {target}, {target}, %r29"]
        mixed += [f"mul.lo.u32 {target}, {target}, {factor}"] if factor else []
    return ptx.lines(*mixed)


def operand(name, offset, rows, form, first, low, span):
    """Draws rows of 32 bytes, in the layout of a 32-byte swizzle."""
    label = name("DRAW")
    size = form.bits // 8
    count = rows * sums.ROW_BYTES // size
    text = ptx.lines("mov.u32 %r20, %th") + label + ":\n" + ptx.lines(f"add.u32 %r21, %r20, {first}") + hashed("%r22", "%r21")
    return text + ptx.lines(
        f"mul.hi.u32 %r23, %r22, {span}", f"add.u32 %r23, %r23, {low}", "and.b32 %r24, %r22, 1", f"shl.b32 %r24, %r24, {form.bits - 1}",
        "or.b32 %r23, %r23, %r24", f"shl.b32 %r25, %r20, {size.bit_length() - 1}", "shr.u32 %r26, %r25, 3", "and.b32 %r26, %r26, 16",
        "xor.b32 %r25, %r25, %r26", "add.u32 %r25, %r25, %base", f"st.shared.u{form.bits} [%r25+{offset}], %r23", "add.u32 %r20, %r20, 128",
        f"setp.lt.u32 %p0, %r20, {count}", f"@%p0 bra {label}")


class SumProbe(ptx.Probe):
    """`rows` x 16 sums, each of one instruction."""

    PARAMETERS = ["seed", "low_a", "span_a", "low_b", "span_b", "before", "low_scale", "span_scale"]

    def __init__(self, chip, kind, types, rows):
        self.rows, self.types = rows, types
        labels = ptx.Names()
        forms = [sums.TYPES[name] for name in types]
        self.a, self.b = 1024, 1024 + rows * 32
        body = "".join(ptx.lines("ld.param.u32 %%r%d, [%s]" % (30 + index, name)) for index, name in enumerate(self.PARAMETERS))
        body += operand(labels, self.a, rows, forms[0], 0, "%r31", "%r32") + operand(labels, self.b, sums.COLUMNS, forms[1], sums.B_AT, "%r33", "%r34")
        body += ptx.lines("fence.proxy.async.shared::cta", "bar.sync 0") + self.product(labels, kind, types)
        super().__init__("sums-%s-%s-%s" % (MMA_KINDS[kind], *types), chip, body, ["row %d" % row for row in range(rows)], samples=sums.COLUMNS, shared=self.b + sums.COLUMNS * 32)

    def descriptors(self, layout, version):
        text = ""
        for register, offset in (("%d0", self.a), ("%d1", self.b)):
            text += ptx.lines("add.u32 %%r0, %%base, %d" % offset, "shr.u32 %r0, %r0, 4", "and.b32 %r0, %r0, 0x3fff", "cvt.u64.u32 %s, %%r0" % register,
                              "or.b64 %s, %s, %d" % (register, register, layout | version | 256 // 16 << 32 | 1 << 16))
        return text

    def product(self, labels, kind, types):
        raise NotImplementedError

    def text(self):
        scalars = "".join(", .param .u32 %s" % name for name in self.PARAMETERS)
        return super().text().replace(".entry probe(.param .u64 out", ".entry probe(.param .u64 out" + scalars)

    def case_manifest(self, case):
        scales = case.scales or (0, 0)
        values = [case.seed, case.a[0], case.a[1] - case.a[0], case.b[0], case.b[1] - case.b[0], case.before, scales[0], scales[1] - scales[0]]
        manifest = self.manifest()
        manifest["parameters"] += [{"kind": "scalar", "type": "i32", "value": value - (value >> 31 << 32)} for value in values]
        return manifest


SCALES_A, SCALES_B = 32, 40  # columns of tensor memory


def scale_column(column, first):
    """A scale for each lane: of row `lane` of those that count from `first`."""
    return ptx.lines("mov.u32 %r20, %laneid", f"add.u32 %r20, %r20, {first}") + hashed("%r21", "%r20") + ptx.lines(
        "mul.hi.u32 %r21, %r21, %r37", "add.u32 %r21, %r21, %r36", f"add.u32 %r22, %r1, {column}", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%r21}")


class Tcgen05Sums(SumProbe):
    def __init__(self, chip, kind, types):
        super().__init__(chip, kind, types, 128)

    def product(self, labels, kind, types):
        # Shared memory below 1024: barrier at 0, the address of tensor memory at 16.
        scaled = kind in SCALED_KINDS
        descriptor = (mma_probes.UE8M0 if scaled else 1 << 4) | CODES[types[0]] << 7 | CODES[types[1]] << 10 | sums.COLUMNS >> 3 << 17 | 128 >> 4 << 24
        start = ptx.lines("mbarrier.init.shared::cta.b64 [%base], 1", "fence.mbarrier_init.release.cluster")
        allocate = ptx.lines("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r40], 64", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned")
        registers = ["%%r%d" % index for index in range(40, 40 + sums.COLUMNS)]
        place = ptx.lines("ld.shared.b32 %r42, [%r40]", "shl.b32 %r1, %warp, 21", "add.u32 %r1, %r1, %r42")
        text = ptx.lines("add.u32 %r40, %base, 16", "setp.eq.u32 %p0, %warp, 0", "setp.eq.u32 %p1, %th, 0") + ptx.only(labels, "%p1", start)
        text += ptx.lines("bar.warp.sync -1") + ptx.only(labels, "%p0", allocate) + ptx.lines("tcgen05.fence::before_thread_sync", "bar.sync 0",
                                                                                             "tcgen05.fence::after_thread_sync") + place
        if scaled:
            text += "".join(scale_column(SCALES_A + block, sums.SCALES_A_AT + 32 * block) for block in range(4)) + scale_column(SCALES_B, sums.SCALES_B_AT)
            text += ptx.lines(f"add.u32 %r43, %r42, {SCALES_A}", f"add.u32 %r44, %r42, {SCALES_B}")
        text += ptx.lines("tcgen05.st.sync.aligned.32x32b.x16.b32 [%%r1], {%s}" % ", ".join(["%r35"] * sums.COLUMNS), "tcgen05.wait::st.sync.aligned",
                          "tcgen05.fence::before_thread_sync", "bar.sync 0", "tcgen05.fence::after_thread_sync", "mov.b32 %%r41, 0x%x" % descriptor,
                          "setp.eq.u32 %p2, %th, %th")
        text += self.descriptors(6 << 61, 1 << 46)
        text += ptx.only(labels, "%p1", mma_probes.mma(MMA_KINDS[kind], 1) + mma_probes.commit(1)) + ptx.wait(labels, "%base")
        text += ptx.lines("tcgen05.fence::after_thread_sync", "mov.b32 %r2, %r42", "tcgen05.ld.sync.aligned.32x32b.x16.b32 {%s}, [%%r1]" % ", ".join(registers),
                          "tcgen05.wait::ld.sync.aligned", "mul.wide.u32 %%d3, %%th, %d" % (4 * sums.COLUMNS), "add.s64 %out, %out, %d3",
                          *["st.global.b32 [%%out+%d], %s" % (4 * index, register) for index, register in enumerate(registers)],
                          "tcgen05.fence::before_thread_sync", "bar.sync 0", "tcgen05.fence::after_thread_sync")
        return text + ptx.only(labels, "%p0", ptx.lines("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64"))


class WgmmaSums(SumProbe):
    def __init__(self, chip, kind, types):
        super().__init__(chip, kind, types, 64)

    def product(self, labels, kind, types):
        count = sums.COLUMNS // 2
        transposed = ", 0, 0" if kind == "Float16" else ""
        wgmma = "wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s {%s}, %%d0, %%d1, %%p2, 1, 1%s" % (
            sums.COLUMNS, sums.ROW_BYTES * 8 // sums.TYPES[types[0]].bits, *types, ", ".join("%%v%d" % index for index in range(count)), transposed)
        text = "  .reg .f32 %%v<%d>;\n" % count + ptx.lines(*["mov.b32 %%v%d, %%r35" % index for index in range(count)], "setp.eq.u32 %p2, %th, %th")
        text += self.descriptors(3 << 62, 0) + ptx.lines("wgmma.fence.sync.aligned", wgmma, "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned 0")
        # Row 16 * warp + lane / 4, and 8 more; column 2 * (lane % 4), and 8 more.
        pitch = 4 * sums.COLUMNS
        text += ptx.lines("shl.b32 %r0, %warp, 4", "shr.u32 %r1, %th, 2", "and.b32 %r1, %r1, 7", "add.u32 %r0, %r0, %r1", "mul.wide.u32 %%d3, %%r0, %d" % pitch,
                          "and.b32 %r2, %th, 3", "mul.wide.u32 %d4, %r2, 8", "add.s64 %out, %out, %d3", "add.s64 %out, %out, %d4",
                          *["st.global.f32 [%%out+%d], %%v%d" % (index // 4 * 32 + index % 2 * 4 + index % 4 // 2 * 8 * pitch, index) for index in range(count)])
        return text


def probes(chip):
    """(ProductKind, probe, its cases)"""
    form = WgmmaSums if chip == ptx.HOPPER else Tcgen05Sums
    kinds = KINDS if chip == ptx.HOPPER else KINDS | SCALED_KINDS
    pairs = [(kind, types) for kind, group in kinds.items() for types in group]
    return [(kind, form(chip, kind, types), cases(kind, types, 20 + index)) for index, (kind, types) in enumerate(pairs)]
