# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs on the simulator: options, progress, Ctrl-C, statistics."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, fields
from typing import Callable

from . import _binding, _library
from ._errors import SimulationError
from ._interrupt import run_interruptibly
from ._progress import Progress


@dataclass(frozen=True)
class SimulationStatistics:
    """What a run on the simulator did.

    Attributes:
        warp_instructions: executed by all warps.
        mmas: instructions of the tensor cores.
        tma_loads: copies to shared memory, and their bytes.
        tma_load_bytes: see tma_loads.
        tma_stores: copies to global memory, and their bytes.
        tma_store_bytes: see tma_stores.
        barrier_phases: of mbarriers, completed.
        ctas: run to their end.
        schedule_hash: tells orders of barrier events apart.
        warnings: where the kernel breaks the letter of the PTX ISA and no hardware was seen to mind; 0 where warnings are errors, the default.
    """

    warp_instructions: int
    mmas: int
    tma_loads: int
    tma_load_bytes: int
    tma_stores: int
    tma_store_bytes: int
    barrier_phases: int
    ctas: int
    schedule_hash: int
    warnings: int

    @classmethod
    def of(cls, found: _binding.SimulatorStatistics) -> SimulationStatistics:
        return cls(**{field.name: getattr(found, field.name) for field in fields(cls)})


def default_options() -> _binding.SimulatorOptions:
    """The options of the library."""
    options = _binding.SimulatorOptions()
    _library.functions().fp8SimulatorOptionsInit(ctypes.byref(options))
    return options


def check_multiprocessors(count: int) -> None:
    """Raises a ValueError if no device has so many; 0 stands for the default."""
    if not 0 <= count <= 65535:
        raise ValueError(f"multiprocessors is {count}; it must be from 1 to 65535, or 0 for the default")


def run(label: str, progress: bool | None, options: _binding.SimulatorOptions, work: Callable[[], None]) -> None:
    """Does `work`, which simulates with these options; shows how far it is, and lets Ctrl-C end it.

    Args:
        label: of the bar.
        progress: whether there is one; None: if it takes long and standard error is a terminal.
        options: whose `progress` is set.
        work: calls the library, and raises SimulationError.
    """
    with Progress(f"simulating {label}", progress) as shown:
        run_interruptibly(lambda stop: _run(options, shown, stop, work))


def _run(options: _binding.SimulatorOptions, shown: Progress, stop: threading.Event, work: Callable[[], None]) -> None:
    """A run that ends soon after `stop` is set."""
    failures: list[BaseException] = []

    def update(done: int, total: int, _: object) -> int:
        """Not 0 ends the run. Nothing may be raised here: the caller is the C library."""
        try:
            shown.update(done, total)
        except BaseException as error:
            failures.append(error)
        return int(stop.is_set() or bool(failures))

    options.progress = _binding.Progress(update)
    try:
        work()
    except SimulationError:
        if failures:
            raise failures[0] from None
        raise
