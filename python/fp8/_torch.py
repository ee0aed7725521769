# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on torch's tensors: a warm call in few microseconds, and the operator that torch.compile sees."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable

import torch

from . import _gemm
from ._arrays import Array, contiguous_strides
from ._device import get_device
from ._errors import DeviceError
from ._gemm import Launched, launch
from ._library import last_error
from ._operands import NO_GRADIENT, Call, as_number, requires_gradient
from ._packages import package
from ._types import BY_MLIR, format_of

try:
    _raw_stream: Callable[[int], int] = torch._C._cuda_getCurrentRawStream
except AttributeError:  # a torch without CUDA

    def _raw_stream(index: int) -> int:
        return int(torch.cuda.current_stream(index).cuda_stream)


class _Plan:
    """A call that can be repeated with other tensors of the same types, shapes and strides, none of which is copied."""

    __slots__ = ("launch", "handle", "pack", "call", "shape", "strides", "dtype", "device", "index", "names", "count", "masks", "constants", "known_number")

    def __init__(self, call: Call, done: Launched):
        operands, spec = done.operands, done.operands.spec
        self.launch = done.launch
        self.handle, self.pack, self.call, self.count = done.launch.handle, done.launch.pack, done.launch.call, done.launch.count
        self.shape, self.strides, self.dtype = operands.d_shape, contiguous_strides(operands.d_shape), getattr(torch, BY_MLIR[spec.out_dtype].name)
        self.device, self.index = call.a.device, operands.index
        self.names = spec.arguments
        # The bits that no address may have.
        self.masks = tuple(15 if name in spec.read_by_tma else 0 for name in spec.arguments)
        self.constants = frozenset(name for name, value in operands.numbers.items() if isinstance(value, float))
        self.known_number = get_device(operands.index).known_number


_plans: dict[tuple[Any, ...], _Plan] = {}
_lock = threading.Lock()
_MANY = 65536  # plans, after which all are forgotten


def _key(
    a: Any, a_scale: Any, b: Any, b_scale: Any, out_dtype: Any, bias: Any, residual: Any, beta: Any, out_scale: Any, out: Any,
    scale_layout: Any, b_block: int, programmatic: bool | None,
) -> tuple[Any, ...] | None:
    if torch.is_grad_enabled() and (
        a.requires_grad or a_scale.requires_grad or b.requires_grad or b_scale.requires_grad  # one by one, which is the quickest
        or requires_gradient(bias, residual, beta, out_scale, out)
    ):
        raise ValueError(NO_GRADIENT)
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
        programmatic,
    )
    for tensor in (bias, residual, out):
        if tensor is not None:
            key += (tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device())
        else:
            key += (None,)
    if residual is not None:
        key += _mark(beta)
    elif not isinstance(beta, (float, int)) or beta != 1:
        return None  # an error or not, as `launch` finds
    return key if out_scale is None else key + _mark(out_scale)


def _mark(value: Any) -> tuple[Any, ...]:
    """Whether it is an array, or a number, of which 0 and 1 make other kernels."""
    number = as_number(value)
    if number is None:
        return value.shape, value.dtype, value.get_device()
    return (number if number in (0, 1) else "number",)


def gemm(
    a: Any,
    a_scale: Any,
    b: Any,
    b_scale: Any,
    out_dtype: Any,
    bias: Any,
    residual: Any,
    beta: Any,
    out_scale: Any,
    out: Any,
    scale_layout: str | None,
    b_block: int,
    stream: int | None,
    programmatic: bool | None,
) -> torch.Tensor:
    """fp8.gemm of tensors on a cuda device."""
    try:
        key = _key(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, programmatic)
    except AttributeError:
        key = None  # not all are tensors, which is an error or not, as `launch` finds
    plan = _plans.get(key)  # type: ignore[arg-type]
    if plan is None:
        return _cold(key, Call(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream, programmatic))
    if out is not None:
        result = out
    elif stream is None:
        # Quicker than torch.empty, which works the strides out.
        result = torch.empty_strided(plan.shape, plan.strides, dtype=plan.dtype, device=plan.device)
    else:
        with package(a).on(plan.index, stream):  # type: ignore[union-attr]
            result = torch.empty_strided(plan.shape, plan.strides, dtype=plan.dtype, device=plan.device)
    addresses = [a.data_ptr(), a_scale.data_ptr(), b.data_ptr(), b_scale.data_ptr()]
    if plan.count > 5:
        for name in plan.names[4:-1]:
            given = residual if name == "c" else bias if name == "bias" else beta if name == "beta" else out_scale
            address = plan.known_number(float(given)) if name in plan.constants else given.data_ptr()
            if address is None:  # a number that is not on the GPU yet
                return _cold(None, Call(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream, programmatic))
            addresses.append(address)
    addresses.append(result.data_ptr())
    for address, mask in zip(addresses, plan.masks):
        if address & mask:  # parts of tensors, which TMA may not read where they are
            return _cold(None, Call(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream, programmatic))
    if plan.call(plan.handle, plan.pack(*addresses), plan.count, _raw_stream(plan.index) if stream is None else stream):
        raise DeviceError(last_error())
    return result


