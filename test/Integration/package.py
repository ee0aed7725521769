#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uses the Python package on a GPU as PyTorch's users do: from its wheel, eagerly, under torch.compile and in a CUDA graph.

usage: package.py DIR [--seconds=N] [--seed=N] [--times]

DIR has the wheel. Each result is judged element by element against a float64 reference, and those of torch's scaled_mm beside it.
With --times, also what calls cost the host. Prints a line for each test; exit status 0 if none failed.
"""

import argparse
import contextlib
import glob
import os
import subprocess
import sys
import tempfile
import time
import zipfile


class Report:
    failed = 0

    def tell(self, name, problem, told=""):
        Report.failed += problem is not None
        print("%s: %s %s" % ("FAIL" if problem else "PASS", name, problem or told), flush=True)

    @contextlib.contextmanager
    def test(self, name):
        told = []
        try:
            yield told.append
        except Exception as error:  # a test that does not end as it should has failed, whatever the reason
            self.tell(name, "%s: %s" % (type(error).__name__, error))
        else:
            self.tell(name, None, "; ".join(told))


report = Report()


def install(directory):
    """Unpacks the wheel, which is all that pip does with a pure one, and lets Python find it."""
    (wheel,) = glob.glob(os.path.join(directory, "fp8-*.whl"))
    place = tempfile.mkdtemp(prefix="fp8-wheel")
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", place, wheel], capture_output=True)
    if done.returncode:
        zipfile.ZipFile(wheel).extractall(place)
    sys.path.insert(0, place)
    return place, "pip" if done.returncode == 0 else "unzip"


def operands(torch, m, n, k, generator):
    """A, its scales by row, B and its scales: quantised normal values."""
    import fp8

    a = torch.randn(m, k, device="cuda", generator=generator) * torch.exp2(torch.randint(-3, 4, (m, 1), device="cuda", generator=generator).float())
    b = torch.randn(n, k, device="cuda", generator=generator)
    a8, a_scale = fp8.quantize_blockwise(a, block=(1, 128))
    b8, b_scale = fp8.quantize_blockwise(b, block=(128, 128))
    return a8, a_scale, b8, b_scale


def judge(torch, d, a, a_scale, b, b_scale, residual=None, beta=1.0, bias=None):
    """The largest error in units of the bound: 1 ulp of the output and 2^-11 of the sum of magnitudes."""
    (m, k), n = a.shape, b.shape[0]
    sa = a_scale if a_scale.shape[0] == m else a_scale.t()
    sa = sa.double().repeat_interleave(128, 1)[:, :k]
    sb = b_scale.double().repeat_interleave(128, 0)[:n].repeat_interleave(128, 1)[:, :k]
    left, right = a.double() * sa, b.double() * sb
    want = left @ right.t()
    spread = left.abs() @ right.abs().t()
    if residual is not None and beta != 0:
        want = want + beta * residual.double()
    if bias is not None:
        want = want + bias.double()
    bits = {torch.bfloat16: 8, torch.float16: 11, torch.float32: 24}[d.dtype]
    ulp = torch.exp2(torch.floor(torch.log2(want.abs().clamp_min(2.0**-14))) - (bits - 1))
    worst = ((d.double() - want).abs() / (ulp + 2.0**-11 * spread)).max().item() if d.numel() else 0.0
    if not worst <= 1:
        raise AssertionError("an element is off by %.3g of the bound" % worst)
    return worst


def check_shapes(torch, fp8, generator):
    with report.test("package-shapes") as tell:
        worst = 0
        for m, n, k in ((1, 128, 128), (7, 136, 272), (64, 2112, 1024), (100, 200, 336), (128, 4096, 512), (513, 520, 1040), (1024, 1024, 2048)):
            a, sa, b, sb = operands(torch, m, n, k, generator)
            c, bias = torch.randn(m, n, device="cuda", generator=generator), torch.randn(n, device="cuda", generator=generator)
            for layout, scales in (("k_major", sa if sa.shape[0] != m else sa.t()), ("row_major", (sa if sa.shape[0] == m else sa.t()).contiguous())):
                for repeat in range(2):  # cold, warm
                    worst = max(worst, judge(torch, fp8.gemm(a, scales, b, sb, scale_layout=layout), a, scales if layout == "row_major" else scales.t(), b, sb))
                d = fp8.gemm(a, scales, b, sb, out_dtype=torch.float32, residual=c, beta=0.5, bias=bias, scale_layout=layout)
                worst = max(worst, judge(torch, d, a, scales if layout == "row_major" else scales.t(), b, sb, c, 0.5, bias))
        tell("error up to %.2f of the bound" % worst)


def check_not_read(torch, fp8, generator):
    with report.test("package-beta-zero"):
        a, sa, b, sb = operands(torch, 64, 256, 256, generator)
        c = torch.full((64, 256), float("nan"), device="cuda")
        judge(torch, fp8.gemm(a, sa, b, sb, residual=c, beta=0.0), a, sa, b, sb)
    with report.test("package-beta"):
        c = torch.randn(64, 256, device="cuda", generator=generator)
        for beta in (torch.full((1,), 3.0, device="cuda"), torch.full((1, 1), -2.0, device="cuda"), 0.5):
            for repeat in range(2):
                judge(torch, fp8.gemm(a, sa, b, sb, residual=c, beta=beta), a, sa, b, sb, c, float(beta))
        try:
            fp8.gemm(a, sa, b, sb, residual=c, beta=torch.full((1,), 3.0, device="cuda", dtype=torch.float64))
        except TypeError:
            pass
        else:
            raise AssertionError("a beta of float64 was taken for one of float32")
    with report.test("package-nan-scale"):
        sa = sa.clone()
        by_block = sa.shape[0] != 64
        (sa[:, 3:4] if by_block else sa[3:4])[:] = float("nan")
        d = fp8.gemm(a, sa, b, sb)
        if not (d[3].isnan().all() and not d[:3].isnan().any() and not d[4:].isnan().any()):
            raise AssertionError("a NaN scale of one row must give NaN in that row and no other")


def check_scaled_mm(torch, fp8, generator):
    with report.test("package-scaled-mm") as tell:
        a, sa, b, sb, by_torch = torch_operands(torch, 256, 1024, 2048, generator)
        ours, theirs = fp8.gemm(a, sa, b, sb, scale_layout="row_major"), by_torch()
        judge(torch, ours, a, sa, b, sb)
        judge(torch, theirs, a, sa, b, sb)
        distance = ((ours.double() - theirs.double()).norm() / theirs.double().norm()).item()
        if distance > 2e-3:
            raise AssertionError("Frobenius distance %.3g" % distance)
        tell("Frobenius distance to scaled_mm %.3g" % distance)


def torch_operands(torch, m, n, k, generator):
    """Operands as torch's scaled_mm wants them, and a call of it."""
    a, sa, b, sb = operands(torch, m, n, k, generator)
    sa = (sa if sa.shape[0] == m else sa.t()).t().contiguous().t()  # M x K/128, M contiguous
    from torch.nn.functional import ScalingType, SwizzleType, scaled_mm

    wide = torch.nn.functional.pad(sb, (0, -sb.shape[1] % 4)).contiguous()

    def call():
        return scaled_mm(a, b.t(), sa, ScalingType.BlockWise1x128, wide.t(), ScalingType.BlockWise128x128,
                         swizzle_a=SwizzleType.NO_SWIZZLE, swizzle_b=SwizzleType.NO_SWIZZLE, output_dtype=torch.bfloat16)

    return a, sa, b, sb, call


