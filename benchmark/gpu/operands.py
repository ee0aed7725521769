# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets of operands on the GPU, their references, and what is right
(docs/Numerics.md): |d - reference| <= ulp + 2^-11 S, for every element."""

import math

import torch

import numerics
import table

BLOCK = 128
# What a set's inputs must exceed together: 4 times the L2, and never less than this.
LEAST_BYTES = 240_000_000


def ceil_div(a, b):
    return -(-a // b)


def random_scales(scales, generator):
    """Spread over seven binades, so that neighbours differ."""
    spread = torch.rand(scales.shape, generator=generator, device=scales.device)
    return scales * torch.exp2(spread * 7 - 3.5)


def quantise(rows, columns, row_block, generator, device):
    """Near-normal values as e4m3 (rows, columns), with f32 scales of blocks of row_block x 128."""
    values = torch.randn(rows, columns, generator=generator, device=device)
    padded = torch.nn.functional.pad(values, (0, -columns % BLOCK, 0, -rows % row_block))
    blocks = padded.view(padded.shape[0] // row_block, row_block, -1, BLOCK)
    scales = blocks.abs().amax(dim=(1, 3)) / torch.finfo(torch.float8_e4m3fn).max
    scaled = (blocks / scales[:, None, :, None]).view(padded.shape)[:rows, :columns]
    # contiguous() would leave the distance of a row from the next where there is one row alone.
    contiguous = scaled.to(torch.float8_e4m3fn).clone(memory_format=torch.contiguous_format)
    return contiguous, random_scales(scales, generator)


def strided_rows(matrix, bytes_apart):
    """The same values, the rows a multiple of `bytes_apart` from one another."""
    rows, columns = matrix.shape
    unit = bytes_apart // matrix.element_size()
    storage = torch.zeros(rows, ceil_div(columns, unit) * unit, dtype=matrix.dtype, device=matrix.device)
    view = storage[:, :columns]
    view.copy_(matrix)
    return view


class OperandSet:
    """a (M, K), a_scale (ceil(K/128), M), b (N, K), b_scale (ceil(N/128), ceil(K/128)), d (M, N).

    Without `scale_bytes` each library gets the rows of A's scales as its own quantiser lays them out: `own_a_scale` is ours.
    """

    def __init__(self, shape, generator, device, scale_bytes=None):
        m, n, k = shape
        self.a, a_scale = quantise(m, k, 1, generator, device)
        self.a_scale = strided_rows(a_scale.t(), scale_bytes or table.LEAST_SCALE_BYTES)
        self.own_a_scale = self.a_scale if scale_bytes else strided_rows(a_scale.t(), table.OWN_SCALE_BYTES)
        self.b, self.b_scale = quantise(n, k, BLOCK, generator, device)
        self.d = torch.empty(m, n, dtype=torch.bfloat16, device=device)

    @staticmethod
    def input_bytes(shape):
        m, n, k = shape
        return (m + n) * k + 4 * ceil_div(k, BLOCK) * (m + ceil_div(n, BLOCK))

    def sums(self):
        """The sums in float64, and of each its magnitude S.

        An e4m3 value times an f32 scale has at most 28 significant bits: it is exact in float64. The products have 56, and
        the sums run in float64, so the reference is off by K * 2^-53 of S at most, where the bound allows 2^-11 of it.
        """
        k = self.a.shape[1]
        a = self.a.float().double() * self.a_scale.t().double().repeat_interleave(BLOCK, dim=1)[:, :k]
        b = self.b.float().double()
        b *= self.b_scale.double().repeat_interleave(BLOCK, dim=0)[:b.shape[0]].repeat_interleave(BLOCK, dim=1)[:, :k]
        reference = a @ b.t()
        magnitude = a.abs_() @ b.abs_().t()
        return reference, magnitude

    def reference(self):
        """The reference in float64, and the bound on each element's error."""
        reference, magnitude = self.sums()
        return reference, (ulp_bf16(reference) + magnitude * numerics.magnitude_share()).float()


def ulp(values, dtype):
    """The spacing of the type at each value."""
    form = torch.finfo(dtype)
    least, most = (math.frexp(extreme)[1] - 1 for extreme in (form.smallest_normal, form.max))
    exponent = torch.frexp(values).exponent - 1
    exponent = torch.where(values == 0, least, exponent).clamp(least, most)
    return torch.exp2(exponent.double()) * form.eps


def ulp_bf16(values):
    return ulp(values, torch.bfloat16)


class Verdict:
    """Over every element of every D: whether all are right; the largest error over its bound; the Frobenius distance
    from the rounded reference over its norm, the largest of the sets."""

    def __init__(self):
        self.wrong, self.elements, self.worst, self.frobenius = 0, 0, 0.0, 0.0
        self.where = None

    @property
    def right(self):
        return self.elements > 0 and not self.wrong

    def add(self, index, d, reference, bound):
        if d.shape != reference.shape:
            raise ValueError("D has shape %s instead of %s" % (tuple(d.shape), tuple(reference.shape)))
        error = d.double().sub_(reference).abs_()
        bad = ~(error <= bound)  # NaN is never right
        wrong = int(bad.sum())
        if wrong and not self.where:
            row, column = divmod(int(bad.flatten().int().argmax()), d.shape[1])
            self.where = "set %d, d[%d,%d] is %g instead of %g" % (
                index, row, column, d[row, column].item(), reference[row, column].item())
        self.wrong += wrong
        self.elements += d.numel()
        self.worst = max(self.worst, float((error / bound).amax().nan_to_num(float("inf"))))
        rounded = reference.to(torch.bfloat16).double()
        distance = torch.linalg.vector_norm(d.double().sub_(rounded)) / torch.linalg.vector_norm(rounded)
        self.frobenius = max(self.frobenius, float(distance.nan_to_num(float("inf"))))

    def __str__(self):
        return "%d of %d elements are wrong; first: %s" % (self.wrong, self.elements, self.where)


class Operands:
    """Enough sets that their inputs together exceed 4 times the L2, two at least; rows of A's scales as OperandSet has them."""

    def __init__(self, shape, seed, device="cuda", least_bytes=LEAST_BYTES, scale_bytes=None):
        self.shape, self.seed = shape, seed
        generator = torch.Generator(device=device)
        generator.manual_seed(seed)
        count = max(2, least_bytes // OperandSet.input_bytes(shape) + 1)
        self.sets = [OperandSet(shape, generator, device, scale_bytes) for _ in range(count)]
        self.references = [one.reference() for one in self.sets]

    def __len__(self):
        return len(self.sets)

    def judge(self, outputs):
        verdict = Verdict()
        for index, (d, (reference, bound)) in enumerate(zip(outputs, self.references, strict=True)):
            verdict.add(index, d, reference, bound)
        return verdict


def poison(outputs):
    for d in outputs:
        d.fill_(float("nan"))
