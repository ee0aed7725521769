# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on numpy's arrays and on the simulator: layouts, what follows the sum, and wrong operands."""

from __future__ import annotations

import inspect
import sys
import types

import fp8
import ml_dtypes
import numpy as np
import pytest
from fp8 import _launch
from fp8._call import Call, parameters
from problem import Problem


def simulate(problem, **options):
    return fp8.gemm(*problem.operands, simulate=True, scale_layout="row_major", **options)


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("shape", [(40, 72, 160), (1, 136, 256), (130, 200, 48)])
def test_computes(shape, chip):
    p = Problem(*shape)
    d = simulate(p, chip=chip)
    assert d.dtype == ml_dtypes.bfloat16 and d.flags.c_contiguous
    p.check(d)


@pytest.mark.parametrize("dtype", ["float32", np.float16, "bf16", np.dtype("float32"), ml_dtypes.bfloat16])
def test_output_types(dtype):
    p = Problem(24, 40, 144)
    d = simulate(p, d_dtype=dtype)
    assert d.dtype == (ml_dtypes.bfloat16 if dtype == "bf16" else np.dtype(dtype))
    p.check(d)


def test_fp8_output_saturates():
    p = Problem(24, 48, 512)
    d = simulate(p, d_dtype="float8_e4m3fn")
    assert (np.abs(d.astype(np.float32)) == 448).any(), "nothing saturates"
    p.check(d)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_fp8_output_that_is_copied(dtype):
    """Rows of 20 bytes are none that TMA stores."""
    p, kind = Problem(16, 20, 128), getattr(ml_dtypes, dtype)
    for options in ({"d_dtype": dtype}, {"d": np.zeros((16, 20), kind)}, {"d": np.zeros((20, 16), kind).T}):
        d = simulate(p, **options)
        assert d.dtype == kind
        p.check(d)


def test_what_follows_the_sum():
    p = Problem(40, 72, 160)
    p.check(simulate(p, c=p.c, beta=-0.5, bias=p.bias, d_dtype="float32"), c=p.c, beta=-0.5, bias=p.bias)
    half = p.c.astype(ml_dtypes.bfloat16)
    p.check(simulate(p, c=half, d_dtype="float32"), c=half)


@pytest.mark.parametrize("beta", [3, np.float32(3), np.float64(3), np.int64(3), np.float16(3), ml_dtypes.bfloat16(3), True + 2, np.full((1,), 3, np.float32),
                                  np.full((1, 1), 3, np.float32), np.array(3, np.float32)], ids=lambda beta: type(beta).__name__)
def test_beta_is_a_number_or_an_array_of_one(beta):
    p = Problem(16, 32, 128)
    p.check(simulate(p, c=p.c, beta=beta, d_dtype="float32"), c=p.c, beta=3)


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("n", [1, 5, 33, 130])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_any_n(n, dtype, chip):
    """Rows that are no multiple of 16 bytes: of the bias, of C, of D."""
    p = Problem(20, n, 144)
    addends = {"c": p.c.astype(dtype), "bias": p.bias.astype(dtype)}
    p.check(simulate(p, d_dtype=dtype, chip=chip, **addends), **addends)


@pytest.mark.parametrize("d_scale", [0.25, np.float32(0.25), np.full((1,), 0.25, np.float32), 1])
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float32"])
def test_out_scale(d_scale, dtype):
    p = Problem(24, 48, 256)
    d = simulate(p, c=p.c, beta=2.0, bias=p.bias, d_scale=d_scale, d_dtype=dtype)
    p.check(d, c=p.c, beta=2.0, bias=p.bias, d_scale=d_scale)


@pytest.mark.parametrize("b_block", [128, 1])
@pytest.mark.parametrize("chip", ["sm_90a", "sm_100a"])
def test_batch(chip, b_block):
    p = Problem(20, 33, 272, b_block=b_block, batch=(3,))
    d = simulate(p, c=p.c, beta=0.5, bias=p.bias, b_block=b_block, d_dtype="float32", chip=chip)
    assert d.shape == (3, 20, 33)
    p.check(d, c=p.c, beta=0.5, bias=p.bias)
    turned = [np.swapaxes(scale, -1, -2) if b_block == 1 or scale is p.a_scale else scale for scale in (p.a_scale, p.b_scale)]
    again = fp8.gemm(p.a, turned[0], p.b, turned[1], c=p.c, beta=0.5, bias=p.bias, b_block=b_block, d_dtype="float32", chip=chip, simulate=True)
    assert np.array_equal(again, d)


