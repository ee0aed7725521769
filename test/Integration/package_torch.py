# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on PyTorch's tensors: shapes, epilogues, torch.compile, CUDA graphs, streams, outputs, and wrong operands."""

from package_report import must_raise, operands, report, torch_operands
from fp8.testing import assert_close


def check_shapes(torch, fp8, generator):
    with report.test("package-shapes") as tell:
        worst = 0
        for m, n, k in ((1, 128, 128), (7, 136, 272), (64, 2112, 1024), (100, 200, 336), (128, 4096, 512), (33, 77, 144), (513, 520, 1040), (1024, 1024, 2048)):
            a, sa, b, sb = operands(torch, m, n, k, generator)
            c, bias = torch.randn(m, n, device="cuda", generator=generator), torch.randn(n, device="cuda", generator=generator)
            for layout, scales in (("k_major", sa), ("row_major", sa.t().contiguous())):
                for repeat in range(2):  # cold, warm
                    d = fp8.gemm(a, scales, b, sb, scale_layout=layout)
                    worst = max(worst, assert_close(d, a, scales, b, sb, scale_layout=layout).largest)
                epilogue = {"c": c, "beta": 0.5, "bias": bias, "scale_layout": layout}
                d = fp8.gemm(a, scales, b, sb, d_dtype=torch.float32, **epilogue)
                worst = max(worst, assert_close(d, a, scales, b, sb, **epilogue).largest)
        tell("error up to %.2f of the bound" % worst)
    with report.test("package-b-block"):
        a, sa, b, _ = operands(torch, 64, 200, 384, generator)
        wide = torch.randn(200, 384, device="cuda", generator=generator)
        for block in (64, 1):
            b, sb = fp8.quantize_blockwise(wide, block=(block, 128))
            for options in ({}, {"d_dtype": "float8_e4m3fn"}):
                assert_close(fp8.gemm(a, sa, b, sb, b_block=block, **options), a, sa, b, sb, b_block=block)


def check_batch(torch, fp8, generator):
    with report.test("package-batch"):
        for length, m, n, k in ((1, 40, 128, 256), (5, 72, 200, 384)):
            parts = [operands(torch, m, n, k, generator) for _ in range(length)]
            a, sa, b, sb = (torch.stack(part) for part in zip(*parts))
            c = torch.randn(length, m, n, device="cuda", generator=generator)
            for options in ({}, {"c": c, "beta": 0.5, "d_scale": 0.125}):
                for dtype in (torch.bfloat16, torch.float8_e4m3fn):
                    for repeat in range(2):
                        assert_close(fp8.gemm(a, sa, b, sb, d_dtype=dtype, **options), a, sa, b, sb, **options)
            compiled = torch.compile(lambda *x: fp8.gemm(*x), fullgraph=True)
            if not torch.equal(compiled(a, sa, b, sb), fp8.gemm(a, sa, b, sb)):
                raise AssertionError("torch.compile computes something else")
    with report.test("package-out-scale"):
        for scale in (0.5, torch.full((1,), 3.0, device="cuda"), 1.0, -2):
            for repeat in range(2):
                assert_close(fp8.gemm(*parts[0], d_scale=scale), *parts[0], d_scale=scale)


def check_beta(torch, fp8, generator):
    a, sa, b, sb = operands(torch, 64, 256, 256, generator)
    c = torch.randn(64, 256, device="cuda", generator=generator)
    with report.test("package-beta-zero"):
        nothing = torch.full((64, 256), float("nan"), device="cuda")
        assert_close(fp8.gemm(a, sa, b, sb, c=nothing, beta=0.0), a, sa, b, sb)
    with report.test("package-beta"):
        for beta in (torch.full((1,), 3.0, device="cuda"), torch.full((1, 1), -2.0, device="cuda"), 0.5, 1, -1.25, 1.0, 0.5):
            for repeat in range(2):
                assert_close(fp8.gemm(a, sa, b, sb, c=c, beta=beta), a, sa, b, sb, c=c, beta=float(beta))
        must_raise(TypeError, "beta is of float64", lambda: fp8.gemm(a, sa, b, sb, c=c, beta=torch.full((1,), 3.0, device="cuda", dtype=torch.float64)))
    with report.test("package-nan-scale"):
        sa = sa.clone()
        sa[:, 3] = float("nan")
        d = fp8.gemm(a, sa, b, sb)
        if not (d[3].isnan().all() and not d[:3].isnan().any() and not d[4:].isnan().any()):
            raise AssertionError("a NaN scale of one row must give NaN in that row and no other")
    with report.test("package-gradient"):
        for wrong in ({"bias": torch.zeros(256, device="cuda", requires_grad=True)}, {"c": c, "beta": torch.ones(1, device="cuda", requires_grad=True)}):
            must_raise(ValueError, "has no gradient", lambda: fp8.gemm(a, sa, b, sb, **wrong))
        must_raise(ValueError, "has no gradient", lambda: fp8.gemm(a.detach().requires_grad_(), sa, b, sb))
        with torch.no_grad():
            fp8.gemm(a, sa, b, sb, bias=torch.zeros(256, device="cuda", requires_grad=True))


