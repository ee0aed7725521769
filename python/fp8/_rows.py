# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of fp8.gemm on torch's tensors that differ in M alone from one that was made: their launches, without the checks that M cannot fail.

In a server every M is new once, and such a call should cost microseconds.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ._annotations import Number
from ._binding import make_arguments
from ._call import BLOCK, Call
from ._choice import chip_of, choices_of
from ._device import Launch, get_device
from ._launch import Launched
from ._operands import as_number
from ._types import by_mlir

if TYPE_CHECKING:
    import torch

Key = tuple[object, ...]


def key_of_numbers(call: Call) -> Key | None:
    """Tells the factors of calls apart: arrays from numbers, and of these 0 and 1, which make other kernels. None: the call may be wrong."""
    key: Key = ()
    if call.c is not None:
        key = _key_of_number(call.beta)
    elif not isinstance(call.beta, (float, int)) or call.beta != 1:
        return None
    return key if call.d_scale is None else key + _key_of_number(call.d_scale)


def _key_of_number(value: Number) -> Key:
    number = as_number(value)
    if number is None:
        tensor: torch.Tensor = value
        return tensor.shape, tensor.dtype, tensor.get_device()
    return (number if number in (0, 1) else "number",)


def key_of(call: Call) -> Key | None:
    """Returns what calls that differ in M alone have in common; None where an extent of 1, or a batch, lets strides mean something else."""
    fields: tuple[torch.Tensor, ...] = call
    a, a_scale, b, b_scale, d_dtype, bias, c, _, _, d, scale_layout, b_block, _, programmatic, constant_b = fields
    if not len(a.shape) == len(a_scale.shape) == len(b.shape) == 2 or a.shape[0] == 1 or b.shape[0] == 1 or a.shape[1] <= BLOCK:
        return None
    m, numbers = a.shape[0], key_of_numbers(call)
    if numbers is None:
        return None
    key: Key = (a.shape[1], a.stride(), a.dtype, a.get_device(), a_scale.dtype, a_scale.get_device(), d_dtype, scale_layout, b_block, programmatic,
                constant_b)
    for tensor in (b, b_scale, bias):
        key += (None,) if tensor is None else (tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device())
    for tensor in (c, d):
        if tensor is None:
            key += (None,)
        elif tensor.shape[0] == m:
            key += (tensor.shape[1:], tensor.stride(), tensor.dtype, tensor.get_device())
        else:
            return None  # which is wrong
    return key + numbers


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

    def launch(self, m: int, a_scale: torch.Tensor) -> Launch | None:
        """Returns a launch for M; None if the kernel is not loaded, or the scales are none that it reads where they are."""
        step = self._scale_step(m, a_scale)
        if step is None:
            return None
        kernel = self._choices.kernel_for((m, self._n, self._k))
        if not kernel.is_loaded(self._index):
            return None
        loaded = kernel.loaded(self._index)
        with self._lock:
            for shape, axis in self._places_of_m:
                shape[axis] = m
            self._scale_strides[0] = step
            return Launch(loaded, self._arguments)

    def _scale_step(self, m: int, a_scale: torch.Tensor) -> int | None:
        """The elements from a block's scales to the next one's, if the kernel can read them so."""
        shape, strides, of_blocks = a_scale.shape, a_scale.stride(), -(-self._k // BLOCK)
        layouts = [
            (layout, step)
            for layout, wanted, step, unit in (("k_major", (of_blocks, m), *strides), ("row_major", (m, of_blocks), *reversed(strides)))
            if shape == wanted and unit == 1
        ]
        if len(layouts) != 1 or m == of_blocks or self._scale_layout not in (None, layouts[0][0]):
            return None
        step = layouts[0][1]
        return step if step >= m and step * self._scale_bytes % 16 == 0 else None
