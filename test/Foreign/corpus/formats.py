# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Narrow number formats for NumPy: what their bytes stand for, and random bytes of them that a kernel sums without overflow.

Sources: OCP 8-bit floating point specification 1.0 (e4m3), OCP microscaling formats 1.0 (e2m1, ue8m0).
"""

import numpy as np


def ceil_div(a, b):
    return -(-a // b)


def bf16_bits(values):
    """Rounds to the nearest even bfloat16; its bits."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def make_e4m3():
    code = np.arange(256)
    exponent, mantissa = code >> 3 & 15, code & 7
    value = np.where(exponent == 0, mantissa * 2.0**-9, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    value[code & 127 == 127] = np.nan
    return np.where(code & 128, -value, value)


E4M3 = make_e4m3()
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def from_ue8m0(code):
    return 2.0 ** (code.astype(np.float64) - 127)


def random_e4m3(rng, *shape):
    """Codes of all exponents up to 2^2, of both signs."""
    code = rng.integers(0, 256, shape, dtype=np.uint8)
    return np.where((code & 0x78) > 0x48, code & 0xBF, code).astype(np.uint8)


def random_bf16(rng, *shape):
    return bf16_bits(rng.standard_normal(shape))


def random_e2m1(rng, rows, columns):
    """Two a byte, the first in the low half; and the values."""
    code = rng.integers(0, 16, (rows, columns), dtype=np.uint8)
    return code[:, ::2] | code[:, 1::2] << 4, E2M1[code]
