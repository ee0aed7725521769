# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programmatic launches of fp8.gemm among other kernels of a stream: each result must be what it is where kernels follow one another.

Kernels in front let ours start at once and write, or read, late: Triton's with launch_pdl, and our own. A kernel of ours without its wait shows
that they do.
"""

import functools

import torch
import triton
import triton.language as tl
from package_report import operands, report
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

SLOW = 40_000  # turns of a loop, some 300 us
SHAPES = ((1, 4096, 7168), (16, 2112, 7168), (64, 7168, 2048), (128, 7168, 2048), (100, 520, 1040))


@triton.jit
def slow_copy(target, source, size, turns, never, BLOCK: tl.constexpr):
    """Waits for what is in front, lets the next kernel start, and copies after a while: when a loop's sum, which is never `never`, is known."""
    gdc_wait()
    gdc_launch_dependents()
    spent = turns * 0
    for turn in range(turns):
        spent = (spent * 5 + turn) & 0x7FFFFFF
    for start in range(tl.program_id(0) * BLOCK, size, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = (at < size) & (spent != never)
        tl.store(target + at, tl.load(source + at, mask=inside), mask=inside)


def flat(tensor):
    """The bytes from the first element to the last."""
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride()))
    return tensor.as_strided((span,), (1,)).view(torch.uint8)


def like(tensor):
    """Zeros of the same type and strides."""
    zeros = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    flat(zeros).zero_()
    return zeros


def copy_late(target, source, turns=SLOW):
    """`target` becomes `source`, by a kernel of few CTAs that lets the next one start first."""
    to, of = flat(target), flat(source)
    slow_copy[(min(triton.cdiv(to.numel(), 8192), 16),)](to, of, to.numel(), turns, -1, BLOCK=8192, launch_pdl=True)


def is_programmatic(kernel):
    return kernel.manifest["launch"].get("programmatic", False)


def kernel_of(fp8, m, n, k, **options):
    """The kernel that fp8.gemm takes on this GPU."""
    from fp8 import _choice

    info = fp8.device_info()
    return _choice.kernel_for(fp8.GemmSpec(**options), info.chip, (m, n, k), info.name)


def alone(fp8, *given, **options):
    """D of a launch that no other kernel overlaps. A serial launch would not do: its kernel may add in another order."""
    torch.cuda.synchronize()
    d = fp8.gemm(*given, **options)
    torch.cuda.synchronize()
    return d


def must_equal(what, d, want):
    differ = (flat(d) != flat(want)).sum().item()
    if differ:
        raise AssertionError("%s: %d of %d bytes differ" % (what, differ, flat(want).numel()))


def check_default(torch, fp8, generator):
    with report.test("package-launch-default") as tell:
        early = [shape for shape in (*SHAPES, (4000, 4096, 1024)) if is_programmatic(kernel_of(fp8, *shape))]
        if len(early) <= len(SHAPES):
            raise AssertionError("programmatic are only %s" % early)
        if any(is_programmatic(kernel_of(fp8, *shape, programmatic=False)) for shape in SHAPES):
            raise AssertionError("programmatic=False is not honoured")
        tell("programmatic by default: %s" % ", ".join("%dx%dx%d" % shape for shape in early))


def check_late_operands(torch, fp8, generator):
    """Each operand is written late, by a kernel that lets ours start; what was there before gives other numbers."""
    for m, n, k in SHAPES:
        with report.test("package-launch-late-%dx%dx%d" % (m, n, k)):
            a, sa, b, sb = operands(torch, m, n, k, generator)
            c, bias = torch.randn(m, n, device="cuda", generator=generator), torch.randn(n, device="cuda", generator=generator)
            numbers = {"beta": torch.full((1,), 0.5, device="cuda"), "d_scale": torch.full((1,), 2.0, device="cuda")}
            given = {"a": a, "a_scale": sa, "b": b, "b_scale": sb, "c": c, "bias": bias, **numbers}
            want = alone(fp8, **given, programmatic=True)
            for name, tensor in given.items():
                late = like(tensor)
                for _ in range(5):
                    flat(late).zero_()
                    copy_late(late, tensor)
                    d = fp8.gemm(**{**given, name: late}, programmatic=True)
                    must_equal(name + " is written late", d.clone(), want)  # the clone follows at once


