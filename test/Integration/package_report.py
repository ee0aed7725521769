# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the Python package on a GPU share: a line for each, operands, errors that must be."""

import contextlib


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

    @contextlib.contextmanager
    def whole(self, name):
        """What goes wrong between tests ends these, and not the others."""
        try:
            yield
        except Exception as error:
            self.tell(name, "%s: %s" % (type(error).__name__, error))


report = Report()


def operands(torch, m, n, k, generator):
    """A, its scales, K/128 x M, B and its scales: quantised normal values."""
    import fp8

    a = torch.randn(m, k, device="cuda", generator=generator) * torch.exp2(torch.randint(-3, 4, (m, 1), device="cuda", generator=generator).float())
    b = torch.randn(n, k, device="cuda", generator=generator)
    a8, a_scale = fp8.quantize_blockwise(a, block=(1, 128))
    b8, b_scale = fp8.quantize_blockwise(b, block=(128, 128))
    return a8, a_scale, b8, b_scale


def torch_operands(torch, m, n, k, generator):
    """Operands as torch's scaled_mm wants them, and a call of it."""
    a, sa, b, sb = operands(torch, m, n, k, generator)
    sa = sa.contiguous().t()  # M x K/128, M contiguous
    from torch.nn.functional import ScalingType, SwizzleType, scaled_mm

    wide = torch.nn.functional.pad(sb, (0, -sb.shape[1] % 4)).contiguous()

    def call():
        return scaled_mm(a, b.t(), sa, ScalingType.BlockWise1x128, wide.t(), ScalingType.BlockWise128x128,
                         swizzle_a=SwizzleType.NO_SWIZZLE, swizzle_b=SwizzleType.NO_SWIZZLE, output_dtype=torch.bfloat16)

    return a, sa, b, sb, call


def must_raise(kind, words, call):
    try:
        call()
    except kind as error:
        if words not in str(error):
            raise AssertionError("the message is: %s" % error) from None
    else:
        raise AssertionError("nothing was raised")
