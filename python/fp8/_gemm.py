# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm: the kernel for a call found, and launched."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from . import _measured
from ._annotations import AnyArray, DType, Number, Operand
from ._arrays import CPU, Array, describe, is_torch, package_of
from ._compile import compile
from ._device import Device, Launch, get_device
from ._errors import DeviceError, Fp8Error
from ._kernel import Kernel
from ._layout import make_output
from ._operands import SAID, Call, Operands
from ._packages import current_stream, package, stream_address
from ._spec import GemmSpec

_lock = threading.Lock()
_kernels: dict[tuple[Any, ...], Kernel] = {}
_being_made: dict[tuple[Any, ...], threading.Lock] = {}
_MANY = 65536  # problems, after which their kernels are looked for again
generation = 0
"""How often choices were forgotten: what was chosen before is not kept."""


@functools.lru_cache(maxsize=None)
def _tuned_table(gpu: str) -> str | None:
    """The package's table of measured configurations for the GPU of that name, if the package has one."""
    for path in sorted((Path(__file__).parent / "tuned").glob("*.json")):
        if f'"gpu": "{gpu}"' in path.read_text()[:200]:
            return str(path)
    return None


def kernel_for(spec: GemmSpec, chip: str, problem: tuple[int, int, int], gpu: str = "") -> Kernel:
    """The kernel for a problem. Those of one configuration are one."""
    key = (spec, chip, problem, gpu)
    found = _kernels.get(key)
    if found:
        return found
    with _lock:
        making = _being_made.setdefault(key, threading.Lock())
    with making:  # who asks for the same waits; others compile meanwhile
        found = _kernels.get(key)
        if found:
            return found
        began = generation
        made = _compile_for(spec, chip, problem, gpu)
        with _lock:
            _being_made.pop(key, None)
            if began != generation:
                return made
            if len(_kernels) >= _MANY:
                _kernels.clear()
            kernel = _kernels[key] = _kernels.setdefault((made.key,), made)
        return kernel


def _compile_for(spec: GemmSpec, chip: str, problem: tuple[int, int, int], gpu: str) -> Kernel:
    measured = _measured.find(gpu, spec, problem) if gpu else None
    if measured:
        return compile(replace(spec, config=measured, programmatic=None), chip=chip)
    m, n, k = (extent or None for extent in problem)
    return compile(spec, chip=chip, problem=(m, n, k), tuned=_tuned_table(gpu) if gpu else None)


def forget_choices() -> None:
    """Kernels are chosen anew from now on."""
    global generation
    with _lock:
        generation += 1
        _kernels.clear()
    if _torch_part:
        _torch_part.forget_plans()


class Launched(NamedTuple):
    """What a call on a GPU came to."""

    operands: Operands
    arrays: tuple[Array, ...]  # as the kernel takes them
    launch: Launch
    result: Any


def launch(call: Call) -> Launched:
    """Checks the operands, copies those that a kernel cannot read where they are, and enqueues the kernel."""
    first = describe(call.a, "a", call.stream)
    if first.device == CPU:
        Operands(call)  # what is wrong with them is said first
        raise _explain_host()
    index = first.index
    if call.stream is None:
        call = call._replace(stream=current_stream(call.a, index))
    operands = Operands(call)
    kernel = _kernel_on(index, operands)
    _check_capture(call, operands, kernel)
    stream = call.stream or 0
    get_device(index).await_producers(operands.given(), stream)
    with _all_on(call, index, stream):
        written, result = make_output(call.a, operands.place, operands.d_shape, operands.spec.out_dtype, call.out, operands.out)
        arrays = operands.arrays(written)
        prepared = kernel.loaded(index).prepare(arrays)
        prepared.enqueue(stream, *(array.address for array in arrays))
        return Launched(operands, arrays, prepared, result())


def chip_of(device: Device) -> str:
    """What kernels for the GPU are compiled for.

    Raises:
        DeviceError: it can run none.
    """
    info = device.info
    if not info.chip:
        major, minor = info.capability
        raise DeviceError(
            f"{info.name} has compute capability {major}.{minor}, and kernels need 9.0 (Hopper), 10.0 or 10.3 (Blackwell): use a GPU "
            "that has, or simulate=True"
        )
    return info.chip


def _kernel_on(index: int, operands: Operands) -> Kernel:
    device = get_device(index)
    return kernel_for(operands.spec, chip_of(device), (operands.m, operands.n, operands.k), device.info.name)


def _check_capture(call: Call, operands: Operands, kernel: Kernel) -> None:
    """While a CUDA graph is captured nothing may be loaded or allocated, which would end the capture."""
    index = operands.index
    missing = [] if kernel.is_loaded(index) else ["the kernel for these shapes"]
    for name, value in operands.numbers.items():
        if isinstance(value, float) and get_device(index).known_number(value) is None:
            missing.append(f"{SAID.get(name, name)} = {value}")
    made_by = package(call.a)
    if missing and made_by and made_by.is_capturing(index):
        raise DeviceError(f"a CUDA graph is being captured, and {missing[0]} is not on the GPU yet: make the same call once before the capture")