def check_without_wait(torch, fp8, generator):
    """The test of the tests: without its wait the kernel reads what was there before."""
    from fp8._device import LoadedKernel, get_device

    with report.test("package-launch-without-wait") as tell:
        m, n, k = 64, 7168, 2048
        a, sa, b, sb = operands(torch, m, n, k, generator)
        kernel = fp8.compile(fp8.GemmSpec(programmatic=True), chip=fp8.device_info().chip, problem=(m, n, k))
        hasty = kernel.ptx.replace("griddepcontrol.wait;", "")
        if hasty == kernel.ptx:
            raise AssertionError("the kernel has no wait")
        loaded = LoadedKernel(get_device(0), hasty.encode(), kernel._object.manifest)
        want, wrong = alone(fp8, a, sa, b, sb, programmatic=True), 0
        late, d = like(a), torch.empty_like(want)
        stream = torch.cuda.current_stream().cuda_stream
        arrays = kernel._bind((late, sa, b, sb, d), stream)
        prepared = loaded.prepare(arrays)
        for _ in range(5):
            flat(late).zero_()
            torch.cuda.synchronize()
            copy_late(late, a)
            prepared.enqueue(stream, *(array.address for array in arrays))
            wrong += not torch.equal(d, want)
        if not wrong:
            raise AssertionError("all 5 results are right: the kernels in front hide nothing")
        tell("%d of 5 results are wrong without the wait" % wrong)


def check_foreign_kernels(torch, fp8, generator):
    m, n, k = 64, 7168, 2048
    a, sa, b, sb = operands(torch, m, n, k, generator)
    want, other = alone(fp8, a, sa, b, sb, programmatic=True), a.flip(0)
    late = like(a)
    with report.test("package-launch-torch-in-front"):
        for _ in range(20):
            flat(late).zero_()
            torch.cuda._sleep(1_000_000)
            late.copy_(a)
            must_equal("A is copied late", fp8.gemm(late, sa, b, sb, programmatic=True).clone(), want)
    with report.test("package-launch-copies-in-front"):
        pinned = a.cpu().pin_memory()
        big, host = torch.empty(64 << 20, dtype=torch.uint8, device="cuda"), torch.empty(64 << 20, dtype=torch.uint8, pin_memory=True)
        for _ in range(10):
            flat(late).zero_()
            big.copy_(host, non_blocking=True)  # milliseconds
            late.copy_(pinned, non_blocking=True)
            d = fp8.gemm(late, sa, b, sb, programmatic=True)
            back = d.to("cpu", non_blocking=True)
            torch.cuda.synchronize()
            must_equal("A comes from the host", back, want.cpu())
    with report.test("package-launch-event-in-front"):
        side, there = torch.cuda.Stream(), torch.cuda.Event()
        for _ in range(20):
            flat(late).zero_()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.cuda._sleep(1_000_000)
                late.copy_(a)
                there.record()
            fp8.gemm(other, sa, b, sb, programmatic=True)
            torch.cuda.current_stream().wait_event(there)
            must_equal("A is another stream's", fp8.gemm(late, sa, b, sb, programmatic=True), want)
    with report.test("package-launch-overwritten-behind"):
        for _ in range(20):
            late.copy_(a)
            d = fp8.gemm(late, sa, b, sb, programmatic=True)
            copy_late(late, other, turns=1)  # waits, and overwrites A
            must_equal("A is overwritten behind", d, want)
    with report.test("package-launch-read-in-front"):
        d, kept = torch.empty_like(want), torch.empty_like(want)
        for value in range(20):
            d.fill_(value)
            copy_late(kept, d)  # reads D's old numbers
            fp8.gemm(a, sa, b, sb, d=d, programmatic=True)
            must_equal("what was read of D before", kept, torch.full_like(kept, value))
            must_equal("D", d, want)
    with report.test("package-launch-written-in-front"):
        zeros = torch.zeros_like(d)
        for _ in range(20):
            copy_late(d, zeros)  # writes D first
            fp8.gemm(a, sa, b, sb, d=d, programmatic=True)
            must_equal("D is written before", d, want)


