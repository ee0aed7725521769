# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of tcgen05: MMAs by kind and shape, what runs beside them, commits, tensor memory.

Instruction and shared-memory descriptors: PTX ISA 9.0, 9.7.16.4 and 9.7.16.5.
"""

from typing import NamedTuple

import ptx

TILES, A, B, COPIES = 1024, 1024, 1024 + 16384, 1024 + 16384 + 32768
SHARED = COPIES + 16384
SLOT = "%r40"  # the address of the address of tensor memory
# Columns of tensor memory: the accumulator from 0, A from 256, scales of A and B from 384, the other accumulator from 448.
A_COLUMN, SCALES_A, SCALES_B, OTHER_D = 256, 384, 400, 448
CHAINS = (1, 33)
BULK = 16384  # bytes that copies and stores beside MMAs take at a time


class Kind:
    """A kind of MMA: the code of its types in instruction descriptors, and what block scaling adds."""

    def __init__(self, name, types, scaling=""):
        self.name, self.types, self.scaling = name, types, scaling

    def descriptor(self, m, n):
        """The bits of the instruction descriptor; D is f32."""
        form = 0 if self.scaling else 1 << 4
        return form | self.types | n >> 3 << 17 | m >> 4 << 24


class Shape(NamedTuple):
    kind: str
    m: int
    n: int
    group: int = 1
    place: str = "smem"  # of A: smem or tmem

    @property
    def name(self):
        return "mma-%s-%dx%d%s%s" % (self.kind, self.m, self.n, "-pair" * (self.group == 2), "-tmem" * (self.place == "tmem"))


UE8M0 = 1 << 23
KINDS = {
    "f8f6f4": Kind("f8f6f4", 0),
    "f16": Kind("f16", 1 << 7 | 1 << 10),  # bf16
    "tf32": Kind("tf32", 2 << 7 | 2 << 10),
    "mxf8f6f4": Kind("mxf8f6f4", UE8M0, ".block_scale"),
    "mxf4": Kind("mxf4", UE8M0 | 1 << 7 | 1 << 10, ".block_scale"),
    "mxf4nvf4": Kind("mxf4nvf4", 1 << 7 | 1 << 10, ".block_scale.scale_vec::4X"),
}

SHAPES = [Shape("f8f6f4", m, n) for m, ns in ((128, (16, 32, 64, 96, 128, 192, 256)), (64, (64, 128, 256))) for n in ns]
SHAPES += [Shape("f8f6f4", m, n, 2) for m in (256, 128) for n in (64, 128, 256)]
SHAPES += [Shape("f8f6f4", 128, n, place="tmem") for n in (64, 128, 256)]
SHAPES += [Shape(kind, 128, n) for kind in ("f16", "tf32") for n in (64, 128, 256)]
SHAPES += [Shape(kind, 128, n) for kind in ("mxf8f6f4", "mxf4", "mxf4nvf4") for n in (32, 64, 128, 256)]
SHAPES += [Shape(kind, 256, 256, 2) for kind in ("mxf8f6f4", "mxf4", "mxf4nvf4")]


def mma(kind, group, a="%d0", b="%d1", descriptor="%r41", d="%r42"):
    kind = KINDS[kind]
    scales = ", [%r43], [%r44]" if kind.scaling else ""
    return ptx.lines("tcgen05.mma.cta_group::%d.kind::%s%s [%s], %s, %s, %s%s, %%p2" % (group, kind.name, kind.scaling, d, a, b, descriptor, scales))


def commit(group, mask=None):
    """Arrives at the first barrier of this CTA, or of every CTA of the mask."""
    if not mask:
        return ptx.lines("tcgen05.commit.cta_group::%d.mbarrier::arrive::one.shared::cluster.b64 [%%base]" % group)
    return ptx.lines("mov.b16 %%h, %d" % mask,
                     "tcgen05.commit.cta_group::%d.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%%base], %%h" % group)


def smem_descriptor(register, offset):
    """K-major, 128-byte swizzle: 1024 bytes from 8 rows to the next 8."""
    return ptx.lines("add.u32 %%r0, %%base, %d" % offset, "shr.u32 %r0, %r0, 4", "and.b32 %r0, %r0, 0x3fff", "cvt.u64.u32 %s, %%r0" % register,
                     "or.b64 %s, %s, %d" % (register, register, 2 << 61 | 1 << 46 | 64 << 32 | 1 << 16))


def set_up(name, group, threads, arrivals=1, columns=512):
    """Operands, barriers, tensor memory; then %r42 is the accumulator, %d0 and %d1 are A and B."""
    allocate = ptx.lines("tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [%s], %d" % (group, SLOT, columns),
                         "tcgen05.relinquish_alloc_permit.cta_group::%d.sync.aligned" % group)
    barriers = ptx.lines("mbarrier.init.shared::cta.b64 [%%base], %d" % arrivals, "add.u32 %r45, %base, 8",
                         "mbarrier.init.shared::cta.b64 [%r45], 1", "fence.mbarrier_init.release.cluster")
    sync = ptx.cluster_barrier() if group == 2 else ""
    return "".join([
        ptx.fill(name, TILES, SHARED - TILES, threads), ptx.lines("fence.proxy.async.shared::cta", "add.u32 %r40, %base, 16",
                                                                  "setp.eq.u32 %p0, %warp, 0", "setp.eq.u32 %p1, %th, 0",
                                                                  "setp.eq.u32 %p2, %th, %th", "add.u32 %r45, %base, 8"),
        ptx.only(name, "%p1", barriers), ptx.lines("bar.warp.sync -1"), sync,
        ptx.only(name, "%p0", allocate), ptx.lines("tcgen05.fence::before_thread_sync", "bar.sync 0"), sync,
        ptx.lines("tcgen05.fence::after_thread_sync", "ld.shared.b32 %%r42, [%s]" % SLOT, "add.u32 %%r43, %%r42, %d" % SCALES_A,
                  "add.u32 %%r44, %%r42, %d" % SCALES_B, "add.u32 %%r46, %%r42, %d" % A_COLUMN, "add.u32 %%r47, %%r42, %d" % OTHER_D),
        smem_descriptor("%d0", A), smem_descriptor("%d1", B), smem_descriptor("%d2", COPIES)])


def store_columns(first, count, value):
    """Every lane of so many columns, by the four warps."""
    text = ptx.lines("shl.b32 %r1, %warp, 21", "add.u32 %r1, %r1, %r42", "mov.b32 %%r2, 0x%08x" % value)
    for column in range(first, first + count, 16):
        text += ptx.lines("add.u32 %%r3, %%r1, %d" % column, "tcgen05.st.sync.aligned.32x32b.x16.b32 [%%r3], {%s}" % ", ".join(["%r2"] * 16))
    return text + ptx.lines("tcgen05.wait::st.sync.aligned", "tcgen05.fence::before_thread_sync", "bar.sync 0", "tcgen05.fence::after_thread_sync")


def tear_down(name, group, columns=512):
    free = ptx.lines("tcgen05.dealloc.cta_group::%d.sync.aligned.b32 %%r42, %d" % (group, columns))
    return "".join([ptx.lines("bar.warp.sync -1", "tcgen05.fence::before_thread_sync", "bar.sync 0"),
                    ptx.cluster_barrier() if group == 2 else "", ptx.lines("tcgen05.fence::after_thread_sync"), ptx.only(name, "%p0", free)])


def leader(group):
    """%p3: the thread that issues."""
    if group == 1:
        return ptx.lines("setp.eq.u32 %p3, %th, 0")
    return ptx.lines("mov.u32 %r4, %cluster_ctarank", "or.b32 %r4, %r4, %th", "setp.eq.u32 %p3, %r4, 0")


def chains(name, steps, group, end=None, counts=CHAINS):
    """A series for each count of steps, from the first to the arrival of what follows them."""
    end = commit(group) if end is None else end
    return "".join(ptx.sampled(name, "".join(steps(index) for index in range(count)) + end + ptx.wait(name, "%base")) for count in counts)


class MmaProbe(ptx.Probe):
    """Chains of MMAs. `steps` is the text of each; `beside`: what the other warps do meanwhile; `ctas`: of the grid, each with half of the tensor memory."""

    def __init__(self, name, chip, kind, m, n, group=1, a="smem", steps=None, beside="", ctas=None, **options):
        labels = ptx.Names()
        operand = "[%r46]" if a == "tmem" else "%d0"
        steps = steps or (lambda index: mma(kind, group, operand))
        setting = ptx.lines("mov.b32 %%r41, 0x%x" % KINDS[kind].descriptor(m, n))
        columns = 256 if ctas else 512
        initial = store_columns(0, columns, 0x38383838)  # ones of e4m3, and of no type an infinity
        if KINDS[kind].scaling:
            initial += store_columns(SCALES_A, 32, 0x7f7f7f7f if kind != "mxf4nvf4" else 0x38383838)
        sync = ptx.cluster_barrier() if group == 2 else ""
        timed = ptx.only(labels, "%p3", chains(labels, steps, group) + ptx.lines("mov.b32 %r5, 1", "st.volatile.shared.b32 [%base+24], %r5"))
        flag = ptx.only(labels, "%p1", ptx.lines("mov.b32 %r5, 0", "st.shared.b32 [%base+24], %r5")) + ptx.lines("bar.warp.sync -1")
        place = ptx.lines("mov.u32 %r5, %ctaid.x", "mul.wide.u32 %%d9, %%r5, %d" % (4 * len(CHAINS) * ptx.SAMPLES), "add.s64 %out, %out, %d9") if ctas else ""
        text = place + set_up(labels, group, 128, columns=columns) + setting + initial + flag + ptx.lines("bar.sync 0") + sync + leader(group)
        if beside:
            text += ptx.lines("setp.ne.u32 %p4, %warp, 0") + ptx.only(labels, "%p4", beside(labels))
        series = ["chain of %d" % count for count in CHAINS] * (ctas or 1) + ["stored"] * bool(beside == bulk_stores_beside) * STORED
        super().__init__(name, chip, text + timed + tear_down(labels, group, columns), series, grid=ctas or group, cluster=group, shared=SHARED, **options)


def until_done(name, body):
    """Repeats until the timing thread is done."""
    label = name("BESIDE")
    return label + ":\n" + body + ptx.lines("ld.volatile.shared.b32 %r6, [%base+24]", "setp.eq.u32 %p5, %r6, 0", "@%%p5 bra %s" % label)


def reads_beside(name):
    """16 bytes a lane from what is not an operand."""
    reads = "".join(ptx.lines("ld.volatile.shared.v4.b32 {%%r20, %%r21, %%r22, %%r23}, [%%r7+%d]" % (512 * index)) for index in range(8))
    return ptx.lines("and.b32 %r7, %th, 31", "shl.b32 %r7, %r7, 4", "add.u32 %%r7, %%r7, %d" % COPIES, "add.u32 %r7, %r7, %base") + until_done(name, reads)


def copies_beside(name):
    """One thread copies 16 KiB from global memory to shared memory, again and again."""
    copy = ptx.lines("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r45], 16384",
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%in], 16384, [%r45]") + ptx.wait(name, "%r45")
    return ptx.lines("setp.eq.u32 %p6, %th, 32", "add.u32 %%r7, %%base, %d" % COPIES) + ptx.only(name, "%p6", until_done(name, copy)) + ptx.lines("bar.warp.sync -1")


def stores_beside(name):
    """16 bytes a lane to what is no operand."""
    writes = "".join(ptx.lines("st.volatile.shared.v4.b32 [%%r7+%d], {%%r20, %%r20, %%r20, %%r20}" % (512 * index)) for index in range(8))
    return ptx.lines("and.b32 %r7, %th, 31", "shl.b32 %r7, %r7, 4", "mov.b32 %r20, 0", "shl.b32 %r8, %warp, 12", "add.u32 %r7, %r7, %r8",
                     "add.u32 %%r7, %%r7, %d" % (COPIES - 4096), "add.u32 %r7, %r7, %base") + until_done(name, writes)


# Series that lie where bulk_stores_beside stores to, behind the samples.
STORED = (4096 + BULK) // (4 * ptx.SAMPLES) + 1


def bulk_stores_beside(name):
    """One thread stores 16 KiB of shared memory behind the samples, again and again."""
    store = ptx.lines("cp.async.bulk.global.shared::cta.bulk_group [%%d8], [%%r7], %d" % BULK, "cp.async.bulk.commit_group", "cp.async.bulk.wait_group.read 1")
    return ptx.lines("setp.eq.u32 %p6, %th, 32", "add.u32 %%r7, %%base, %d" % COPIES, "add.s64 %d8, %out, 4096") + ptx.only(
        name, "%p6", until_done(name, store) + ptx.lines("cp.async.bulk.wait_group 0")) + ptx.lines("bar.warp.sync -1")


def scale_copy(index):
    """To columns of its own: copies are not ordered among one another."""
    return ptx.lines("add.u32 %%r43, %%r42, %d" % (A_COLUMN + 4 * index), "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r43], %d2") + mma("mxf8f6f4", 1)


def switching_d(index):
    return mma("f8f6f4", 1, d="%r47" if index % 2 else "%r42")


def switching_descriptor(index):
    return mma("f8f6f4", 1, descriptor="%r48" if index % 2 else "%r41") if index else ptx.lines("xor.b32 %r48, %r41, 0x480") + mma("f8f6f4", 1)


class Transfer(NamedTuple):
    """tcgen05.ld or .st of `registers` registers by the warps of `warps`."""
    shape: str
    count: int
    warps: int
    registers: int
    store: bool = False

    @property
    def name(self):
        return "tmem-%s-%s-x%d-%d" % ("store" if self.store else "load", self.shape, self.count, self.warps)

    @property
    def steps(self):
        """More in the longer chain than in the shorter: each load has registers of its own."""
        return min(8, 160 // self.registers - 1)


TRANSFERS = [Transfer("32x32b", count, warps, count) for count in (8, 32, 64) for warps in (1, 4)]
TRANSFERS += [Transfer("16x256b", count, 4, 4 * count) for count in (1, 8)] + [Transfer("32x32b", count, 4, count, True) for count in (8, 32)]


class TransferProbe(ptx.Probe):
    """Timed by warp 0."""

    def __init__(self, chip, transfer):
        labels = ptx.Names()
        total = (transfer.steps + 1) * transfer.registers

        def step(index):
            row = ", ".join("%%v%d" % (index * transfer.registers + at) for at in range(transfer.registers))
            if transfer.store:
                return "tcgen05.st.sync.aligned.%s.x%d.b32 [%%r%d], {%s}" % (transfer.shape, transfer.count, 50 + index, row)
            return "tcgen05.ld.sync.aligned.%s.x%d.b32 {%s}, [%%r%d]" % (transfer.shape, transfer.count, row, 50 + index)

        end = "tcgen05.wait::%s.sync.aligned" % ("st" if transfer.store else "ld")
        # What is loaded is used, or ptxas could leave it out.
        use = ptx.lines(*["xor.b32 %%v0, %%v0, %%v%d" % index for index in range(1, total)], "setp.eq.u32 %p6, %v0, 0x12345", "@%p6 st.shared.b32 [%base+32], %v0")
        zero = ptx.lines(*["mov.b32 %%v%d, 0" % index for index in range(total)])
        timed = "".join(ptx.sampled(labels, ptx.lines(*[step(index) for index in range(steps)], end), after="" if transfer.store else use, writer="%p4")
                        for steps in (1, 1 + transfer.steps))
        place = ptx.lines("shl.b32 %r1, %warp, 21", "add.u32 %r1, %r1, %r42", "setp.eq.u32 %p4, %th, 0", "setp.lt.u32 %%p5, %%warp, %d" % transfer.warps,
                          *["add.u32 %%r%d, %%r1, %d" % (50 + index, index * transfer.registers) for index in range(1 + transfer.steps)])
        text = set_up(labels, 1, 128) + store_columns(0, 512, 0) + zero + place + ptx.only(labels, "%p5", timed)
        super().__init__(transfer.name, chip, text + tear_down(labels, 1), ["chain of 1", "chain of %d" % (1 + transfer.steps)], shared=SHARED,
                         registers="  .reg .b32 %%v<%d>;\n" % total)


class CommitProbe(ptx.Probe):
    """A commit with no MMA in front, to the own barrier; in a pair to both CTAs' barriers, of which the other answers before the next."""

    def __init__(self, name, chip, group):
        labels = ptx.Names()
        end = commit(group, mask=3 if group == 2 else None) + ptx.wait(labels, "%base")
        body = set_up(labels, group, 128) + leader(group)
        if group == 1:
            body += ptx.only(labels, "%p3", ptx.sampled(labels, end))
        else:
            label = labels("ANSWER")
            answer = ptx.lines("mov.u32 %i, 0", "mov.b32 %r6, 0", "mapa.shared::cluster.u32 %r10, %r45, %r6") + label + ":\n" + ptx.wait(labels, "%base") + ptx.lines(
                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10]", "add.u32 %i, %i, 1", "setp.lt.u32 %%p8, %%i, %d" % ptx.SAMPLES, "@%%p8 bra %s" % label)
            answered = ptx.wait(labels, "%r45", ".acquire.cluster", "%r49")
            body += ptx.lines("mov.b32 %r49, 0", "not.pred %p4, %p3", "and.pred %p4, %p4, %p1") + ptx.only(labels, "%p3", ptx.sampled(labels, end, after=answered))
            body += ptx.only(labels, "%p4", answer)
        super().__init__(name, chip, body + tear_down(labels, group), ["commit"], grid=group, cluster=group, shared=SHARED, registers="  .reg .b16 %h;\n")


