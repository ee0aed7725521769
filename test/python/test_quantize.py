# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blockwise quantisation in NumPy, against arithmetic that is written out here in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from fp8._numeric import NumPy, encode
from fp8.quantize import quantize_blockwise


# The numbers of e4m3 that are not negative, by code, and the middles between them; both are exact in float64.
TABLE = np.array([float(Fraction(c & 7, 512) if c < 8 else Fraction(8 + (c & 7), 8) * Fraction(2) ** ((c >> 3) - 7)) for c in range(0x7F)])
MIDDLES = (TABLE[:-1] + TABLE[1:]) / 2


def bits(values):
    return np.asarray(values).view(np.uint8)


def nearest(x):
    """The codes of the numbers of e4m3 nearest to those of x, of two the even ones; larger ones become 448, what is not finite NaN."""
    x = np.asarray(x, np.float64)
    code = np.searchsorted(MIDDLES, abs(x), side="left")
    code += np.isin(abs(x), MIDDLES) * (code % 2)
    return np.where(np.isfinite(x), code, 0x7F) | np.signbit(x) * 0x80


def same(actual, expected):
    """True if the codes are the same; of NaN the sign does not matter."""
    nan = expected & 0x7F == 0x7F
    return bool((np.where(nan, bits(actual) & 0x7F, bits(actual)) == np.where(nan, 0x7F, expected)).all())


def patterns(dtype):
    """Every number of a type of 16 bits."""
    codes = np.arange(65536, dtype=np.uint32)
    with np.errstate(invalid="ignore"):  # of signalling NaN
        return (codes << 16).view(np.float32) if dtype == "bfloat16" else codes.astype(np.uint16).view(np.float16).astype(np.float32)


@pytest.mark.parametrize("compute", ["float32", "float64"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_pattern_is_rounded_to_the_nearest(dtype, compute):
    x = patterns(dtype)
    x = np.where(np.isnan(x), np.copysign(np.float32(np.nan), x), x).astype(compute)
    assert same(encode(NumPy(), x), nearest(x))


def test_neighbours_of_ties():
    middles = MIDDLES.astype(np.float32)
    x = np.concatenate([middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(999))])
    assert same(encode(NumPy(), x), nearest(x)) and same(encode(NumPy(), -x), nearest(-x))


def test_float64_is_rounded_once():
    # In float32 both would become ties, and go to the even neighbours.
    x = np.array([[1.0625 + 2.0**-40, 1.1875 - 2.0**-40, 448.0]])
    values, scales = quantize_blockwise(x, (1, 3))
    assert scales.tolist() == [[1]] and bits(values)[0].tolist() == [0x39, 0x39, 0x7E]


@pytest.mark.parametrize("block", [(1, 128), (128, 128), (64, 128), (3, 5)])
@pytest.mark.parametrize("shape", [(130, 300), (1, 1), (5, 127)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_blocks(block, shape, dtype):
    rng = np.random.default_rng(7)
    x = (rng.standard_normal(shape) * np.exp2(rng.integers(-6, 6, shape))).astype(dtype)
    values, scales = quantize_blockwise(x, block, scale_layout="row_major")
    blocks = (-(-shape[0] // block[0]), -(-shape[1] // block[1]))
    assert values.shape == shape and scales.shape == blocks and scales.dtype == np.float32
    compute = np.float64 if dtype == "float64" else np.float32
    for i in range(blocks[0]):
        for j in range(blocks[1]):
            part = np.s_[i * block[0]:(i + 1) * block[0], j * block[1]:(j + 1) * block[1]]
            amax = float(np.abs(x[part].astype(np.float64)).max())
            assert scales[i, j] == np.float32(amax / 448)
            quotients = x[part].astype(compute) / compute(scales[i, j])
            assert same(values[part], nearest(quotients)) and (bits(values)[part] & 0x7F).max() == 0x7E


def test_layouts():
    x = np.random.default_rng(1).standard_normal((5, 300)).astype(np.float32)
    rows = quantize_blockwise(x, scale_layout="row_major")[1]
    columns = quantize_blockwise(x)[1]
    assert rows.shape == (5, 3) and columns.shape == (3, 5) and (rows.T == columns).all()
    assert rows.strides == (12, 4) and columns.strides == (128, 4)  # padded to lines of L2
    weights = np.random.default_rng(2).standard_normal((130, 300)).astype(np.float32)
    assert quantize_blockwise(weights, (128, 128))[1].shape == (2, 3)
    assert (quantize_blockwise(weights, (128, 128), scale_layout="k_major")[1] == quantize_blockwise(weights, (128, 128))[1].T).all()


def test_zero_blocks_have_scale_one():
    x = np.zeros((2, 256), np.float32)
    x[1, 200] = 1
    values, scales = quantize_blockwise(x, scale_layout="row_major")
    assert scales.tolist() == [[1, 1], [1, np.float32(1 / 448)]]
    assert bits(values).sum() == 0x7E


def test_tiny_and_huge_blocks():
    x = np.array([[2.0**-149, 2.0**-140], [3e38, 1e38]], np.float32)
    values, scales = quantize_blockwise(x, (1, 2), scale_layout="row_major")
    assert scales[0, 0] == np.float32(2.0**-126) and np.isfinite(scales).all()
    assert bits(values)[1, 0] == 0x7E
    values, scales = quantize_blockwise(np.array([[1e300, -1e300]]), (1, 2))
    assert scales[0, 0] == np.finfo(np.float32).max and bits(values).tolist() == [[0x7E, 0xFE]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_and_infinities_become_nan_and_spare_their_block(dtype):
    x = np.ones((1, 128), dtype)
    x[0, :3] = np.nan, np.inf, -np.inf
    values, scales = quantize_blockwise(x)
    assert scales[0, 0] == np.float32(1 / 448)
    assert (bits(values)[0, :3] & 0x7F == 0x7F).all() and (bits(values)[0, 3:] == 0x7E).all()


@pytest.mark.parametrize("shape", [(0, 128), (3, 0), (0, 0)])
def test_empty(shape):
    values, scales = quantize_blockwise(np.zeros(shape, np.float32))
    assert values.shape == shape and scales.shape == (-(-shape[1] // 128), shape[0])


@pytest.mark.parametrize("arguments, message", [
    ({"x": np.zeros(3, np.float32)}, "x has 1 dimensions"),
    ({"x": np.zeros((3, 3), np.int8)}, "x is of type int8"),
    ({"block": (0, 128)}, "a block of 0 x 128 is empty"),
    ({"scale_layout": "columns"}, "there is no layout 'columns' of scales"),
])
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        quantize_blockwise(**{"x": np.zeros((2, 2), np.float32), **arguments})


@pytest.mark.parametrize("block", [128, (1, 128.0), None])
def test_a_block_is_two_numbers(block):
    with pytest.raises(TypeError, match="block is .*; it must be the rows and columns that share a scale, two whole numbers"):
        quantize_blockwise(np.zeros((2, 2), np.float32), block)


def test_masks_are_refused():
    with pytest.raises(TypeError, match="its mask is not read"):
        quantize_blockwise(np.ma.masked_array(np.zeros((2, 2), np.float32), np.eye(2)))


def test_other_types_of_scales_are_refused():
    with pytest.raises(TypeError, match="scale_dtype is float16; it must be float32 or bfloat16"):
        quantize_blockwise(np.zeros((2, 2), np.float32), scale_dtype="float16")


def test_other_arrays_are_refused():
    with pytest.raises(TypeError, match="list is no array of NumPy or tensor of PyTorch"):
        quantize_blockwise([[1.0]])
