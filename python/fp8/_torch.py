# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on torch's tensors: a warm call in few microseconds, and the operator that torch.compile sees."""

from __future__ import annotations

import functools
import operator
from typing import Callable, Union

import torch

from . import _choice
from ._annotations import Operand
from ._arrays import Array, contiguous_strides
from ._call import Call, find_parameter, parameters
from ._device import Launch, get_device
from ._errors import DeviceError
from ._launch import Launched, launch
from ._launch import run as run_anywhere
from ._library import last_error
from ._operands import NO_GRADIENT, requires_gradient
from ._packages import package
from ._rows import Rows, key_of_numbers
from ._rows import key_of as key_of_rows
from ._types import by_mlir, format_of

_Key = tuple[object, ...]

try:
    _raw_stream: Callable[[int], int] = torch._C._cuda_getCurrentRawStream
except AttributeError:  # a torch without CUDA

    def _raw_stream(index: int) -> int:
        return int(torch.cuda.current_stream(index).cuda_stream)


# What compiled code allocates by; it takes half of the time of torch.empty_strided, and the current device.
_quick_empty = getattr(getattr(getattr(torch._C, "_dynamo", None), "guards", None), "_empty_strided_cuda", None)
_current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", lambda: -1)


class _Plan:
    """A call that can be repeated with other tensors of the same types, shapes and strides, none of which is copied.

    Attributes:
        others: of each argument between B's scales and D, its place in a `Call`, and whether it is a number of Python.
        masks: of each argument, the bits that its address may not have.
    """

    __slots__ = ("launch", "handle", "pack", "call", "shape", "strides", "dtype", "device", "index", "others", "count", "masks", "known_number")

    def __init__(self, call: Call, done: Launched):
        operands, spec = done.operands, done.operands.spec
        self.launch = done.launch
        self.handle, self.pack, self.call, self.count = done.launch.handle, done.launch.pack, done.launch.call, done.launch.count
        self.shape, self.strides, self.dtype = operands.d_shape, contiguous_strides(operands.d_shape), getattr(torch, by_mlir()[spec.d_dtype].name)
        self.device, self.index = getattr(call.a, "device"), operands.index
        self.others = tuple(
            (Call._fields.index(name), isinstance(operands.numbers.get(name), float)) for name in spec.arguments[4:-1]
        )
        self.masks = tuple(15 if name in spec.read_by_tma else 0 for name in spec.arguments)
        self.known_number = get_device(operands.index).known_number

    def with_rows(self, m: int, launch: Launch) -> _Plan:
        """Returns a plan for the same call with another M."""
        plan = _Plan.__new__(_Plan)
        for name in _Plan.__slots__:
            setattr(plan, name, getattr(self, name))
        plan.launch, plan.handle, plan.shape = launch, launch.handle, (m, self.shape[1])
        return plan


_plans: _choice.Remembered[_Key, _Plan] = _choice.Remembered()
_rows: _choice.Remembered[_Key, tuple[Rows, _Plan]] = _choice.Remembered()
"""Of calls of every M, what the first of them left."""


def _key(call: Call) -> _Key | None:
    """Returns what calls of one plan have in common; None if only `launch` can tell whether the call is right."""
    fields: tuple[torch.Tensor, ...] = call
    a, a_scale, b, b_scale, d_dtype, bias, c, beta, d_scale, d, scale_layout, b_block, _, programmatic, constant_b = fields
    if torch.is_grad_enabled() and (
        a.requires_grad or a_scale.requires_grad or b.requires_grad or b_scale.requires_grad  # one by one, which is the quickest
        or requires_gradient(bias, c, beta, d_scale, d)
    ):
        raise ValueError(NO_GRADIENT)
    key: _Key = (
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
        d_dtype,
        scale_layout,
        b_block,
        programmatic,
        constant_b,
    )
    for tensor in (bias, c, d):
        if tensor is not None:
            key += (tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device())
        else:
            key += (None,)
    numbers = key_of_numbers(call)
    return None if numbers is None else key + numbers