class AllocateProbe(ptx.Probe):
    """tcgen05.alloc and .dealloc of 128 columns, by one warp alone."""

    def __init__(self, name, chip):
        labels = ptx.Names()
        allocate = ptx.lines("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r40], 128")
        take = ptx.lines("ld.shared.b32 %r42, [%r40]")
        free = ptx.lines("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r42, 128")
        text = ptx.lines("add.u32 %r40, %base, 16", "setp.eq.u32 %p4, %th, 0")
        text += ptx.sampled(labels, allocate + take, after=free, writer="%p4") + ptx.sampled(labels, free, before=allocate + take, writer="%p4")
        super().__init__(name, chip, text, ["alloc", "dealloc"], threads=32, shared=1024)


class AllocateInTurn(ptx.Probe):
    """Two CTAs an SM, each of which takes all tensor memory and keeps it for 20 us: SM, cycle at which it has it, cycle at which it gives it back."""

    def __init__(self, name, chip, multiprocessors):
        labels = ptx.Names()
        spin, count = labels("SPIN"), 2 * multiprocessors
        text = ptx.lines("add.u32 %r40, %base, 16", "setp.eq.u32 %p4, %th, 0", "mov.u32 %r5, %ctaid.x", "mul.wide.u32 %d9, %r5, 24", "add.s64 %out, %out, %d9",
                         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r40], 512", "ld.shared.b32 %r42, [%r40]", "mov.u64 %d1, %clock64",
                         "mov.u64 %u0, %globaltimer") + spin + ":\n"
        text += ptx.lines("mov.u64 %u1, %globaltimer", "sub.s64 %u1, %u1, %u0", "setp.lt.u64 %p3, %u1, 20000", "@%%p3 bra %s" % spin, "bar.warp.sync -1",
                          "mov.u64 %d2, %clock64", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r42, 512",
                          "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", "mov.u32 %r6, %smid", "cvt.u64.u32 %d3, %r6")
        text += ptx.only(labels, "%p4", ptx.lines("st.global.u64 [%out], %d3", "st.global.u64 [%out+8], %d1", "st.global.u64 [%out+16], %d2"))
        super().__init__(name, chip, text, ["CTA %d" % cta for cta in range(count)], threads=32, samples=3, grid=count, shared=100 * 1024, wide=True)


