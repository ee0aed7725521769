# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on NumPy's arrays by the simulator and, where PyTorch finds a GPU that there are kernels for, on that; both compared with a
reference in float64.

usage: python3 examples/gemm.py
"""

import sys

import fp8
import numpy as np

M, N, K = 40, 72, 272
LARGEST_ERROR = {"float32": 1e-3, "bfloat16": 4e-3}  # Frobenius, relative; of bfloat16 mostly the rounding of D


def judge(where, d, expected, d_dtype):
    error = np.linalg.norm(d - expected) / np.linalg.norm(expected)
    print(f"{where}: {M} x {N} of {d_dtype}, relative error {error:.1e}")
    if not error <= LARGEST_ERROR[d_dtype]:
        sys.exit(f"error: {where}: D is wrong")


def gpu():
    """PyTorch, if it has a GPU that kernels are made for."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() and torch.cuda.get_device_capability() in ((9, 0), (10, 0), (10, 3)) else None


def main():
    rng = np.random.default_rng(0)
    a, a_scale = fp8.quantize_blockwise(rng.standard_normal((M, K), dtype=np.float32))
    b, b_scale = fp8.quantize_blockwise(rng.standard_normal((N, K), dtype=np.float32), (128, 128))
    expected = fp8.reference_gemm(a, a_scale, b, b_scale)

    for chip in ("sm_90a", "sm_100a"):
        d = fp8.gemm(a, a_scale, b, b_scale, d_dtype="float32", simulate=True, chip=chip)
        judge(f"{chip}, simulated", d, expected, "float32")

    torch = gpu()
    if not torch:
        print("no GPU that PyTorch and fp8 know")
        return
    operands = [torch.from_numpy(np.ascontiguousarray(array)).cuda() for array in (a.view(np.uint8), a_scale, b.view(np.uint8), b_scale)]
    d = fp8.gemm(*operands)
    judge(torch.cuda.get_device_name(), d.double().cpu().numpy(), expected, "bfloat16")


if __name__ == "__main__":
    main()
