# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on torch's tensors: a warm call in few microseconds, and the operator that torch.compile sees."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable

import torch

from . import _gemm
from ._arrays import Array, describe
from ._copies import make_output, padded_row
from ._device import Launch
from ._errors import DeviceError
from ._library import last_error

try:
    _raw_stream: Callable[[int], int] = torch._C._cuda_getCurrentRawStream
except AttributeError:  # a torch without CUDA

    def _raw_stream(index: int) -> int:
        return int(torch.cuda.current_stream(index).cuda_stream)


_DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f8E4M3FN": torch.float8_e4m3fn}


class _Plan:
    """A call that can be repeated with other tensors of the same types, shapes and strides, none of which is copied."""

    __slots__ = ("launch", "handle", "pack", "call", "count", "shape", "strides", "dtype", "device", "index", "beta", "order", "keep")

    def __init__(self, launch: Launch, operands: _gemm.Operands, device: torch.device, beta: Array | None):
        self.launch = launch
        self.handle, self.pack, self.call, self.count = launch.handle, launch.pack, launch.call, launch.count
        self.shape, self.strides, self.dtype = (operands.m, operands.n), (operands.n, 1), _DTYPES[operands.spec.out_dtype]
        self.device, self.index = device, operands.a.index
        self.beta = beta.address if beta else None
        self.keep = beta
        self.order = operands.spec.arguments


_plans: dict[tuple[Any, ...], _Plan] = {}
_lock = threading.Lock()
_MANY = 65536  # plans, after which all are forgotten


def _key(a: Any, a_scale: Any, b: Any, b_scale: Any, out_dtype: Any, bias: Any, residual: Any, beta: Any, out: Any, scale_layout: Any, b_block: int) -> tuple[Any, ...]:
    key: tuple[Any, ...] = (
        a.shape,
        a.stride(),
        a.dtype,
        a.get_device(),
        a_scale.shape,
        a_scale.stride(),
        a_scale.dtype,
        a_scale.get_device(),
        b.shape,
        b.stride(),
        b.dtype,
        b.get_device(),
        b_scale.shape,
        b_scale.stride(),
        b_scale.dtype,
        b_scale.get_device(),
        out_dtype,
        scale_layout,
        b_block,
    )
    for tensor in (bias, residual, out):
        if tensor is not None:
            key += (tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device())
        else:
            key += (None,)
    if residual is None:
        return key
    return (*key, beta) if isinstance(beta, (int, float)) else (*key, beta.shape, beta.dtype, beta.get_device())


def gemm(
    a: Any,
    a_scale: Any,
    b: Any,
    b_scale: Any,
    out_dtype: Any,
    bias: Any,
    residual: Any,
    beta: Any,
    out: Any,
    scale_layout: str | None,
    b_block: int,
    stream: int | None,
) -> torch.Tensor:
    """fp8.gemm of tensors on a cuda device."""
    try:
        key = _key(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out, scale_layout, b_block)
    except AttributeError:
        key = None  # not all are tensors, which is an error or not, as `_cold` finds
    plan = _plans.get(key)  # type: ignore[arg-type]
    if plan is None:
        return _cold(key, a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out, scale_layout, b_block, stream)
    # Quicker than torch.empty, which works the strides out.
    result = torch.empty_strided(plan.shape, plan.strides, dtype=plan.dtype, device=plan.device) if out is None else out
    addresses = [a.data_ptr(), a_scale.data_ptr(), b.data_ptr(), b_scale.data_ptr()]
    if plan.count > 5:
        if "c" in plan.order:
            addresses.append(residual.data_ptr())
        if "beta" in plan.order:
            addresses.append(beta.data_ptr() if plan.beta is None else plan.beta)
        if "bias" in plan.order:
            addresses.append(bias.data_ptr())
    addresses.append(result.data_ptr())
    for address in addresses:
        if address & 15:  # parts of tensors, which TMA may not read where they are
            return _cold(None, a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out, scale_layout, b_block, stream)
    if plan.call(plan.handle, plan.pack(*addresses), plan.count, _raw_stream(plan.index) if stream is None else stream):
        raise DeviceError(last_error())
    return result


def _cold(
    key: tuple[Any, ...] | None,
    a: Any,
    a_scale: Any,
    b: Any,
    b_scale: Any,
    out_dtype: Any,
    bias: Any,
    residual: Any,
    beta: Any,
    out: Any,
    scale_layout: str | None,
    b_block: int,
    stream: int | None,
) -> torch.Tensor:
    """A call that is checked, and one whose operands are copied each time."""
    residual, beta = _gemm.normalise(residual, beta)
    wanted = _gemm.dtype_name(out_dtype, "bf16" if out is None else describe(out, "out").dtype)
    operands = _gemm.Operands(a, a_scale, b, b_scale, wanted, bias, residual, beta, scale_layout, b_block)
    kernel = _gemm.gpu_kernel(operands)
    index = operands.a.index
    with torch.cuda.device(index):
        written, result = make_output(a, operands.a.place, operands.m, operands.n, wanted, out)
        arrays = operands.arrays(written)
        launch = kernel.loaded(index).prepare(arrays)
        launch.enqueue(_raw_stream(index) if stream is None else stream, *(array.address for array in arrays))
        if key is not None and _reads_in_place(operands, arrays, out, written):
            number = arrays[operands.spec.arguments.index("beta")] if isinstance(beta, float) else None
            with _lock:
                if len(_plans) >= _MANY:
                    _plans.clear()
                _plans[key] = _Plan(launch, operands, a.device, number)
        made: torch.Tensor = result()
        return made


def _reads_in_place(operands: _gemm.Operands, arrays: tuple[Array, ...], out: Any, written: Array) -> bool:
    """Whether the kernel works on the operands themselves."""
    originals = {array.address for _, array in operands.named()}
    names = operands.spec.arguments
    if any(array.address not in originals for name, array in zip(names, arrays) if name not in ("beta", "d")):
        return False
    return written.address == out.data_ptr() if out is not None else padded_row(operands.n, operands.spec.out_dtype) == operands.n


os.register_at_fork(after_in_child=_plans.clear)


# -- The operator --------------------------------------------------------------------------------------------------------------


_library = torch.library.Library("fp8", "DEF")
_library.define(
    "gemm(Tensor a, Tensor a_scale, Tensor b, Tensor b_scale, *, ScalarType? out_dtype=None, Tensor? bias=None, Tensor? residual=None, "
    "float beta=1.0, str? scale_layout=None, int b_block=128) -> Tensor"
)


def _operator(
    a: Any, a_scale: Any, b: Any, b_scale: Any, *, out_dtype: Any = None, bias: Any = None, residual: Any = None, beta: float = 1.0, scale_layout: Any = None, b_block: int = 128
) -> torch.Tensor:
    return gemm(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, None, scale_layout, b_block, None)


def _fake(
    a: Any, a_scale: Any, b: Any, b_scale: Any, *, out_dtype: Any = None, bias: Any = None, residual: Any = None, beta: float = 1.0, scale_layout: Any = None, b_block: int = 128
) -> torch.Tensor:
    return a.new_empty((a.shape[0], b.shape[0]), dtype=torch.bfloat16 if out_dtype is None else out_dtype)


_library.impl("gemm", _operator, "CUDA")
torch.library.register_fake("fp8::gemm", _fake)
operator = torch.ops.fp8.gemm.default


def is_compiling() -> bool:
    """Whether torch.compile reads the code that runs."""
    return bool(torch.compiler.is_compiling())
