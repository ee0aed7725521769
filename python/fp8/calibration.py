# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constants of the cost model (docs/Chooser.md) for this GPU: kernels are timed, and the constants fitted to the times."""

from __future__ import annotations

import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Iterator, Sequence

from . import _machine
from ._choice import chip_of, forget_choices
from ._compile import compile
from ._compiler import Chooser
from ._device import Device, get_device, time_launches
from ._errors import Fp8Error
from ._kernel import Kernel
from ._progress import Progress
from ._spec import GemmSpec
from .tuning import operand_sets, with_launch

Problem = tuple[int, int, int]

_SPEC = GemmSpec(d_contiguous=True)
_BOTH, _SERIAL = (False, True), (False,)
_LAUNCHES = 0.5e-3  # seconds of work that a replay has at least
_REPLAYS = 9
_COMPILERS = 8

# What is timed for chips without tensor memory: M, N and K, then tiles. Together they have each term of the model large in some kernels and small in
# others: few tiles and many, one row and several, K divided, operands swapped, one wave and many.
_PLAN: tuple[tuple[Problem, tuple[str, ...], tuple[bool, ...]], ...] = (
    ((8, 4096, 7168), ("8x64", "16x64", "16x64k2", "8x128"), _BOTH),
    ((16, 2112, 7168), ("16x64k2", "16x64", "16x128k2"), _BOTH),
    ((32, 7168, 2048), ("32x64", "32x128"), _BOTH),
    ((48, 7168, 16384), ("48x64", "64x56", "48x128"), _BOTH),
    ((64, 2112, 7168), ("64x32k2", "64x16", "64x32", "64x64k2"), _BOTH),
    ((64, 4096, 7168), ("64x32", "64x64", "64x64k2"), _BOTH),
    ((64, 7168, 2048), ("64x64", "64x56", "64x32"), _BOTH),
    ((64, 24576, 1536), ("64x96", "64x128", "64x192"), _BOTH),
    ((64, 32768, 512), ("64x128", "64x192"), _BOTH),
    ((96, 4096, 7168), ("96x64", "104x64", "64x64", "128x64"), _BOTH),
    ((128, 2112, 7168), ("128x32k2", "64x64k2", "64x32", "128x64k4"), _BOTH),
    ((128, 4096, 7168), ("64x64", "128x64", "128x32", "64x128k2"), _BOTH),
    ((128, 7168, 16384), ("128x64", "64x128", "128x128"), _BOTH),
    ((192, 7168, 2048), ("128x128", "64x128", "64x192", "96x128"), _BOTH),
    ((256, 4096, 7168), ("128x64", "64x128", "128x128k2"), _BOTH),
    ((512, 7168, 2048), ("128x128", "256x128", "128x192", "256x64"), _BOTH),
    ((768, 2304, 5120), ("128x128", "128x96", "256x64", "64x192"), _BOTH),
    ((1024, 4096, 7168), ("128x128", "256x128", "128x192"), _SERIAL),
    ((2048, 2112, 7168), ("128x192", "256x128", "128x128", "128x160"), _SERIAL),
    ((4096, 4096, 2048), ("256x128", "128x192", "128x128"), _SERIAL),
    ((4096, 8192, 512), ("256x128", "128x192", "128x128"), _SERIAL),
    ((4096, 7168, 4096), ("256x128", "128x192"), _SERIAL),
)


@dataclass(frozen=True)
class Calibration:
    """What was measured of a GPU.

    Attributes:
        gpu: its name.
        path: the file that has the constants, which `fp8.gemm` reads from then on; None if there is no cache: then only this process does.
        constants: of the cost model, by name.
        kernels: how many were timed.
        median_error: of the times that the model then predicts, relative to those measured.
        ninetieth_error: what nine in ten of these errors stay below.
        seconds: how long it took.
    """

    gpu: str
    path: Path | None
    constants: dict[str, float]
    kernels: int
    median_error: float
    ninetieth_error: float
    seconds: float


