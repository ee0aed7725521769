# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A call of fp8.gemm, made: its operands checked, its kernel found, and launched on a GPU or simulated."""

from __future__ import annotations

import contextlib
from typing import Callable, NamedTuple

from ._annotations import Operand
from ._arrays import CPU, Array, describe, is_torch, package_of
from ._call import Call
from ._choice import chip_of, kernel_for
from ._device import Launch, get_device
from ._errors import DeviceError, Fp8Error
from ._kernel import Kernel
from ._layout import make_output
from ._operands import Operands
from ._packages import current_stream, package, torch_is_tracing
from ._timeline import Timeline


class Launched(NamedTuple):
    """A call on a GPU that has been enqueued."""

    operands: Operands
    arrays: tuple[Array, ...]  # in the kernel's order
    launch: Launch
    result: Operand


def run(call: Call, simulate: bool, chip: str | None) -> Operand:
    """Checks a call and makes it: on the simulator, or on the GPU that has its arrays. Returns D."""
    if simulate:
        return _simulate(call, chip)
    _refuse_chip(chip)
    return launch(call).result


def launch(call: Call) -> Launched:
    """Checks the operands, copies those that a kernel cannot read where they are, and enqueues the kernel."""
    call, operands, kernel = _choose(call)
    index, stream = operands.index, call.stream or 0
    _check_capture(call, operands, kernel)
    get_device(index).await_producers(operands.given(), stream)
    with _all_on(call, index, stream):
        written, result = make_output(call.a, operands.place, operands.d_shape, operands.spec.d_dtype, call.d, operands.d)
        arrays = operands.arrays(written)
        prepared = kernel.loaded(index).prepare(arrays)
        prepared.enqueue(stream, *(array.address for array in arrays))
        return Launched(operands, arrays, prepared, result())


def profile(call: Call, simulate: bool, chip: str | None, twin_of: Callable[[Kernel], Kernel]) -> Timeline:
    """Makes a call as `run` does, once or some times, by the twin of its kernel that writes stamps."""
    if simulate:
        operands, kernel = _choose_simulated(call, chip)
        stream: int | None = None
    else:
        _refuse_chip(chip)
        call, operands, kernel = _choose(call)
        stream = call.stream or 0
        get_device(operands.index).await_stream(stream)
    with contextlib.nullcontext() if stream is None else _all_on(call, operands.index, stream):
        written, result = make_output(call.a, operands.place, operands.d_shape, operands.spec.d_dtype, call.d, operands.d)
        arrays = operands.arrays(written)
        if stream is not None:  # the copies of what a kernel cannot read where it is
            get_device(operands.index).await_stream(stream)
        timeline = twin_of(kernel).profile(*arrays)
        result()
        return timeline


def _choose(call: Call) -> tuple[Call, Operands, Kernel]:
    """A call on a GPU with its stream, its operands, checked, and its kernel."""
    first = describe(call.a, "a", call.stream)
    if first.device == CPU:
        Operands(call)  # reports an operand that is wrong first
        raise _explain_host()
    index = first.index
    if call.stream is None:
        call = call._replace(stream=current_stream(call.a, index))
    operands = Operands(call)
    device = get_device(index)
    return call, operands, kernel_for(operands.spec, chip_of(device), (operands.m, operands.n, operands.k), device.info.name)


def _choose_simulated(call: Call, chip: str | None) -> tuple[Operands, Kernel]:
    if torch_is_tracing() and any(map(is_torch, call.operands())):
        raise ValueError("a simulated call cannot be traced, for the simulator has numbers and no graph: call it outside, or trace a call on cuda tensors")
    operands = Operands(call)
    chip = chip or operands.spec.default_chip
    if operands.device != CPU:
        raise ValueError(f"a is on {operands.place}, and the simulator works on the host's memory: copy the operands there")
    return operands, kernel_for(operands.spec, chip, (operands.m, operands.n, operands.k))


def _simulate(call: Call, chip: str | None) -> Operand:
    operands, kernel = _choose_simulated(call, chip)
    written, result = make_output(call.a, operands.place, operands.d_shape, operands.spec.d_dtype, call.d, operands.d)
    kernel.simulate(*operands.arrays(written))
    d: Operand = result()
    return d


def _refuse_chip(chip: str | None) -> None:
    if chip is not None:
        raise ValueError("chip is for simulate=True; on a GPU kernels are compiled for the one that is there")


def _check_capture(call: Call, operands: Operands, kernel: Kernel) -> None:
    """Refuses to load or allocate while a CUDA graph is captured, for either ends the capture."""
    index = operands.index
    missing = [] if kernel.find_loaded(index) else ["the kernel for these shapes"]
    for name, value in operands.numbers.items():
        if isinstance(value, float) and get_device(index).known_number(value) is None:
            missing.append(f"{name} = {value}")
    made_by = package(call.a)
    if missing and made_by and made_by.is_capturing(index):
        raise DeviceError(f"a CUDA graph is being captured, and {missing[0]} is not on the GPU yet: make the same call once before the capture")


def _all_on(call: Call, index: int, stream: int) -> contextlib.ExitStack:
    """Makes every package copy on the kernel's GPU and in its stream."""
    stack = contextlib.ExitStack()
    for array in {package_of(array): array for array in call.operands()}.values():
        made_by = package(array)
        if made_by:
            stack.enter_context(made_by.on(index, stream))
    return stack


def _explain_host() -> Fp8Error:
    reason = ""
    try:
        get_device(0)
    except Fp8Error as error:
        reason = f"; there is no GPU to copy them to: {error}"
    return DeviceError(
        f"the arrays are in the host's memory, and kernels run on a GPU: pass arrays of torch or cupy on a cuda device, or simulate=True, "
        f"which computes the same on the simulator, slowly{reason}"
    )
