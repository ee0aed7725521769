# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.simulate_ptx: any kernel, its parameters from Python."""

from __future__ import annotations

import ctypes

import fp8
import numpy as np
import pytest
from conftest import ROOT

SCALE = (ROOT / "examples" / "foreign" / "scale.ptx").read_text()

# y[i] = a * x[i] + y[i], and n of which lie in a struct.
AXPY = """
.version 8.8
.target sm_90a
.address_size 64
.global .align 4 .f32 bias = 0f3F800000;
.visible .entry axpy(.param .align 8 .b8 sizes[8], .param .f32 a, .param .u64 x, .param .u64 y)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r0, %r1, 32, %r0;
  ld.param.u32 %r2, [sizes+4];
  setp.ge.u32 %p, %r0, %r2;
  @%p bra END;
  ld.param.f32 %f0, [a];
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  mul.wide.u32 %d2, %r0, 4;
  add.s64 %d0, %d0, %d2;
  add.s64 %d1, %d1, %d2;
  ld.global.f32 %f1, [%d0];
  ld.global.f32 %f2, [%d1];
  fma.rn.f32 %f2, %f0, %f1, %f2;
  ld.global.f32 %f3, [bias];
  add.f32 %f2, %f2, %f3;
  st.global.f32 [%d1], %f2;
END:
  ret;
}
"""


def operands(n=70):
    random = np.random.default_rng()
    return random.standard_normal(n).astype(np.float32), random.standard_normal(n).astype(np.float32)


def axpy(x, y, n, **options):
    return fp8.simulate_ptx(AXPY, fp8.Struct(8, {4: np.uint32(n)}), np.float32(2.5), x, y, grid=3, block=32, **options)


def expected(x, y, bias=1.0):
    return np.float32(2.5) * x.astype(np.float64) + y + bias


def test_writes_in_place():
    x, y = operands()
    want = expected(x, y)
    report = axpy(x, y, 70)
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-6)
    assert report.warnings == () and report.statistics.ctas == 3


def test_schedules_begin_from_the_same_contents():
    x, y = operands()
    want = expected(x, y)
    axpy(x, y, 70, schedules=3)
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-6)


def test_variables():
    x, y = operands()
    want = expected(x, y, -3.0)
    axpy(x, y, 70, variables={"bias": np.float32(-3)})
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-6)


def test_views_of_one_array_are_one_buffer():
    both = np.concatenate(operands())
    want = expected(both[:70], both[70:])
    axpy(both[:70], both[70:], 70)
    np.testing.assert_allclose(both[70:], want, rtol=1e-6, atol=1e-6)
    overlapping = np.arange(71, dtype=np.float32)
    axpy(overlapping, overlapping[1:], 1)
    assert overlapping[1] == 2.5 * 0 + 1 + 1 and overlapping[70] == 70


def test_tensor_maps_in_structs():
    tensor = np.random.default_rng().standard_normal((8, 32)).astype(np.float32)
    out = np.full(32, np.nan, np.float32)
    job = fp8.Struct(192, {0: fp8.TensorMap(tensor, box=(32, 4)), 128: np.float32(-2), 132: ctypes.c_uint32(5)})
    report = fp8.simulate_ptx(SCALE, job, out, grid=1, block=32)
    assert (out == -2 * tensor[5]).all() and report.statistics.tma_load_bytes == 512


def test_a_broken_rule_names_its_place():
    tensor, out = np.zeros((8, 32), np.float32), np.zeros(31, np.float32)
    job = fp8.Struct(192, {0: fp8.TensorMap(tensor, box=(32, 4))})
    with pytest.raises(fp8.SimulationError, match=r"kernel\.ptx:34: error: 'st\.global\.f32' writes 4 bytes .* 'argument 1' of 124 bytes"):
        fp8.simulate_ptx(SCALE, job, out, grid=1, block=32)
    assert not out.any()


def test_warnings_have_texts():
    # Without the fence the copy's engine may not see the barrier, which no hardware was seen to mind.
    unfenced = SCALE.replace("fence.mbarrier_init.release.cluster;", "")
    tensor, out = np.ones((8, 32), np.float32), np.zeros(32, np.float32)
    job = fp8.Struct(192, {0: fp8.TensorMap(tensor, box=(32, 4)), 128: np.float32(3)})
    report = fp8.simulate_ptx(unfenced, job, out, grid=1, block=32)
    assert (out == 3).all() and len(report.warnings) == report.statistics.warnings == 1
    assert "warning" in report.warnings[0] and "unfenced-init" in report.warnings[0], report.warnings
    with pytest.raises(fp8.SimulationError, match="missing-proxy-fence"):
        fp8.simulate_ptx(unfenced, job, out, grid=1, block=32, strict=True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, r"argument 1 is 3, whose size Python does not say: pass it as np.int32\(3\)"),
        ("x", "argument 1 is a str; it must be an array of numpy"),
        (fp8.TensorMap([1], box=(1,)), "argument 1 is a tensor map of a list"),
    ],
)
def test_what_is_no_argument(value, message):
    with pytest.raises(TypeError, match=message):
        fp8.simulate_ptx(AXPY, np.uint64(0), value, grid=1, block=1)


