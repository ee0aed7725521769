# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the builder's errors share: each case is a function whose lines are marked '# error' and '# note'."""

import inspect

import pytest

from fp8.builder import BuildError, Fragment, MemRef, Module, Tile

ROW = Tile((1, 128), "f32")
TOTAL = Fragment((128, 128), warps=4)
ARRAY = MemRef((None, None), "f32")


class Made:
    """A kernel that is being built, with a ring and what else the cases use."""

    def __init__(self, module, kernel):
        self.module = module
        self.kernel = kernel
        self.source = kernel.tensor_map("source", ROW)
        self.values = kernel.array("values", ARRAY)
        self.count = kernel.index("count")
        self.ring = kernel.pipeline(2, row=ROW)


def refuse(case, message):
    """Builds the case, in a module and a kernel as its parameters ask, and checks the error's text and places."""
    lines, first = inspect.getsourcelines(case)
    marked = {mark: [first + i for i, line in enumerate(lines) if f"# {mark}" in line] for mark in ("error", "note")}
    with pytest.raises(BuildError) as caught:
        if "module" in inspect.signature(case).parameters:
            case(Module())
        else:
            module = Module()
            with module.kernel("k") as kernel:
                case(Made(module, kernel))
    error = caught.value
    assert error.message == message
    assert [error.location.line] == marked["error"], str(error)
    notes = {place.line for _, place in error.notes if first <= place.line < first + len(lines)}
    assert sorted(notes) == marked["note"], str(error)
    assert str(error).splitlines()[0] == f"{inspect.getsourcefile(case)}:{error.location.line}:{error.location.column}: error: {message}"