def run(call: Call, simulate: bool, chip: str | None) -> torch.Tensor:
    """fp8.gemm of tensors: of those on a cuda device, or of any while torch.compile reads the code."""
    if not is_compiling():
        return _gemm(call)
    if getattr(call.a, "is_cuda") and not simulate and chip is None:
        return _call_operator(call)
    return run_uncompiled(call, simulate, chip)


def _gemm(call: Call) -> torch.Tensor:
    """A call of tensors on a cuda device, by its plan if there is one."""
    try:
        key = _key(call)
    except AttributeError:
        key = None  # not all are tensors; `launch` finds whether that is an error
    plan = _plans.entries.get(key)  # type: ignore[arg-type]
    if plan is None:
        plan = _plan_rows(key, call)
    if plan is None:
        return _launch_and_plan(key, call)
    stream = call.stream
    if call.d is not None:
        result: torch.Tensor = call.d
    elif stream is None:
        if _quick_empty is not None and _current_device() == plan.index:
            result = _quick_empty(plan.shape, plan.strides, plan.dtype)
        else:  # quicker than torch.empty, which works the strides out
            result = torch.empty_strided(plan.shape, plan.strides, dtype=plan.dtype, device=plan.device)
    else:
        with package(call.a).on(plan.index, stream):  # type: ignore[union-attr]
            result = torch.empty_strided(plan.shape, plan.strides, dtype=plan.dtype, device=plan.device)
    fields: tuple[torch.Tensor, ...] = call
    addresses = [fields[0].data_ptr(), fields[1].data_ptr(), fields[2].data_ptr(), fields[3].data_ptr()]
    for place, is_number in plan.others:
        given = fields[place]
        address = plan.known_number(float(given)) if is_number else given.data_ptr()
        if address is None:  # a number that is not on the GPU yet
            return _launch_and_plan(None, call)
        addresses.append(address)
    addresses.append(result.data_ptr())
    if functools.reduce(operator.or_, addresses) & 15:  # parts of tensors, which TMA may not read where they are
        if any(address & mask for address, mask in zip(addresses, plan.masks)):
            return _launch_and_plan(None, call)
    if plan.call(plan.handle, plan.pack(*addresses), plan.count, _raw_stream(plan.index) if stream is None else stream):
        raise DeviceError(last_error())
    return result


def _plan_rows(key: _Key | None, call: Call) -> _Plan | None:
    """The plan of a call that differs in M alone from one with a plan; None if there is no such call."""
    since = _choice.generation()
    found = _rows.entries.get(key_of_rows(call)) if key is not None else None  # type: ignore[arg-type]
    if key is None or found is None:
        return None
    fields: tuple[torch.Tensor, ...] = call
    a, a_scale = fields[:2]
    rows, like = found
    launch = rows.launch(a.shape[0], a_scale)
    return _plans.keep(key, like.with_rows(a.shape[0], launch), since) if launch else None


def _launch_and_plan(key: _Key | None, call: Call) -> torch.Tensor:
    """Checks and launches a call, and keeps a plan for its key, unless that is None or an operand was copied."""
    since = _choice.generation()
    done = launch(call)
    if key is not None and _reads_in_place(done):
        plan = _plans.keep(key, _Plan(call, done), since)
        by_rows = key_of_rows(call)
        if by_rows is not None:
            _rows.keep(by_rows, (Rows(done), plan), since)
    result: torch.Tensor = done.result
    return result


def _reads_in_place(done: Launched) -> bool:
    """Whether the kernel works on the operands themselves, and on what is returned."""
    originals = {array.address for array in done.operands.matrices.values()}
    reads: dict[str, Array] = dict(zip(done.operands.spec.arguments, done.arrays))
    written, result = reads.pop("d"), done.result
    is_result = written.address == getattr(result, "data_ptr")()
    return is_result and all(array.address in originals for name, array in reads.items() if name not in done.operands.numbers)


# -- The operators, which are what torch.compile sees --------------------------------------------------------------------------


