# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of public signatures, for checkers and readers: no package of arrays is imported for them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Union

if TYPE_CHECKING:
    import numpy as np
    import torch

    from ._spec import GemmSpec
    from .builder import Module


class SupportsDLPack(Protocol):
    """An array of NumPy, PyTorch, or any other package that shares memory by DLPack."""

    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> Any: ...


class SupportsCudaArrayInterface(Protocol):
    """An array of a package that tells where it is on a GPU."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class _ElementType(Protocol):
    @property
    def itemsize(self) -> int: ...


Operand = Union[SupportsDLPack, SupportsCudaArrayInterface]
"""An array."""

Number = Union[float, Operand]
"""A number, or an array of one."""

DType = Union[str, type, _ElementType]
"""A type of elements of NumPy, ml_dtypes or PyTorch, or its name."""

Source = Union[str, bytes, "os.PathLike[str]", "GemmSpec", "Module"]
"""What the compiler takes: MLIR text or bytecode, a file that has it, or an object that writes it."""

# To a checker that knows no torch its tensors are Any. It takes the narrowest type that fits, of equals the last: NumPy's come behind them.
NumPyOrTorch = TypeVar("NumPyOrTorch", "torch.Tensor", "np.ndarray[Any, np.dtype[Any]]")
"""An array, of which class results are, though not of the same type of elements."""

AnyArray = TypeVar("AnyArray", "torch.Tensor", "np.ndarray[Any, np.dtype[Any]]", SupportsDLPack, SupportsCudaArrayInterface)
"""Likewise, of any package."""
