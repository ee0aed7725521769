# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of PyTorch get what arrays of NumPy get, on each device that is there."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fp8._numeric import NumPy, Torch, arrays_of, encode, round_to
from fp8._types import by_name
from fp8.mx import quantize_mx, tile_scales
from fp8.quantize import quantize_blockwise
from fp8.reference import reference_gemm
from fp8.testing import compare

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
pytestmark = pytest.mark.parametrize("device", DEVICES)


def codes(tensor):
    return tensor.cpu().view(torch.uint8).numpy()


def same(actual, expected):
    nan = codes(expected) & 0x7F == 0x7F
    return (np.where(nan, codes(actual) & 0x7F == 0x7F, codes(actual) == codes(expected))).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_mx(dtype, device):
    generator = torch.Generator().manual_seed(1)
    x = (torch.randn(300, 400, generator=generator) * torch.randn(300, 1, generator=generator).exp()).to(dtype)
    values, tiles = quantize_mx(x.to(device))
    assert (values.dtype, tiles.dtype) == (torch.float8_e4m3fn, torch.float8_e8m0fnu)
    others = quantize_mx(x.numpy() if dtype in (torch.float16, torch.float64) else x.float().numpy())
    for ours, theirs in zip((values, tiles), others):
        assert (codes(ours) == np.asarray(theirs).view("uint8")).all()
    numbers = torch.tensor([[0.5, 4.0]], dtype=torch.float32, device=device)
    assert codes(tile_scales(numbers, (1, 64)))[0, 0, 0, :3].tolist() == [126, 129, 127]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("compute", [torch.float32, torch.float64])
def test_e4m3_of_every_pattern(dtype, compute, device):
    x = torch.from_numpy(np.arange(65536, dtype=np.uint16).view(np.int16)).view(dtype).to(device).to(compute)
    expected = x.clip(-448, 448).to(torch.float32).to(torch.float8_e4m3fn)
    expected = torch.where(torch.isinf(x), torch.tensor(0x7F, dtype=torch.uint8, device=device), expected.view(torch.uint8)).view(torch.float8_e4m3fn)
    assert same(encode(Torch(x), x), expected)


def test_float64_is_rounded_once(device):
    x = torch.tensor([[1.0625 + 2.0**-40, 1.1875 - 2.0**-40, 448.0]], dtype=torch.float64, device=device)
    assert codes(quantize_blockwise(x, (1, 3))[0]).tolist() == [[0x39, 0x39, 0x7E]]


@pytest.mark.parametrize("block", [(1, 128), (128, 128)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numpy_agrees(block, dtype, device):
    x = (np.random.default_rng(4).standard_normal((130, 300)) * 10).astype(dtype)
    x[0, :128] = 0
    x[1, :3] = np.nan, np.inf, -np.inf
    values, scales = quantize_blockwise(torch.from_numpy(x).to(device), block)
    expected, expected_scales = quantize_blockwise(x, block)
    assert values.device.type == scales.device.type == device and values.dtype == torch.float8_e4m3fn
    assert (scales.cpu().numpy() == expected_scales).all() and tuple(s * 4 for s in scales.stride()) == expected_scales.strides
    nan = expected.view(np.uint8) & 0x7F == 0x7F
    assert (np.where(nan, codes(values) & 0x7F == 0x7F, codes(values) == expected.view(np.uint8))).all()


def test_bfloat16(device):
    x = torch.randn(130, 300, device=device).to(torch.bfloat16)
    values, scales = quantize_blockwise(x, scale_dtype=torch.bfloat16)
    assert scales.dtype == torch.bfloat16 and tuple(scales.stride()) == (192, 1)
    wide = scales.float().T.repeat_interleave(128, 1)[:, :300]
    assert same(values, (x.float() / wide).clip(-448, 448).to(torch.float8_e4m3fn))


@pytest.mark.parametrize("b_block", [128, 64, 1])
def test_reference(b_block, device):
    torch.manual_seed(1)
    a, a_scale = quantize_blockwise(torch.randn(130, 200, device=device))
    b, b_scale = quantize_blockwise(torch.randn(140, 200, device=device), (b_block, 128))
    bias, residual = torch.randn(140, device=device), torch.randn(130, 140, device=device).to(torch.bfloat16)
    options = {"b_block": b_block, "beta": 0.5}
    d = reference_gemm(a, a_scale, b, b_scale, bias=bias, c=residual, **options)
    assert d.device.type == device and d.dtype == torch.float64
    arrays = [codes(a), a_scale.cpu().numpy(), codes(b), b_scale.cpu().numpy()]
    expected = reference_gemm(*arrays, bias=bias.cpu().numpy(), c=residual.cpu().float().numpy(), **options)
    np.testing.assert_allclose(d.cpu().numpy(), expected, 1e-12, 1e-12)
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float8_e4m3fn):
        rounded = reference_gemm(a, a_scale, b, b_scale, d_dtype=dtype, **options)
        assert rounded.dtype == dtype
        assert compare(rounded, a, a_scale, b, b_scale, **options).ok
        wrong = rounded.clone()
        wrong.view(torch.uint8)[3, 0] ^= 0x7F if dtype == torch.float8_e4m3fn else 0xFF
        wrong.view(torch.uint8)[3, wrong.element_size() - 1] ^= 0x40
        assert not compare(wrong, a, a_scale, b, b_scale, **options)


def test_reference_of_arrays_and_tensors(device):
    """As fp8.gemm takes them, whichever A is."""
    torch.manual_seed(1)
    a, a_scale = quantize_blockwise(torch.randn(40, 200, device=device), scale_dtype=torch.bfloat16)
    b, b_scale = quantize_blockwise(torch.randn(72, 200, device=device), (128, 128))
    tensors = {"a": a, "a_scale": a_scale, "b": b, "b_scale": b_scale, "bias": torch.randn(72, device=device), "c": torch.randn(40, 72, device=device).half()}
    arrays = {name: NumPy().take(tensor, name) for name, tensor in tensors.items()}
    assert (arrays["a"].dtype.name, arrays["a_scale"].dtype.name) == ("float8_e4m3fn", "bfloat16")
    wanted = reference_gemm(**tensors)
    for name in tensors:
        assert torch.equal(reference_gemm(**(arrays | {"a": a, name: tensors[name]})), wanted)
        np.testing.assert_allclose(reference_gemm(**(tensors | {"a": arrays["a"], name: arrays[name]})), wanted.cpu().numpy(), 1e-12, 1e-12)
    assert compare(reference_gemm(**tensors, d_dtype="bfloat16"), **arrays).ok
    swapped = arrays["bias"].astype(">f4")
    assert torch.equal(reference_gemm(**(tensors | {"bias": swapped})), wanted)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_rounding_is_torchs(dtype, device):
    x = torch.from_numpy(np.random.default_rng(2).integers(0, 2**32, 100000, dtype=np.uint64).astype(np.uint32).view(np.float32)).to(device)
    target = by_name()[str(dtype).removeprefix("torch.")]
    rounded = arrays_of(x).narrow(round_to(arrays_of(x), x.to(torch.float64), target), target)
    assert torch.equal(torch.nan_to_num(rounded.float(), 7.0), torch.nan_to_num(x.to(dtype).float(), 7.0))
