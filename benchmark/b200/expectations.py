# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the probes' figures are compared with: constants of the project, read from its sources, or figures that
others published; and the question that each answers.

Published figures are of a B200 unless said: SA is SemiAnalysisAI/microbench-blackwell (9a068d8), VE Sownelayt/ventus-env
tma-cycle-compare (d6a2e15), AS AndreSlavescu/flashinfer-competition (2831d2e), QR ademeure/QuickRunCUDA (3a9f5f2, a B300),
FV revollllt/flash-vla (0c9cd03, an H100), HP arXiv 2402.13499 (an H800), quack Dao-AILab/quack.
"""

import os
import re

import copy_probes
import mma_probes
import ptx

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MACHINES = os.path.join(SOURCE, "lib", "Chip", "Machines.cpp")
CLUSTERS = os.path.join(SOURCE, "include", "fp8", "Chip", "Clusters.h")
RULES = os.path.join(SOURCE, "lib", "Chip", "SumRules.cpp")
TOLERANCE = 0.1


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def machine(name):
    """The constants of a Machine of Machines.cpp, by name."""
    text = re.search(r"constexpr Machine machines::%s = \{(.*?)\};" % name, read(MACHINES), re.S)[1]
    found = {}
    for key, value in re.findall(r"/\*(\w+)=\*/([^,}]+)", text):
        if '"' not in value and key != "clusters":
            product = 1.0
            for factor in value.split("*"):
                product *= float(factor)
            found[key] = product
    return found


def clusters(name):
    """CTAs of a cluster: clusters that a GPU of the ClusterRoom of Clusters.h runs at a time."""
    text = read(CLUSTERS)
    sizes, counts = (map(int, re.search(pattern % r"[{\s]+([\d,\s]+)\}", text)[1].split(",")) for pattern in (r"kSizes =%s", name + " =%s"))
    return dict(zip(sizes, counts))


def rules(engine):
    """ProductKind: [term bits or None, result bits, toward zero] of the rules of SumRules.cpp that make a term of each product."""
    number = r"\s*(\w+),"
    rows = re.findall(r"\{MmaEngine::%s,\s*ProductKind::(\w+),%s\s*(\w+)\}" % (engine, number * 4), read(RULES))
    return {kind: [int(terms) if terms.isdigit() else None, int(result), rounding == "towardZero"]
            for kind, _, per_term, terms, result, rounding in rows if per_term == "1"}


class Expectations:
    """The figures of a chip's probes."""

    def __init__(self, chip):
        self.chip, self.hopper = chip, chip == ptx.HOPPER
        self.machine_name = "kH200" if self.hopper else "kB200"
        self.machine = machine(self.machine_name)
        self.figures = {}

    def add(self, probe, line, name, take, unit, assumed=None, where="", tolerance=TOLERANCE, **more):
        figure = dict(more, line=line, name=name, take=take, unit=unit, where=where, tolerance=tolerance)
        if assumed is not None:
            figure["assumed"] = assumed
        self.figures.setdefault(probe, []).append(figure)

    # What a microbenchmark of a B200 measures. The constants of the cost model are fitted to whole kernels, and differ.
    PUBLISHED = {"loadLatencyNs": (1050 / 1.85, "SA, 1413 cycles, less VE's 360 for the first use of a map"), "dramBytesPerNs": (7100, "SA, 7.0 to 7.26 TB/s"),
                 "l1BytesPerCycle": (122, "VE, 28 KiB in 234 cycles"), "l2BytesPerCycle": (8650, "QR, 17 TB/s of a B300")}

    def constant(self, key, factor=1.0):
        """The assumed value, and where it stands."""
        if not self.hopper and key in self.PUBLISHED:
            value, source = self.PUBLISHED[key]
            return {"assumed": value * factor, "where": "published: " + source}
        return {"assumed": self.machine[key] * factor, "where": "lib/Chip/Machines.cpp, %s.%s" % (self.machine_name, key)}

    def mma(self):
        for shape in mma_probes.SHAPES:
            name = "%s %dx%d%s%s" % (shape.kind, shape.m, shape.n, ", pair" * (shape.group == 2), ", A in tensor memory" * (shape.place == "tmem"))
            for what, take, published in (("from one to the next", {"take": "step", "series": [0, 1], "steps": 32}, mma_interval(shape)),
                                          ("from the first to the wake-up", {"take": "each", "series": [0]}, mma_latency(shape))):
                assumed = {"assumed": published[0], "where": "published: " + published[1]} if published else {}
                self.add(shape.name, 1, "%s: cycles %s" % (name, what), unit="cycles", **take, **assumed)
        self.add("mma-f8f6f4-128x256", 0, "multiply-adds of e4m3 a cycle", "step", "1/cycle", series=[0, 1], steps=32, over=128 * 256 * 32,
                 **self.constant("multiplyAddsPerCycle"))
        for n in (64, 256):
            self.add("mma-scale-copies-128x%d" % n, 2, "mxf8f6f4 128x%d, each behind a copy of scales: cycles from one to the next" % n, "step", "cycles",
                     series=[0, 1], steps=32)
        for name, what, line in (("beside-reads", "beside three warps' loads of shared memory", 3), ("beside-copies", "beside copies to shared memory", 3),
                                 ("beside-writes", "beside three warps' stores to shared memory", 3), ("beside-stores", "beside copies out of shared memory", 3),
                                 ("switching-d", "two accumulators in turn", 6), ("switching-types", "two types in turn", 6)):
            self.add("mma-%s-128x64" % name, line, "f8f6f4 128x64, %s: cycles from one to the next" % what, "step", "cycles", series=[0, 1], steps=32,
                     assumed=48, where="published: SA, the same alone")

        for n, alone in ((64, 48), (256, 128)):
            self.add("mma-two-ctas-128x%d" % n, 6, "f8f6f4 128x%d of each of two CTAs of an SM: cycles from one to the next" % n, "step", "cycles", series=[0, 1], steps=32,
                     assumed=2 * alone, where="published: SA, one CTA; here twice of it")

    def tensor_memory(self):
        published = {"tmem-load-32x32b-x8-1": 21.5, "tmem-load-32x32b-x32-1": 97}  # with a wait each
        for one in mma_probes.TRANSFERS:
            assumed = {"assumed": published[one.name], "where": "published: QR, a B300"} if one.name in published else {}
            self.add(one.name, 4, "tcgen05.%s.%s.x%d of %d warp%s: cycles each" % ("st" if one.store else "ld", one.shape, one.count, one.warps, "s" * (one.warps > 1)),
                     "step", "cycles", series=[0, 1], steps=one.steps, tolerance=0.25, **assumed)
        self.add("commit", 5, "commit alone to the wake-up", "each", "cycles", series=[0])
        self.add("commit-pair", 5, "commit to both CTAs of a pair, to the own wake-up", "each", "cycles", series=[0])
        for index, (name, value) in enumerate((("alloc", 246), ("dealloc", 224))):
            self.add("tmem-allocate", 12, "tcgen05.%s" % name, "each", "cycles", series=[index], assumed=value, where="published: QR, a B300", tolerance=0.2)

        self.add("tmem-allocate-in-turn", 12, "from a CTA's release of tensor memory to the other's having it", "handover", "cycles")

    def copies(self):
        sizes = {16: (305, 261), 1024: (346, 282), 4096: (370, 310), 16384: (476, 421), 32768: (600, 568)}
        for index, (size, values) in enumerate(sizes.items()):
            self.add("copy-latency", 8, "bulk copy of %d bytes from the L2" % size, "each", "cycles", series=[index], assumed=values[self.hopper],
                     where="published: VE%s" % (", an H100" if self.hopper else ""), tolerance=0.15)
        self.add("copy-latency-memory", 8, "bulk copy of 16384 bytes from memory, alone", "each", "cycles", series=[0], tolerance=0.25,
                 **self.constant("loadLatencyNs", self.machine["gigahertz"]))
        for index, (size, values) in enumerate({4096: (500, 442), 16384: (624, 575)}.items()):
            self.add("tensor-latency", 8, "box of %d bytes from the L2" % size, "each", "cycles", series=[index], assumed=values[self.hopper],
                     where="published: VE%s" % (", an H100" if self.hopper else ""), tolerance=0.15)
        self.add("tensor-latency", 8, "first use of a tensor map, more than later ones", "first", "cycles", series=[0], assumed=(360, 320)[self.hopper],
                 where="published: VE, map in the L2%s" % (", an H100" if self.hopper else ""), tolerance=0.3)
        for size in (2, 4, 8):
            self.add("multicast-%d" % size, 9, "multicast of 16384 bytes to %d CTAs" % size, "each", "cycles", series=[0])
        for index, size in enumerate((4096, 16384, 32768)):
            self.add("store-latency", 10, "store of %d bytes until shared memory is free" % size, "each", "cycles", series=[2 * index])
            self.add("store-latency", 10, "store of %d bytes until it is done" % size, "each", "cycles", series=[2 * index + 1],
                     **({} if size != 4096 or self.hopper else {"assumed": 209, "where": "published: QR, a B300", "tolerance": 0.25}))
        self.add("store-latency", 10, "addition of 16384 bytes in memory until shared memory is free", "each", "cycles", series=[6])
        self.add("store-latency", 10, "addition of 16384 bytes in memory until it is done", "each", "cycles", series=[7])
        for index, count in enumerate(copy_probes.MAP_COUNTS):
            self.add("map-cache", 8, "box of 4096 bytes, by %d tensor map%s in turn" % (count, "s" * (count > 1)), "each", "cycles", series=[index], factor=1 / count,
                     **({} if index else {"assumed": (500, 442)[self.hopper], "where": "published: VE%s" % (", an H100" if self.hopper else ""), "tolerance": 0.15}))
        after = len(copy_probes.MAP_COUNTS)
        self.add("map-cache", 8, "change of a tensor map's address, with both fences", "each", "cycles", series=[after])
        self.add("map-cache", 8, "box of 4096 bytes by a map that was just changed", "each", "cycles", series=[after + 1])
        self.add("map-cache", 8, "box of 4096 bytes by a map that lies in memory", "each", "cycles", series=[after + 2])
        self.add("l2-load", 9, "load from the L2 by one SM; the range tells near from far", "each", "cycles", series=[0], tolerance=0.15,
                 assumed=(300, 263)[self.hopper], where="published: " + ("HP, an H800" if self.hopper else "AS"))
        self.add("far-pages", 9, "load from the L2, all from one page of memory", "each", "cycles", series=[0])
        self.add("far-pages", 9, "load from the L2, each from another page of memory", "each", "cycles", series=[1])

    def streams(self, bytes_of):
        self.add("stream-memory-all", 0, "bytes of memory a nanosecond, all SMs", "together", "bytes/ns", bytes=bytes_of["stream-memory-all"], **self.constant("dramBytesPerNs"))
        self.add("stream-memory-one", 0, "bytes of memory a nanosecond, one SM", "together", "bytes/ns", bytes=bytes_of["stream-memory-one"],
                 **self.constant("dramBytesPerNsOfOne"))
        self.add("stream-l2-one", 0, "bytes of the L2 a cycle, one SM alone", "cycles", "bytes/cycle", bytes=bytes_of["stream-l2-one"], **self.constant("l1BytesPerCycle"))
        share = self.constant("l2BytesPerCycle", 1 / self.machine["multiprocessors"])
        self.add("stream-l2-all", 0, "bytes of the L2 a cycle and SM, all SMs", "cycles", "bytes/cycle", bytes=bytes_of["stream-l2-all"], **share)
        for name, what in (("stream-store-all", "stores, all SMs"), ("stream-store-one", "stores, one SM alone"), ("stream-add-all", "additions, all SMs")):
            self.add(name, 10, "bytes a cycle and SM, %s, to the L2" % what, "cycles", "bytes/cycle", bytes=bytes_of[name],
                     ctas=1 if "one" in name else int(self.machine["multiprocessors"]))
        self.add("stream-l2-all", 0, "clock of the SMs, hardly loaded", "clock", "GHz", **self.constant("gigahertz"), tolerance=0.05)

    def synchronisation(self):
        self.add("barrier-round-trip", 5, "two warps wake one another by mbarriers: both ways", "each", "cycles", series=[0],
                 **({} if self.hopper else {"assumed": 88.5, "where": "published: AS", "tolerance": 0.25}))
        self.add("barrier-round-trip-cluster", 7, "two CTAs of a cluster wake one another by mbarriers: both ways", "each", "cycles", series=[0])
        self.add("store-round-trip-cluster", 7, "the same by st.async", "each", "cycles", series=[0])
        self.add("load-cluster", 7, "load of the other CTA's shared memory", "each", "cycles", series=[0], factor=1 / 16, assumed=180, tolerance=0.2,
                 where="published: " + ("HP, an H800" if self.hopper else "QR, a B300"))
        for size in (2, 4, 8):
            self.add("cluster-barrier-%d" % size, 7, "barrier of a cluster of %d, release and acquire" % size, "each", "cycles", series=[0],
                     **({} if self.hopper else {"assumed": 375, "where": "published: QR, a B300", "tolerance": 0.25}))
        for index, (name, value) in enumerate((("dec", 73), ("inc", 50))):
            self.add("registers", 12, "setmaxnreg.%s" % name, "each", "cycles", series=[index], tolerance=0.3,
                     **({} if self.hopper else {"assumed": value, "where": "published: QR, a B300"}))
        room = "kHopperClusters" if self.hopper else "kBlackwellClusters"
        for size in (1, 2, 4, 8):
            assumed = self.constant("multiprocessors") if size <= 2 else {
                "assumed": size * clusters(room)[size], "where": "include/fp8/Chip/Clusters.h, " + room}
            self.add("wave-%d" % size, 0, "SMs that clusters of %d find" % size, "at-once", "SMs", tolerance=0.01, **assumed)
        if not self.hopper:
            self.add("launch-control", 11, "answer of cluster launch control", "each", "cycles", series=[0], assumed=1000 * self.machine["gigahertz"],
                     where="published: quack, about 1 us", tolerance=0.5)

    def wgmma(self):
        law = {8: 18.9, 16: 20.7, 32: 24.7, 64: 32.8, 96: 48.7, 128: 65.0, 192: 97.1, 256: 129.3}
        for n, interval in law.items():
            for registers in (False, True):
                self.add("wgmma-e4m3-64x%d%s" % (n, "-registers" * registers), 14, "wgmma e4m3 64x%d, A in %s: cycles from one to the next" % (
                    n, "registers" if registers else "shared memory"), "step", "cycles", series=[0, 1], steps=16,
                         **({} if registers else {"assumed": interval, "where": "published: FV, an H100, in bf16"}))
        self.add("wgmma-e4m3-64x256", 0, "multiply-adds of e4m3 a cycle", "step", "1/cycle", series=[0, 1], steps=16, over=64 * 256 * 32,
                 **self.constant("multiplyAddsPerCycle"))


