# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm: the operands checked and brought into the kernel's layout, the kernel found, the launch prepared."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import threading
from pathlib import Path
from typing import Any

from ._arrays import CPU, CUDA, Array, describe, is_torch, stands_for
from ._copies import in_rows, make_output, padded_row
from ._device import Buffer, get_device
from ._errors import DeviceError, Fp8Error
from ._kernel import Kernel, compile
from ._spec import ADDEND_TYPES, OUTPUT_TYPES, SCALE_TYPES, GemmSpec
from ._stream import current_stream

_BLOCK = 128
_DTYPES = {"bfloat16": "bf16", "float16": "f16", "half": "f16", "float32": "f32", "float": "f32", "float8_e4m3fn": "f8E4M3FN"}

_lock = threading.RLock()
_kernels: dict[tuple[Any, ...], Kernel] = {}


def dtype_name(dtype: Any, default: str = "bf16") -> str:
    """A type of torch, numpy or ml_dtypes, or its name, as MLIR spells it."""
    if dtype is None:
        return default
    name = dtype if isinstance(dtype, str) else str(getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype)
    name = name.removeprefix("torch.")
    name = _DTYPES.get(name, name)
    if name not in OUTPUT_TYPES:
        raise TypeError(f"out_dtype is {dtype}; it must be bfloat16, float16, float32 or float8_e4m3fn")
    return name


