# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm: the operands checked and brought into the kernel's layout, the kernel found and launched."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import numbers
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from . import _measured
from ._arrays import CPU, CUDA, Array, by, describe, is_torch, package_of, spelt, stands_for
from ._device import Device, Launch, get_device
from ._errors import DeviceError, Fp8Error
from ._kernel import Kernel, compile
from ._layout import in_rows, make_output, padded_row, scale_layout
from ._packages import current_stream, package
from ._spec import GemmSpec
from ._types import ADDENDS, BF16, E4M3, F32, OUTPUTS, SCALES, Format, format_of, one_of

_BLOCK = 128
_DEFAULT = 1  # another name of the default stream, 0 (CUDA Driver API, CU_STREAM_LEGACY)

_lock = threading.Lock()
_kernels: dict[tuple[Any, ...], Kernel] = {}
_being_made: dict[tuple[Any, ...], threading.Lock] = {}
_MANY = 65536  # problems, after which their kernels are looked for again


class Call(NamedTuple):
    """The arguments of a call of `gemm`, as they were passed."""

    a: Any
    a_scale: Any
    b: Any
    b_scale: Any
    out_dtype: Any
    bias: Any
    residual: Any
    beta: Any
    out_scale: Any
    out: Any
    scale_layout: str | None
    b_block: int
    stream: int | None