# Read here: torch.compile cannot read code that loads the library.
_OPERANDS = tuple(parameter.name for parameter in parameters())
_NUMBERS = tuple(parameter.name for parameter in parameters() if parameter.is_number)
_D_FORMATS = find_parameter("d").formats
_OPTIONS = tuple(name for name in Call._fields if name in Call._field_defaults and name not in ("d", "stream"))
"""The options of a `Call` that the operator takes; D is another operator's."""
_SCHEMA_TYPES = {"d_dtype": "ScalarType?", "beta": "float", "d_scale": "float?", "scale_layout": "str?", "b_block": "int", "programmatic": "bool?",
                 "constant_b": "bool"}
"""Their types as torch's schemas spell them; operands that are not here are "Tensor?"."""


def _schema() -> str:
    """The operator's parameters: those of a `Call`. A number may also be a tensor, of another name."""
    defaults = Call._field_defaults
    options = [f"{_SCHEMA_TYPES.get(name, 'Tensor?')} {name}={defaults[name]}" for name in _OPTIONS]
    options += [f"Tensor? {name}_tensor=None" for name in _NUMBERS]
    return ", ".join([*(f"Tensor {name}" for name in Call._fields if name not in defaults), "*", *options])


_library = torch.library.Library("fp8", "DEF")
_library.define(f"gemm({_schema()}) -> Tensor")
_library.define(f"gemm_out({_schema()}, Tensor(a!) d) -> ()")

_Runner = Callable[[Call, bool, Union[str, None]], "torch.Tensor"]
_Option = Union[Operand, float, str, "torch.dtype", None]


def _run(*operands: torch.Tensor, **options: _Option) -> torch.Tensor:
    for name in _NUMBERS:
        tensor = options.pop(f"{name}_tensor", None)
        if tensor is not None:
            options[name] = tensor
    return _gemm(Call(*operands, **options))  # type: ignore[arg-type]


def _run_out(*operands: torch.Tensor, **options: _Option) -> None:
    _run(*operands, **options)


def _fake(a: torch.Tensor, a_scale: torch.Tensor, b: torch.Tensor, b_scale: torch.Tensor, *, d_dtype: torch.dtype | None = None,
          **_: _Option) -> torch.Tensor:
    return a.new_empty((*a.shape[:-1], b.shape[-2]), dtype=torch.bfloat16 if d_dtype is None else d_dtype)


def _fake_out(*_: torch.Tensor, **__: _Option) -> None:
    pass


_library.impl("gemm", _run, "CUDA")
_library.impl("gemm_out", _run_out, "CUDA")
torch.library.register_fake("fp8::gemm", _fake)
torch.library.register_fake("fp8::gemm_out", _fake_out)


# What torch uses for its own functions: unlike torch.compiler.disable, it does not import torch._dynamo, which takes seconds, before the
# first call that is compiled.
_disable: Callable[[_Runner], _Runner] = getattr(torch, "_disable_dynamo", None) or torch.compiler.disable


@_disable
def run_uncompiled(call: Call, simulate: bool, chip: str | None) -> torch.Tensor:
    """A call that torch.compile does not read, for which there is no operator: what is before it and behind it is compiled."""
    result: torch.Tensor = run_anywhere(call, simulate, chip)
    return result


def _call_operator(call: Call) -> torch.Tensor:
    """A call that torch.compile reads."""
    if call.stream is not None:
        raise ValueError("stream cannot be given under torch.compile, which has its own: leave it out")
    if torch.is_grad_enabled() and requires_gradient(*(getattr(call, name) for name in _OPERANDS)):
        raise ValueError(NO_GRADIENT)
    options = {name: getattr(call, name) for name in _OPTIONS}
    dtype = call.d_dtype
    if dtype is not None and not isinstance(dtype, torch.dtype):
        options["d_dtype"] = getattr(torch, format_of(dtype, "d_dtype", _D_FORMATS).name)
    for name in _NUMBERS:
        if isinstance(options[name], torch.Tensor):
            options[f"{name}_tensor"] = options.pop(name)
    if call.d is None:
        result: torch.Tensor = torch.ops.fp8.gemm(*call[:4], **options)
        return result
    torch.ops.fp8.gemm_out(*call[:4], **options, d=call.d)
    return call.d


is_compiling: Callable[[], bool] = torch.compiler.is_compiling
