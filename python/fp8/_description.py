# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptions of torch's tensors on a GPU: bytes, of which all but the addresses is a key of what can be done with them.

include/fp8-c/Python.h has their form. torch 2.10 and later hand out what is in them by DLPack's C exchange API; of others the attributes are read.
"""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, Callable

from . import _dlpack, _library
from ._arrays import contiguous_strides, names

if TYPE_CHECKING:
    import torch

ORDER = ("a", "a_scale", "b", "b_scale", "d", "bias", "c", "beta", "d_scale")
"""The operands of a call, in the order in which they are described: those that most calls have come first."""

WORD = 8  # bytes
_WORDS = 7  # of an array, without its address
_ABSENT = (0,) * _WORDS
BEGIN = {name: place * _WORDS for place, name in enumerate(ORDER)}
"""The first word of an operand in a key: its kind, of which the first byte is the rank. Then come three extents and three strides, or those of tiles."""

Describe = Callable[..., bytes]


def key_of(description: bytes) -> bytes:
    """All but the addresses."""
    return description[len(description) // (1 + _WORDS) :]


def addresses_of(description: bytes) -> bytes:
    return description[: len(description) // (1 + _WORDS)]


def count_arrays(key: bytes) -> int:
    """How many addresses there are in front of such a key."""
    return len(key) // (WORD * _WORDS)


def describer(tensor_type: type[torch.Tensor]) -> Describe:
    """Returns what describes tensors of that type, or nothing, b"", where it cannot."""
    capsule = getattr(tensor_type, "__dlpack_c_exchange_api__", None)
    if capsule is not None:
        found = _library.describe_by(_dlpack.get_pointer(capsule, b"dlpack_exchange_api"))
        if found is not None:
            return found
    return lambda *tensors: b""


@functools.lru_cache(maxsize=None)
def _type_codes() -> dict[str, int]:
    """DLPack's code and bits of a type, as descriptions have them, by torch's name."""
    codes = {mlir: code << 16 | bits << 24 for (code, bits), mlir in _dlpack.TYPES.items()}
    return {f"torch.{name}": codes[mlir] for name, mlir in names().items() if mlir in codes}


def describe_attributes(*tensors: torch.Tensor | None) -> bytes:
    """Describes tensors by their attributes; what is no tensor on a GPU, of an element type of an operand, makes it b""."""
    addresses: list[int] = []
    words: tuple[int, ...] = ()
    while tensors and tensors[-1] is None:
        tensors = tensors[:-1]
    for tensor in tensors:
        if tensor is None:
            addresses.append(0)
            words += _ABSENT
            continue
        try:
            shape, strides, address, index = tensor.shape, tensor.stride(), tensor.data_ptr(), tensor.get_device()
            code = _type_codes().get(str(tensor.dtype))
        except (AttributeError, RuntimeError):  # no tensor, or a sparse one, which has no strides
            return b""
        rank = len(shape)
        if code is None or index < 0 or not address or not 1 <= rank <= 5 or rank > 3 and not _is_contiguous(shape, strides):
            return b""
        addresses.append(address)
        kind = rank | address % 16 << 8 | code | index + 1 << 32
        if rank > 3:
            outer, inner = (*shape[::2], 0)[:3], (*shape[1::2], 0)[:3]
            words += (kind, *(low | high << 32 for low, high in zip(outer, inner)), *_ABSENT[:3])
        else:
            words += (kind, *shape, *_ABSENT[: 3 - rank], *strides, *_ABSENT[: 3 - rank])
    return struct.pack(f"={len(addresses)}Q{len(words)}q", *addresses, *words)


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    wanted = contiguous_strides(tuple(shape))
    return all(extent < 2**31 and (extent <= 1 or stride == step) for extent, stride, step in zip(shape, strides, wanted))
