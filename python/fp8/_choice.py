# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernel a problem gets: it is compiled once, and remembered until other configurations may be faster."""

from __future__ import annotations

import functools
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from . import _machine, _measured
from ._compile import check_chip, compile
from ._compiler import Chooser
from ._device import Device, driver_version
from ._errors import CompileError, DeviceError
from ._kernel import Kernel
from ._reports import Candidate
from ._reports import Choice as Explained
from ._spec import GemmSpec

K = TypeVar("K")
V = TypeVar("V")

EARLY = ", launch = programmatic"
"""In a configuration whose kernel may start early, as the compiler prints it; an edge and a signal may follow."""

SIGNAL = ", signal = wait"
"""The end of a configuration whose kernel lets the following one start behind its wait, as the compiler prints it."""

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
_compiling: dict[tuple[object, ...], threading.Lock] = {}


class Choices:
    """The kernels of one spec on one GPU, by problem.

    A problem that is new, of a configuration that is known, costs the choice alone: nothing is parsed, compiled, or read from disk.
    Whoever keeps one keeps it in a `Remembered`, for `forget_choices` must reach it.
    """

    def __init__(self, spec: GemmSpec, chip: str, gpu: str):
        self._spec, self._chip, self._gpu = spec, chip, gpu
        self._chooser: Chooser | None = None
        self._by_config: dict[str | None, Kernel] = {}

    def kernel_for(self, problem: tuple[int, int, int]) -> Kernel:
        """Returns the kernel for a problem; it is compiled if the configuration is new."""
        config = self._config_for(problem)
        kernel = self._by_config.get(config)
        if kernel is None:
            spec = _with_config(self._spec, config) if config else self._spec
            kernel = self._by_config[config] = _kernel_of(spec, self._chip, generation())
        return kernel

    def _config_for(self, problem: tuple[int, int, int]) -> str | None:
        """The configuration for the problem; None or empty where the spec, or the lowering, has it."""
        if self._spec.config:
            return None
        return self._find_measured(problem) or self._get_chooser().choose(*problem)

    def _find_measured(self, problem: tuple[int, int, int]) -> str | None:
        """The configuration that `fp8.tune` found; None where the spec pins one."""
        return _measured.find(self._gpu, self._spec, problem) if self._gpu and not self._spec.config else None

    def explain(self, problem: tuple[int, int, int]) -> tuple[str, Explained, Candidate | None]:
        """Returns who chooses the configuration for a problem ("spec", "tuned", "table", "model" or "lowering"), what is known of the choice, and
        what the cost model predicts of it, if it knows the configuration."""
        measured = self._find_measured(problem)
        spec = _with_config(self._spec, measured) if measured else self._spec
        chooser = self._get_chooser()
        explained = chooser.explain(spec, *problem)
        source = "tuned" if measured else "spec" if spec.config else explained["source"]
        config = explained.get("config")
        found = _find_candidate(explained, config)
        if config and not found:  # it may be known with the launch or the signal that the model does not prefer
            found = _find_candidate(chooser.explain(spec, *problem, "programmatic" if EARLY in config else "serial"), config)
        return source, explained, found

    def _get_chooser(self) -> Chooser:
        if self._chooser is None:
            check_chip(self._chip)
            table = _tuned_table(self._gpu) if self._gpu else None
            self._chooser = self._make_chooser(table, _machine.find(self._gpu, driver_version(), self._chip))
        return self._chooser

    def _make_chooser(self, table: str | None, machine: str | None) -> Chooser:
        source = replace(self._spec, config=None).mlir()
        try:
            return Chooser(source, self._chip, table, machine, self._spec.launch)
        except CompileError as error:
            # What the user names is an error; what the cache has costs time only.
            if os.environ.get("FP8_MACHINE"):
                raise CompileError(f"with $FP8_MACHINE={machine!r}: {error}") from None
            if machine is None:
                raise
            _machine.warn_of(machine, str(error).splitlines()[0])
        return Chooser(source, self._chip, table, None, self._spec.launch)


def _find_candidate(explained: Explained, config: str | None) -> Candidate | None:
    return next((candidate for candidate in explained["candidates"] if candidate["config"] == config), None)


_choices: Remembered[tuple[GemmSpec, str, str], Choices] = Remembered()


def choices_of(spec: GemmSpec, chip: str, gpu: str) -> Choices:
    """Returns the kernels of the spec on the GPU of that name; of any GPU with the chip if the name is empty."""
    key, since = (spec, chip, gpu), generation()
    return _choices.entries.get(key) or _choices.keep(key, Choices(spec, chip, gpu), since)


def kernel_for(spec: GemmSpec, chip: str, problem: tuple[int, int, int], gpu: str = "") -> Kernel:
    """Returns the kernel for a problem. Problems with the same configuration share one."""
    key = (spec, chip, problem, gpu)
    found = _kernels.entries.get(key)
    if found:
        return found
    since = generation()
    return _kernels.keep(key, choices_of(spec, chip, gpu).kernel_for(problem), since)


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


def _tables() -> Path:
    """The folder of tables: an installed package has its own, and in a source tree they are where those come from."""
    package = Path(__file__).parent
    own = package / "tuned"
    return own if own.is_dir() else package.parents[1] / "benchmark" / "tuned"


@functools.lru_cache(maxsize=None)
def _tuned_table(gpu: str) -> str | None:
    """The package's table of measured configurations for the GPU of that name, if the package has one."""
    for path in sorted(_tables().glob("*.json")):
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
