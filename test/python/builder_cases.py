# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the builder's errors share: each case is a function whose lines are marked '# error' and '# note'."""

import inspect

import pytest

import fp8
from fp8 import CompileError
from fp8.builder import AccumulatorRing, BuildError, Fragment, MemRef, Module, RequestStage, Tile

ROW = Tile((1, 128), "f32")
OPERAND = Tile((128, 128), "f8E4M3FN", swizzle=128)
PRODUCT = Fragment((64, 128), warps=4, layout="warpgroups")
TOTAL = Fragment((128, 128), warps=4)
ARRAY = MemRef((None, None), "f32")


#: What the compiler says of `consume_explicit` whose stage has not arrived where it ends.
NOT_SIGNALLED = ("'fp8.consume_explicit' op must yield first, for each end, the stage that its body signalled: operand 0 must be "
                 "'!fp8.signalled<!fp8.consumer_stage<!fp8.pipeline<2, row: !fp8.tile<1x128xf32>>>>', but got "
                 "'!fp8.consumer_stage<!fp8.pipeline<2, row: !fp8.tile<1x128xf32>>>'; signal it with fp8.arrive")


def consumed_twice(what):
    return f"{what} is consumed twice (L1); keep one, or go on with the handle that the first gives back"


def consumed_in_a_loop(what):
    return f"{what} is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument"


def leaks(what, cure):
    return f"{what} leaks: it is never consumed (L1); consume it with 'fp8.{cure}'"


def requested(count):
    return f"'fp8.acquire' op needs exactly one 'fp8.request_work' in its block (W2), since it takes a slot of a work queue, but has {count}"


class Made:
    """A kernel that is being built, with a ring and what else the cases use."""

    def __init__(self, module, kernel):
        self.module = module
        self.kernel = kernel
        self.source = kernel.tensor_map("source", ROW)
        self.values = kernel.array("values", ARRAY)
        self.count = kernel.index("count")
        self.ring = kernel.pipeline(2, row=ROW)

    def complete(self):
        """Adds the roles that the kernel's rings lack, so that nothing but what the case does is wrong."""
        for number, ring in enumerate(self.kernel._rings):
            sides = {side for _, side in ring.ends}
            fill, read = ("mma_warp", "epilogue_warp") if isinstance(ring, AccumulatorRing) else ("produce", "consume")
            for side, scope in (("producer", fill), ("consumer", read)):
                if side not in sides and ring.region is self.kernel.body:
                    with self.kernel.role(f"{side} {number}", warps=1), getattr(ring, scope)() as stage:
                        if isinstance(stage, RequestStage):
                            stage.request_work()


def marked_lines(case):
    """The lines of a case's source that have each mark."""
    lines, first = inspect.getsourcelines(case)
    return {mark: [first + i for i, line in enumerate(lines) if f"# {mark}" in line] for mark in ("error", "note")}


def build(case):
    """Builds the case, in a module and a kernel as its parameters ask, and returns the module."""
    module = Module()
    if "module" in inspect.signature(case).parameters:
        case(module)
        return module
    with module.kernel("k") as kernel:
        made = Made(module, kernel)
        case(made)
        made.complete()
    return module


def refuse_by_compiler(case, messages):
    """Builds the case, and checks the texts and places of what the compiler says of the module."""
    marked = marked_lines(case)
    with pytest.raises(CompileError) as caught:
        fp8.run_pipeline(build(case), "fp8-gemm-to-ptx{chip=sm_100a}")
    errors = caught.value.diagnostics
    told = [*errors, *(note for error in errors for note in error.notes)]
    assert {one.file for one in told} == {inspect.getsourcefile(case)}, str(caught.value)
    assert [error.message for error in errors] == messages, str(caught.value)
    assert {mark: sorted({one.line for one in told if one.severity == mark}) for mark in marked} == marked, str(caught.value)


def refuse(case, message):
    """Builds the case, in a module and a kernel as its parameters ask, and checks the error's text and places."""
    marked = marked_lines(case)
    with pytest.raises(BuildError) as caught:
        build(case)
    error = caught.value
    assert error.message == message
    assert [error.location.line] == marked["error"], str(error)
    notes = {place.line for _, place in error.notes if place.file == inspect.getsourcefile(case)}
    assert sorted(notes) == marked["note"], str(error)
    assert str(error).splitlines()[0] == f"{inspect.getsourcefile(case)}:{error.location.line}:{error.location.column}: error: {message}"
