# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm on torch's tensors: a warm call in few microseconds, and the operator that torch.compile sees."""

from __future__ import annotations

import struct
from typing import Callable, Union

import torch
from torch.autograd import forward_ad as _forward

from . import _choice, _library
from ._annotations import Number, Operand
from ._arrays import Array, contiguous_strides
from ._call import Call, find_parameter, parameters
from ._description import ORDER, addresses_of, count_arrays, describe_attributes, describer, key_of
from ._device import Launch, get_device
from ._errors import DeviceError
from ._launch import Launched, launch
from ._launch import run as run_anywhere
from ._operands import NO_GRADIENT, as_number, refuse_tangents, requires_gradient
from ._packages import package
from ._rows import Rows, find_row
from ._types import by_mlir, format_of

_Key = tuple[object, ...]
_Factors = tuple[Union["torch.Tensor", None], ...]

try:
    _raw_stream: Callable[[int], int] = torch._C._cuda_getCurrentRawStream
except AttributeError:  # a torch without CUDA

    def _raw_stream(index: int) -> int:
        return int(torch.cuda.current_stream(index).cuda_stream)


# What compiled code allocates by; it takes half of the time of torch.empty_strided, and the current device.
_quick_empty = getattr(getattr(getattr(torch._C, "_dynamo", None), "guards", None), "_empty_strided_cuda", None)
_current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", lambda: -1)
_count_modes: Callable[[], int] = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
"""How many TorchDispatchModes see torch's operators at present."""


def _find_marker() -> Callable[[tuple[torch.Tensor, ...]], None]:
    """Returns what tells autograd that tensors were written to; before torch took several at once, it is slower."""
    quick: Callable[[tuple[torch.Tensor, ...]], None]
    try:
        quick = torch._C._increment_version
        quick((torch.empty(0),))
    except (AttributeError, TypeError, RuntimeError):
        return lambda tensors: package(tensors[0]).mark_written(tensors[0])  # type: ignore[union-attr]
    return quick


_mark_written = _find_marker()


class _Plan:
    """A call that can be repeated with other tensors of the same types, shapes and strides, none of which is copied.

    Attributes:
        places: of each of the kernel's arguments, where its address is among those of a description and of the numbers behind them; `_NEW_D`: of D.
        numbers: the fields of a `Call` that are numbers of Python which the kernel reads from memory.
    """

    def __init__(self, call: Call, done: Launched, count: int):
        operands, spec = done.operands, done.operands.spec
        self.launch, self.handle = done.launch, done.launch.handle
        self.shape, self.strides, self.dtype = operands.d_shape, contiguous_strides(operands.d_shape), getattr(torch, by_mlir()[spec.d_dtype].name)
        self.device, self.index = getattr(call.a, "device"), operands.index
        self.numbers = tuple(name for name in spec.arguments if isinstance(operands.numbers.get(name), float))
        place_of = {name: place for place, name in enumerate(ORDER)} | {name: count + place for place, name in enumerate(self.numbers)}
        if call.d is None:
            place_of["d"] = _NEW_D
        self.places = bytes(place_of[name] for name in spec.arguments)
        self.known_number = get_device(operands.index).known_number

    def with_rows(self, m: int, launch: Launch) -> _Plan:
        """Returns a plan for the same call with another M."""
        plan = _Plan.__new__(_Plan)
        vars(plan).update(vars(self), launch=launch, handle=launch.handle, shape=(m, self.shape[1]))
        return plan


_NEW_D = 255  # fp8PythonEnqueue's last address
_plans: _choice.Remembered[_Key, _Plan] = _choice.Remembered()
_rows: _choice.Remembered[_Key, tuple[Rows, _Plan]] = _choice.Remembered()
"""Of calls of every M, what the first of them left."""
_describe, _enqueue = describer(torch.Tensor), _library.enqueue()


def _refuse_gradients(call: Call) -> None:
    """As `launch` does, but quickly; AttributeError if not all are tensors."""
    fields: tuple[torch.Tensor, ...] = call
    a, a_scale, b, b_scale, _, bias, c, beta, d_scale, d, *_ = fields
    if _forward._current_level >= 0:
        refuse_tangents(call)
    if not torch.is_grad_enabled():
        return
    if a.requires_grad or a_scale.requires_grad or b.requires_grad or b_scale.requires_grad or d is not None and d.requires_grad:
        raise ValueError(NO_GRADIENT)
    if (bias is not None or c is not None or d_scale is not None) and requires_gradient(bias, c, beta, d_scale):
        raise ValueError(NO_GRADIENT)


def _key_of_numbers(call: Call) -> _Key | None:
    """Tells the factors of calls apart: arrays, None here, from numbers, and of these 0 and 1, which make other kernels. None: the call may be wrong."""
    key: _Key = ()
    if call.c is not None:
        key = (_key_of_number(call.beta),)
    elif not isinstance(call.beta, (float, int)) or call.beta != 1:
        return None
    return key if call.d_scale is None else (*key, _key_of_number(call.d_scale))


