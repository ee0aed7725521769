# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Probes of barriers, clusters, registers and cluster launch control."""

import ptx

REMOTE_ARRIVE = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10]"
ACQUIRE = ".acquire.cluster"


def init(name, count, cluster):
    inits = ptx.lines(*["mbarrier.init.shared::cta.b64 [%%base+%d], 1" % (8 * index) for index in range(count)], "fence.mbarrier_init.release.cluster")
    return ptx.lines("setp.eq.u32 %p1, %th, 0") + ptx.only(name, "%p1", inits) + (ptx.cluster_barrier() if cluster > 1 else ptx.lines("bar.sync 0"))


def local_round_trip(chip):
    """Two warps wake one another by two barriers."""
    name = ptx.Names()
    first = ptx.sampled(name, ptx.lines("mbarrier.arrive.shared::cta.b64 _, [%base]") + ptx.wait(name, "%r8"))
    label = name("ECHO")
    second = ptx.lines("mov.u32 %i, 0") + label + ":\n" + ptx.wait(name, "%base") + ptx.lines(
        "mbarrier.arrive.shared::cta.b64 _, [%r8]", "add.u32 %i, %i, 1", "setp.lt.u32 %%p8, %%i, %d" % ptx.SAMPLES, "@%%p8 bra %s" % label)
    text = init(name, 2, 1) + ptx.lines("add.u32 %r8, %base, 8", "setp.eq.u32 %p3, %th, 32") + ptx.only(name, "%p1", first) + ptx.only(name, "%p3", second)
    return ptx.Probe("barrier-round-trip", chip, text, ["round trip"], threads=64, shared=1024)


def in_turn(name, there, here):
    """The first CTA's thread is timed, the second's echoes. `here` makes the text of a wait, with labels of its own."""
    label = name("ECHO")
    echo = ptx.lines("mov.u32 %i, 0") + label + ":\n" + here() + there + ptx.lines(
        "add.u32 %i, %i, 1", "setp.lt.u32 %%p8, %%i, %d" % ptx.SAMPLES, "@%%p8 bra %s" % label)
    rank = ptx.lines("mov.u32 %r5, %cluster_ctarank", "xor.b32 %r6, %r5, 1", "mapa.shared::cluster.u32 %r10, %base, %r6", "setp.eq.u32 %p3, %r5, 0",
                     "and.pred %p4, %p3, %p1", "not.pred %p5, %p3", "and.pred %p5, %p5, %p1")
    return rank + ptx.only(name, "%p4", ptx.sampled(name, there + here())) + ptx.only(name, "%p5", echo) + ptx.cluster_barrier()


def remote_round_trip(chip):
    name = ptx.Names()
    text = init(name, 1, 2) + in_turn(name, ptx.lines(REMOTE_ARRIVE), lambda: ptx.wait(name, "%base", ACQUIRE))
    return ptx.Probe("barrier-round-trip-cluster", chip, text, ["round trip"], threads=32, grid=2, cluster=2, shared=1024)


def remote_stores(chip):
    """st.async of 4 bytes, which complete the phase of the other CTA's barrier."""
    name = ptx.Names()
    there = ptx.lines("shl.b32 %r11, %i, 2", "add.u32 %r11, %r11, %r10", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r11+64], %i, [%r10]")
    here = lambda: ptx.lines("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%base], 4") + ptx.wait(name, "%base", ACQUIRE)
    text = init(name, 1, 2) + in_turn(name, there, here)
    return ptx.Probe("store-round-trip-cluster", chip, text, ["round trip"], threads=32, grid=2, cluster=2, shared=1024)


def remote_loads(chip):
    """A chain of 16 loads of the other CTA's shared memory, each at the address that the one before gave."""
    name = ptx.Names()
    chain = ptx.lines(*["ld.volatile.shared::cluster.b32 %r11, [%r11]"] * 16)
    text = ptx.lines("setp.eq.u32 %p1, %th, 0", "mov.u32 %r5, %cluster_ctarank", "xor.b32 %r6, %r5, 1", "mapa.shared::cluster.u32 %r10, %base, %r6",
                     "mapa.shared::cluster.u32 %r12, %base, %r5", "@%p1 st.shared.b32 [%base], %r12", "setp.eq.u32 %p3, %r5, 0", "and.pred %p4, %p3, %p1")
    text += ptx.cluster_barrier() + ptx.only(name, "%p4", ptx.sampled(name, chain, before=ptx.lines("mov.b32 %r11, %r10"))) + ptx.cluster_barrier()
    return ptx.Probe("load-cluster", chip, text, ["chain of 16"], threads=32, grid=2, cluster=2, shared=1024)


