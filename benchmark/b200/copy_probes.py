# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of the copy engine and of memory, for Hopper and Blackwell: latencies by size, tensor maps, multicast,
stores, and how many bytes one SM or all take in."""

import ptx

DATA = 1024  # where copies land; the barriers lie before
SIZES = (16, 1024, 4096, 16384, 32768)
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
TENSOR = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"
MEBI = 1 << 20
# Distances at which a copy finds nothing that an earlier one brought into the L2.
FAR = 2 * MEBI
RING, CHUNK = 8, 16384
REDUCE = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"
# Tensor maps that a probe uses in turn, and bytes of one.
MAP_COUNTS, MAP_BYTES = (1, 16, 64, 256), 128
L2_SAMPLES = 96


def barriers(name, count, cluster=1):
    inits = ptx.lines(*["mbarrier.init.shared::cta.b64 [%%base+%d], 1" % (8 * index) for index in range(count)], "fence.mbarrier_init.release.cluster",
                      "fence.proxy.async.shared::cta")
    sync = ptx.cluster_barrier() if cluster > 1 else ptx.lines("bar.sync 0")
    return ptx.lines("setp.eq.u32 %p1, %th, 0", "add.u32 %%r7, %%base, %d" % DATA) + ptx.only(name, "%p1", inits) + sync


def expect(size):
    return ptx.lines("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%base], %d" % size)


def timed_by_one(name, body):
    return ptx.only(name, "%p1", body)


def bulk_loads(chip):
    """One copy at a time, of what lies in the L2."""
    name = ptx.Names()
    series = "".join(ptx.sampled(name, expect(size) + ptx.lines("%s [%%r7], [%%in], %d, [%%base]" % (LOAD, size)) + ptx.wait(name, "%base")) for size in SIZES)
    return ptx.Probe("copy-latency", chip, barriers(name, 1) + timed_by_one(name, series), ["%d bytes" % size for size in SIZES],
                     threads=32, shared=DATA + max(SIZES), inputs=65536)


def far_loads(chip, memory):
    """One copy at a time, of what was never touched."""
    name = ptx.Names()
    size = 16384
    timed = expect(size) + ptx.lines("%s [%%r7], [%%in], %d, [%%base]" % (LOAD, size)) + ptx.wait(name, "%base")
    text = timed_by_one(name, ptx.sampled(name, timed, after=ptx.lines("add.s64 %%in, %%in, %d" % FAR)))
    return ptx.Probe("copy-latency-memory", chip, barriers(name, 1) + text, ["%d bytes" % size], threads=32, shared=DATA + size, inputs=memory)


def tensor_loads(chip):
    """Boxes of 128-byte rows; the first sample of a series is the first use of its tensor map."""
    name = ptx.Names()
    boxes, series = (32, 128), ""
    for index, rows in enumerate(boxes):
        copy = ptx.lines("%s [%%r7], [%%d%d, {%%r8, %%r8}], [%%base]" % (TENSOR, index))
        series += ptx.sampled(name, expect(rows * 128) + copy + ptx.wait(name, "%base"))
    # An address in parameter space, made generic.
    maps = "".join(ptx.lines("mov.b64 %%d%d, map%d" % (index, index), "cvta.param.u64 %%d%d, %%d%d" % (index, index)) for index in range(len(boxes)))
    text = barriers(name, 1) + maps + ptx.lines("mov.b32 %r8, 0") + timed_by_one(name, series)
    return ptx.Probe("tensor-latency", chip, text, ["%d bytes" % (rows * 128) for rows in boxes], threads=32, shared=DATA + 16384,
                     inputs=65536, maps=[(rows, 128) for rows in boxes])


def multicasts(chip, size):
    """The first CTA copies 16 KiB to all of the cluster; timed there, to its own arrival."""
    name = ptx.Names()
    load = ptx.lines("%s.multicast::cluster [%%r7], [%%in], 16384, [%%base], %d" % (LOAD, (1 << size) - 1))
    rank = ptx.lines("mov.u32 %r5, %cluster_ctarank", "setp.eq.u32 %p3, %r5, 0", "and.pred %p4, %p3, %p1")
    label = name("SAMPLE")
    # All expect before the copy starts; a cluster barrier keeps them in step.
    loop = ptx.lines("mov.u32 %i, 0") + label + ":\n" + ptx.only(name, "%p1", expect(16384)) + ptx.cluster_barrier()
    loop += ptx.lines("mov.u32 %t0, %clock") + ptx.only(name, "%p4", load) + ptx.wait(name, "%base")
    loop += ptx.lines("mov.u32 %t1, %clock", "sub.u32 %t1, %t1, %t0", "@%p4 st.global.u32 [%out], %t1", "add.s64 %out, %out, 4", "add.u32 %i, %i, 1",
                      "setp.lt.u32 %%p8, %%i, %d" % ptx.SAMPLES, "@%%p8 bra %s" % label)
    text = barriers(name, 1, size) + rank + loop + ptx.cluster_barrier()
    return ptx.Probe("multicast-%d" % size, chip, text, ["16384 bytes"], threads=32, grid=size, cluster=size, shared=DATA + 16384, inputs=65536)


def stores(chip):
    """To the end of reading shared memory, and to the end of the writes."""
    name = ptx.Names()
    text = barriers(name, 1) + ptx.fill(name, DATA, 32768, 32) + ptx.lines("fence.proxy.async.shared::cta", "bar.sync 0", "add.s64 %d4, %out, 4096")
    names, series = [], ""
    for operation, size in [(STORE, 4096), (STORE, 16384), (STORE, 32768), (REDUCE, 16384)]:
        for end in (".read", ""):
            series += ptx.sampled(name, ptx.lines("%s [%%d4], [%%r7], %d" % (operation, size), "cp.async.bulk.commit_group", "cp.async.bulk.wait_group%s 0" % end),
                                  after=ptx.lines("cp.async.bulk.wait_group 0"))
            names.append("%d bytes%s%s" % (size, ", added" if operation == REDUCE else "", ", read" if end else ""))
    # The words behind the samples are what is stored to.
    target = (4096 + 32768 - 4 * len(names) * ptx.SAMPLES) // (4 * ptx.SAMPLES) + 1
    return ptx.Probe("store-latency", chip, text + timed_by_one(name, series), names + ["stored"] * target, threads=32, shared=DATA + 32768)


def stream(name, chip, grid, region, total):
    """Each CTA copies chunks of 16 KiB into a ring, all together `total` bytes of the first `region`, a power of two; a sample
    is the nanoseconds of its begin and end by %globaltimer, and its cycles."""
    labels = ptx.Names()
    each = max(total // CHUNK // grid, RING)
    issue = ptx.lines("and.b32 %%r10, %%r8, %d" % (RING - 1), "shl.b32 %r11, %r10, 3", "add.u32 %r11, %r11, %base", "shl.b32 %r12, %r10, 14",
                      "add.u32 %r12, %r12, %r7", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r11], %d" % CHUNK,
                      "%s [%%r12], [%%d1], %d, [%%r11]" % (LOAD, CHUNK), "add.u32 %r8, %r8, 1", "add.u32 %%r9, %%r9, %d" % (grid * CHUNK),
                      "and.b32 %%r9, %%r9, %d" % (region - 1), "cvt.u64.u32 %d1, %r9", "add.s64 %d1, %d1, %in")
    loop, last = labels("CHUNK"), labels("LAST")
    body = ptx.lines("mov.u32 %r8, 0", "mov.u32 %r5, %ctaid.x", "shl.b32 %r9, %r5, 14", "and.b32 %%r9, %%r9, %d" % (region - 1), "cvt.u64.u32 %d1, %r9",
                     "add.s64 %d1, %d1, %in", "mov.u32 %r13, 0", "mul.wide.u32 %d2, %r5, 24", "add.s64 %out, %out, %d2")
    body += ptx.lines("mov.u64 %u0, %globaltimer", "mov.u32 %t0, %clock") + issue * RING + loop + ":\n"
    wait = ptx.lines("and.b32 %%r10, %%r13, %d" % (RING - 1), "shl.b32 %r11, %r10, 3", "add.u32 %r11, %r11, %base", "shr.u32 %%r14, %%r13, %d" % (RING.bit_length() - 1),
                     "and.b32 %phase, %r14, 1") + ptx.wait(labels, "%r11") + ptx.lines("add.u32 %r13, %r13, 1")
    body += wait + ptx.lines("setp.lt.u32 %%p3, %%r8, %d" % each) + ptx.only(labels, "%p3", issue)
    body += ptx.lines("setp.lt.u32 %%p4, %%r13, %d" % each, "@%%p4 bra %s" % loop) + last + ":\n"
    body += ptx.lines("mov.u32 %t1, %clock", "mov.u64 %u1, %globaltimer", "sub.u32 %t1, %t1, %t0", "cvt.u64.u32 %d3, %t1", "st.global.u64 [%out], %u0",
                      "st.global.u64 [%out+8], %u1", "st.global.u64 [%out+16], %d3")
    probe = ptx.Probe(name, chip, barriers(labels, RING) + timed_by_one(labels, body), ["CTA %d" % cta for cta in range(grid)], samples=3, threads=32,
                      grid=grid, shared=DATA + RING * CHUNK, inputs=region, wide=True)
    probe.bytes_of_one = each * CHUNK
    return probe


def store_stream(name, chip, grid, operation):
    """Each CTA stores chunks of 16 KiB, or adds them, again and again to a place of its own behind the samples; samples are as a stream's."""
    labels = ptx.Names()
    count, behind = 64, -(-24 * grid // CHUNK) * CHUNK
    loop = labels("CHUNK")
    body = ptx.lines("mov.u32 %r5, %ctaid.x", "mul.wide.u32 %%d4, %%r5, %d" % CHUNK, "add.s64 %d4, %d4, %out", "add.s64 %%d4, %%d4, %d" % behind,
                     "mul.wide.u32 %d2, %r5, 24", "add.s64 %out, %out, %d2", "mov.u32 %r8, 0")
    # What is added to was written before.
    body += ptx.lines("%s [%%d4], [%%r7], %d" % (STORE, CHUNK), "cp.async.bulk.commit_group", "cp.async.bulk.wait_group 0", "mov.u64 %u0, %globaltimer",
                      "mov.u32 %t0, %clock") + loop + ":\n"
    body += ptx.lines("%s [%%d4], [%%r7], %d" % (operation, CHUNK), "cp.async.bulk.commit_group", "cp.async.bulk.wait_group 3", "add.u32 %r8, %r8, 1",
                      "setp.lt.u32 %%p4, %%r8, %d" % count, "@%%p4 bra %s" % loop, "cp.async.bulk.wait_group 0")
    body += ptx.lines("mov.u32 %t1, %clock", "mov.u64 %u1, %globaltimer", "sub.u32 %t1, %t1, %t0", "cvt.u64.u32 %d3, %t1", "st.global.u64 [%out], %u0",
                      "st.global.u64 [%out+8], %u1", "st.global.u64 [%out+16], %d3")
    text = barriers(labels, 1) + ptx.fill(labels, DATA, CHUNK, 32) + ptx.lines("fence.proxy.async.shared::cta", "bar.sync 0") + timed_by_one(labels, body)
    stored = -(-(behind - 24 * grid + CHUNK * grid) // 24)
    probe = ptx.Probe(name, chip, text, ["CTA %d" % cta for cta in range(grid)] + ["stored"] * stored, samples=3, threads=32, grid=grid,
                      shared=DATA + CHUNK, wide=True)
    probe.bytes_of_one = count * CHUNK
    return probe


def maps_in_turn(chip, memory):
    """Copies of a tensor map in global memory, behind the samples. A box through each in turn, as many maps as a series has; what it costs to change a map and
    to use it then; the first use of maps that lie in memory, since the L2 was filled with something else."""
    name = ptx.Names()
    most, rows, chunk = MAP_COUNTS[-1], 32, 4096
    names = ["%d maps" % count for count in MAP_COUNTS] + ["change", "use", "from memory"]
    behind = -(-4 * len(names) * ptx.SAMPLES // MAP_BYTES) * MAP_BYTES
    fence = "fence.proxy.tensormap::generic.acquire.gpu [%d6], 128"
    load = lambda: expect(rows * 128) + ptx.lines("%s [%%r7], [%%d6, {%%r8, %%r8}], [%%base]" % TENSOR) + ptx.wait(name, "%base")

    def walk(count, step):
        """`step` for that many maps in turn."""
        label = name("WALK")
        return ptx.lines("mov.b64 %d6, %d4", "mov.u32 %r9, 0") + label + ":\n" + step + ptx.lines(
            "add.s64 %%d6, %%d6, %d" % MAP_BYTES, "add.u32 %r9, %r9, 1", "setp.lt.u32 %%p3, %%r9, %d" % count, "@%%p3 bra %s" % label)

    copy = "".join(ptx.lines("ld.b64 %%d7, [%%d5+%d]" % (8 * at), "st.global.b64 [%%d6+%d], %%d7" % (8 * at)) for at in range(MAP_BYTES // 8))
    change = ptx.lines("tensormap.replace.tile.global_address.global.b1024.b64 [%d6], %in", "fence.proxy.tensormap::generic.release.gpu", fence)
    text = ptx.lines("add.s64 %%d4, %%out, %d" % behind, "mov.b64 %d5, map0", "cvta.param.u64 %d5, %d5", "mov.b32 %r8, 0")
    text += walk(most + ptx.SAMPLES, copy + ptx.lines("fence.proxy.tensormap::generic.release.gpu", fence))
    text += "".join(ptx.sampled(name, walk(count, load())) for count in MAP_COUNTS)
    text += ptx.lines("mov.b64 %d6, %d4") + ptx.sampled(name, change) + ptx.sampled(name, load(), before=change)
    flush = name("FLUSH")
    text += ptx.lines("mov.b64 %d8, %in", "mov.u32 %r9, 0") + flush + ":\n" + expect(chunk) + ptx.lines("%s [%%r7], [%%d8], %d, [%%base]" % (LOAD, chunk)) + ptx.wait(
        name, "%base") + ptx.lines("add.s64 %%d8, %%d8, %d" % chunk, "add.u32 %r9, %r9, 1", "setp.lt.u32 %%p3, %%r9, %d" % (memory // 2 // chunk), "@%%p3 bra %s" % flush)
    text += ptx.lines("add.s64 %%d6, %%d4, %d" % (most * MAP_BYTES)) + ptx.sampled(name, load(), after=ptx.lines("add.s64 %%d6, %%d6, %d" % MAP_BYTES))
    stored = -(-(behind - 4 * len(names) * ptx.SAMPLES + (most + ptx.SAMPLES) * MAP_BYTES) // (4 * ptx.SAMPLES))
    return ptx.Probe("map-cache", chip, barriers(name, 1) + timed_by_one(name, text), names + ["maps"] * stored, threads=32, shared=DATA + chunk, inputs=memory,
                     maps=[(rows, 128)])


def l2_loads(chip):
    """Loads of one word by one thread, of what lies in the L2: lines that lie apart, so that both of its halves have some."""
    name = ptx.Names()
    timed = ptx.lines("ld.relaxed.gpu.global.b32 %r9, [%d4]", "add.u32 %r10, %r9, %r10")
    series = ptx.sampled(name, timed + ptx.lines("setp.eq.u32 %p3, %r10, 0x12345", "@%p3 st.shared.b32 [%base], %r10"), before=ptx.lines(
        "mul.lo.u32 %r11, %i, 0x9e3779b1", "shr.u32 %r11, %r11, 12", "and.b32 %r11, %r11, 0xff80", "cvt.u64.u32 %d4, %r11", "add.s64 %d4, %d4, %in",
        "ld.relaxed.gpu.global.b32 %r9, [%d4]", "add.u32 %r10, %r9, %r10"), samples=L2_SAMPLES)
    text = ptx.lines("setp.eq.u32 %p1, %th, 0", "mov.u32 %r10, 0") + timed_by_one(name, series)
    return ptx.Probe("l2-load", chip, text, ["load"], samples=L2_SAMPLES, threads=32, shared=1024, inputs=65536)


def far_pages(chip, memory):
    """Loads of a word that lies in the L2, all from one page or each from another; each place was loaded a lap before."""
    name = ptx.Names()
    text = ptx.lines("setp.eq.u32 %p1, %th, 0", "mov.u32 %r10, 0")
    body = ""
    for step in (4096, memory // ptx.SAMPLES // 4096 * 4096):
        address = ptx.lines("mul.wide.u32 %%d4, %%i, %d" % step, "add.s64 %d4, %d4, %in")
        timed = ptx.lines("ld.relaxed.gpu.global.b32 %r9, [%d4]", "add.u32 %r10, %r9, %r10", "setp.eq.u32 %p3, %r10, 0x12345", "@%p3 st.shared.b32 [%base], %r10")
        touch = ptx.sampled(name, timed, before=address)
        body += touch + ptx.lines("sub.s64 %%out, %%out, %d" % (4 * ptx.SAMPLES)) + ptx.sampled(name, timed, before=address)
    return ptx.Probe("far-pages", chip, text + timed_by_one(name, body), ["one page", "many pages"], threads=32, shared=1024, inputs=memory)


def probes(chip, multiprocessors, memory=512 * MEBI):
    """`memory`: bytes that no L2 holds."""
    grid = multiprocessors
    return [bulk_loads(chip), far_loads(chip, memory), tensor_loads(chip), *[multicasts(chip, size) for size in (2, 4, 8)], stores(chip),
            store_stream("stream-store-all", chip, grid, STORE), store_stream("stream-store-one", chip, 1, STORE),
            store_stream("stream-add-all", chip, grid, REDUCE), maps_in_turn(chip, memory), l2_loads(chip), far_pages(chip, memory),
            stream("stream-memory-all", chip, grid, memory, memory), stream("stream-memory-one", chip, 1, memory, memory // 8),
            stream("stream-l2-all", chip, grid, memory // 32, memory), stream("stream-l2-one", chip, 1, memory // 512, memory // 8)]
