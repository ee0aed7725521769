# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peers that are launched from here. Each has a name, a configuration,
launch(i) for the set i, and outputs(): see clock.py. A peer that cannot run says
why by raising an exception when it is made."""

import os
import types

import torch

import runtime

DTYPES = {torch.float8_e4m3fn: "f8E4M3FN", torch.float32: "f32", torch.bfloat16: "bf16"}


class OurPeer:
    """One kernel of ours, by the runtime's C API."""

    name = "fp8"

    def __init__(self, operands, device, directory, configuration):
        self.configuration, self.sets = configuration, operands.sets
        kernel = runtime.Kernel.load(device, os.path.join(directory, configuration + ".cubin"))
        self.launches = [kernel.prepare([(DTYPES[tensor.dtype], tensor) for tensor in
                                         (one.a, one.own_a_scale, one.b, one.b_scale, one.d)])
                         for one in operands.sets]

    def launch(self, index):
        self.launches[index].enqueue(torch.cuda.current_stream().cuda_stream)

    def outputs(self):
        return [one.d for one in self.sets]


class DefaultPeer:
    """fp8.gemm of the package that is installed, as a user calls it; `programmatic` as it takes it."""

    name = "fp8.gemm"

    def __init__(self, operands, programmatic=None):
        import fp8
        self.configuration, self.sets = "default", operands.sets
        self.multiply, self.programmatic = fp8.gemm, programmatic

    def launch(self, index):
        one = self.sets[index]
        self.multiply(one.a, one.own_a_scale, one.b, one.b_scale, out=one.d, scale_layout="k_major", programmatic=self.programmatic)

    def outputs(self):
        return [one.d for one in self.sets]


class PaddedPeer:
    """A peer on operands whose A has rows added up to a multiple of 64, as its users can arrange."""

    ROWS = 64

    def __init__(self, operands, make):
        m, n, k = operands.shape
        self.rows = m
        padded = types.SimpleNamespace(shape=(m + -m % self.ROWS, n, k), sets=[self.pad(one) for one in operands.sets])
        self.peer = make(padded)
        self.name, self.configuration = self.peer.name, self.peer.configuration + ", A padded"

    @classmethod
    def pad(cls, one):
        more = -one.a.shape[0] % cls.ROWS
        a = torch.nn.functional.pad(one.a.view(torch.uint8), (0, 0, 0, more)).view(one.a.dtype)
        return types.SimpleNamespace(a=a, a_scale=torch.nn.functional.pad(one.a_scale, (0, more)).contiguous(), b=one.b, b_scale=one.b_scale,
                                     d=torch.empty(a.shape[0], one.d.shape[1], dtype=one.d.dtype, device=one.d.device))

    def launch(self, index):
        self.peer.launch(index)

    def outputs(self):
        return [d[:self.rows] for d in self.peer.outputs()]


class CublasLtPeer:
    """cuBLASLt's block-scaled product, with the algorithm that its heuristic names first.

    torch 2.11 wants A's scales as (M, K/128), M contiguous, and B's as (K/128 rounded up to 4, N/128), K contiguous; its
    older function detects the blocks from scales of the same layouts, where those of B have K/128 rows. D is torch's own.
    """

    name = "cublaslt"

    def __init__(self, operands):
        if operands.shape[0] % 4:
            raise RuntimeError("cuBLASLt wants A's scales without gaps and M a multiple of 4")
        self.operands = [(one.a, one.b.t(), one.a_scale.t(), padded(one.b_scale).t()) for one in operands.sets]
        self.held = [None] * len(operands)
        problems = []
        for self.configuration, self.multiply in (("scaled_mm", scaled_mm), ("_scaled_mm", older_scaled_mm)):
            try:
                self.multiply(*self.operands[0])
                return
            except (AttributeError, ImportError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
                problems.append("%s: %s" % (self.configuration, str(error).strip().splitlines()[0]))
        raise RuntimeError("torch %s has no block-scaled product here: %s" % (torch.__version__, "; ".join(problems)))

    def launch(self, index):
        self.held[index] = None  # frees the last D of this set first
        self.held[index] = self.multiply(*self.operands[index])

    def outputs(self):
        return self.held


def padded(b_scale):
    """Rows of B's scales, a multiple of 4 of them each."""
    return torch.nn.functional.pad(b_scale, (0, -b_scale.shape[1] % 4)).contiguous()


def scaled_mm(a, b, a_scale, b_scale):
    from torch.nn.functional import ScalingType, SwizzleType, scaled_mm as multiply
    return multiply(a, b, a_scale, ScalingType.BlockWise1x128, b_scale, ScalingType.BlockWise128x128,
                    swizzle_a=SwizzleType.NO_SWIZZLE, swizzle_b=SwizzleType.NO_SWIZZLE, output_dtype=torch.bfloat16)


def older_scaled_mm(a, b, a_scale, b_scale):
    return torch._scaled_mm(a, b, scale_a=a_scale, scale_b=b_scale[:a_scale.shape[1]], out_dtype=torch.bfloat16)