def _all_on(call: Call, index: int, stream: int) -> contextlib.ExitStack:
    """Copies run on the kernel's GPU and in its stream, whoever makes them."""
    stack = contextlib.ExitStack()
    given = (call.a, call.a_scale, call.b, call.b_scale, call.bias, call.residual, call.out)
    for array in {package_of(array): array for array in given}.values():
        made_by = package(array)
        if made_by:
            stack.enter_context(made_by.on(index, stream))
    return stack


_torch_part: Any = None


def _import_torch_part() -> Any:
    """What needs torch, which whoever has a tensor has imported."""
    global _torch_part
    from . import _torch

    _torch_part = _torch
    return _torch


def is_compiling() -> bool:
    """Whether torch.compile reads the code that runs."""
    import torch

    compiler = getattr(torch, "compiler", None)  # that of torch 2.1 and later
    return compiler is not None and bool(compiler.is_compiling())


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


def gemm(
    a: AnyArray,
    a_scale: Operand,
    b: Operand,
    b_scale: Operand,
    *,
    out_dtype: DType | None = None,
    bias: Operand | None = None,
    residual: Operand | None = None,
    beta: Number = 1.0,
    out_scale: Number | None = None,
    out: Operand | None = None,
    scale_layout: str | None = None,
    b_block: int = 128,
    stream: Any = None,
    programmatic: bool | None = None,
    simulate: bool = False,
    chip: str | None = None,
) -> AnyArray:
    """D = out_scale * (sum over blocks of 128 of K of a_scale * b_scale * (A B^T) + beta * C + bias): the blockwise-scaled FP8 GEMM.

    Sums are in f32; D is rounded once; there is no gradient. Works on arrays of torch, cupy and, with `out`, on whatever has DLPack or
    `__cuda_array_interface__`, in the current stream of torch or cupy. The first call with a new shape compiles or finds a kernel;
    later ones launch it.

    Args:
        a: M x K of float8_e4m3fn (or uint8 with its bits), K a multiple of 16; or L x M x K, a batch, of which all but `bias` are
            then: L x N x K and so on.
        a_scale: a float32 or bfloat16 for each row and 128 columns of A, M x K/128 or K/128 x M. Read where it is if M is the
            contiguous dimension and rows are a multiple of 16 bytes apart; else copied by the array's package.
        b: N x K of float8_e4m3fn.
        b_scale: float32 or bfloat16, N/128 x K/128, or as `b_block` says.
        out_dtype: of D: bfloat16 (if None, and `out` is None), float16, float32 or float8_e4m3fn, which saturates.
        bias: N elements of bfloat16, float16 or float32, added to each row.
        residual: C, M x N of bfloat16, float16 or float32.
        beta: the factor of C: a number or an array of one float32 on the device. With the number 0, C is not read. Without a residual it is 0 or 1.
        out_scale: the factor of all that, likewise; None: 1.
        out: D, M x N, to write to; None: a new array.
        scale_layout: of scales of single rows: "row_major" if a_scale is M x K/128, "k_major" if it is K/128 x M; needed where its
            shape can be both.
        b_block: rows of B that share a scale: 128, 64, or 1, when b_scale is N x K/128 or K/128 x N, in the layout of a_scale.
        stream: a CUDA stream of torch or cupy, or its address; None: the current one.
        programmatic: whether the kernel may start while the one in front of it in the stream ends. It waits for that one, and for all before,
            before it touches an operand. None: where that is expected to be faster.
        simulate: run on the simulator, on arrays in the host's memory.
        chip: with `simulate`, the chip to compile for: "sm_90a" if None.

    Returns:
        D, an array of the package of `a`.

    Raises:
        TypeError, ValueError: an operand is wrong; the message says which, and what would be right.
        DeviceError: there is no GPU that can do it, or its driver fails.
        CompileError: no kernel could be made.
    """
    if stream is not None:
        stream = stream_address(stream)
    array: Any = a
    if is_torch(array) and array.is_cuda and not simulate and chip is None:
        on_torch = _torch_part or _import_torch_part()
        if not on_torch.is_compiling():
            return on_torch.gemm(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream, programmatic)  # type: ignore[no-any-return]
        result: AnyArray = on_torch.compiled(Call(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream, programmatic))
        return result
    call = Call(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream, programmatic)
    result = _import_torch_part().run_uncompiled(call, simulate, chip) if is_torch(array) and is_compiling() else run_call(call, simulate, chip)
    return result


def run_call(call: Call, simulate: bool, chip: str | None) -> Any:
    """A call that is checked, and made where its arguments say."""
    if simulate:
        return _simulate(call, chip or "sm_90a")
    if chip is not None:
        raise ValueError("chip is for simulate=True; on a GPU kernels are compiled for the one that is there")
    return launch(call).result


def _simulate(call: Call, chip: str) -> Any:
    operands = Operands(call)
    if operands.device != CPU:
        raise ValueError(f"a is on {operands.place}, and the simulator works on the host's memory: copy the operands there")
    kernel = kernel_for(operands.spec, chip, (operands.m, operands.n, operands.k))
    written, result = make_output(call.a, operands.place, operands.d_shape, operands.spec.out_dtype, call.out, operands.out)
    kernel.simulate(*operands.arrays(written))
    return result()


def _forget() -> None:
    """In a process that was forked: what is on a GPU is the parent's, and so may be a lock that was held."""
    global _lock
    _lock = threading.Lock()
    _kernels.clear()
    _being_made.clear()


os.register_at_fork(after_in_child=_forget)