def _cold(key: tuple[Any, ...] | None, call: Call) -> torch.Tensor:
    """A call that is checked, and one whose operands are copied each time."""
    began = _gemm.generation
    done = launch(call)
    if key is not None and _reads_in_place(call, done):
        plan = _Plan(call, done)
        with _lock:
            if len(_plans) >= _MANY:
                _plans.clear()
            if began == _gemm.generation:
                _plans[key] = plan
    result: torch.Tensor = done.result
    return result


def _reads_in_place(call: Call, done: Launched) -> bool:
    """Whether the kernel works on the operands themselves, and on what is returned."""
    originals = {array.address for _, array in done.operands.named()}
    reads: dict[str, Array] = dict(zip(done.operands.spec.arguments, done.arrays))
    written = reads.pop("d")
    return all(array.address in originals for name, array in reads.items() if name not in done.operands.numbers) and written.address == done.result.data_ptr()


def forget_plans() -> None:
    """Other kernels may have been chosen since."""
    with _lock:
        _plans.clear()


def _forget() -> None:
    """In a process that was forked."""
    global _lock
    _lock = threading.Lock()
    _plans.clear()


os.register_at_fork(after_in_child=_forget)


# -- The operators, which are what torch.compile sees --------------------------------------------------------------------------


_OPERANDS = (
    "Tensor a, Tensor a_scale, Tensor b, Tensor b_scale, *, Tensor? bias=None, Tensor? residual=None, float beta=1.0, "
    "Tensor? beta_tensor=None, float? out_scale=None, Tensor? out_scale_tensor=None, str? scale_layout=None, int b_block=128, "
    "bool? programmatic=None"
)
_library = torch.library.Library("fp8", "DEF")
_library.define(f"gemm({_OPERANDS}, ScalarType? out_dtype=None) -> Tensor")
_library.define(f"gemm_out({_OPERANDS}, ScalarType? out_dtype=None, Tensor(a!) out) -> ()")


def _run(
    a: Any, a_scale: Any, b: Any, b_scale: Any, *, out_dtype: Any = None, bias: Any = None, residual: Any = None, beta: float = 1.0,
    beta_tensor: Any = None, out_scale: float | None = None, out_scale_tensor: Any = None, out: Any = None, scale_layout: Any = None, b_block: int = 128,
    programmatic: bool | None = None,
) -> torch.Tensor:
    if beta_tensor is not None:
        beta = beta_tensor
    if out_scale_tensor is not None:
        out_scale = out_scale_tensor
    return gemm(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, None, programmatic)


def _run_out(*operands: Any, **options: Any) -> None:
    _run(*operands, **options)


def _fake(a: Any, a_scale: Any, b: Any, b_scale: Any, *, out_dtype: Any = None, **_: Any) -> torch.Tensor:
    return a.new_empty((*a.shape[:-1], b.shape[-2]), dtype=torch.bfloat16 if out_dtype is None else out_dtype)


def _fake_out(*_: Any, **__: Any) -> None:
    pass


_library.impl("gemm", _run, "CUDA")
_library.impl("gemm_out", _run_out, "CUDA")
torch.library.register_fake("fp8::gemm", _fake)
torch.library.register_fake("fp8::gemm_out", _fake_out)


# What torch uses for its own functions: unlike torch.compiler.disable, it does not import torch._dynamo, which takes seconds, before the
# first call that is compiled.
_disable: Any = getattr(torch, "_disable_dynamo", None) or torch.compiler.disable


@_disable  # type: ignore[untyped-decorator, unused-ignore]
def run_uncompiled(call: Call, simulate: bool, chip: str | None) -> torch.Tensor:
    """A call that torch.compile does not read, for which there is no operator: what is before it and behind it is compiled."""
    result: torch.Tensor = _gemm.run_call(call, simulate, chip)
    return result


def compiled(call: Call) -> torch.Tensor:
    """A call that torch.compile reads."""
    if call.stream is not None:
        raise ValueError("stream cannot be given under torch.compile, which has its own: leave it out")
    operands = (call.a, call.a_scale, call.b, call.b_scale)
    if torch.is_grad_enabled() and requires_gradient(*operands, call.bias, call.residual, call.beta, call.out_scale, call.out):
        raise ValueError(NO_GRADIENT)
    dtype = call.out_dtype
    if dtype is not None and not isinstance(dtype, torch.dtype):
        dtype = getattr(torch, format_of(dtype, "out_dtype").name)
    options = {name: getattr(call, name) for name in ("bias", "residual", "scale_layout", "b_block", "programmatic")} | {"out_dtype": dtype}
    for name, value in (("beta", call.beta), ("out_scale", call.out_scale)):
        options[f"{name}_tensor" if isinstance(value, torch.Tensor) else name] = value
    if call.out is None:
        result: torch.Tensor = torch.ops.fp8.gemm(*operands, **options)
        return result
    torch.ops.fp8.gemm_out(*operands, **options, out=call.out)
    return call.out


is_compiling: Callable[[], bool] = torch.compiler.is_compiling