def _key_of_number(value: Number) -> object:
    number = as_number(value)
    return number if number is None or number in (0, 1) else "number"


def _describe_call(call: Call) -> tuple[bytes, _Key | None]:
    """Returns the description of its tensors, and what calls of one plan have in common; None if only `launch` can tell whether the call is right."""
    a, a_scale, b, b_scale, d_dtype, bias, c, beta, d_scale, d, scale_layout, b_block, _, programmatic, constant_b = call
    numbers: _Key | None = ()
    tensors = (a, a_scale, b, b_scale, d, bias, c)
    if c is not None or d_scale is not None or type(beta) is not float or beta != 1:
        numbers = _key_of_numbers(call)
        if numbers is None:
            return b"", None
        factors: _Factors = tuple(value if value is not None and as_number(value) is None else None for value in (beta, d_scale))
        first, second = factors
        if first is not None and first.is_neg() or second is not None and second.is_neg():  # z.conj().imag of more elements has strides that no plan has
            return b"", None
        tensors += factors
    description = _describe(*tensors) or describe_attributes(*tensors)
    if not description:
        return b"", None
    return description, (key_of(description), d_dtype, scale_layout, b_block, programmatic, constant_b, numbers)


def run(call: Call, simulate: bool, chip: str | None) -> torch.Tensor:
    """fp8.gemm of tensors: of those on a cuda device, or of any while torch.compile reads the code."""
    if not is_compiling():
        return _gemm(call) if _count_modes() == 0 else _show_to_modes(call)
    if getattr(call.a, "is_cuda") and not simulate and chip is None:
        return _call_operator(call)
    return run_uncompiled(call, simulate, chip)


def _gemm(call: Call) -> torch.Tensor:
    """A call of tensors on a cuda device, by its plan if there is one."""
    try:
        _refuse_gradients(call)
        description, key = _describe_call(call)
    except AttributeError:
        description, key = b"", None  # not all are tensors; `launch` finds whether that is an error
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
    if plan.numbers:
        numbers = [plan.known_number(float(getattr(call, name))) for name in plan.numbers]
        if None in numbers:  # one that is not on the GPU yet
            return _launch_and_plan(None, call)
        description = addresses_of(description) + struct.pack(f"={len(numbers)}Q", *numbers)
    if _enqueue(plan.handle, plan.places, description, result.data_ptr(), _raw_stream(plan.index) if stream is None else stream):
        raise DeviceError(_library.last_error())
    if call.d is not None:
        _mark_written((result,))
    return result


def _plan_rows(key: _Key | None, call: Call) -> _Plan | None:
    """The plan of a call that differs in M alone from one with a plan; None if there is no such call."""
    since = _choice.generation()
    row = find_row(key[0]) if key is not None else None  # type: ignore[arg-type]
    found = _rows.entries.get((*row.key, *key[1:])) if row else None  # type: ignore[index]
    if key is None or row is None or found is None:
        return None
    rows, like = found
    launch = rows.launch(row)
    return _plans.keep(key, like.with_rows(row.m, launch), since) if launch else None


def _launch_and_plan(key: _Key | None, call: Call) -> torch.Tensor:
    """Checks and launches a call, and keeps a plan for its key, unless that is None or an operand was copied."""
    since = _choice.generation()
    done = launch(call)
    if key is not None and _reads_in_place(done):
        described, *options = key
        plan = _plans.keep(key, _Plan(call, done, count_arrays(described)), since)  # type: ignore[arg-type]
        row = find_row(described)  # type: ignore[arg-type]
        if row is not None:
            _rows.keep((*row.key, *options), (Rows(done), plan), since)
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


_operators = torch.library.Library("fp8", "DEF")
_operators.define(f"gemm({_schema()}) -> Tensor")
_operators.define(f"gemm_out({_schema()}, Tensor(a!) d) -> ()")

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


_operators.impl("gemm", _run, "CUDA")
_operators.impl("gemm_out", _run_out, "CUDA")
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


def _show_to_modes(call: Call) -> torch.Tensor:
    """A call that a TorchDispatchMode sees, as make_fx and FakeTensorMode do: of an operator, which takes tensors alone, in the current stream."""
    numbers = {name: number for name in _NUMBERS if (number := as_number(getattr(call, name))) is not None}
    operands = [getattr(call, name) for name in _OPERANDS if name not in numbers]
    if not all(operand is None or isinstance(operand, torch.Tensor) for operand in operands):
        return _gemm(call)
    call = call._replace(**numbers)  # type: ignore[arg-type]
    if call.stream is None:
        return _call_operator(call)
    with package(call.a).on(getattr(call.a, "device").index, call.stream):  # type: ignore[union-attr]
        return _call_operator(call._replace(stream=None))


is_compiling: Callable[[], bool] = torch.compiler.is_compiling
