# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference against sums written out here, and the comparison against results with one thing wrong."""

import fp8
import numpy as np
import pytest

from fp8._numeric import NumPy, round_to
from fp8._types import by_name
from fp8.quantize import quantize_blockwise
from fp8.reference import reference_gemm
from fp8.testing import assert_close, compare

M, N, K = 130, 140, 200


def operands(m=M, n=N, k=K, block=(128, 128), layout=None, seed=0):
    """Quantised operands whose scales differ widely."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((m, k)) * np.exp2(rng.integers(-3, 4, (m, 1)))
    b = rng.standard_normal((n, k)) * np.exp2(rng.integers(-3, 4, (n, 1)))
    return (*quantize_blockwise(a.astype(np.float32), scale_layout=layout), *quantize_blockwise(b.astype(np.float32), block, scale_layout=layout))


def decode(codes):
    """The numbers of e4m3."""
    codes = np.asarray(codes).view(np.uint8).astype(int)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    magnitude = np.where(exponent == 0, mantissa / 512, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return np.where(codes & 0x7F == 0x7F, np.nan, magnitude) * np.where(codes & 0x80, -1, 1)


def expected(a, a_scale, b, b_scale, b_rows):
    """D by a sum over scaled operands; `b_rows` gives the row of B's scales for a row of B."""
    blocks = np.arange(a.shape[1]) // 128
    return (decode(a) * a_scale.astype(float).T[:, blocks]) @ (decode(b) * b_scale.astype(float)[b_rows][:, blocks]).T


