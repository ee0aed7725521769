# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MXFP8: scales in tiles, their quantiser, and GEMMs whose scales tensor cores apply."""

import functools
import math

import fp8
import numpy as np
import pytest
from fp8._call import find_parameter
from fp8._numeric import NumPy
from fp8._types import E4M3
from fp8.testing import assert_close

ROWS, K = 200, 400


def test_layout_is_that_of_the_library():
    """The module states it by itself, since it needs it without a problem."""
    scales = find_parameter("a_scale", mx=True)
    assert scales.tile == fp8.mx._TILE
    assert [extent.block for extent in scales.extents] == [fp8.mx._ROWS, fp8.mx._BLOCKS * fp8.mx.MX_BLOCK]


def numbers(seed, *shape):
    """Normal numbers whose rows differ in size."""
    generator = np.random.default_rng(seed)
    return (generator.standard_normal(shape) * np.exp(generator.standard_normal((*shape[:-1], 1)))).astype("float32")


def codes(tiles):
    return np.asarray(tiles).view("uint8")


@pytest.fixture
def operands():
    return *fp8.quantize_mx(numbers(1, ROWS, K)), *fp8.quantize_mx(numbers(2, 96, K))


# -- Tiles


def test_each_scale_has_its_place():
    of_blocks = np.arange(ROWS * 13, dtype="uint32").astype("uint8").reshape(ROWS, 13)
    tiles = codes(fp8.tile_scales(of_blocks, (ROWS, K)))
    assert tiles.shape == (2, 4, 32, 16)
    for row in range(ROWS):
        for block in range(13):
            assert tiles[row // 128, block // 4, row % 32, row % 128 // 32 * 4 + block % 4] == of_blocks[row, block]


def test_scales_behind_the_operand_are_1():
    tiles = codes(fp8.tile_scales(np.full((1, 1), 7, "uint8"), (1, 16)))
    assert tiles[0, 0, 0, 0] == 7
    assert (np.delete(tiles.reshape(-1), 0) == 127).all()


@pytest.mark.parametrize("block", [(1, 128), (128, 128), (64, 32)])
def test_larger_blocks_are_repeated(block):
    rows, columns = -(-ROWS // block[0]), -(-K // block[1])
    powers = 2.0 ** np.random.default_rng(3).integers(-9, 9, (rows, columns))
    alone = powers.repeat(block[0], 0)[:ROWS].repeat(block[1] // 32, 1)[:, :13]
    assert (codes(fp8.tile_scales(powers, (ROWS, K), block)) == codes(fp8.tile_scales(alone, (ROWS, K)))).all()


def test_types_of_scales_mean_the_same():
    powers = 2.0 ** np.random.default_rng(4).integers(-8, 8, (ROWS, 13))
    bits = (np.log2(powers) + 127).astype("uint8")
    wanted = codes(fp8.tile_scales(bits, (ROWS, K)))
    for scales in (powers, powers.astype("float32"), powers.astype("float16")):
        assert (codes(fp8.tile_scales(scales, (ROWS, K))) == wanted).all()


@pytest.mark.parametrize(
    "scales, block, words",
    [
        (np.full((ROWS, 13), 3.0), (1, 32), "scale 0, 0 is 3, no power of two from"),
        (np.full((ROWS, 13), 2.0**-128), (1, 32), "no power of two"),
        (np.full((ROWS, 13), -1.0), (1, 32), "no power of two"),
        (np.full((ROWS, 12), 1.0), (1, 32), "they must be 200 x 13, one for each 1 x 32 of 200 x 400"),
        (np.full((ROWS, 13), 1.0), (1, 48), "a multiple of 32 columns"),
        (np.full((ROWS, 13), 1.0), (1, 32, 1), "the rows and columns that share a scale"),
    ],
)
def test_what_is_no_scale_is_refused(scales, block, words):
    with pytest.raises(ValueError, match=words):
        fp8.tile_scales(scales, (ROWS, K), block)


def test_shapes_are_told():
    with pytest.raises(TypeError, match="shape is 40; it must be the rows and K of the operand, two whole numbers"):
        fp8.tile_scales(np.ones((1, 2)), 40)
    for x in (np.zeros(32, np.float32), np.zeros((1, 4, 32), np.float32)):
        with pytest.raises(ValueError, match=f"x has {x.ndim} dimensions; quantise a matrix, or each matrix of a batch"):
            fp8.quantize_mx(x)


def test_nan_is_a_scale():
    scales = np.ones((2, 1))
    scales[1] = math.nan
    assert list(codes(fp8.tile_scales(scales, (2, 32)))[0, 0, :3, 0]) == [127, 255, 127]


# -- The quantiser


def test_values_fit_and_none_could_be_larger():
    x = numbers(5, ROWS, K)
    values, tiles = fp8.quantize_mx(x)
    of_blocks = fp8.mx.untile(NumPy(), tiles, ROWS, K)
    padded = np.zeros((ROWS, 13 * 32))
    padded[:, :K] = abs(x)
    amax = padded.reshape(ROWS, 13, 32).max(-1)
    assert (amax / of_blocks <= 448).all() and (amax / of_blocks > 224).all()
    wide = NumPy().widen(values, E4M3) * of_blocks.repeat(32, 1)[:, :K]
    assert (abs(wide - x) <= abs(x) * 2.0**-4 + of_blocks.repeat(32, 1)[:, :K] * 2.0**-10).all()


def test_blocks_of_zeros_and_of_nan():
    x = numbers(6, 2, 128).astype("float64")
    x[0, :32], x[1, 40], x[1, 70], x[1, 100] = 0, math.nan, math.inf, 1e300
    values, tiles = fp8.quantize_mx(x)
    assert codes(tiles)[0, 0, 0, 0] == 127
    assert (codes(tiles)[0, 0, 1, 1:4] == 255).all()
    assert (NumPy().widen(values, E4M3)[0, :32] == 0).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values_are_rounded_once(dtype):
    x = np.zeros((1, 32), dtype)
    x[0, :3] = 448, 1.0625 + 2.0**-40, 1.0625  # the second is above a tie only in float64
    values = NumPy().widen(fp8.quantize_mx(x)[0], E4M3)[0, :3]
    assert list(values) == [448, 1.125 if dtype == "float64" else 1.0, 1.0]


def test_no_rows_and_no_columns():
    for shape in ((0, 64), (3, 0)):
        values, tiles = fp8.quantize_mx(np.zeros(shape, "float32"))
        assert values.shape == shape and tiles.shape == (-(-shape[0] // 128), -(-shape[1] // 128), 32, 16)


# -- GEMMs


@pytest.mark.parametrize("m, n, k", [(1, 8, 16), (300, 400, 400), (64, 256, 1024)])
def test_gemm_applies_the_scales(m, n, k):
    a, b = numbers(7, m, k), numbers(8, n, k)
    operands = *fp8.quantize_mx(a), *fp8.quantize_mx(b)
    d = fp8.gemm(*operands, simulate=True, d_dtype="float32")
    assert_close(d, *operands)
    exact = a.astype("float64") @ b.T.astype("float64")
    assert np.linalg.norm(d.astype("float64") - exact) < 0.06 * np.linalg.norm(exact)


def test_gemm_with_all_that_follows_the_sum(operands):
    c, bias = numbers(9, ROWS, 96), numbers(10, 96)
    options = {"bias": bias, "c": c, "beta": -0.5, "d_scale": 0.25, "d_dtype": "float32"}
    assert_close(fp8.gemm(*operands, simulate=True, **options), *operands, **options)


def test_gemm_of_a_batch():
    def batch(seed, rows):
        each = [fp8.quantize_mx(numbers(seed + i, rows, 256)) for i in range(3)]
        return np.stack([values for values, _ in each]), np.stack([tiles for _, tiles in each])

    operands = *batch(20, 200), *batch(30, 136)
    assert_close(fp8.gemm(*operands, simulate=True, d_dtype="float32"), *operands)


def test_scales_of_blocks_of_128():
    a, _, b, _ = fp8.quantize_mx(numbers(11, ROWS, K)) + fp8.quantize_mx(numbers(12, 160, K))
    generator = np.random.default_rng(13)
    a_scale, b_scale = (2.0 ** generator.integers(-4, 4, shape).astype("float32") for shape in ((ROWS, 4), (2, 4)))
    tiled = fp8.tile_scales(a_scale, (ROWS, K), (1, 128)), fp8.tile_scales(b_scale, (160, K), (128, 128))
    d = fp8.gemm(a, tiled[0], b, tiled[1], simulate=True, d_dtype="float32")
    assert_close(d, a, a_scale, b, b_scale, scale_layout="row_major")


def test_tiles_may_lie_in_one_dimension_as_bits_or_apart(operands):
    a, a_scale, b, b_scale = operands
    wanted = fp8.gemm(*operands, simulate=True, d_dtype="float32")
    apart = np.zeros((2, 9, 32, 16), codes(a_scale).dtype)
    apart[:, :4] = codes(a_scale)
    transposed = np.ascontiguousarray(codes(b_scale).swapaxes(2, 3)).swapaxes(2, 3)
    for scales in ((codes(a_scale), b_scale.reshape(-1)), (apart[:, :4], codes(b_scale)), (a_scale, transposed)):
        assert (fp8.gemm(a, scales[0], b, scales[1], simulate=True, d_dtype="float32") == wanted).all()


def test_a_nan_behind_k_makes_the_sum_nan():
    """The tensor cores multiply it by zeros; the reference does as well."""
    a, a_scale, b, b_scale = *fp8.quantize_mx(numbers(14, 5, 16)), *fp8.quantize_mx(numbers(15, 8, 16))
    codes(a_scale)[0, 0, 3, 2] = 255
    d = fp8.gemm(a, a_scale, b, b_scale, simulate=True, d_dtype="float32")
    assert np.isnan(d[3]).all() and np.isfinite(np.delete(d, 3, 0)).all()
    assert_close(d, a, a_scale, b, b_scale)


@pytest.mark.parametrize("function", [functools.partial(fp8.gemm, simulate=True), fp8.reference_gemm])
@pytest.mark.parametrize(
    "options, words",
    [
        ({"b_block": 1}, "of single rows of B: leave b_block out"),
        ({"scale_layout": "k_major"}, "lie in tiles: leave scale_layout out"),
    ],
)
def test_options_of_other_scales_are_refused(operands, function, options, words):
    with pytest.raises(ValueError, match=words):
        function(*operands, **options)


def test_scales_of_other_shapes_or_types_are_refused(operands):
    a, a_scale, b, b_scale = operands
    shapes = r"a_scale is 1 x 4 x 32 x 16; scales of float8_e8m0fnu lie in tiles, ceil\(M/128\) x ceil\(K/128\) x 32 x 16, 2 x 4 x 32 x 16: fp8.tile_scales lays"
    with pytest.raises(ValueError, match=shapes):
        fp8.gemm(a, a_scale[:1], b, b_scale, simulate=True)
    with pytest.raises(ValueError, match="strides of 2 elements; tiles in one dimension must be contiguous"):
        fp8.gemm(a, codes(a_scale).reshape(-1).repeat(2)[::2], b, codes(b_scale), simulate=True)
    with pytest.raises(TypeError, match="a_scale is of uint8.*bits of float8_e8m0fnu are taken in tiles"):
        fp8.gemm(a, codes(a_scale).reshape(-1), b, codes(b_scale).reshape(-1), simulate=True)
    with pytest.raises(TypeError, match="b_scale is of float32; both operands have scales of float8_e8m0fnu, or neither: .*; for Hopper convert them to float32"):
        fp8.gemm(a, codes(a_scale), b, np.ones((1, 4), "float32"), simulate=True)
    with pytest.raises(TypeError, match="b_scale is of float32; both operands"):
        fp8.reference_gemm(a, codes(a_scale), b, np.ones((1, 4, 32, 16), "float32"))
    with pytest.raises(ValueError, match="a_scale is 1 x 4 x 32 x 16; in tiles it is 2 x 4 x 32 x 16"):
        fp8.reference_gemm(a, codes(a_scale)[:1], b, codes(b_scale))


def test_hopper_has_no_such_kernel(operands):
    with pytest.raises(fp8.CompileError, match="its tensor cores apply no scales of f8E8M0FNU"):
        fp8.gemm(*operands, simulate=True, chip="sm_90a")


def test_spec_of_mx():
    spec = fp8.GemmSpec(a_scale_dtype="float8_e8m0fnu", b_scale_dtype="f8E8M0FNU")
    assert spec.is_mx and spec.a_scale_dtype == spec.b_scale_dtype == "f8E8M0FNU"
    assert "memref<?x?x32x16xf8E8M0FNU, strided<[?, ?, 16, 1]>>" in spec.mlir()
    choice = fp8.choose(4096, 4096, 7168, spec)
    assert choice.config and choice.config.startswith("tile = 256 x ")
    assert fp8.compile(spec, assemble=False, cache=False).chip == "sm_100a"
    with pytest.raises(TypeError, match="a_scale_dtype is f8E8M0FNU and b_scale_dtype is f32: both operands have scales of float8_e8m0fnu, or neither"):
        fp8.GemmSpec(a_scale_dtype="float8_e8m0fnu")
    with pytest.raises(ValueError, match="leave b_block out"):
        fp8.GemmSpec(a_scale_dtype="float8_e8m0fnu", b_scale_dtype="float8_e8m0fnu", b_block=1)