def calibrate(*, ordinal: int = 0, output: str | os.PathLike[str] | None = None, progress: bool | None = None) -> Calibration:
    """Measures the constants of the cost model on a GPU, in under a minute. `fp8.gemm` chooses by them from then on, in later processes too.

    Args:
        ordinal: the GPU's number.
        output: a file to write instead of the cache's, for `--fp8-choose-config=machine=FILE` or `$FP8_MACHINE`.
        progress: shows a bar; None: if it takes long and standard error is a terminal.

    Raises:
        DeviceError: there is no GPU that can do it, or its driver fails.
        HangError: a kernel does not end.
        Fp8Error: the GPU's chip has kernels of another kind than those that are timed.
    """
    began = time.monotonic()
    device = get_device(ordinal)
    chip = chip_of(device)
    if chip != "sm_90a":
        raise Fp8Error(f"kernels that tell the constants of a GPU with the chip {chip} are not known: only those of Hopper GPUs are measured")
    with Progress(f"calibrating for {device.info.name}", progress) as shown:
        entries = list(_measure(device, chip, shown))
    text = fit(entries, chip, device.info.name, multiprocessors=device.info.multiprocessor_count)
    if output is None:
        path = _machine.keep(device.info.name, device.info.driver_version, text)
    else:
        path = Path(output)
        path.write_text(text)
    forget_choices()
    fields = json.loads(text)
    return Calibration(
        device.info.name, path, fields["constants"], fields["kernels"], fields["median_error"], fields["ninetieth_error"], time.monotonic() - began
    )


def fit(
    entries: list[dict[str, object]],
    chip: str,
    gpu: str,
    start: str | None = None,
    *,
    multiprocessors: int | None = None,
    spec: GemmSpec = _SPEC,
    constants: Sequence[str] = (),
) -> str:
    """Fits constants to times.

    Args:
        entries: m, n, k, config and us of each kernel that was timed.
        chip: of the GPU.
        gpu: its name.
        start: the machine to begin from, as --fp8-choose-config takes it; None: the GPU's, or the chip's.
        multiprocessors: how many the GPU has, or the part of it that runs kernels; None: as many as `start` has. Times do not tell.

        spec: what the kernels compute; by default with scales of f32 and D in bf16.
        constants: those that are fitted, by name; the others stay as `start` has them. Empty: all.

    Returns:
        The text of a machine file.
    """
    if start is None:
        start = _machine.built_in(gpu)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "times.json")

        def fit_to(some: list[dict[str, object]]) -> str:
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"chip": chip, "entries": some, "constants": list(constants)}, file)
            return Chooser(spec.mlir(), chip, machine=start).fit(path, gpu)

        if multiprocessors is not None:
            # One time fits nothing worth having, but gives a file of all constants.
            fields = json.loads(fit_to(entries[:1]))
            known = fields["constants"]
            if known["multiprocessors"] != multiprocessors:
                for name in known:
                    if name.startswith("clustersOf"):
                        known[name] = max(min(known[name], multiprocessors // int(name.removeprefix("clustersOf"))), 1)
                known["multiprocessors"] = multiprocessors
                start = os.path.join(folder, "machine.json")
                with open(start, "w", encoding="utf-8") as file:
                    json.dump(fields, file)
        return fit_to(entries)


def plan() -> Iterator[tuple[Problem, list[str]]]:
    """What is timed: problems, and configurations for each."""
    for problem, tiles, launches in _PLAN:
        yield problem, [config for tile in tiles for config in _configurations(tile, problem[0], launches)]


def _configurations(tile: str, m: int, launches: tuple[bool, ...]) -> Iterator[str]:
    """Of "64x32k2", K divided by two."""
    extents, _, split = tile.partition("k")
    rows, columns = extents.split("x")
    config = f"tile = {rows} x {columns} x 128" + (f", split_k = {split}" if split else "") + (", edge = first" if m > int(rows) else "")
    for programmatic in launches:
        yield with_launch(config, programmatic=programmatic)


def _measure(device: Device, chip: str, shown: Progress) -> Iterator[dict[str, object]]:
    planned = list(plan())
    configs = list(dict.fromkeys(config for _, found in planned for config in found))
    total, done = len(configs) + sum(len(found) for _, found in planned), 0
    kernels: dict[str, Kernel] = {}
    with ThreadPoolExecutor(min(_COMPILERS, os.cpu_count() or 1)) as pool:
        for config, kernel in zip(configs, pool.map(lambda config: compile(replace(_SPEC, config=config), chip=chip), configs)):
            kernels[config] = kernel
            done += 1
            shown.update(done, total)
    for (m, n, k), found in planned:
        sets = list(operand_sets(device, _SPEC, (m, n, k)))
        for config in found:
            loaded = kernels[config].loaded(device.info.ordinal)
            launches = [loaded.prepare(tuple(arrays)) for arrays in sets]
            rough = time_launches(launches, 1)
            often = int(_LAUNCHES / (rough * 1e-6 * len(launches))) + 1
            yield {"m": m, "n": n, "k": k, "config": config, "us": time_launches(launches * often, _REPLAYS)}
            done += 1
            shown.update(done, total)