def check_compile_and_graph(torch, fp8, generator):
    a, sa, b, sb = operands(torch, 128, 512, 1024, generator)
    eager = fp8.gemm(a, sa, b, sb) * 2
    with report.test("package-torch-compile") as tell:
        compiled = torch.compile(lambda *x: fp8.gemm(*x) * 2, fullgraph=True)
        if not torch.equal(compiled(a, sa, b, sb), eager):
            raise AssertionError("the numbers are not those of eager mode")
        tell("one graph, the same bits")
    with report.test("package-opcheck"):
        torch.library.opcheck(torch.ops.fp8.gemm.default, (a, sa, b, sb), test_utils="test_faketensor")  # test_schema multiplies what is 8 bits wide
    with report.test("package-cuda-graph") as tell:
        graph = torch.cuda.CUDAGraph()
        fp8.gemm(a, sa, b, sb)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            d = fp8.gemm(a, sa, b, sb) * 2
        a.copy_(a.flip(0))
        sa.copy_(sa.flip(1 if sa.shape[0] != 128 else 0))
        d.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        if not torch.equal(d, eager.flip(0)):
            raise AssertionError("a replay on other numbers is wrong")
        tell("replayed on other numbers, the same bits")


def check_streams_and_outputs(torch, fp8, generator):
    with report.test("package-streams"):
        a, sa, b, sb = operands(torch, 512, 1024, 4096, generator)
        want = fp8.gemm(a, sa, b, sb)
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            late = a.clone()
            d = fp8.gemm(late, sa, b, sb)
        stream.synchronize()
        if not torch.equal(d, want):
            raise AssertionError("the current stream is not honoured")
    with report.test("package-out"):
        out = torch.full((512, 1100), float("nan"), device="cuda", dtype=torch.bfloat16)
        for view in (out[:, :1024], out[:, 3:1027]):
            out.fill_(float("nan"))
            if fp8.gemm(a, sa, b, sb, out=view) is not view or not torch.equal(view, want) or not out[:, 1030:].isnan().all():
                raise AssertionError("out is not what was to be written")
    with report.test("package-interface"):
        class Foreign:
            """Has the protocol and nothing else."""

            def __init__(self, tensor, typestr):
                size = tensor.element_size()
                self.keep = tensor
                self.__cuda_array_interface__ = {"shape": tuple(tensor.shape), "strides": tuple(s * size for s in tensor.stride()),
                                                 "typestr": typestr, "data": (tensor.data_ptr(), False), "version": 3}

        d = torch.full((512, 1024), float("nan"), device="cuda", dtype=torch.float32)
        padded = sa if sa.shape[0] != 512 else sa.t()
        fp8.gemm(Foreign(a, "|u1"), Foreign(padded, "<f4"), Foreign(b, "|u1"), Foreign(sb, "<f4"), out=Foreign(d, "<f4"),
                 stream=torch.cuda.current_stream().cuda_stream)
        judge(torch, d, a, sa, b, sb)