def probes(chip, multiprocessors):
    made = []
    # Intervals and latencies by kind, shape and place of A.
    made += [MmaProbe(shape.name, chip, shape.kind, shape.m, shape.n, shape.group, shape.place) for shape in SHAPES]
    # What else uses the same pipe or shared memory.
    made += [MmaProbe("mma-scale-copies-128x%d" % n, chip, "mxf8f6f4", 128, n, steps=scale_copy) for n in (64, 256)]
    made += [MmaProbe("mma-beside-reads-128x64", chip, "f8f6f4", 128, 64, beside=reads_beside),
             MmaProbe("mma-beside-copies-128x64", chip, "f8f6f4", 128, 64, beside=copies_beside, inputs=16384),
             MmaProbe("mma-beside-writes-128x64", chip, "f8f6f4", 128, 64, beside=stores_beside),
             MmaProbe("mma-beside-stores-128x64", chip, "f8f6f4", 128, 64, beside=bulk_stores_beside),
             *[MmaProbe("mma-two-ctas-128x%d" % n, chip, "f8f6f4", 128, n, ctas=2 * multiprocessors) for n in (64, 256)],
             MmaProbe("mma-switching-d-128x64", chip, "f8f6f4", 128, 64, steps=switching_d),
             MmaProbe("mma-switching-types-128x64", chip, "f8f6f4", 128, 64, steps=switching_descriptor)]
    made += [CommitProbe("commit", chip, 1), CommitProbe("commit-pair", chip, 2), AllocateProbe("tmem-allocate", chip),
             AllocateInTurn("tmem-allocate-in-turn", chip, multiprocessors)]
    made += [TransferProbe(chip, transfer) for transfer in TRANSFERS]
    return made
