# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of fp8.gemm on torch's tensors that differ in M alone from one that was made: their launches, without the checks that M cannot fail.

In a server every M is new once, and such a call should cost microseconds.
"""

from __future__ import annotations

import struct
import sys
import threading
from typing import NamedTuple

from ._binding import make_arguments
from ._call import BLOCK
from ._choice import chip_of, choices_of
from ._description import BEGIN, WORD
from ._device import Launch, get_device
from ._launch import Launched
from ._types import by_mlir

Key = tuple[object, ...]


class Row(NamedTuple):
    """A call among those that differ in M alone.

    Attributes:
        key: what they have in common.
        m: this one's M.
        shape, strides: of its `a_scale`, which lie as M says.
    """

    key: Key
    m: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def find_row(key: bytes) -> Row | None:
    """Returns what a description's key says; None where an extent of 1, or a batch, lets strides mean something else, or a shape is wrong."""
    m = key[_M]
    if not key[_A] == key[_SCALE] == key[_B] == key[_B_SCALE] == 2 or m == _ONE or key[_N] == _ONE or int.from_bytes(key[_K], sys.byteorder) <= BLOCK:
        return None
    for begin in (_C, _D):
        if key[begin : begin + 1] > b"\0" and key[begin + WORD : begin + 2 * WORD] != m:
            return None
    shape_and_strides = struct.unpack_from("=2q8x2q", key, _SCALE + WORD)
    return Row((b"".join([key[part] for part in _WITHOUT_M]),), int.from_bytes(m, sys.byteorder), shape_and_strides[:2], shape_and_strides[2:])


# Where operands begin in a key: with the kind, of which the first byte is the rank; then come extents and strides.
_A, _SCALE, _B, _B_SCALE, _C, _D = (WORD * BEGIN[name] for name in ("a", "a_scale", "b", "b_scale", "c", "d"))
_M, _N, _K = (slice(begin, begin + WORD) for begin in (_A + WORD, _B + WORD, _A + 2 * WORD))
_ONE = (1).to_bytes(WORD, sys.byteorder)
_WITHOUT_M = (
    slice(_A, _A + WORD),
    slice(_A + 2 * WORD, _SCALE + WORD),
    slice(_B, _D + WORD),
    slice(_D + 2 * WORD, _C + WORD),
    slice(_C + 2 * WORD, None),
)


class Rows:
    """Makes launches for other M than that of a call that was made, whose operands the kernel read where they are."""

    def __init__(self, done: Launched):
        operands = done.operands
        spec, self._n, self._k, self._index = operands.spec, operands.n, operands.k, operands.index
        device = get_device(operands.index)
        self._choices = choices_of(spec, chip_of(device), device.info.name)
        self._scale_layout, self._scale_bytes = operands.call.scale_layout, by_mlir()[spec.a_scale_dtype].size
        # As the library takes them, made once: for another M some numbers change. An address is given anew with every launch.
        self._arguments = make_arguments([(array.dtype, array.address, array.shape, array.strides) for array in done.arrays])
        axes = [[extent.axis for extent in parameter.extents] for parameter in spec.parameters]
        self._places_of_m = [(argument.shape, of.index("M")) for argument, of in zip(self._arguments, axes) if "M" in of]
        self._scale_strides = self._arguments[spec.arguments.index("a_scale")].strides
        self._lock = threading.Lock()

    def launch(self, row: Row) -> Launch | None:
        """Returns a launch for its M; None if the kernel is not loaded, or the scales are none that it reads where they are."""
        step = self._scale_step(row)
        if step is None:
            return None
        loaded = self._choices.kernel_for((row.m, self._n, self._k)).find_loaded(self._index)
        if loaded is None:
            return None
        with self._lock:
            for shape, axis in self._places_of_m:
                shape[axis] = row.m
            self._scale_strides[0] = step
            return Launch(loaded, self._arguments)

    def _scale_step(self, row: Row) -> int | None:
        """The elements from a block's scales to the next one's, if the kernel can read them so."""
        (_, m, shape, (outer, inner)), of_blocks = row, -(-self._k // BLOCK)
        layouts = [
            (layout, step)
            for layout, wanted, step, unit in (("k_major", (of_blocks, m), outer, inner), ("row_major", (m, of_blocks), inner, outer))
            if shape == wanted and unit == 1
        ]
        if len(layouts) != 1 or m == of_blocks or self._scale_layout not in (None, layouts[0][0]):
            return None
        step = layouts[0][1]
        return step if step >= m and step * self._scale_bytes % 16 == 0 else None