def test_batch_where_it_lies():
    """Matrices that share memory, or lie apart, or in another order."""
    p = Problem(16, 32, 128, batch=(2,))
    p.b[1], p.b_scale[1] = p.b[0], p.b_scale[0]
    shared = (np.broadcast_to(p.b[0], p.b.shape), np.broadcast_to(p.b_scale[0], p.b_scale.shape))
    apart = np.zeros((2, 40, 128), p.a.dtype)
    apart[:, 3:19] = p.a
    out = np.full((16, 2, 32), np.nan, np.float32).swapaxes(0, 1)
    assert fp8.gemm(apart[:, 3:19], p.a_scale, *shared, d=out, simulate=True, scale_layout="row_major") is out
    p.check(out)


def test_beta_of_0_does_not_read_c():
    p = Problem(16, 32, 128)
    p.check(simulate(p, c=np.full((16, 32), np.nan, np.float32), beta=0))


@pytest.mark.parametrize("beta", [0, 1, np.float32(0)])
def test_beta_without_a_residual(beta):
    """These leave nothing out."""
    p = Problem(16, 32, 128)
    p.check(simulate(p, beta=beta))


class Recorded(np.ndarray):
    """What a tensor is that torch computes a gradient of."""

    requires_grad = True


def test_gradients_are_refused(monkeypatch):
    p = Problem(16, 32, 128)
    enabled = True
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(is_grad_enabled=lambda: enabled, Tensor=()))
    for name in ("a_scale", "bias"):
        operand = {"a_scale": p.a_scale, "bias": p.bias}[name].view(Recorded)
        with pytest.raises(ValueError, match="fp8.gemm has no gradient, and an operand requires one: call it under torch.no_grad"):
            without(p, **{name: operand})
    enabled = False
    p.check(without(p, bias=p.bias.view(Recorded), d_dtype="float32"), bias=p.bias)


def test_scale_layouts():
    p = Problem(40, 72, 288)
    want = simulate(p)
    a, a_scale, b, b_scale = p.operands
    for scales in (a_scale.T, np.ascontiguousarray(a_scale.T), np.repeat(a_scale, 2, 1)[:, ::2]):
        assert np.array_equal(fp8.gemm(a, scales, b, b_scale, simulate=True), want)
    assert np.array_equal(fp8.gemm(a, a_scale, b, np.asfortranarray(b_scale), simulate=True), want)


def test_a_shape_that_can_be_both_must_be_said():
    p = Problem(2, 32, 256)
    with pytest.raises(ValueError, match="a_scale is 2 x 2, which is M x K/128 and K/128 x M: say which with scale_layout"):
        fp8.gemm(*p.operands, simulate=True)
    p.check(simulate(p))
    turned = fp8.gemm(p.a, np.ascontiguousarray(p.a_scale.T), p.b, p.b_scale, simulate=True, scale_layout="k_major")
    p.check(turned)


def test_64_rows_of_b_share_a_scale():
    p = Problem(24, 144, 256, b_block=64)
    p.check(simulate(p, b_block=64))


def test_b_block_is_a_whole_number():
    parameters.cache_clear()  # in which 64.0 is 64
    with pytest.raises(ValueError, match="b_block is 64.0; it must be 128, 64 or 1"):
        without(Problem(16, 32, 256), b_block=64.0)


def test_each_row_of_b_has_a_scale():
    p = Problem(24, 144, 256, b_block=1)
    want = simulate(p, b_block=1)
    p.check(want)
    for b_scale in (p.b_scale, np.ascontiguousarray(p.b_scale.T)):
        assert np.array_equal(fp8.gemm(p.a, p.a_scale, p.b, b_scale, simulate=True, b_block=1), want)
    turned = fp8.gemm(p.a, p.a_scale.T, p.b, p.b_scale.T, simulate=True, b_block=1, scale_layout="k_major")
    assert np.array_equal(turned, want)


