# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernel a problem gets: it is compiled once, and remembered until other configurations may be faster."""

from __future__ import annotations

import functools
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from . import _measured
from ._compile import check_chip, compile
from ._compiler import Chooser
from ._device import Device
from ._errors import DeviceError
from ._kernel import Kernel
from ._spec import GemmSpec

K = TypeVar("K")
V = TypeVar("V")

LIMIT = 65536
"""Entries of a `Remembered`; when it is full, all are forgotten."""

_lock = threading.Lock()
_generation = 0
_all: list[Remembered[object, object]] = []


class Remembered(Generic[K, V]):
    """What was worked out from a choice of configurations, by key. `forget_choices` empties every one, and so does a fork.

    Attributes:
        entries: what is remembered now. Reading it needs no lock.
    """

    def __init__(self) -> None:
        self.entries: dict[K, V] = {}
        _all.append(self)  # type: ignore[arg-type]

    def keep(self, key: K, value: V, since: int) -> V:
        """Keeps the value, unless choices were forgotten after generation `since` or there is one for the key already.

        Returns:
            What there is for the key: the earlier value, or this one.
        """
        with _lock:
            if since != _generation:
                return value
            if len(self.entries) >= LIMIT:
                self.entries.clear()
            return self.entries.setdefault(key, value)


def generation() -> int:
    """Returns how often choices were forgotten. Read it before a choice begins, and give it to `Remembered.keep`."""
    return _generation


def forget_choices() -> None:
    """Makes later calls choose their kernels anew."""
    global _generation
    with _lock:
        _generation += 1
        for remembered in _all:
            remembered.entries.clear()


_kernels: Remembered[tuple[object, ...], Kernel] = Remembered()
"""By problem; by configuration, which many problems share; and by what was compiled, which may be the same for several of these."""
_choosers: Remembered[tuple[GemmSpec, str, str], Chooser] = Remembered()
_compiling: dict[tuple[object, ...], threading.Lock] = {}


def kernel_for(spec: GemmSpec, chip: str, problem: tuple[int, int, int], gpu: str = "") -> Kernel:
    """Returns the kernel for a problem. Problems with the same configuration share one.

    A problem that is new, of a configuration that is known, costs the choice alone: nothing is parsed, compiled, or read from disk.
    """
    key = (spec, chip, problem, gpu)
    found = _kernels.entries.get(key)
    if found:
        return found
    since = generation()
    return _kernels.keep(key, _kernel_of(_choose(spec, chip, problem, gpu, since), chip, since), since)


def _choose(spec: GemmSpec, chip: str, problem: tuple[int, int, int], gpu: str, since: int) -> GemmSpec:
    """The spec with the configuration for the problem; without one, if it is left to the lowering."""
    if spec.config:
        return spec
    config = _measured.find(gpu, spec, problem) if gpu else None
    if not config:
        chooser = _choosers.entries.get((spec, chip, gpu))
        if chooser is None:
            check_chip(chip)
            table = _tuned_table(gpu) if gpu else None
            chooser = _choosers.keep((spec, chip, gpu), Chooser(spec.mlir(), chip, table, spec.launch), since)
        config = chooser.choose(*problem)
    return _with_config(spec, config) if config else spec


@functools.lru_cache(maxsize=4096)
def _with_config(spec: GemmSpec, config: str) -> GemmSpec:
    """The spec with a configuration, which has the launch, too."""
    return replace(spec, config=config, programmatic=None)


def _kernel_of(spec: GemmSpec, chip: str, since: int) -> Kernel:
    """The kernel of a configuration: compiled, or found on disk, at its first use."""
    key = (spec, chip)
    found = _kernels.entries.get(key)
    if found:
        return found
    with _lock:
        compiling = _compiling.setdefault(key, threading.Lock())
    with compiling:  # threads that want the same kernel wait; others compile meanwhile
        found = _kernels.entries.get(key)
        if found:
            return found
        made = compile(spec, chip=chip)
        with _lock:
            _compiling.pop(key, None)
        return _kernels.keep(key, _kernels.keep((made.key,), made, since), since)


@functools.lru_cache(maxsize=None)
def _tuned_table(gpu: str) -> str | None:
    """The package's table of measured configurations for the GPU of that name, if the package has one."""
    for path in sorted((Path(__file__).parent / "tuned").glob("*.json")):
        if f'"gpu": "{gpu}"' in path.read_text()[:200]:
            return str(path)
    return None


def chip_of(device: Device) -> str:
    """Returns the chip that kernels for the GPU are compiled for.

    Raises:
        DeviceError: no kernel runs on it.
    """
    info = device.info
    if not info.chip:
        major, minor = info.capability
        raise DeviceError(
            f"{info.name} has compute capability {major}.{minor}, and kernels need 9.0 (Hopper), 10.0 or 10.3 (Blackwell): use a GPU "
            "that has, or simulate=True"
        )
    return info.chip


def _forget_in_child() -> None:
    """After a fork: what is on a GPU is the parent's, and another thread of the parent may have held a lock."""
    global _lock
    _lock = threading.Lock()
    _compiling.clear()
    for remembered in _all:
        remembered.entries.clear()


os.register_at_fork(after_in_child=_forget_in_child)
