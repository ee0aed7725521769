# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptions of torch's tensors on a GPU: bytes, of which all but the addresses is a key of what can be done with them.

include/fp8-c/Python.h has their form. torch 2.10 and later hand out what is in them by DLPack's C exchange API; of others the attributes are read.
"""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, Callable

from . import _dlpack, _library
from ._arrays import names

if TYPE_CHECKING:
    import torch

ORDER = ("a", "a_scale", "b", "b_scale", "d", "bias", "c", "beta", "d_scale")
"""The operands of a call, in the order in which they are described: those that most calls have come first."""

WORD = 8  # bytes
_WORDS = 7  # of an array, without its address
_ABSENT = (0,) * _WORDS
BEGIN = {name: place * _WORDS for place, name in enumerate(ORDER)}
"""The first word of an operand in a key: its kind, of which the first byte is the rank. Then come three extents and three strides."""

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
        except AttributeError:
            return b""
        missing = 3 - len(shape)
        if code is None or index < 0 or not address or missing not in (0, 1, 2):
            return b""
        addresses.append(address)
        words += (len(shape) | address % 16 << 8 | code | index + 1 << 32, *shape, *_ABSENT[:missing], *strides, *_ABSENT[:missing])
    return struct.pack(f"={len(addresses)}Q{len(words)}q", *addresses, *words)