def test_operands_where_they_lie():
    p = Problem(20, 24, 128)
    wide = np.zeros((20, 301), ml_dtypes.float8_e4m3fn)
    wide[:, 5:133] = p.a
    p.check(fp8.gemm(wide[:, 5:133], p.a_scale, np.asfortranarray(p.b), p.b_scale, simulate=True))
    bits = fp8.gemm(p.a.view(np.uint8), p.a_scale, p.b.view(np.uint8), p.b_scale, simulate=True, d_dtype="float32")
    p.check(bits)


def test_out():
    p = Problem(20, 24, 128)
    whole = np.full((20, 24), np.nan, np.float32)
    turned = np.full((24, 20), np.nan, np.float32).T
    for out in (whole, np.full((20, 31), np.nan, np.float32)[:, 3:27], turned, turned.copy()[::-1, ::-1], np.full((40, 48), np.nan, np.float32)[::2, ::2]):
        assert fp8.gemm(*p.operands, simulate=True, d=out) is out
        p.check(out)


@pytest.mark.parametrize("shape", [(0, 32, 128), (16, 0, 128)])
def test_nothing_to_compute(shape):
    assert simulate(Problem(*shape)).shape == shape[:2]


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("n", [16, 20, 33])
def test_nothing_to_compute_of_a_batch(n, batch):
    p = Problem(0, n, 128, batch=(batch,))
    for options in ({"d_dtype": "float32"}, {"d": np.zeros((batch, 0, n), np.float32)}, {"c": np.zeros((batch, 0, n), np.float32), "beta": 2.0}):
        assert fp8.gemm(*p.operands, **options, scale_layout="row_major", simulate=True).shape == (batch, 0, n)


def test_no_k_is_beta_c():
    p = Problem(16, 32, 0)
    d = fp8.gemm(*p.operands, simulate=True, c=p.c, beta=2.0, d_dtype="float32", scale_layout="row_major")
    assert np.array_equal(d, 2 * p.c)


def test_nan_scales_reach_their_rows_only():
    p = Problem(16, 32, 256)
    p.a_scale[3, 1] = np.nan
    d = simulate(p).astype(np.float32)
    assert np.isnan(d[3]).all() and np.isfinite(np.delete(d, 3, 0)).all()


def without(problem, **changed):
    """A call with some operands replaced."""
    named = dict(zip(("a", "a_scale", "b", "b_scale"), problem.operands)) | {"simulate": True, "scale_layout": "row_major"} | changed
    return fp8.gemm(**named)


