# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear layer of PyTorch whose three products are those of fp8.gemm; its result and its gradients are compared with float64.

usage: python3 examples/training.py

Tensors on a GPU are multiplied there, and those in the host's memory by the simulator.
"""

import sys

import fp8
import torch
from torch.autograd.function import once_differentiable

LARGEST_ERROR = 0.06  # Frobenius, relative; almost all of it is the rounding of operands to e4m3


def transposed(t):
    """A copy of t.t() whose rows end with zeros, up to a multiple of 16 elements: these add nothing to a sum over rows of t."""
    return torch.nn.functional.pad(t.t(), (0, -len(t) % 16)).contiguous()


def gemm(a, b, **options):
    """The product of two matrices, each with its scales."""
    return fp8.gemm(*a, *b, scale_layout="k_major", simulate=not a[0].is_cuda, **options)


class Fp8Product(torch.autograd.Function):
    """y = x @ w.t(), of x, M x K, and w, N x K. N and K are multiples of 16."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        # Sums over K.
        return gemm(fp8.quantize_blockwise(x), fp8.quantize_blockwise(w, (128, 128)), d_dtype=x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        dx = dw = None
        if ctx.needs_input_grad[0]:  # dy @ w sums over N
            dx = gemm(fp8.quantize_blockwise(dy), fp8.quantize_blockwise(transposed(w), (128, 128)), d_dtype=x.dtype)
        if ctx.needs_input_grad[1]:  # dy.t() @ x sums over M
            dw = gemm(fp8.quantize_blockwise(transposed(dy)), fp8.quantize_blockwise(transposed(x)), b_block=1, d_dtype=w.dtype)
        return dx, dw


class Fp8TrainingLinear(torch.nn.Linear):
    def forward(self, x):  # any leading extents, then K
        y = Fp8Product.apply(x.flatten(0, -2), self.weight).unflatten(0, x.shape[:-1])
        return y if self.bias is None else y + self.bias.to(y.dtype)


def main():
    torch.manual_seed(0)
    known = torch.cuda.is_available() and bool(fp8.device_info().chip)
    device = "cuda" if known else "cpu"
    layer = Fp8TrainingLinear(160, 144, device=device)
    x = torch.randn(5, 8, 160, device=device, requires_grad=True)
    dy = torch.randn(5, 8, 144, device=device)
    y = layer(x)
    y.backward(dy)

    exact = torch.nn.Linear(160, 144, dtype=torch.float64, device=device)
    exact.load_state_dict(layer.state_dict())
    exact_x = x.detach().double().requires_grad_()
    exact_y = exact(exact_x)
    exact_y.backward(dy.double())

    for name, found, expected in (
        ("y", y, exact_y),
        ("dx", x.grad, exact_x.grad),
        ("dw", layer.weight.grad, exact.weight.grad),
        ("db", layer.bias.grad, exact.bias.grad),
    ):
        error = ((found - expected).norm() / expected.norm()).item()
        print(f"{name}: {tuple(found.shape)}, relative error {error:.3f}")
        if not error <= LARGEST_ERROR:
            sys.exit(f"error: {name} is wrong")


if __name__ == "__main__":
    main()