PUBLISHED_KINDS = ("f8f6f4", "f16", "mxf8f6f4")


def mma_interval(shape):
    """(cycles, who published it): what the tensor core takes, or shared memory at 128 bytes a cycle."""
    n = shape.n
    if shape.kind == "mxf4nvf4" and shape.group == 1 and n >= 64:
        return max(44, n / 2), "QR, a B300"
    if shape.kind not in PUBLISHED_KINDS or n < 64:
        return None
    if shape.place == "tmem" or (shape.group, shape.m) == (1, 64):
        return n / 2, "SA"
    if shape.group == 1:
        return max(n / 2, 32 + n / 4), "SA"
    pairs = {256: {64: 43, 128: 64, 256: 128}, 128: {64: 25, 128: 32, 256: 64}}
    return pairs[shape.m][n], "SA"


def mma_latency(shape):
    base = {(128, 1, "smem"): 136, (128, 1, "tmem"): 104, (64, 1, "smem"): 120, (256, 2, "smem"): 170}.get((shape.m, shape.group, shape.place))
    return (base + shape.n / 2, "SA") if base and shape.kind in PUBLISHED_KINDS and shape.n >= 64 else None


def figures(chip, bytes_of):
    """The figures of each probe of the chip, by its name. `bytes_of`: what each CTA of the streams copies."""
    expected = Expectations(chip)
    expected.copies()
    expected.streams(bytes_of)
    expected.synchronisation()
    if expected.hopper:
        expected.wgmma()
    else:
        expected.mma()
        expected.tensor_memory()
    return expected.figures


def times(chip):
    """Figures of the launches of steps.json, in us."""
    expected = Expectations(chip)
    machine_of = expected.machine
    block = 128 * 128 * 128 / machine_of["multiplyAddsPerCycle"] / machine_of["sustainedShare"]
    copied = 2 * 128 * 128 / machine_of["l1BytesPerCycle"]
    longest = max(block, copied, machine_of["promotionCycles"] + 128)
    expected.add("times", 11, "a launch of one tile and one K block, launch behind launch", None, "us", of=["launch"], tolerance=0.5, **expected.constant("launchUs"))
    expected.add("times", 11, "what a programmatic launch gains of it", None, "us", of=["launch", "launch-programmatic"], tolerance=0.5, **expected.constant("earlyUs"))
    expected.add("times", 15, "the same product from cold caches", None, "us", of=["cold"])
    expected.add("times", 0, "a K block of a tile of 128 x 128 on one SM", None, "cycles", of=["blocks-96", "blocks-32"], factor=machine_of["gigahertz"] * 1000 / 64,
                 tolerance=0.3, assumed=longest, where="lib/Tuning/CostModel.cpp, the longest term of the loop with the constants of %s" % expected.machine_name)
    return expected.figures["times"]