def _blocks(extent: int, block: int = _BLOCK) -> int:
    return -(-extent // block)


def _typed(name: str, array: Array, wanted: tuple[str, ...]) -> Array:
    for dtype in wanted:
        if stands_for(array.dtype, dtype):
            return array.as_type(dtype)
    raise TypeError(f"{name} is of {array.dtype}; it must be of {' or '.join(wanted)}")


def _rank(name: str, array: Array, shape: str) -> None:
    if len(array.shape) != 2:
        raise ValueError(f"{name} has {len(array.shape)} dimensions; it must be {shape}")


def _turned(array: Array) -> Array:
    return Array(
        array.dtype, array.address, array.shape[::-1], array.strides[::-1], array.device, array.index, array.keep, array.read_only
    )


class Operands:
    """The arrays of a call, described and checked, in the kernel's order and orientation.

    Raises:
        TypeError, ValueError: each names the operand, the rule and what was found.
    """

    def __init__(self, a: Any, a_scale: Any, b: Any, b_scale: Any, out_dtype: str, bias: Any, residual: Any, beta: Any, scale_layout: str | None, b_block: int):
        self.a, self.b = (_typed(name, describe(array, name), ("f8E4M3FN",)) for name, array in (("a", a), ("b", b)))
        _rank("a", self.a, "M x K")
        _rank("b", self.b, "N x K")
        (self.m, self.k), (self.n, k) = self.a.shape, self.b.shape
        if k != self.k:
            raise ValueError(f"a is {self.m} x {self.k} and b is {self.n} x {k}: both have K columns, b is not transposed")
        if self.k % 16:
            raise ValueError(f"K is {self.k}; it must be a multiple of 16: pad a and b with columns of zeros")
        self.a_scale = self._a_scale(_typed("a_scale", describe(a_scale, "a_scale"), SCALE_TYPES), scale_layout)
        self.b_scale = self._b_scale(_typed("b_scale", describe(b_scale, "b_scale"), SCALE_TYPES), b_block)
        self.c = self._residual(residual)
        self.bias = self._bias(bias)
        self.beta = beta if self.c else None
        self.spec = GemmSpec(
            out_dtype=out_dtype,
            a_scale_dtype=self.a_scale.dtype,
            b_scale_dtype=self.b_scale.dtype,
            b_block=b_block,
            bias_dtype=self.bias.dtype if self.bias else None,
            residual_dtype=self.c.dtype if self.c else None,
            beta=self.c is not None and beta is not None,
        )
        self._check_places()

    def _a_scale(self, array: Array, layout: str | None) -> Array:
        blocks = _blocks(self.k)
        by_row, by_block = (self.m, blocks), (blocks, self.m)
        _rank("a_scale", array, f"M x K/128, {self.m} x {blocks}, or K/128 x M")
        if layout not in (None, "row_major", "k_major"):
            raise ValueError(f"scale_layout is {layout!r}; it must be 'row_major' (M x K/128), 'k_major' (K/128 x M) or None (whichever a_scale's shape is)")
        if layout is None:
            # A column and a row of the same extent are told apart by neither.
            if array.shape == by_row == by_block and self.m > 1:
                raise ValueError(
                    f"a_scale is {self.m} x {blocks}, which is M x K/128 and K/128 x M: say which with scale_layout='row_major' or 'k_major'"
                )
            layout = "row_major" if array.shape == by_row else "k_major"
        if array.shape != (by_row if layout == "row_major" else by_block):
            raise ValueError(
                f"a_scale is {array.shape[0]} x {array.shape[1]}; it must be M x K/128, {self.m} x {blocks}, or K/128 x M"
                + ("" if layout is None else ", as scale_layout says")
            )
        return _turned(array) if layout == "row_major" else array

    def _b_scale(self, array: Array, block: int) -> Array:
        if block not in (128, 64, 1):
            raise ValueError(f"b_block is {block!r}; it must be 128, 64 or 1")
        blocks = _blocks(self.k)
        shape = (blocks, self.n) if block == 1 else (_blocks(self.n, block), blocks)
        words = "K/128 x N" if block == 1 else f"N/{block} x K/128"
        _rank("b_scale", array, f"{words}, {shape[0]} x {shape[1]}")
        if array.shape != shape:
            raise ValueError(f"b_scale is {array.shape[0]} x {array.shape[1]}; it must be {words}, {shape[0]} x {shape[1]}")
        return array

    def _residual(self, residual: Any) -> Array | None:
        if residual is None:
            return None
        array = _typed("residual", describe(residual, "residual"), ADDEND_TYPES)
        if array.shape != (self.m, self.n):
            raise ValueError(f"residual is {' x '.join(map(str, array.shape))}; it must be M x N, {self.m} x {self.n}")
        return array

    def _bias(self, bias: Any) -> Array | None:
        if bias is None:
            return None
        array = _typed("bias", describe(bias, "bias"), ADDEND_TYPES)
        if array.shape not in ((self.n,), (1, self.n)):
            raise ValueError(f"bias is {' x '.join(map(str, array.shape))}; it must have N elements, {self.n}")
        # One row; how far the next would be only its tensor map asks.
        row = padded_row(self.n, array.dtype)
        return Array(array.dtype, array.address, (1, self.n), (row, array.strides[-1]), array.device, array.index, array.keep)

    def named(self) -> list[tuple[str, Array]]:
        arrays = [("a", self.a), ("a_scale", self.a_scale), ("b", self.b), ("b_scale", self.b_scale), ("c", self.c), ("bias", self.bias)]
        return [(name, array) for name, array in arrays if array is not None]

    def arrays(self, out: Array) -> tuple[Array, ...]:
        """What the kernel takes, in its order; copies where it cannot read an operand."""
        # B's scales for blocks of rows are loaded by threads.
        found = {name: in_rows(name, array, by_tma=name != "b_scale" or self.spec.b_block == 1) for name, array in self.named()}
        found["d"] = out
        if self.spec.beta:
            found["beta"] = self._beta_array()
        return tuple(found[name] for name in self.spec.arguments)

    def _beta_array(self) -> Array:
        beta = self.beta
        if isinstance(beta, float):
            if self.a.device == CPU:
                value = ctypes.c_float(beta)
                return Array("f32", ctypes.addressof(value), (1, 1), (1, 1), CPU, 0, value)
            buffer = _beta_on(self.a.index, beta)
            return Array("f32", buffer.address, (1, 1), (1, 1), CUDA, self.a.index, buffer)
        array = _typed("beta", describe(beta, "beta"), ("f32",))
        if math.prod(array.shape) != 1 or array.place != self.a.place:
            raise ValueError(f"beta must be a number, or an array of one float32 on {self.a.place}")
        return Array("f32", array.address, (1, 1), (1, 1), array.device, array.index, array.keep)

    def _check_places(self) -> None:
        first = self.a.place
        for name, array in self.named():
            if array.place != first:
                raise ValueError(f"{'residual' if name == 'c' else name} is on {array.place} and a on {first}: they must be on one device")


@functools.lru_cache(maxsize=None)
def _tuned_table(gpu: str) -> str | None:
    """The table of measured configurations for the GPU of that name, if the package has one."""
    for path in sorted((Path(__file__).parent / "tuned").glob("*.json")):
        if f'"gpu": "{gpu}"' in path.read_text()[:200]:
            return str(path)
    return None


def kernel_for(spec: GemmSpec, chip: str, problem: tuple[int, int, int], gpu: str = "") -> Kernel:
    """The kernel for a problem. Those of one configuration are one."""
    key = (spec, chip, problem, gpu)
    with _lock:
        if key not in _kernels:
            kernel = compile(spec, chip=chip, problem=tuple(extent or None for extent in problem), tuned=_tuned_table(gpu) if gpu else None)  # type: ignore[arg-type]
            _kernels[key] = _kernels.setdefault((kernel.key,), kernel)
        return _kernels[key]


@functools.lru_cache(maxsize=256)
def _beta_on(ordinal: int, value: float) -> Buffer:
    return get_device(ordinal).scalar(value)


def normalise(residual: Any, beta: Any) -> tuple[Any, Any]:
    """Without a factor of 1, and without a residual whose factor is 0: it is not read."""
    if residual is None or (isinstance(beta, (int, float)) and beta == 0):
        return None, None
    if isinstance(beta, (int, float)):
        return residual, None if beta == 1 else float(beta)
    return residual, beta


def gpu_kernel(operands: Operands) -> Kernel:
    """The kernel for the GPU that the operands are on."""
    info = get_device(operands.a.index).info
    return kernel_for(operands.spec, info.chip, (operands.m, operands.n, operands.k), info.name)


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
    out: Any = None,
    scale_layout: str | None = None,
    b_block: int = 128,
    stream: int | None = None,
    simulate: bool = False,
    chip: str | None = None,
) -> Any:
    """D = sum over blocks of 128 of K of a_scale * b_scale * (A B^T), + beta * C + bias: the blockwise-scaled FP8 GEMM.

    Sums are in f32; D is rounded once. Works on arrays of torch, cupy and, with `out`, on whatever has DLPack or
    `__cuda_array_interface__`, in the current stream of torch or cupy. The first call with a new shape compiles or finds a kernel;
    later ones launch it.

    Args:
        a: M x K of float8_e4m3fn (or uint8 with its bits), K a multiple of 16.
        a_scale: a float32 or bfloat16 for each row and 128 columns of A, M x K/128 or K/128 x M. Read where it is if M is the
            contiguous dimension and rows are a multiple of 16 bytes apart; else copied by a kernel of the array's package.
        b: N x K of float8_e4m3fn.
        b_scale: float32 or bfloat16, N/128 x K/128.
        out_dtype: of D: bfloat16 (if None, and `out` is None), float16, float32 or float8_e4m3fn, which saturates.
        bias: N elements of bfloat16, float16 or float32, added to each row.
        residual: C, M x N of bfloat16, float16 or float32.
        beta: the factor of C: a number or an array of one float32 on the device. With the number 0, C is not read.
        out: D, M x N, to write to; None: a new array.
        scale_layout: "row_major" if a_scale is M x K/128, "k_major" if it is K/128 x M; needed where its shape can be both.
        b_block: rows of B that share a scale: 128, 64, or 1, when b_scale is K/128 x N.
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
    if is_torch(a) and not simulate and a.is_cuda:
        on_torch = _torch_part or _import_torch_part()
        if on_torch.is_compiling() and out is None and stream is None:
            return on_torch.operator(
                a, a_scale, b, b_scale, out_dtype=out_dtype, bias=bias, residual=residual, beta=beta, scale_layout=scale_layout, b_block=b_block
            )
        return on_torch.gemm(a, a_scale, b, b_scale, out_dtype, bias, residual, beta, out, scale_layout, b_block, stream)
    residual, beta = normalise(residual, beta)
    wanted = dtype_name(out_dtype, "bf16" if out is None else describe(out, "out").dtype)
    operands = Operands(a, a_scale, b, b_scale, wanted, bias, residual, beta, scale_layout, b_block)
    if simulate:
        return _simulate(a, operands, out, chip or "sm_90a")
    if operands.a.device == CPU:
        raise _explain_host()
    if chip is not None:
        raise ValueError("chip is for simulate=True; on a GPU kernels are compiled for the one that is there")
    kernel = gpu_kernel(operands)
    written, result = make_output(a, operands.a.place, operands.m, operands.n, wanted, out)
    arrays = operands.arrays(written)
    launch = kernel.loaded(operands.a.index).prepare(arrays)
    launch.enqueue(current_stream(a, operands.a.index) if stream is None else stream, *(array.address for array in arrays))
    return result()


def _simulate(a: Any, operands: Operands, out: Any, chip: str) -> Any:
    if operands.a.device != CPU:
        raise ValueError(f"a is on {operands.a.place}, and the simulator works on the host's memory: copy the operands there")
    kernel = kernel_for(operands.spec, chip, (operands.m, operands.n, operands.k))
    written, result = make_output(a, operands.a.place, operands.m, operands.n, operands.spec.out_dtype, out)
    kernel.simulate(*operands.arrays(written))
    return result()


def _forget() -> None:
    """In a process that was forked: what is on a GPU is the parent's."""
    _kernels.clear()
    _beta_on.cache_clear()


os.register_at_fork(after_in_child=_forget)