def cluster_barriers(chip, size):
    name = ptx.Names()
    text = ptx.lines("mov.u32 %r5, %cluster_ctarank", "or.b32 %r5, %r5, %th", "setp.eq.u32 %p4, %r5, 0") + ptx.cluster_barrier()
    text += ptx.sampled(name, ptx.cluster_barrier(), writer="%p4")
    return ptx.Probe("cluster-barrier-%d" % size, chip, text, ["barrier"], grid=size, cluster=size, shared=1024)


def registers(chip):
    """setmaxnreg down and up again; two warpgroups, of which the second only keeps its registers."""
    name = ptx.Names()
    text = ptx.lines("setp.lt.u32 %p3, %th, 128", "setp.eq.u32 %p4, %th, 0")
    text += ptx.sampled(name, ptx.lines("setmaxnreg.dec.sync.aligned.u32 40"), after=ptx.lines("setmaxnreg.inc.sync.aligned.u32 152"), writer="%p4")
    text += ptx.sampled(name, ptx.lines("setmaxnreg.inc.sync.aligned.u32 152"), before=ptx.lines("setmaxnreg.dec.sync.aligned.u32 40"), writer="%p4")
    return ptx.Probe("registers", chip, text, ["dec", "inc"], threads=128, shared=1024, directives=".maxnreg 152\n")


def cancelled(chip, multiprocessors):
    """Cluster launch control: each CTA asks until there is no more, and writes the cycles of each answer of a CTA to cancel, at that CTA's place.
    Its shared memory leaves room for no other CTA on the SM."""
    name = ptx.Names()
    loop, end = name("ASK"), name("NONE")
    ask = ptx.lines("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%base], 16",
                    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r7], [%base]")
    text = "  .reg .b128 %answer;\n" + init(name, 1, 1) + ptx.lines("add.u32 %r7, %base, 16", "fence.proxy.async.shared::cta")
    body = loop + ":\n" + ptx.lines("mov.u32 %t0, %clock") + ask + ptx.wait(name, "%base") + ptx.lines(
        "mov.u32 %t1, %clock", "sub.u32 %t1, %t1, %t0", "ld.shared.b128 %answer, [%r7]",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %answer", "@!%%p3 bra %s" % end,
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r8, %answer", "mul.wide.u32 %d1, %r8, 4", "add.s64 %d1, %d1, %out",
        "st.global.u32 [%d1], %t1", "fence.proxy.async.shared::cta", "bra %s" % loop) + end + ":\n"
    return ptx.Probe("launch-control", chip, text + ptx.only(name, "%p1", body), ["answer"], samples=4 * multiprocessors, grid=4 * multiprocessors,
                     threads=32, shared=200 * 1024)


def wave(chip, size, multiprocessors):
    """CTAs that fill an SM each say where and when they begin, and stay for 30 us: those that begin at once tell how many SMs clusters of this size find."""
    name = ptx.Names()
    grid = (2 * multiprocessors) // size * size
    spin = name("SPIN")
    text = ptx.lines("setp.eq.u32 %p1, %th, 0", "mov.u64 %u0, %globaltimer", "mov.u32 %r5, %ctaid.x", "mul.wide.u32 %d1, %r5, 16", "add.s64 %out, %out, %d1",
                     "mov.u32 %r6, %smid", "cvt.u64.u32 %d2, %r6")
    text += ptx.only(name, "%p1", ptx.lines("st.global.u64 [%out], %u0", "st.global.u64 [%out+8], %d2"))
    text += spin + ":\n" + ptx.lines("mov.u64 %u1, %globaltimer", "sub.s64 %u1, %u1, %u0", "setp.lt.u64 %p3, %u1, 30000", "@%%p3 bra %s" % spin)
    return ptx.Probe("wave-%d" % size, chip, text, ["CTA %d" % cta for cta in range(grid)], samples=2, threads=32, grid=grid, cluster=size,
                     shared=200 * 1024, wide=True)


def probes(chip, multiprocessors):
    made = [local_round_trip(chip), remote_round_trip(chip), remote_stores(chip), remote_loads(chip), *[cluster_barriers(chip, size) for size in (2, 4, 8)],
            registers(chip), *[wave(chip, size, multiprocessors) for size in (1, 2, 4, 8)]]
    return made + ([] if chip == ptx.HOPPER else [cancelled(chip, multiprocessors)])