def check_alias(torch, fp8, generator):
    """C is D's memory. Where tiles share rows (edge = first), the one that stores a row must be the only one that reads it."""
    with report.test("package-alias"):
        for m, n, k in ((129, 512, 1024), (200, 4096, 512), (321, 1024, 2048), (777, 520, 512), (1025, 256, 256)):
            parts = operands(torch, m, n, k, generator)
            c = torch.randn(m, n, device="cuda", generator=generator).to(torch.bfloat16)
            for repeat in range(5):
                d = c.clone()
                fp8.gemm(*parts, c=d, beta=0.5, out=d)
                assert_close(d, *parts, c=c, beta=0.5)


def check_scaled_mm(torch, fp8, generator):
    with report.test("package-scaled-mm") as tell:
        a, sa, b, sb, by_torch = torch_operands(torch, 256, 1024, 2048, generator)
        theirs = by_torch()
        run = lambda: fp8.gemm(a, sa, b, sb, scale_layout="row_major")
        ours = {"eagerly": run(), "under torch.compile": torch.compile(run, fullgraph=True)()}
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            ours["in a CUDA graph"] = run()
        ours["in a CUDA graph"].fill_(float("nan"))
        graph.replay()
        told = []
        for how, d in {**ours, "by scaled_mm": theirs}.items():
            assert_close(d, a, sa, b, sb, scale_layout="row_major")
            distance = ((d.double() - theirs.double()).norm() / theirs.double().norm()).item()
            if distance > 2e-3:
                raise AssertionError("%s: Frobenius distance to scaled_mm %.3g" % (how, distance))
            told.append("%s %.3g" % (how, distance))
        tell("Frobenius distance to scaled_mm: " + ", ".join(told[:-1]))


def check_compile_and_graph(torch, fp8, generator):
    with report.test("package-torch-compile") as tell:
        a, sa, b, sb = operands(torch, 128, 512, 1024, generator)
        c, beta = torch.randn(128, 512, device="cuda", generator=generator), torch.full((1,), 0.5, device="cuda")
        for options in ({}, {"d_dtype": "float32"}, {"d_dtype": torch.float16}, {"c": c, "beta": 0.25}, {"c": c, "beta": beta}):
            compiled = torch.compile(lambda *x: fp8.gemm(*x, **options) * 2, fullgraph=True)
            if not torch.equal(compiled(a, sa, b, sb), fp8.gemm(a, sa, b, sb, **options) * 2):
                raise AssertionError("the numbers with %s are not those of eager mode" % options)
        tell("one graph, the same bits")
    with report.test("package-torch-compile-out"):
        out = torch.full((128, 512), float("nan"), device="cuda")

        def write(*x):
            fp8.gemm(*x, d=out)
            return out * 2

        if not torch.equal(torch.compile(write, fullgraph=True)(a, sa, b, sb), fp8.gemm(a, sa, b, sb, d_dtype="float32") * 2):
            raise AssertionError("the numbers are not those of eager mode")
    with report.test("package-opcheck"):
        for operator in (torch.ops.fp8.gemm.default, torch.ops.fp8.gemm_out.default):
            more = {"d": out} if operator is torch.ops.fp8.gemm_out.default else {}
            torch.library.opcheck(operator, (a, sa, b, sb), more, test_utils="test_faketensor")  # test_schema multiplies what is 8 bits wide
    with report.test("package-cuda-graph") as tell:
        graph = torch.cuda.CUDAGraph()
        options = {"c": c, "beta": 0.75}
        eager = fp8.gemm(a, sa, b, sb, **options) * 2
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            d = fp8.gemm(a, sa, b, sb, **options) * 2
        for index in range(300):  # other numbers do not take the place of the one that the graph reads
            fp8.gemm(a, sa, b, sb, c=c, beta=index + 2.0)
        for tensor in (a, c):
            tensor.copy_(tensor.flip(0))
        sa.copy_(sa.flip(1))
        d.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        if not torch.equal(d, eager.flip(0)):
            raise AssertionError("a replay on other numbers is wrong")
        tell("replayed on other numbers, the same bits")
    with report.test("package-cuda-graph-cold"):
        a, sa, b, sb = operands(torch, 96, 640, 512, generator)
        c = torch.randn(96, 640, device="cuda", generator=generator)
        fp8.gemm(a, sa, b, sb, c=c, beta=0.5)
        torch.cuda.synchronize()
        said = []
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            try:
                fp8.gemm(a, sa, b, sb, bias=torch.zeros(640, device="cuda", dtype=torch.float16))
            except fp8.DeviceError as error:
                said.append(str(error))
            for beta in (0.5, 0.8125):  # of which the first is known
                try:
                    fp8.gemm(a, sa, b, sb, c=c, beta=beta)
                except fp8.DeviceError as error:
                    said.append(str(error))
        if len(said) != 2 or not all("make the same call once before the capture" in one for one in said) or "beta = 0.8125" not in said[1]:
            raise AssertionError("the messages are: %s" % said)


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
    with report.test("package-stream-given"):
        # All that the call does is in that stream: what it copies first, and what it copies back.
        late, out = torch.empty_like(a), torch.full((512, 1030), float("nan"), device="cuda", dtype=torch.bfloat16)
        for target in (None, out[:, 3:1027]):
            late.fill_(0)
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(20_000_000)
                late.copy_(a)
                turned = late.t().contiguous().t()
            d = fp8.gemm(turned, sa, b, sb, d=target, stream=stream.cuda_stream)
            stream.synchronize()
            if not torch.equal(d, want):
                raise AssertionError("a stream that is given is not honoured")
    with report.test("package-out"):
        out = torch.full((512, 1100), float("nan"), device="cuda", dtype=torch.bfloat16)
        for view in (out[:, :1024], out[:, 3:1027]):
            out.fill_(float("nan"))
            if fp8.gemm(a, sa, b, sb, d=view) is not view or not torch.equal(view, want) or not out[:, 1030:].isnan().all():
                raise AssertionError("d is not what was to be written")
    with report.test("package-interface"):
        class Foreign:
            """Has the protocol and nothing else."""

            def __init__(self, tensor, typestr):
                size = tensor.element_size()
                self.keep = tensor
                self.__cuda_array_interface__ = {"shape": tuple(tensor.shape), "strides": tuple(s * size for s in tensor.stride()),
                                                 "typestr": typestr, "data": (tensor.data_ptr(), False), "version": 3}

        d = torch.full((512, 1024), float("nan"), device="cuda", dtype=torch.float32)
        fp8.gemm(Foreign(a, "|u1"), Foreign(sa, "<f4"), Foreign(b, "|u1"), Foreign(sb, "<f4"), d=Foreign(d, "<f4"),
                 stream=torch.cuda.current_stream().cuda_stream)
        assert_close(d, a, sa, b, sb)
    with report.test("package-dlpack"):
        class Packed:
            """Has DLPack and nothing else."""

            def __init__(self, tensor):
                self.tensor = tensor

            def __dlpack__(self, **options):
                return self.tensor.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.tensor.__dlpack_device__()

        d.fill_(float("nan"))
        fp8.gemm(*map(Packed, (a.view(torch.uint8), sa, b.view(torch.uint8), sb)), d=Packed(d), stream=torch.cuda.current_stream().cuda_stream)
        assert_close(d, a, sa, b, sb)


