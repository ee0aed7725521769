# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.gemm."""

from __future__ import annotations

from typing import Callable

from ._annotations import AnyArray, DType, Number, Operand, Stream
from ._arrays import is_torch
from ._call import Call, merge
from ._launch import run
from ._packages import stream_address, torch_is_compiling

_Runner = Callable[[Call, bool, "str | None"], Operand]
_run_on_torch: _Runner | None = None


def _import_run_on_torch() -> _Runner:
    """Imports what needs torch, which a caller that has a tensor has imported."""
    global _run_on_torch
    from ._torch import run as run_on_torch

    _run_on_torch = run_on_torch
    return run_on_torch


def gemm(
    a: AnyArray,
    a_scale: Operand,
    b: Operand,
    b_scale: Operand,
    *,
    d_dtype: DType | None = None,
    bias: Operand | None = None,
    c: Operand | None = None,
    beta: Number = 1.0,
    d_scale: Number | None = None,
    d: Operand | None = None,
    scale_layout: str | None = None,
    b_block: int = 128,
    stream: Stream | None = None,
    programmatic: bool | None = None,
    constant_b: bool = False,
    simulate: bool = False,
    chip: str | None = None,
    out_dtype: DType | None = None,
    residual: Operand | None = None,
    out_scale: Number | None = None,
    out: Operand | None = None,
) -> AnyArray:
    """D = d_scale * (sum over blocks of K of a_scale * b_scale * (A B^T) + beta * C + bias): the blockwise-scaled FP8 GEMM.

    Sums are in f32; D is rounded once; there is no gradient. Works on arrays of torch, cupy and, with `d`, on whatever has DLPack or
    `__cuda_array_interface__`, in the current stream of torch or cupy. The first call with a new shape compiles or finds a kernel;
    later ones launch it.

    Args:
        a: M x K of float8_e4m3fn (or uint8 with its bits), K a multiple of 16; or L x M x K, a batch, of which all but `bias` are
            then: L x N x K and so on.
        a_scale: a float32 or bfloat16 for each row and 128 columns of A, M x K/128 or K/128 x M. Read where it is if M is the
            contiguous dimension and rows are a multiple of 16 bytes apart; else copied by the array's package. Or, on Blackwell, scales of MXFP8:
            a float8_e8m0fnu for each row and 32 columns, in tiles, as `quantize_mx` and `tile_scales` make them; then b_scale has them, too.
        b: N x K of float8_e4m3fn.
        b_scale: float32 or bfloat16, N/128 x K/128, or as `b_block` says.
        d_dtype: of D: bfloat16 (if None, and `d` is None), float16, float32, or float8_e4m3fn or float8_e5m2, which saturate.
        bias: N elements of bfloat16, float16 or float32, added to each row.
        c: C, M x N of bfloat16, float16 or float32.
        beta: the factor of C: a number or an array of one float32 on the device. With the number 0, C is not read. Without C it is 0 or 1.
        d_scale: the factor of all that, likewise; None: 1.
        d: D, M x N, to write to; None: a new array.
        scale_layout: of scales of single rows: "row_major" if a_scale is M x K/128, "k_major" if it is K/128 x M; needed where its
            shape can be both.
        b_block: rows of B that share a scale: 128, 64, or 1, when b_scale is N x K/128 or K/128 x N, in the layout of a_scale.
        stream: a CUDA stream of torch or cupy, or its address; None: the current one.
        programmatic: whether the kernel may start while the one in front of it in the stream ends. It waits for that one, and for all before,
            before it touches an operand. None: as the choice of a configuration says, at every M unless a table or tuning has a serial one.
        constant_b: the promise that no kernel which may still run at the call writes `b` or `b_scale`, as none writes weights. A kernel
            that starts early then loads them while the one in front ends. A broken promise makes D wrong.
        simulate: run on the simulator, on arrays in the host's memory.
        chip: with `simulate`, the chip to compile for: if None "sm_90a", and "sm_100a" for scales of MXFP8.
        out_dtype: another keyword of `d_dtype`.
        residual: another keyword of `c`.
        out_scale: another keyword of `d_scale`.
        out: another keyword of `d`.

    Returns:
        D, an array of the package of `a`.

    Raises:
        TypeError, ValueError: an operand is wrong; the message says which, and what would be right.
        DeviceError: there is no GPU that can do it, or its driver fails.
        CompileError: no kernel could be made.
    """
    if out_dtype is not None or residual is not None or out_scale is not None or out is not None:
        d_dtype = merge("d_dtype", d_dtype, "out_dtype", out_dtype)
        c = merge("c", c, "residual", residual)
        d_scale = merge("d_scale", d_scale, "out_scale", out_scale)
        d = merge("d", d, "out", out)
    address = None if stream is None else stream_address(stream)
    call = Call(a, a_scale, b, b_scale, d_dtype, bias, c, beta, d_scale, d, scale_layout, b_block, address, programmatic, constant_b)
    on_gpu = not simulate and chip is None
    made_by_torch = is_torch(a) and (on_gpu and getattr(a, "is_cuda") or torch_is_compiling())
    runner = (_run_on_torch or _import_run_on_torch()) if made_by_torch else run
    result: AnyArray = runner(call, simulate, chip)  # type: ignore[assignment]  # of the package of `a`
    return result
