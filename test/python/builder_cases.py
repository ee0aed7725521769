# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the builder's errors share: each case is a function whose lines are marked '# error' and '# note'."""

import inspect
import re

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


def marked_lines(case):
    """The lines of a case's source: the first one, how many there are, and those of each mark."""
    lines, first = inspect.getsourcelines(case)
    return first, len(lines), {mark: [first + i for i, line in enumerate(lines) if f"# {mark}" in line] for mark in ("error", "note")}


def refuse_by_compiler(case, message, compiler):
    """Builds the case in a kernel, and checks the text and places of what the compiler says of the module."""
    _, _, marked = marked_lines(case)
    module = Module()
    with module.kernel("k") as kernel:
        case(Made(module, kernel))
    told = compiler.run(str(module)).stderr
    found = re.findall(r"^(.*):(\d+):\d+: (error|note): (.*)$", told, flags=re.MULTILINE)
    assert {file for file, *_ in found} == {inspect.getsourcefile(case)}, told
    assert [text for _, _, kind, text in found if kind == "error"] == [message]
    assert {mark: sorted({int(line) for _, line, kind, _ in found if kind == mark}) for mark in marked} == marked, told


def refuse(case, message):
    """Builds the case, in a module and a kernel as its parameters ask, and checks the error's text and places."""
    first, count, marked = marked_lines(case)
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
    notes = {place.line for _, place in error.notes if first <= place.line < first + count}
    assert sorted(notes) == marked["note"], str(error)
    assert str(error).splitlines()[0] == f"{inspect.getsourcefile(case)}:{error.location.line}:{error.location.column}: error: {message}"
