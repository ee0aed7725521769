# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of a GEMM and their result in float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np


class Problem:
    """Operands of random values, whose scales differ in every row and block, and the result in float64."""

    def __init__(self, m: int, n: int, k: int, seed: int = 1, b_block: int = 128):
        rng = np.random.default_rng(seed)
        blocks = -(-k // 128)
        self.m, self.n, self.k = m, n, k
        self.a = rng.standard_normal((m, k)).astype(ml_dtypes.float8_e4m3fn)
        self.b = rng.standard_normal((n, k)).astype(ml_dtypes.float8_e4m3fn)
        self.a_scale = np.exp2(rng.uniform(-3, 3, (m, blocks))).astype(np.float32)
        self.b_scale = np.exp2(rng.uniform(-3, 3, (-(-n // b_block), blocks))).astype(np.float32)
        self.bias = rng.standard_normal(n).astype(np.float32)
        self.c = rng.standard_normal((m, n)).astype(np.float32)
        left = self.a.astype(np.float64) * np.repeat(self.a_scale.astype(np.float64), 128, 1)[:, :k]
        right = self.b.astype(np.float64) * np.repeat(np.repeat(self.b_scale.astype(np.float64), b_block, 0)[:n], 128, 1)[:, :k]
        self.sum = left @ right.T
        self.spread = np.abs(left) @ np.abs(right).T

    @property
    def operands(self):
        return self.a, self.a_scale, self.b, self.b_scale

    def check(self, d, want=None, bits=8):
        """Every element, within 1 ulp of the output and 2^-11 of the sum of magnitudes."""
        want = self.sum if want is None else want
        ulp = np.exp2(np.floor(np.log2(np.maximum(np.abs(want), 2.0**-14))) - (bits - 1))
        distance = np.abs(np.asarray(d).astype(np.float64) - want) / (ulp + 2.0**-11 * self.spread)
        assert d.shape == want.shape
        assert (distance <= 1).all(), f"element {np.unravel_index(np.nanargmax(distance), d.shape)} is off by {np.nanmax(distance):.3g} of the bound"