def _blocks(extent: int, block: int = _BLOCK) -> int:
    return -(-extent // block)


def _typed(name: str, given: Any, wanted: tuple[Format, ...], stream: int | None) -> Array:
    """What `given` is, as one of the types that it may be, to be used in that stream."""
    array = describe(given, name, stream)
    for format in wanted:
        if stands_for(array.dtype, format.mlir):
            return array.as_type(format.mlir)
    raise TypeError(f"{name} is of {spelt(array.dtype)}; it must be of {one_of(wanted)}")


def as_number(value: Any) -> float | None:
    """The number that `value` is, one of numpy among them; None: it is none, but an array perhaps."""
    is_array = package_of(value) or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")
    return float(value) if isinstance(value, numbers.Real) or not is_array and hasattr(value, "__float__") else None


class Operands:
    """The arrays of a call, described and checked, in the kernel's order and orientation.

    Raises:
        TypeError, ValueError: each names the operand, the rule and what was found.
    """

    def __init__(self, call: Call):
        self.stream = call.stream
        self.a, self.b = self._typed("a", call.a, (E4M3,)), self._typed("b", call.b, (E4M3,))
        self._check_extents()
        (*batch, self.m, self.k), self.n = self.a.shape, self.b.shape[-2]
        self.batch = tuple(batch)
        self.a_scale = self._row_scales("a_scale", call.a_scale, ("M", self.m), call.scale_layout)
        self.b_scale = self._b_scale(call)
        # With the factor 1 C is added as it is; with 0 it is not read.
        beta, out_scale = as_number(call.beta), as_number(call.out_scale)
        self.c = self._residual(call.residual) if call.residual is not None and beta != 0 else None
        self.bias = self._bias(call.bias)
        self.device, self.index, self.place = self.a.device, self.a.index, self.a.place
        # What the kernel reads as one number, each a float or an array.
        self.numbers: dict[str, Any] = {}
        if self.c and beta != 1:
            self.numbers["beta"] = call.beta if beta is None else beta
        if call.out_scale is not None and out_scale != 1:
            self.numbers["d_scale"] = call.out_scale if out_scale is None else out_scale
        default = BF16.mlir if call.out is None else describe(call.out, "out").dtype
        self.spec = GemmSpec(
            out_dtype=_output_type(call, default),
            a_scale_dtype=self.a_scale.dtype,
            b_scale_dtype=self.b_scale.dtype,
            b_block=call.b_block,
            bias_dtype=self.bias.dtype if self.bias else None,
            residual_dtype=self.c.dtype if self.c else None,
            beta="beta" in self.numbers,
            out_scale="d_scale" in self.numbers,
            batch=bool(batch),
        )
        self._check_places()

    def _typed(self, name: str, given: Any, wanted: tuple[Format, ...]) -> Array:
        return _typed(name, given, wanted, self.stream)

    @property
    def d_shape(self) -> tuple[int, ...]:
        return (*self.batch, self.m, self.n)

    def _check_extents(self) -> None:
        a, b = self.a.shape, self.b.shape
        for name, shape, wanted in (("a", a, "M x K"), ("b", b, "N x K")):
            if len(shape) not in (2, 3):
                raise ValueError(f"{name} has {len(shape)} dimensions; it must be {wanted}, or L x {wanted} of a batch")
        if a[:-2] != b[:-2]:
            raise ValueError(f"a is {by(a)} and b is {by(b)}: they must be matrices, or batches of as many")
        if a[-1] != b[-1]:
            raise ValueError(f"a is {by(a)} and b is {by(b)}: both have K columns, b is not transposed")
        if a[-1] % 16:
            raise ValueError(f"K is {a[-1]}; it must be a multiple of 16: pad a and b with columns of zeros")

    def _row_scales(self, name: str, given: Any, rows: tuple[str, int], layout: str | None) -> Array:
        """The scales of single rows, as K/128 x rows."""
        array = self._typed(name, given, SCALES)
        if scale_layout(name, array.shape, rows, _blocks(self.k), layout, self.batch) == "k_major":
            return array
        return array.laid_out(_turned(array.shape), _turned(array.strides))

    def _b_scale(self, call: Call) -> Array:
        block = call.b_block
        if block not in (128, 64, 1):
            raise ValueError(f"b_block is {block!r}; it must be 128, 64 or 1")
        if block == 1:
            return self._row_scales("b_scale", call.b_scale, ("N", self.n), call.scale_layout)
        array = self._typed("b_scale", call.b_scale, SCALES)
        shape = (*self.batch, _blocks(self.n, block), _blocks(self.k))
        if array.shape != shape:
            raise ValueError(f"b_scale is {by(array.shape)}; it must be {self._lead}N/{block} x K/128, {by(shape)}")
        return array

    @property
    def _lead(self) -> str:
        """What a batch has in front of its extents, in words."""
        return "L x " * len(self.batch)

    def _residual(self, given: Any) -> Array:
        array = self._typed("residual", given, ADDENDS)
        if array.shape != self.d_shape:
            raise ValueError(f"residual is {by(array.shape)}; it must be {self._lead}M x N, {by(self.d_shape)}")
        return array

    def _bias(self, given: Any) -> Array | None:
        if given is None:
            return None
        array = self._typed("bias", given, ADDENDS)
        if array.shape not in ((self.n,), (1, self.n)):
            raise ValueError(f"bias is {by(array.shape)}; it must have N elements, {self.n}")
        # One row; how far the next would be only its tensor map asks.
        return array.laid_out((1, self.n), (padded_row(self.n, array.dtype), array.strides[-1]))

    def named(self) -> list[tuple[str, Array]]:
        arrays = [("a", self.a), ("a_scale", self.a_scale), ("b", self.b), ("b_scale", self.b_scale), ("c", self.c), ("bias", self.bias)]
        return [(name, array) for name, array in arrays if array is not None]

    def arrays(self, out: Array) -> tuple[Array, ...]:
        """What the kernel takes, in its order; copies where it cannot read an operand."""
        by_tma = self.spec.read_by_tma
        found = {name: in_rows(_SAID.get(name, name), array, name in by_tma) for name, array in self.named()}
        found |= {name: self._number(_SAID.get(name, name), value) for name, value in self.numbers.items()}
        found["d"] = out
        return tuple(found[name] for name in self.spec.arguments)

    def _number(self, name: str, given: Any) -> Array:
        """One number, where the kernel reads it."""
        if isinstance(given, float):
            if self.device == CPU:
                value = ctypes.c_float(given)
                return Array("f32", ctypes.addressof(value), (1, 1), (1, 1), CPU, 0, value)
            return Array("f32", get_device(self.index).number(given), (1, 1), (1, 1), CUDA, self.index)
        try:
            array = self._typed(name, given, (F32,))
        except TypeError as error:
            raise TypeError(f"{error}; or a number") from None
        if math.prod(array.shape) != 1 or array.place != self.place:
            raise ValueError(f"{name} is {by(array.shape) or 'a scalar'} on {array.place}; it must be a number, or an array of one float32 on {self.place}")
        return array.laid_out((1, 1), (1, 1))

    def _check_places(self) -> None:
        for name, array in self.named():
            if array.place != self.place:
                raise ValueError(f"{_SAID.get(name, name)} is on {array.place} and a on {self.place}: they must be on one device")


# What the caller calls the kernel's arguments.
_SAID = {"c": "residual", "d_scale": "out_scale", "d": "out"}


def _turned(pair: tuple[int, ...]) -> tuple[int, ...]:
    return (*pair[:-2], pair[-1], pair[-2])


def _output_type(call: Call, default: str) -> str:
    if call.out_dtype is not None:
        return format_of(call.out_dtype, "out_dtype").mlir
    if call.out is not None and default not in [format.mlir for format in OUTPUTS]:
        raise TypeError(f"out is of {spelt(default)}; it must be of {one_of(OUTPUTS)}, or have the bits of one that out_dtype names")
    return default


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
        if key not in _kernels:
            kernel = _compile_for(spec, chip, problem, gpu)
            with _lock:
                if len(_kernels) >= _MANY:
                    _kernels.clear()
                _kernels[key] = _kernels.setdefault((kernel.key,), kernel)
                _being_made.pop(key, None)
        return _kernels[key]


def _compile_for(spec: GemmSpec, chip: str, problem: tuple[int, int, int], gpu: str) -> Kernel:
    measured = _measured.find(gpu, spec, problem) if gpu else None
    if measured:
        return compile(replace(spec, config=measured), chip=chip)
    m, n, k = (extent or None for extent in problem)
    return compile(spec, chip=chip, problem=(m, n, k), tuned=_tuned_table(gpu) if gpu else None)


def forget_choices() -> None:
    """Kernels are chosen anew from now on."""
    with _lock:
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
    for _, array in operands.named():
        if array.stream is not None and (array.stream or _DEFAULT) != (stream or _DEFAULT):
            get_device(index).await_stream(array.stream)
    with _all_on(call, index, stream):
        written, result = make_output(call.a, operands.place, operands.d_shape, operands.spec.out_dtype, call.out)
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
            f"{info.name} has compute capability {major}.{minor}, and kernels need 9.0 (Hopper), 10.0 or 10.3 (Blackwell): use a GPU that has, or simulate=True"
        )
    return info.chip