def chain(fp8, a, sa, b, sb, launches, each_alone=False, **options):
    """D of each launch is A of the next: e4m3 of about the same size."""
    d = [torch.empty_like(a), torch.empty_like(a)]
    gemm = functools.partial(alone, fp8) if each_alone else fp8.gemm
    for index in range(launches):
        a = gemm(a, sa, b, sb, d=d[index % 2], **options)
    return a.clone()


def chain_operands(m, n, generator):
    a = torch.randn(m, n, device="cuda", generator=generator).mul(16).to(torch.float8_e4m3fn)
    b = torch.randn(n, n, device="cuda", generator=generator).to(torch.float8_e4m3fn)
    blocks = -(-n // 128)
    return a, torch.ones(blocks, m, device="cuda"), b, torch.full((blocks, blocks), 1.05 / n**0.5, device="cuda")


def check_chains(torch, fp8, generator):
    for m, n in ((1, 2048), (16, 4096), (64, 2048), (128, 2048)):
        with report.test("package-launch-chain-%dx%d" % (m, n)):
            given = chain_operands(m, n, generator)
            want = chain(fp8, *given, 2000, each_alone=True, programmatic=True)
            if len(flat(want).unique()) < 16:
                raise AssertionError("the numbers of the chain have died out")
            must_equal("2000 launches in a row", chain(fp8, *given, 2000, programmatic=True), want)
            must_equal("by default", chain(fp8, *given, 2000), chain(fp8, *given, 2000, each_alone=True))
    with report.test("package-launch-residual-is-out"):
        a, sa, b, sb = operands(torch, 64, 2048, 2048, generator)
        results = []
        for gemm in (functools.partial(alone, fp8), fp8.gemm):
            d = torch.zeros(64, 2048, device="cuda")
            for _ in range(200):
                gemm(a, sa, b, sb, c=d, beta=1.0, d=d, programmatic=True)  # adds the product each time
            results.append(d)
        must_equal("D is C", results[1], results[0])
    with report.test("package-launch-same-out"):
        other = a.flip(0)
        wants = [alone(fp8, one, sa, b, sb, programmatic=True) for one in (a, other)]
        d = torch.empty_like(wants[0])
        for index in range(2000):
            fp8.gemm((a, other)[index % 2], sa, b, sb, d=d, programmatic=True)
            if index % 100 > 97:
                must_equal("the last of %d launches on one D" % (index + 1), d.clone(), wants[index % 2])
    with report.test("package-launch-two-streams"):
        streams = [torch.cuda.Stream() for _ in range(2)]
        wants = [chain(fp8, *given, 300, each_alone=True, programmatic=True)] * 2
        torch.cuda.synchronize()
        found = []
        for stream in streams:
            with torch.cuda.stream(stream):
                found.append(chain(fp8, *given, 300, programmatic=True))
        torch.cuda.synchronize()
        for d, want in zip(found, wants):
            must_equal("two streams", d, want)


def check_graphs(torch, fp8, generator):
    with report.test("package-launch-graph") as tell:
        m, n = 64, 2048
        a, sa, b, sb = chain_operands(m, n, generator)
        late, given = torch.empty_like(a), torch.empty_like(a)
        run = lambda each_alone: chain(fp8, late, sa, b, sb, 10, each_alone, programmatic=True)
        copy_late(late, a)
        run(each_alone=False)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            copy_late(late, given)
            d = run(each_alone=False)
        for index in range(50):
            flat(given).copy_(flat(a).roll(index * n))
            graph.replay()
            again = d.clone()
            late.copy_(given)
            must_equal("replay %d" % index, again, run(each_alone=True))
        tell("50 replays of 11 kernels, behind one that is slow to write A")
    with report.test("package-launch-graph-torch"):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            late.copy_(given)
            first = fp8.gemm(late, sa, b, sb, d_dtype="float8_e4m3fn", programmatic=True)
            doubled = (first.float() * 2).to(torch.float8_e4m3fn)
            second = fp8.gemm(doubled, sa, b, sb, programmatic=True)
        for index in range(50):
            flat(given).copy_(flat(a).roll(-index * n))
            graph.replay()
            again = second.clone()
            first_again = alone(fp8, given, sa, b, sb, d_dtype="float8_e4m3fn", programmatic=True)
            want = alone(fp8, (first_again.float() * 2).to(torch.float8_e4m3fn), sa, b, sb, programmatic=True)
            must_equal("replay %d" % index, again, want)


def must_be_told(kernel, operand, m, n):
    """The kernel is told at each launch whether the operand is constant."""
    if not any(one["kind"] == "constant" and operand in one["arguments"] for one in kernel.manifest["parameters"]):
        raise AssertionError("the kernel for %dx%dx... is not told whether %s is constant" % (m, n, operand))


# What reads a factor that is written, rows by N by K, and the K of what writes it: one warpgroup and one row of tiles, and two warpgroups and several rows (on an H200). None
# fills the GPU, so that a reader begins while the writer is still at work.
WRITTEN = (("a", "", (16, 4096, 7168), 2560), ("a", "-two-warpgroups", (192, 2048, 7168), 2048),
           ("b", "", (16, 64, 7168), 2048), ("b", "-two-warpgroups", (1024, 64, 7168), 2048))


def check_graphs_that_write_factors(torch, fp8, generator):
    for operand, name, shape, k in WRITTEN:
        check_graph_that_writes(torch, fp8, generator, operand, name, *shape, k)


def check_graph_that_writes(torch, fp8, generator, operand, name, m, n, inner, k):
    """A or B is the D of a kernel in front, in one graph. A kernel right behind that one must wait for it; behind another it need not."""
    rows = {"a": m, "b": n}[operand]
    a, sa, b, sb = operands(torch, rows, inner, k, generator)
    factors = operands(torch, m, n, inner, generator)
    other = operands(torch, m, 2048, 4096, generator)
    given = like(a)
    written = torch.empty(rows, inner, dtype=torch.float8_e4m3fn, device="cuda")
    d, elsewhere = (torch.empty(m, columns, dtype=torch.bfloat16, device="cuda") for columns in (n, 2048))
    kernel = kernel_of(fp8, m, n, inner)
    must_be_told(kernel, operand, m, n)

    def with_factor(factor):
        """The operands of the reader."""
        first, row_scales, second, b_scales = factors
        return (factor, row_scales, second, b_scales) if operand == "a" else (first, row_scales, factor, b_scales)

    def write():
        fp8.gemm(given, sa, b, sb, d=written)

    def between():
        fp8.gemm(*other, d=elsewhere)

    def read(**promise):
        fp8.gemm(*with_factor(written), d=d, **promise)

    def count_wrong(*calls):
        """The replays of 50 after which D is not that of calls that wait for each other."""
        for call in calls:
            call()
        torch.cuda.synchronize()
        graph, wrong = captured(torch, calls), 0
        for index in range(50):
            flat(given).copy_(flat(a).roll(index * k + 1))
            graph.replay()
            found = d.clone()
            want = alone(fp8, *with_factor(alone(fp8, given, sa, b, sb, d_dtype="float8_e4m3fn")))
            wrong += not torch.equal(flat(found), flat(want))
            flat(written).zero_()
        return wrong

    with report.test("package-launch-graph-writes-%s%s" % (operand, name)):
        for what, calls in (("in front", (write, read)), ("two in front", (write, between, read))):
            wrong = count_wrong(*calls)
            if wrong:
                raise AssertionError("%s is written %s: %d of 50 results are wrong" % (operand.upper(), what, wrong))
    if operand == "a":  # of which no caller can promise anything
        return
    with report.test("package-launch-graph-broken-promise" + name) as tell:
        wrong = count_wrong(write, lambda: read(constant_b=True))
        if not wrong:
            raise AssertionError("all 50 results are right: no B is loaded early")
        tell("%d of 50 results are wrong where the caller promises that B is constant; a CTA has %d threads" % (wrong, kernel.manifest["launch"]["block"][0]))


def check_graphs_that_write_scales_of_b(torch, fp8, generator):
    """B's scales are the D of a kernel in front, or two in front, and an earlier kernel of the graph has read the old ones on the same SMs."""
    m, n, k = 16, 7168, 16384
    rows, row_scales, b, _ = operands(torch, m, n, k, generator)
    a, sa, other_b, other_sb = operands(torch, n // 128, k // 128, 512, generator)
    other = operands(torch, m, 2048, 4096, generator)
    given = like(a)
    scales = torch.zeros(n // 128, k // 128, device="cuda")
    before, d, elsewhere = (torch.empty(m, columns, dtype=torch.bfloat16, device="cuda") for columns in (n, n, 2048))
    must_be_told(kernel_of(fp8, m, n, k), "b_scale", m, n)

    def read(into):
        return lambda: fp8.gemm(rows, row_scales, b, scales, d=into)

    def write():
        fp8.gemm(given, sa, other_b, other_sb, d=scales)

    def between():
        fp8.gemm(*other, d=elsewhere)

    with report.test("package-launch-graph-writes-b-scales"):
        for what, calls in (("in front", (read(before), write, read(d))), ("two in front", (read(before), write, between, read(d))),
                            ("two in front, behind two readers", (read(before), read(before), write, between, read(d)))):
            for call in calls:
                call()
            torch.cuda.synchronize()
            graph, wrong = captured(torch, calls), 0
            for index in range(50):
                flat(given).copy_(flat(a).roll(index * 512 + 1))
                graph.replay()
                found = d.clone()
                want = alone(fp8, rows, row_scales, b, alone(fp8, given, sa, other_b, other_sb, d_dtype="float32"))
                wrong += not torch.equal(flat(found), flat(want))
            if wrong:
                raise AssertionError("B's scales are written %s: %d of 50 results are wrong" % (what, wrong))


CHECKS = (check_default, check_without_wait, check_late_operands, check_foreign_kernels, check_chains, check_graphs, check_graphs_that_write_factors,
          check_graphs_that_write_scales_of_b)


# -- What a programmatic launch gains -------------------------------------------------------------------------------------------


TIMED = (
    *((m, n, k) for n, k in ((7168, 2048), (4096, 7168), (2112, 7168)) for m in (1, 16, 64, 128)),
    (8, 24576, 1536), (96, 4096, 7168), (64, 7168, 16384), (128, 7168, 16384), (256, 4096, 7168), (1024, 4096, 7168),
)


def captured(torch, launches):
    """A graph of these calls, which were made before."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for launch in launches:
            launch()
    return graph


def replay_us(torch, graph, launches, replays=21):
    """Microseconds of a launch: the median over replays."""
    graph.replay()
    taken = []
    for _ in range(replays):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        taken.append(begin.elapsed_time(end) * 1000 / launches)
    return sorted(taken)[replays // 2]


def time_launches(torch, fp8, generator):
    """Both launches and the default, one behind the other, and each with a kernel of torch behind it; on operands that exceed the L2 cache."""
    room = 4 * torch.cuda.get_device_properties(0).L2_cache_size
    for m, n, k in TIMED:
        with report.test("package-launch-times-%dx%dx%d" % (m, n, k)) as tell:
            sets = []
            for _ in range(max(2, room // (n * k) + 1)):
                a, sa, b, sb = operands(torch, m, n, k, generator)
                padded = torch.zeros(sa.shape[0], -(-m // 4) * 4, device="cuda")[:, :m]  # as kernels read it
                padded.copy_(sa)
                sets.append((a, padded, b, sb, torch.empty(m, n, dtype=torch.bfloat16, device="cuda")))
            repeats = max(1, 60 // len(sets))

            def graph_of(programmatic, between):
                def one(a, sa, b, sb, d):
                    fp8.gemm(a, sa, b, sb, scale_layout="k_major", d=d, programmatic=programmatic)
                    if between:
                        d.mul_(0.5)

                for given in sets:
                    one(*given)
                torch.cuda.synchronize()
                return captured(torch, [lambda given=given: one(*given) for given in sets] * repeats)

            ways = [(name, between, graph_of(programmatic, between)) for between in (False, True)
                    for name, programmatic in (("serial", False), ("programmatic", True), ("default", None))]
            rounds = {way[:2]: [] for way in ways}
            for _ in range(5):
                ways = ways[1:] + ways[:1]
                for name, between, graph in ways:
                    rounds[name, between].append(replay_us(torch, graph, len(sets) * repeats))
            us = {way: sorted(times)[2] for way, times in rounds.items()}
            tell("%s: " % ("programmatic by default" if is_programmatic(kernel_of(fp8, m, n, k)) else "serial by default") + "; ".join(
                "%s %s" % ("with a kernel of torch" if between else "alone", ", ".join(
                    "%s %.2f us" % (name, us[name, between]) for name in ("serial", "programmatic", "default"))) for between in (False, True)))