def check_errors(torch, fp8, generator):
    a, sa, b, sb = operands(torch, 64, 256, 256, generator)
    wrong = {
        "dtype": (lambda: fp8.gemm(a.float(), sa, b, sb), TypeError, "a is of f32"),
        "shape": (lambda: fp8.gemm(a, sa, b[:, :128], sb), ValueError, "both have K columns"),
        "scales": (lambda: fp8.gemm(a, sa[:1], b, sb), ValueError, "a_scale is"),
        "device": (lambda: fp8.gemm(a, sa, b.cpu(), sb), ValueError, "they must be on one device"),
        "host": (lambda: fp8.gemm(a.cpu(), sa.cpu(), b.cpu(), sb.cpu()), fp8.DeviceError, "simulate=True"),
        "k": (lambda: fp8.gemm(a[:, :40].contiguous(), sa, b[:, :40].contiguous(), sb), ValueError, "multiple of 16"),
    }
    for name, (call, kind, words) in wrong.items():
        with report.test("package-error-" + name):
            try:
                call()
            except kind as error:
                if words not in str(error):
                    raise AssertionError("the message is: %s" % error) from None
            else:
                raise AssertionError("nothing was raised")
    with report.test("package-strides"):
        wide = torch.zeros(64, 300, device="cuda").to(torch.float8_e4m3fn)
        part = wide[:, 5:261]
        part.copy_(a)
        judge(torch, fp8.gemm(part, sa, b, sb), a, sa, b, sb)
        judge(torch, fp8.gemm(a.t().contiguous().t(), sa, b, sb), a, sa, b, sb)