def check_tuning(torch, fp8, generator):
    with report.test("package-tune") as tell:
        a, sa, b, sb = operands(torch, 48, 2112, 7168, generator)
        assert_close(fp8.gemm(a, sa, b, sb), a, sa, b, sb)
        found = fp8.tune(48, 2112, 7168, top=6)
        if [one.us for one in found] != sorted(one.us for one in found) or not 2 < found[0].us < 100:
            raise AssertionError("the measurements are %s" % (found,))
        from fp8 import _choice

        assert_close(fp8.gemm(a, sa, b, sb), a, sa, b, sb)
        if "config <%s>" % found[0].config not in next(iter(_choice._kernels.entries.values())).mlir():
            raise AssertionError("the fastest is not what is taken")
        tell("%s takes %.2f us, %.2f predicted, the slowest of %d %.2f" % (found[0].config, found[0].us, found[0].predicted_us, len(found), found[-1].us))


def check_errors(torch, fp8, generator):
    a, sa, b, sb = operands(torch, 64, 256, 256, generator)
    wrong = {
        "dtype": (lambda: fp8.gemm(a.float(), sa, b, sb), TypeError, "a is of float32"),
        "shape": (lambda: fp8.gemm(a, sa, b[:, :128], sb), ValueError, "both have K columns"),
        "scales": (lambda: fp8.gemm(a, sa[:1], b, sb), ValueError, "a_scale is"),
        "device": (lambda: fp8.gemm(a, sa, b.cpu(), sb), ValueError, "they must be on one device"),
        "host": (lambda: fp8.gemm(a.cpu(), sa.cpu(), b.cpu(), sb.cpu()), fp8.DeviceError, "simulate=True"),
        "k": (lambda: fp8.gemm(a[:, :40].contiguous(), sa, b[:, :40].contiguous(), sb), ValueError, "multiple of 16"),
    }
    for name, (call, kind, words) in wrong.items():
        with report.test("package-error-" + name):
            must_raise(kind, words, call)
    with report.test("package-strides"):
        wide = torch.zeros(64, 300, device="cuda").to(torch.float8_e4m3fn)
        part = wide[:, 5:261]
        part.copy_(a)
        for same in (part, a.t().contiguous().t()):
            assert_close(fp8.gemm(same, sa, b, sb), a, sa, b, sb)


CHECKS = (check_shapes, check_batch, check_beta, check_alias, check_scaled_mm, check_compile_and_graph, check_streams_and_outputs, check_tuning,
          check_errors)