WRONG = {
    "programmatic": (lambda p: {"programmatic": 1}, TypeError, "programmatic is 1; it must be True, False or None"),
    "constant_b": (lambda p: {"constant_b": 1}, TypeError, "constant_b is 1; it must be True or False"),
    "a constant b that is copied": (lambda p: {"constant_b": True, "b": p.b[::2, ::2][:, :128], "a": p.a[:, :128], "a_scale": p.a_scale[:, :1], "b_scale": p.b_scale[:, :1]},
                                    ValueError, "with constant_b, b is read before what is in front has ended, but it does not lie as the kernel reads it"),
    "type of a": (lambda p: {"a": p.a.astype(np.float32)}, TypeError,
                  "a is of float32; it must be of float8_e4m3fn: fp8.quantize_blockwise makes a and its scales of numbers"),
    "type of b": (lambda p: {"b": p.b.astype(ml_dtypes.bfloat16)}, TypeError, "b is of bfloat16; it must be of float8_e4m3fn: fp8.quantize_blockwise makes b"),
    "integers": (lambda p: {"a": p.a.astype(np.int32)}, TypeError, "a is of int32; it must be of float8_e4m3fn"),
    "huge M": (lambda p: {"a": np.broadcast_to(p.a[:1], (2**31, 256))}, ValueError, "M is 2147483648; it must be below 2^31, the range of TMA coordinates"),
    "huge N": (lambda p: {"b": np.broadcast_to(p.b[:1], (2**40, 256))}, ValueError, "N is 1099511627776; it must be below 2^31"),
    "beta without a residual": (lambda p: {"beta": 2.0}, ValueError, "beta is 2.0, the factor of C, and there is none: pass c, or leave beta out"),
    "array of beta without a residual": (lambda p: {"beta": np.ones(1, np.float32)}, ValueError, "beta is an array, the factor of C, and there is none"),
    "type of scales": (lambda p: {"a_scale": p.a_scale.astype(np.float64)}, TypeError, "a_scale is of float64; it must be of float32 or bfloat16"),
    "UE8M0 scales": (lambda p: {"b_scale": p.b_scale.astype(ml_dtypes.float8_e8m0fnu)}, TypeError,
                     "a_scale is of float32; both operands have scales of float8_e8m0fnu, or neither: fp8.tile_scales lays scales of MXFP8 out for Blackwell; "
                     "for Hopper convert them to float32, which is exact"),
    "type of c": (lambda p: {"c": p.c.astype(np.int32)}, TypeError, "c is of int32; it must be of bfloat16, float16 or float32"),
    "type of d": (lambda p: {"d_dtype": "int8"}, TypeError, "d_dtype is int8; it must be bfloat16, float16, float32, float8_e4m3fn or float8_e5m2"),
    "rank": (lambda p: {"a": p.a[0]}, ValueError, "a has 1 dimensions; it must be M x K, or L x M x K of a batch"),
    "b transposed": (lambda p: {"b": p.b.T}, ValueError, "both have K columns, b is not transposed"),
    "batches": (lambda p: {"a": np.stack([p.a, p.a]), "b": np.stack([p.b] * 3)}, ValueError, "a is 2 x 16 x 256 and b is 3 x 32 x 256: they must be matrices, or batches of as many"),
    "batch of a alone": (lambda p: {"a": p.a[None]}, ValueError, "a is 1 x 16 x 256 and b is 32 x 256: they must be matrices, or batches of as many"),
    "batch of scales": (lambda p: {"a": p.a[None], "b": p.b[None]}, ValueError, "a_scale is 16 x 2; it must be L x M x K/128, 1 x 16 x 2"),
    "type of d_scale": (lambda p: {"d_scale": np.ones(1, np.float16)}, TypeError, "d_scale is of float16; it must be of float32; or a number"),
    "k": (lambda p: {"a": p.a[:, :40], "b": p.b[:, :40]}, ValueError, "K is 40; it must be a multiple of 16"),
    "shape of a_scale": (lambda p: {"a_scale": p.a_scale[:, :1]}, ValueError, "a_scale is 16 x 1; it must be M x K/128, 16 x 2, as scale_layout='row_major' says"),
    "shape of b_scale": (lambda p: {"b_scale": p.b_scale[:, :1]}, ValueError, "b_scale is 1 x 1; it must be N/128 x K/128, 1 x 2"),
    "shape of c": (lambda p: {"c": p.c[:4]}, ValueError, "c is 4 x 32; it must be M x N, 16 x 32"),
    "shape of bias": (lambda p: {"bias": p.bias[:4]}, ValueError, "bias is 4; it must have N elements, 32"),
    "shape of out": (lambda p: {"d": np.zeros((2, 2), np.float32)}, ValueError, "d is 2 x 2; it must be M x N, 16 x 32"),
    "type of out": (lambda p: {"d": np.zeros((16, 32), np.float32), "d_dtype": "float16"}, TypeError, "d is of float32 and d_dtype is float16"),
    "layout": (lambda p: {"scale_layout": "rows"}, ValueError, "scale_layout is 'rows'"),
    "b_block": (lambda p: {"b_block": 32}, ValueError, "b_block is 32; it must be 128, 64 or 1"),
    "a mask": (lambda p: {"bias": np.ma.masked_array(p.bias, p.bias > 0)}, TypeError,
               "bias is a masked array, and its mask is not read: pass what its method filled() returns"),
    "no beta": (lambda p: {"beta": None}, ValueError, "beta is None, the factor of C, and there is none"),
    "beta of text": (lambda p: {"beta": "0.5"}, ValueError, "beta is '0.5', the factor of C, and there is none"),
    "no array": (lambda p: {"a": [[1.0]]}, TypeError, "a is a list; it must be an array of numpy, torch or cupy"),
    "beta": (lambda p: {"c": p.c, "beta": np.ones(2, np.float32)}, ValueError, "beta is 2 on cpu; it must be a number, or an array of one float32 on cpu"),
    "type of beta": (lambda p: {"c": p.c, "beta": "3"}, TypeError, "beta is a str; it must be an array"),
    "beta past float32": (lambda p: {"c": p.c, "beta": np.ones(1)}, TypeError, "beta is of float64; it must be of float32; or a number"),
    "type of out alone": (lambda p: {"d": np.zeros((16, 32))}, TypeError, "d is of float64; it must be of bfloat16, float16, float32, float8_e4m3fn or float8_e5m2"),
    "complex": (lambda p: {"bias": p.bias.astype(np.complex64)}, TypeError, "bias is an array of complex64, which no kernel takes: convert it"),
    "shape of a_scale, undecided": (lambda p: {"a_scale": p.a_scale[:, :1], "scale_layout": None}, ValueError, "a_scale is 16 x 1; it must be M x K/128, 16 x 2 or K/128 x M, 2 x 16"),
    "large beta": (lambda p: {"c": p.c, "beta": 1e300}, ValueError, "beta is past the largest float32: pass a smaller number"),
    "overlapping out": (lambda p: {"d": np.lib.stride_tricks.as_strided(np.zeros(32, np.float32), (16, 32), (0, 4))}, ValueError,
                        "d has strides of 0 x 1 elements, so that elements may share memory"),
    "out of rows that overlap": (lambda p: {"d": np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), (16, 32), (4, 4))}, ValueError,
                                 "d has strides of 1 x 1 elements, so that elements may share memory"),
    "out of rows that are too near": (lambda p: {"d": np.lib.stride_tricks.as_strided(np.zeros(600, np.float32), (16, 32), (124, 4))}, ValueError,
                                      "d has strides of 31 x 1 elements, so that elements may share memory"),
    "chip": (lambda p: {"chip": "sm_80"}, ValueError, "there is no chip 'sm_80'; there are sm_90a"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_operands(name):
    p = Problem(16, 32, 256)
    change, kind, words = WRONG[name]
    with pytest.raises(kind) as raised:
        without(p, **change(p))
    assert words in str(raised.value)


def test_read_only_out():
    p = Problem(16, 32, 128)
    out = np.zeros((16, 32), np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="d is read-only"):
        without(p, d=out)


def test_says_what_is_missing_without_a_gpu(monkeypatch):
    monkeypatch.setenv("FP8_CUDA_LIBRARY", "/none/libcuda.so")
    with pytest.raises(fp8.DeviceError, match="simulate=True.*there is no GPU to copy them to: no CUDA driver: cannot load /none/libcuda.so"):
        without(Problem(16, 32, 128), simulate=False)


ALIASES = {"out_dtype": "d_dtype", "residual": "c", "out_scale": "d_scale", "out": "d"}


def test_one_list_of_operands():
    """`gemm` spells out the fields of a Call, with their defaults, for its readers; the library's table has every array among them."""
    given = {name: parameter.default for name, parameter in inspect.signature(fp8.gemm).parameters.items()}
    others = {"simulate": False, "chip": None} | dict.fromkeys(ALIASES)
    assert given == {name: Call._field_defaults.get(name, inspect.Parameter.empty) for name in Call._fields} | others
    options = ("d_dtype", "scale_layout", "b_block", "stream", "programmatic", "constant_b")
    assert {parameter.name for parameter in parameters()} == set(Call._fields) - set(options)


def test_other_keywords_of_operands():
    p = Problem(16, 32, 128)
    d = np.full((16, 32), np.nan, np.float32)
    assert fp8.gemm(*p.operands, residual=p.c, beta=0.5, out_scale=2.0, out=d, out_dtype="float32", simulate=True) is d
    wanted = fp8.gemm(*p.operands, c=p.c, beta=0.5, d_scale=2.0, d_dtype="float32", simulate=True)
    assert (d == wanted).all()
    options = {"residual": p.c, "beta": 0.5, "out_scale": 2.0, "out_dtype": "float32"}
    assert (fp8.reference_gemm(*p.operands, **options) == fp8.reference_gemm(*p.operands, c=p.c, beta=0.5, d_scale=2.0, d_dtype="float32")).all()
    assert fp8.testing.compare(d, *p.operands, **options).ok
    assert not fp8.testing.compare(d, *p.operands, **{**options, "out_scale": 1.0}).ok


@pytest.mark.parametrize("alias", ALIASES)
def test_a_keyword_and_its_alias_are_one(alias):
    p = Problem(16, 32, 128)
    given = {"d_dtype": "float32", "c": p.c, "d_scale": 2.0, "d": np.zeros((16, 32), np.float32)}[ALIASES[alias]]
    with pytest.raises(TypeError, match=f"{ALIASES[alias]} and {alias} are one argument: pass {ALIASES[alias]}"):
        fp8.gemm(*p.operands, simulate=True, **{alias: given, ALIASES[alias]: given})



def test_the_first_tiles_are_not_full_where_rows_of_d_are_whole(monkeypatch):
    """Rows of D that lie apart, or end within 16 bytes, are stored by threads, too, and then M ends with the last tiles."""
    chosen = []

    def kernel_for(spec, chip, problem, *others):
        chosen.append((spec.d_contiguous, original(spec, chip, problem, *others)))
        return chosen[-1][1]

    original = _launch.kernel_for
    monkeypatch.setattr(_launch, "kernel_for", kernel_for)
    apart = np.zeros((150, 80), ml_dtypes.bfloat16)[:, :64]
    for n, d, contiguous in ((64, None, True), (64, np.zeros((150, 64), ml_dtypes.bfloat16), True), (64, apart, False), (60, None, False)):
        p = Problem(150, n, 256)
        p.check(simulate(p, d=d))
        whole, kernel = chosen.pop()
        assert whole == contiguous and ("edge = first" in kernel.mlir("op")) == contiguous


def test_simulates_without_a_standard_error(monkeypatch):
    """A service has closed it."""
    monkeypatch.setattr("sys.stderr", None)
    a, a_scale = fp8.quantize_blockwise(np.ones((8, 128), np.float32))
    b, b_scale = fp8.quantize_blockwise(np.ones((16, 128), np.float32), (128, 128))
    assert np.allclose(fp8.gemm(a, a_scale, b, b_scale, d_dtype="float32", simulate=True), 128, rtol=1e-6)


def test_simulates_one_row_of_scales():
    """NumPy calls an array of one row contiguous, and its strides say how far apart rows are."""
    a, a_scale = fp8.quantize_blockwise(np.ones((5, 128), np.float32))
    b, b_scale = fp8.quantize_blockwise(np.ones((16, 128), np.float32), (128, 128))
    assert a_scale.shape[0] == 1 and a_scale.strides[0] % 16 == 0
    d = np.zeros((5, 16), np.float32)
    fp8.compile(fp8.GemmSpec(d_dtype="f32")).simulate(a, a_scale, b, b_scale, d)
    assert np.allclose(d, 128, rtol=1e-6)


def test_numbers_are_checked():
    kernel = fp8.compile(fp8.GemmSpec())
    with pytest.raises(ValueError, match="multiprocessors is -1; it must be from 1 to 65535"):
        kernel.simulate(multiprocessors=-1)
    assert fp8.compile(fp8.GemmSpec(), problem=(np.int64(64), 7168, 2048)).name
    with pytest.raises(ValueError, match="M is True in problem"):
        fp8.compile(fp8.GemmSpec(), problem=(True, 7168, 2048))
    for wrong in (64.0, True):
        with pytest.raises(ValueError, match="b_block is"):
            fp8.GemmSpec(b_block=wrong)
    with pytest.raises(fp8.DeviceError, match="there is no GPU of number 4294967296"):
        fp8.device_info(2**32)