FORK = """
import os, sys
sys.path.insert(0, %r)
import torch, fp8
a = torch.ones(16, 128, device="cuda").to(torch.float8_e4m3fn)
s, t = torch.ones(1, 16, device="cuda"), torch.ones(1, 1, device="cuda")
fp8.gemm(a, s, a, t, scale_layout="k_major")
torch.cuda.synchronize()
child = os.fork()
if child == 0:
    try:
        fp8.device_info()
    except fp8.DeviceError as error:
        os._exit(7 if "forked" in str(error) else 8)
    os._exit(9)
sys.exit(0 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 else 1)
"""

COLD = """
import sys, time
sys.path.insert(0, %r)
import torch, fp8
a = torch.ones(%d, 2048, device="cuda").to(torch.float8_e4m3fn)
b = torch.ones(1024, 2048, device="cuda").to(torch.float8_e4m3fn)
s, t = torch.ones(16, %d, device="cuda"), torch.ones(8, 16, device="cuda")
torch.cuda.synchronize()
start = time.perf_counter()
d = fp8.gemm(a, s, b, t, scale_layout="k_major")
torch.cuda.synchronize()
taken = time.perf_counter() - start
assert (d == 2048).all()
print(taken)
"""


def check_processes(place):
    with report.test("package-fork"):
        done = subprocess.run([sys.executable, "-c", FORK % place], capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise AssertionError("status %d: %s" % (done.returncode, done.stderr[-300:]))
    with report.test("package-cache") as tell, tempfile.TemporaryDirectory() as folder:
        for m in (64, 1024):
            script = COLD % (place, m, m)
            environment = dict(os.environ, FP8_CACHE_DIR=os.path.join(folder, str(m)))
            alone = dict(environment, FP8_CACHE_DIR=os.path.join(folder, "alone-%d" % m))
            first = float(subprocess.run([sys.executable, "-c", script], env=alone, capture_output=True, text=True, timeout=120).stdout)
            racing = [subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
            cold = [float(process.communicate(timeout=120)[0]) for process in racing]
            warm = float(subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120).stdout)
            tell("M=%d: first call %.2f s, of two processes at once %.2f and %.2f s, from the disk's cache %.3f s" % (m, first, *cold, warm))
            if len(os.listdir(environment["FP8_CACHE_DIR"])) != 2:  # the kernel, and what was asked for
                raise AssertionError("the processes left %s" % os.listdir(environment["FP8_CACHE_DIR"]))


def median_us(torch, call, repeats=2000):
    for _ in range(50):
        call()
    torch.cuda.synchronize()
    taken = []
    for index in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
        if index % 50 == 49:
            torch.cuda.synchronize()  # or the queue fills, and calls wait
    return sorted(taken)[repeats // 2] * 1e6


def time_calls(torch, fp8, generator):
    with report.test("package-times") as tell:
        for m, n, k in ((64, 1024, 1024), (1024, 1024, 1024)):
            a, sa, b, sb, by_torch = torch_operands(torch, m, n, k, generator)
            ours = median_us(torch, lambda: fp8.gemm(a, sa, b, sb, scale_layout="row_major"))
            theirs = median_us(torch, by_torch)
            again = median_us(torch, lambda: fp8.gemm(a, sa, b, sb, scale_layout="row_major"))
            tell("%dx%dx%d: a warm call takes the host %.1f and %.1f us, scaled_mm %.1f us" % (m, n, k, ours, again, theirs))


def main():
    parser = argparse.ArgumentParser(description="Uses the Python package on a GPU.")
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    place, how = install(options.directory)
    import torch

    import fp8

    report.tell("package-install", None, "by %s, with torch %s; %r" % (how, torch.__version__, fp8.device_info()))
    generator = torch.Generator("cuda").manual_seed(options.seed)
    if options.times:  # first: once torch.compile was used, each call of a Python function costs more
        time_calls(torch, fp8, generator)
    for check in (check_shapes, check_not_read, check_scaled_mm, check_compile_and_graph, check_streams_and_outputs, check_errors):
        check(torch, fp8, generator)
    check_processes(place)
    sys.exit(Report.failed > 0)


if __name__ == "__main__":
    main()
