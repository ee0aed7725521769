# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of a GEMM, and whether a result of it is right."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from fp8.testing import assert_close


class Problem:
    """Operands of random values, whose scales differ in every row and block."""

    def __init__(self, m: int, n: int, k: int, seed: int = 1, b_block: int = 128, batch: tuple[int, ...] = ()):
        rng = np.random.default_rng(seed)
        blocks = -(-k // 128)
        self.m, self.n, self.k = m, n, k
        self.a = rng.standard_normal((*batch, m, k)).astype(ml_dtypes.float8_e4m3fn)
        self.b = rng.standard_normal((*batch, n, k)).astype(ml_dtypes.float8_e4m3fn)
        self.a_scale = np.exp2(rng.uniform(-3, 3, (*batch, m, blocks))).astype(np.float32)
        self.b_scale = np.exp2(rng.uniform(-3, 3, (*batch, -(-n // b_block), blocks))).astype(np.float32)
        self.bias = rng.standard_normal(n).astype(np.float32)
        self.c = rng.standard_normal((*batch, m, n)).astype(np.float32)
        self.b_block = b_block

    @property
    def operands(self):
        return self.a, self.a_scale, self.b, self.b_scale

    def check(self, d, **epilogue):
        """Every element, by the bound of docs/Numerics.md."""
        assert_close(d, *self.operands, b_block=self.b_block, scale_layout="row_major", **epilogue)
