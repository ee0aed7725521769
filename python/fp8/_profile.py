# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.profile."""

from __future__ import annotations

import functools
import inspect
from typing import Callable

from ._annotations import Operand
from ._call import ALIASES, Call, merge
from ._compile import compile
from ._gemm import gemm
from ._kernel import Kernel
from ._launch import profile as profile_call
from ._packages import stream_address
from ._spec import whole_number
from ._timeline import Timeline

_STAMPS = 512


def profile(what: Callable[..., object] | Kernel, *arrays: Operand, stamps: int = _STAMPS, **options: object) -> Timeline:
    """Runs a call of `fp8.gemm`, or a kernel, that writes down what its roles wait for (docs/Timeline.md).

        print(fp8.profile(fp8.gemm, a, a_scale, b, b_scale, d=d))
        fp8.profile(kernel, *arrays).save("trace.json")     # which Perfetto opens

    What runs is the same kernel with stamps, compiled for this. On a GPU it runs several times, and waits for the work of the streams of its arrays first.
    On the simulator times are its steps.

    Args:
        what: `fp8.gemm`, or a kernel, which may have been compiled without `profile`.
        arrays: what it takes; a kernel takes arrays on a GPU, or for the simulator in the host's memory.
        stamps: that there is room for, at least 1 of each role: three for each block of K at most, and a few for each tile.
        options: of `fp8.gemm`; with `simulate=True` it runs on the simulator.

    Raises:
        TypeError, ValueError: an argument is wrong.
        DeviceError, CompileError, SimulationError: as `fp8.gemm` and `Kernel.simulate` do.
    """
    stamps = whole_number(stamps, "stamps")
    if stamps < 1:
        raise ValueError(f"stamps is {stamps}; it must be at least 1")
    twin = functools.partial(_twin_of, stamps=stamps)
    if isinstance(what, Kernel):
        if options:
            raise TypeError(f"a kernel has no options, and {', '.join(options)} is given: they are fp8.gemm's")
        return twin(what).profile(*arrays)
    if what is not gemm:
        raise TypeError(f"what is {what!r}; it must be fp8.gemm or a fp8.Kernel")
    given = _arguments_of_gemm(*arrays, **options)
    simulate, chip = given.pop("simulate"), given.pop("chip")
    return profile_call(Call(**given), simulate, chip, twin)  # type: ignore[arg-type]  # as `gemm` takes them


def _twin_of(kernel: Kernel, stamps: int) -> Kernel:
    """The same kernel with stamps, if it has none."""
    return kernel if "profile" in kernel.manifest else compile(kernel.mlir("op"), chip=kernel.chip, profile=stamps)


def _arguments_of_gemm(*arrays: Operand, **options: object) -> dict[str, object]:
    bound = inspect.signature(gemm).bind(*arrays, **options)
    bound.apply_defaults()
    given: dict[str, object] = bound.arguments
    for alias, name in ALIASES.items():
        given[name] = merge(name, given[name], alias, given.pop(alias))
    if given["stream"] is not None:
        given["stream"] = stream_address(given["stream"])  # type: ignore[arg-type]
    return given