def test_what_does_not_fit():
    tensor = np.zeros((8, 32), np.float32)
    with pytest.raises(fp8.SimulationError, match=r"arguments\[0\]\.struct\.fields\[0\]\.value\.tensor_map: tensor map's box is 72 bytes"):
        fp8.simulate_ptx(SCALE, fp8.Struct(192, {0: fp8.TensorMap(tensor, box=(18, 4))}), tensor, grid=1, block=32)
    with pytest.raises(fp8.SimulationError, match="parameter 'out' has 8 bytes, but the launch passes 4"):
        fp8.simulate_ptx(SCALE, fp8.Struct(192, {}), np.float32(1), grid=1, block=32)
    with pytest.raises(fp8.SimulationError, match="kernel 'scale' takes 2 parameters, but the launch passes 0"):
        fp8.simulate_ptx(SCALE, grid=1, block=32)
    with pytest.raises(ValueError, match="grid has 4 extents"):
        fp8.simulate_ptx(SCALE, grid=(1, 1, 1, 1), block=32)
    with pytest.raises(ValueError, match="has a negative stride"):
        fp8.simulate_ptx(SCALE, tensor[::-1], grid=1, block=32)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"schedules": 0}, ValueError, "schedules is 0; it must be 1 or more"),
        ({"schedules": 1.5}, TypeError, "schedules is 1.5; it must be a whole number"),
        ({"multiprocessors": -1}, ValueError, "multiprocessors is -1; it must be from 1 to 65535"),
        ({"multiprocessors": 65536}, ValueError, "multiprocessors is 65536; it must be from 1 to 65535"),
        ({"grid": (1.9, 1, 1)}, TypeError, "grid is 1.9; it must be a whole number"),
        ({"grid": "1"}, TypeError, "grid is '1'; it must be a whole number"),
        ({"block": 32.0}, TypeError, "block is 32.0; it must be a whole number"),
        ({"cluster": ("1",)}, TypeError, "cluster is '1'; it must be a whole number"),
        ({"shared": 1.5}, TypeError, "shared is 1.5; it must be a whole number"),
        ({"ptx": ROOT / "x.ptx"}, TypeError, r"ptx is a PosixPath; it must be the text of a module, str or bytes: pass ptx.read_text\(\)"),
        ({"ptx": None}, TypeError, "ptx is a NoneType; it must be the text of a module, str or bytes$"),
    ],
)
def test_wrong_launches(options, error, message):
    x, y = operands()
    with pytest.raises(error, match=message):
        fp8.simulate_ptx(options.pop("ptx", AXPY), fp8.Struct(8, {4: np.uint32(70)}), np.float32(2.5), x, y, **{"grid": 3, "block": 32, **options})


def test_numbers_of_numpy():
    x, y = operands()
    want = expected(x, y)
    sizes = {"grid": np.int64(3), "block": (np.int32(32), 1), "shared": np.int64(16), "schedules": np.int8(1)}
    fp8.simulate_ptx(AXPY.encode(), fp8.Struct(8, {4: np.uint32(70)}), np.float32(2.5), x, y, **sizes)
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-6)


def test_convolution_of_pixels():
    random = np.random.default_rng()
    images, height, width = 2, 6, 8
    pixels = random.standard_normal((images, height, width, 8)).astype(np.float32)
    weights = random.standard_normal((3, 3, 8, 4)).astype(np.float32)
    out = np.full((images, height, width, 4), np.nan, np.float32)
    column = fp8.Im2col(channels=8, pixels=32, lower_corner=(-1, -1), upper_corner=(-1, -1))
    kernel = (ROOT / "test" / "Run" / "Inputs" / "convolution.ptx").read_text()
    sizes = np.uint32(width), np.uint32(height)
    fp8.simulate_ptx(kernel, fp8.TensorMap(pixels, im2col=column), weights, out, *sizes, grid=images * height * width // 32, block=32)
    padded = np.pad(pixels.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    want = sum(padded[:, r : r + height, s : s + width] @ weights[r, s].astype(np.float64) for r in range(3) for s in range(3))
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tiling", [{}, {"box": (8, 1, 1, 1), "im2col": fp8.Im2col(8, 32, (0, 0), (0, 0))}])
def test_a_map_has_a_box_or_pixels(tiling):
    with pytest.raises(TypeError, match="needs either a box or im2col"):
        fp8.simulate_ptx(SCALE, fp8.TensorMap(np.zeros((2, 6, 8, 8), np.float32), **tiling), grid=1, block=32)
