# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""With ml_dtypes the types have names, and its conversions agree."""

import ml_dtypes
import numpy as np
import pytest

from fp8._numeric import NumPy, encode, round_to
from fp8._types import by_name
from fp8.quantize import quantize_blockwise
from fp8.reference import reference_gemm


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("compute", ["float32", "float64"])
def test_e4m3_of_every_pattern(dtype, compute):
    with np.errstate(invalid="ignore"):  # of signalling NaN
        x = np.arange(65536, dtype=np.uint16).view(dtype).astype(compute)
        x = x[~np.isinf(x)]
        expected = x.clip(-448, 448).astype(ml_dtypes.float8_e4m3fn)
    actual = encode(NumPy(), x)
    assert actual.dtype == ml_dtypes.float8_e4m3fn
    number = ~np.isnan(x)
    assert (actual.view(np.uint8)[number] == expected.view(np.uint8)[number]).all()
    assert np.isnan(actual.astype(np.float32)[~number]).all()


def test_bfloat16_of_float32():
    codes = np.random.default_rng(2).integers(0, 2**32, 100000, dtype=np.uint64).astype(np.uint32)
    x = codes.view(np.float32)
    x = x[~np.isnan(x)]
    rounded = NumPy().narrow(round_to(NumPy(), x.astype(np.float64), by_name()["bfloat16"]), by_name()["bfloat16"])
    np.testing.assert_array_equal(rounded.astype(np.float32), x.astype(ml_dtypes.bfloat16).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_types(dtype):
    x = np.random.default_rng(1).standard_normal((130, 200)).astype(dtype)
    values, scales = quantize_blockwise(x, scale_dtype=ml_dtypes.bfloat16)
    assert values.dtype == ml_dtypes.float8_e4m3fn and scales.dtype == ml_dtypes.bfloat16 and scales.strides == (192 * 2, 2)
    quotients = x.astype(np.float32) / scales.astype(np.float32).T[:, np.arange(200) // 128]
    assert (values.view(np.uint8) == quotients.clip(-448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)).all()
    d = reference_gemm(values, scales, values, quantize_blockwise(x, (128, 128))[1], d_dtype=ml_dtypes.bfloat16)
    assert d.dtype == ml_dtypes.bfloat16
