# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of public signatures, for checkers and readers: no package of arrays is imported for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, SupportsFloat, SupportsIndex, TypeVar, Union

if TYPE_CHECKING:
    import numpy as np
    import torch


class SupportsDLPack(Protocol):
    """An array of NumPy, PyTorch, or any other package that shares memory by DLPack."""

    def __dlpack__(self) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


class SupportsCudaArrayInterface(Protocol):
    """An array of a package that tells where it is on a GPU."""

    @property
    def __cuda_array_interface__(self) -> Mapping[str, object]: ...


class TorchStream(Protocol):
    """A CUDA stream of PyTorch."""

    @property
    def cuda_stream(self) -> int: ...


class CuPyStream(Protocol):
    """A CUDA stream of CuPy."""

    @property
    def ptr(self) -> int: ...


class SupportsMLIR(Protocol):
    """An object that writes itself as a module of MLIR: a GemmSpec, or a module of `fp8.builder`."""

    def mlir(self) -> str: ...


class _ElementType(Protocol):
    @property
    def itemsize(self) -> int: ...


Operand = Union[SupportsDLPack, SupportsCudaArrayInterface]
"""An array."""

Number = Union[SupportsFloat, Operand]
"""A number, or an array of one."""

DType = Union[str, type, _ElementType]
"""A type of elements of NumPy, ml_dtypes or PyTorch, or its name."""

Stream = Union[SupportsIndex, TorchStream, CuPyStream]
"""A CUDA stream, or its address."""

Source = Union[str, bytes, "os.PathLike[str]", SupportsMLIR]
"""What the compiler takes: MLIR text or bytecode, a file that has it, or an object that writes it."""

# To a checker that knows no torch its tensors are Any. It takes the narrowest type that fits, of equals the last: NumPy's come behind them.
NumPyOrTorch = TypeVar("NumPyOrTorch", "torch.Tensor", "np.ndarray[tuple[int, ...], np.dtype[np.number]]")
"""An array, of which class results are, though not of the same type of elements."""

AnyArray = TypeVar("AnyArray", "torch.Tensor", "np.ndarray[tuple[int, ...], np.dtype[np.number]]", SupportsDLPack, SupportsCudaArrayInterface)
"""Likewise, of any package."""