def _kernel_on(index: int, operands: Operands) -> Kernel:
    device = get_device(index)
    return kernel_for(operands.spec, chip_of(device), (operands.m, operands.n, operands.k), device.info.name)


def _check_capture(call: Call, operands: Operands, kernel: Kernel) -> None:
    """While a CUDA graph is captured nothing may be loaded or allocated, which would end the capture."""
    index = operands.index
    missing = [] if kernel.is_loaded(index) else ["the kernel for these shapes"]
    missing += [f"{_SAID.get(name, name)} = {value}" for name, value in operands.numbers.items() if isinstance(value, float) and not get_device(index).has_number(value)]
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
    a: Any,
    a_scale: Any,
    b: Any,
    b_scale: Any,
    *,
    out_dtype: Any = None,
    bias: Any = None,
    residual: Any = None,
    beta: Any = 1.0,
    out_scale: Any = None,
    out: Any = None,
    scale_layout: str | None = None,
    b_block: int = 128,
    stream: int | None = None,
    simulate: bool = False,
    chip: str | None = None,
) -> Any:
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
        beta: the factor of C: a number or an array of one float32 on the device. With the number 0, C is not read.
        out_scale: the factor of all that, likewise; None: 1.
        out: D, M x N, to write to; None: a new array.
        scale_layout: of scales of single rows: "row_major" if a_scale is M x K/128, "k_major" if it is K/128 x M; needed where its
            shape can be both.
        b_block: rows of B that share a scale: 128, 64, or 1, when b_scale is N x K/128 or K/128 x N, in the layout of a_scale.
        stream: a CUDA stream's address; None: the current one.
        simulate: run on the simulator, on arrays in the host's memory.
        chip: with `simulate`, the chip to compile for: "sm_90a" if None.

    Returns:
        D, an array of the package of `a`.

    Raises:
        TypeError, ValueError: an operand is wrong; the message says which, and what would be right.
        DeviceError: there is no GPU that can do it, or its driver fails.
        CompileError: no kernel could be made.
    """
    if is_torch(a) and a.is_cuda and not simulate and chip is None:
        on_torch = _torch_part or _import_torch_part()
        if not on_torch.is_compiling():
            return on_torch.gemm(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream)
        return on_torch.compiled(Call(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream))
    call = Call(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out_scale, out, scale_layout, b_block, stream)
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
    written, result = make_output(call.a, operands.place, operands.d_shape, operands.spec.out_dtype, call.out)
    kernel.simulate(*operands.arrays(written))
    return result()


def _forget() -> None:
    """In a process that was forked: what is on a GPU is the parent's, and so may be a lock that was held."""
    global _lock
    _lock = threading.Lock()
    _kernels.clear()
    _being_made.clear()


os.register_at_fork(after_in_child=_forget)
