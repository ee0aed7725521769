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


def make_e5m2():
    """The upper halves of float16's."""
    return (np.arange(256, dtype=np.uint16) << 8).view(np.float16).astype(np.float64)


E5M2 = make_e5m2()
BITS = {"f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "ue8m0": 8, "ue4m3": 8, "e2m1": 4, "i8": 8, "u8": 8, "i32": 32, "f64": 64}
NAMES = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "tf32": "f32"}  # of launch descriptions


def size(dtype, shape):
    return int(np.prod(shape)) * BITS[dtype] // 8


def decode(dtype, stored, shape):
    """stored: bytes; float64."""
    stored = np.ascontiguousarray(stored, dtype=np.uint8)
    if dtype == "bf16":
        values = from_bf16(stored.view(np.uint16))
    elif dtype == "e2m1":
        values = E2M1[np.stack([stored & 15, stored >> 4], axis=-1)]
    elif dtype in ("e4m3", "ue4m3"):
        values = E4M3[stored]
    elif dtype == "e5m2":
        values = E5M2[stored]
    elif dtype == "ue8m0":
        values = from_ue8m0(stored)
    else:
        values = stored.view({"f32": np.float32, "tf32": np.float32, "f16": np.float16, "i8": np.int8, "u8": np.uint8,
                              "i32": np.int32, "f64": np.float64}[dtype])
    return values.astype(np.float64).reshape(shape)


def random(dtype, rng, shape):
    """Bytes of numbers of moderate size: of scales some powers of two around 1, or codes up to 2."""
    count = int(np.prod(shape))
    if dtype in ("f64", "f32", "f16"):
        stored = rng.standard_normal(count).astype({"f64": np.float64, "f32": np.float32, "f16": np.float16}[dtype])
    elif dtype == "tf32":
        stored = rng.standard_normal(count).astype(np.float32).view(np.uint32) & np.uint32(0xffffe000)
    elif dtype == "bf16":
        stored = random_bf16(rng, count)
    elif dtype == "e4m3":
        stored = random_e4m3(rng, count)
    elif dtype == "e5m2":
        stored = rng.integers(0x30, 0x44, count, dtype=np.uint8) | rng.integers(0, 2, count, dtype=np.uint8) << 7
    elif dtype == "ue8m0":
        stored = rng.integers(124, 131, count, dtype=np.uint8)
    elif dtype == "ue4m3":
        stored = rng.integers(0, 0x41, count, dtype=np.uint8)
    elif dtype == "i32":
        stored = rng.integers(-1000, 1000, count, dtype=np.int32)
    else:
        stored = rng.integers(0, 256, count * BITS[dtype] // 8, dtype=np.uint8)
    return stored.view(np.uint8)