@pytest.mark.parametrize("b_block", [128, 64, 1])
def test_sums(b_block):
    a, a_scale, b, b_scale = operands(block=(b_block, 128))
    rows = b_scale.T if b_block == 1 else b_scale
    d = reference_gemm(a, a_scale, b, b_scale, b_block=b_block)
    np.testing.assert_allclose(d, expected(a, a_scale, b, rows, np.arange(N) // b_block), 1e-9, 1e-9)
    bits = reference_gemm(a.view(np.uint8), a_scale, b.view(np.uint8), b_scale, b_block=b_block)
    assert (bits == d).all()


def test_epilogue():
    a, a_scale, b, b_scale = operands()
    rng = np.random.default_rng(3)
    bias, residual = rng.standard_normal(N).astype(np.float32), rng.standard_normal((M, N)).astype(np.float16)
    plain = reference_gemm(a, a_scale, b, b_scale)
    full = reference_gemm(a, a_scale, b, b_scale, bias=bias, c=residual, beta=0.5)
    assert (full == plain + residual.astype(float) * 0.5 + bias).all()
    unread = reference_gemm(a, a_scale, b, b_scale, c=np.full((M, N), np.nan), beta=0)
    assert (unread == plain).all()
    empty = reference_gemm(a[:, :0], a_scale[:0], b[:, :0], b_scale[:, :0], c=residual)
    assert (empty == residual).all()


def test_factors_are_those_of_kernels():
    """They read a float32."""
    a, a_scale, b, b_scale = operands(m=8, n=8)
    residual = np.ones((8, 8), np.float32)
    for factor in (0.1, 1e-40, 1e-46):
        wanted = reference_gemm(a, a_scale, b, b_scale, c=residual, beta=float(np.float32(factor)) or np.zeros(1), d_scale=np.float32(factor))
        assert (reference_gemm(a, a_scale, b, b_scale, c=residual, beta=factor, d_scale=factor) == wanted).all()
    with pytest.raises(ValueError, match="d_scale is past the largest float32"):
        reference_gemm(a, a_scale, b, b_scale, d_scale=1e300)


@pytest.mark.parametrize("factor", [None, "0.5", 1j, [0.5]])
def test_what_is_no_number_is_refused(factor):
    with pytest.raises(TypeError, match="beta is .*; it is a number, or an array of one"):
        reference_gemm(*operands(), beta=factor)


@pytest.mark.parametrize("bias", [[1.0] * N, 1.0, np.ma.masked_array(np.ones(N), np.ones(N) > 0)], ids=["list", "number", "masked"])
def test_what_is_no_array_is_refused(bias):
    with pytest.raises(TypeError, match="bias is a (list; it must be an array|float; it must be an array|masked array, and its mask is not read)"):
        reference_gemm(*operands(), bias=bias)


def test_batch():
    pairs = [operands(block=(128, 128), seed=s) for s in range(2)]
    batch = reference_gemm(*(np.stack(x) for x in zip(*pairs)))
    for d, pair in zip(batch, pairs):
        np.testing.assert_allclose(d, reference_gemm(*pair), 1e-12)


def test_layouts():
    a, a_scale, b, b_scale = operands()
    plain = reference_gemm(a, a_scale, b, b_scale)
    assert (reference_gemm(a, np.ascontiguousarray(a_scale.T), b, b_scale) == plain).all()
    a, a_scale, b, b_scale = operands(m=2)
    with pytest.raises(ValueError, match="a_scale is 2 x 2, which is M x K/128 and K/128 x M: say which with scale_layout="):
        reference_gemm(a, a_scale, b, b_scale)
    columns = reference_gemm(a, a_scale, b, b_scale, scale_layout="k_major")
    np.testing.assert_allclose(columns, expected(a, a_scale, b, b_scale, np.arange(N) // 128), 1e-9, 1e-9)
    assert (reference_gemm(a, a_scale.T, b, b_scale, scale_layout="row_major") == columns).all()


def test_bits_of_bfloat16_are_taken():
    a, a_scale, b, b_scale = operands()
    bits = (a_scale.view(np.uint32) >> 16).astype(np.uint16)
    rounded = (bits.astype(np.uint32) << 16).view(np.float32)
    assert (reference_gemm(a, bits, b, b_scale) == reference_gemm(a, rounded, b, b_scale)).all()


@pytest.mark.parametrize("name, dtype", [("a", np.int8), ("a_scale", np.int32), ("b_scale", np.uint8)])
def test_integers_are_refused(name, dtype):
    given = dict(zip(("a", "a_scale", "b", "b_scale"), operands()))
    with pytest.raises(TypeError, match=f"{np.dtype(dtype).name} is no type of an operand"):
        reference_gemm(**{**given, name: np.ones(given[name].shape, dtype)})


def test_specials_propagate():
    a, a_scale, b, b_scale = operands()
    a.view(np.uint8)[3, 5], b.view(np.uint8)[7, 9] = 0x7F, 0xFF
    a_scale[0, 11] = np.inf
    d = reference_gemm(a, a_scale, b, b_scale)
    assert np.isnan(d[3]).all() and np.isnan(d[:, 7]).all() and (np.isinf(d[11]) | np.isnan(d[11])).all()
    assert np.isfinite(np.delete(np.delete(d, [3, 11], 0), 7, 1)).all()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rounding_is_numpys(dtype):
    rng = np.random.default_rng(5)
    limits = np.finfo(dtype)
    large, small = float(limits.max), float(limits.smallest_subnormal)
    x = np.concatenate([rng.standard_normal(5000) * np.exp2(rng.integers(-170, 140, 5000)), [np.inf, -np.inf, np.nan, 0.0, -0.0, large, -large],
                        large * (1 + limits.eps / 4) * np.array([1, 0.9999999]), small * np.array([0.5, 0.51, 1.5])])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(round_to(NumPy(), x, by_name()[dtype]), x.astype(dtype).astype(float))


def test_rounding_to_bfloat16_is_done_once():
    tie = 1 + 2.0**-8
    x = np.array([tie, tie + 2.0**-40, tie + 2.0**-7, 3.4e38])
    assert round_to(NumPy(), x, by_name()["bfloat16"]).tolist() == [1, 1 + 2.0**-7, 1 + 2.0**-6, np.inf]


def test_output_types():
    one = np.full((1, 1), 0x38, np.uint8)  # 1.0
    scale = np.array([[1.0]], np.float32)
    for name, large in [("float16", np.inf), ("float32", 1e6), ("float8_e4m3fn", 448), ("bfloat16", 999424.0)]:
        d = reference_gemm(one, scale * 1e6, one, scale, d_dtype=name)
        assert NumPy().widen(d, by_name()[name]).tolist() == [[large]]
    assert reference_gemm(one, scale, one, scale).dtype == np.float64
    with pytest.raises(TypeError, match="d_dtype is int8; it must be bfloat16, float16, float32, float8_e4m3fn or float8_e5m2"):
        reference_gemm(one, scale, one, scale, d_dtype=np.int8)


@pytest.mark.parametrize("change, message", [
    ({"a": np.zeros((M, K + 1), np.uint8)}, "A is 130 x 201 and B 140 x 200"),
    ({"a_scale": np.zeros((2, M + 1))}, "a_scale is 2 x 131; it must be M x K/128, 130 x 2 or K/128 x M, 2 x 130"),
    ({"b_scale": np.zeros((2, 3))}, "b_scale is 2 x 3; it is 2 x 2"),
    ({"b_block": 32}, "b_block is 32"),
    ({"b_block": 64.0}, "b_block is 64.0"),
    ({"bias": np.zeros(M)}, "the bias is 130; it has one number for each of 140 columns"),
    ({"c": np.zeros((N, M))}, "C is 140 x 130; it is 130 x 140"),
    ({"beta": np.ones(2)}, "beta is 2; it is a number, or an array of one"),
    ({"scale_layout": "rows"}, "scale_layout is 'rows'; it must be 'row_major'"),
    ({"a_scale": np.zeros((3, 2, M))}, "a_scale is 3 x 2 x 130; it must be M x K/128, 130 x 2 or"),
])
def test_errors(change, message):
    with pytest.raises(ValueError, match=message):
        reference_gemm(**{**dict(zip(("a", "a_scale", "b", "b_scale"), operands())), **change})


@pytest.fixture(scope="module")
def right():
    inputs = operands()
    return reference_gemm(*inputs, d_dtype="float16"), inputs


def spoil(d, how):
    d = d.copy()
    if how == "one element":
        d[77, 3] *= np.float16(1.5)
    elif how == "rows swapped":
        d[[4, 5]] = d[[5, 4]]
    elif how == "core tile transposed":
        d[8:16, 8:16] = d[8:16, 8:16].T.copy()
    elif how == "nan":
        d[0, 0] = np.nan
    elif how == "infinity":
        d[1, 2] = np.inf
    return d


@pytest.mark.parametrize("how", ["one element", "rows swapped", "core tile transposed", "nan", "infinity"])
def test_what_is_wrong_is_found(how, right):
    d, inputs = right
    assert assert_close(d, *inputs).ok
    result = compare(spoil(d, how), *inputs)
    assert not result and result.wrong >= 1
    with pytest.raises(AssertionError, match="elements wrong, largest error"):
        assert_close(spoil(d, how), *inputs)
    if how == "one element":
        assert result.wrong == 1 and result.mismatches[0].index == (77, 3)
        assert repr(result).splitlines()[1].startswith("  d[77, 3] = ")


def test_a_dropped_block_is_found(right):
    d, (a, a_scale, b, b_scale) = right
    a = a.copy()
    a.view(np.uint8)[:, 128:] = 0
    assert not compare(reference_gemm(a, a_scale, b, b_scale, d_dtype="float16"), *right[1])


def test_rounding_down_is_right_but_off(right):
    d, inputs = right
    exact = reference_gemm(*inputs)
    down = np.where(abs(d.astype(float)) > abs(exact), np.nextafter(d, np.float16(0)), d)
    result = compare(down, *inputs)
    assert result.ok and result.rel_err > 1e-4 > compare(d, *inputs).rel_err


def test_edges_of_the_type():
    one = np.full((1, 1), 0x38, np.uint8)
    scale = np.ones((1, 1), np.float32)
    edge = np.float16(np.inf), np.float16(65504)
    for value, sizes in [(edge[0], {65504: True, 70000: True, 60000: False}), (edge[1], {65520: True, 70000: False, 65504: True})]:
        for size, ok in sizes.items():
            assert compare(np.array([[value]]), one, scale * size, one, scale).ok == ok, (value, size)
    assert compare(np.array([[0x7E]], np.uint8), one, scale * 1e6, one, scale, d_dtype="float8_e4m3fn").ok
    assert not compare(np.array([[0x7D]], np.uint8), one, scale * 1e6, one, scale, d_dtype="float8_e4m3fn").ok
    assert compare(np.array([[5.0]], np.float32), one, scale * 2.0**100, one, scale * 2.0**100).ok  # sums that may overflow on the way
    assert compare(np.array([[np.inf]], np.float32), one, scale * np.inf, one, scale).ok
    assert not compare(np.array([[-np.inf]], np.float32), one, scale * np.inf, one, scale).ok
    assert compare(np.array([[np.nan]], np.float32), one, scale * np.nan, one, scale).ok
    assert not compare(np.array([[0]], np.float32), one, scale * np.nan, one, scale).ok


def test_compare_refuses_other_results(right):
    d, inputs = right
    with pytest.raises(ValueError, match=r"D has the shape \(130, 139\)"):
        compare(d[:, 1:], *inputs)
    with pytest.raises(ValueError, match="D is of type float16, not bfloat16"):
        compare(d, *inputs, d_dtype="bfloat16")


def test_operands_of_one_sign():
    """What Hopper cuts off has the sign of its term, and so adds up here. A lost K block still shows."""
    random = np.random.default_rng(0)
    x, w = (np.abs(random.standard_normal((64, 1024)).astype(np.float32)) for _ in range(2))
    a, a_scale = quantize_blockwise(x)
    b, b_scale = quantize_blockwise(w, (128, 128))
    d = fp8.gemm(a, a_scale, b, b_scale, d_dtype="float32", simulate=True, chip="sm_90a")
    assert 1 / 25 < compare(d, a, a_scale, b, b_scale).largest < 1
    a[:, :128] = 0
    assert compare(d, a, a_scale, b, b_scale).wrong == d.size
