# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands that are shared by DLPack: capsules with a version and without, and arrays that may not be written."""

from __future__ import annotations

import sys
import types

import fp8
import numpy as np
import pytest
from fp8 import _dlpack
from problem import Problem


def call(problem, **changed):
    """A call with some operands replaced."""
    named = dict(zip(("a", "a_scale", "b", "b_scale"), problem.operands)) | {"simulate": True, "scale_layout": "row_major"} | changed
    return fp8.gemm(**named)


class Shared:
    """An array that has DLPack alone, of a package as old as `options` has it."""

    def __init__(self, array, **options):
        self.array, self.options = array, options

    def __dlpack__(self, **options):
        if self.options and "max_version" in options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Versioned(Shared):
    def __dlpack__(self, **_):
        return self.array.__dlpack__(max_version=(1, 0))


@pytest.mark.parametrize("options", [{}, {"unversioned": True}], ids=["versioned", "unversioned"])
def test_dlpack(options):
    p, d = Problem(16, 32, 128), np.zeros((16, 32), np.float32)
    operands = [Shared(operand.view(np.uint8) if operand.dtype.itemsize == 1 else operand, **options) for operand in p.operands]
    fp8.gemm(*operands, d=Shared(d, **options), scale_layout="row_major", simulate=True)
    p.check(d)


def test_dlpack_of_what_is_read_only():
    p, d = Problem(16, 32, 128), np.zeros((16, 32), np.float32)
    a_scale = p.a_scale.copy()
    a_scale.flags.writeable = False
    call(p, a_scale=Shared(a_scale), d=d)
    p.check(d)
    d.flags.writeable = False
    with pytest.raises(ValueError, match="d is read-only; it is what the GEMM writes to"):
        call(p, d=Shared(d))


def test_dlpack_of_a_later_version(monkeypatch):
    monkeypatch.setattr(_dlpack, "_VERSION", (0, 9))
    p = Problem(16, 32, 128)
    with pytest.raises(TypeError, match="a_scale is shared by DLPack 1.*, and up to 0 is read here: use another release of its package"):
        call(p, a_scale=Versioned(p.a_scale))


def test_arrays_of_jax_are_not_written(monkeypatch):
    """They share memory with others, and never change."""
    p, d = Problem(16, 32, 128), Shared(np.zeros((16, 32), np.float32))
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(Array=Shared))
    with pytest.raises(ValueError, match="d is read-only, as all arrays of jax are; it is what the GEMM writes to"):
        call(p, d=d)
    p.check(call(p, a_scale=Shared(p.a_scale)))
