# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which configuration of a kernel is the best on this GPU? Measured, where the cost model (docs/Chooser.md) predicts."""

from __future__ import annotations

import functools
import operator
import os
import random
import struct
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Iterator

from . import _measured
from ._arrays import CUDA, Array, contiguous_strides
from ._call import extents_of
from ._choice import EARLY, SIGNAL, chip_of, forget_choices
from ._compile import compile
from ._compiler import explain_configurations
from ._device import Buffer, Device, LoadedKernel, get_device, time_launches
from ._layout import padded_row
from ._progress import Progress
from ._spec import GemmSpec, check_problem
from ._types import E8M0, of_mlir

_MAX_OPERAND_SETS = 1024


@dataclass(frozen=True)
class Measurement:
    """A configuration and how long its kernel takes.

    Attributes:
        config: as `GemmSpec.config` pins it.
        us: microseconds of a launch, the median over replays of a CUDA graph of launches on up to 1024 sets of operands. Those of very
            small problems stay in the L2 cache.
        predicted_us: what the cost model expected.
        alone_us: microseconds of a launch that starts when the preceding kernel has ended, as behind a kernel of another library.
    """

    config: str
    us: float
    predicted_us: float
    alone_us: float

    @property
    def mean_us(self) -> float:
        """The mean of three launches, two behind a kernel of this library and one alone, by which choices are made (docs/Chooser.md)."""
        return self.us + (self.alone_us - self.us) / 3


def candidates(spec: GemmSpec, chip: str, problem: tuple[int, int, int], top: int) -> list[tuple[str, float]]:
    """The configurations that the cost model puts first, all if `top` is 0, with the microseconds that it predicts."""
    extents = "x".join(map(str, problem))
    (explained,) = explain_configurations(spec, f"chip={chip} problem={extents} launch={spec.launch} top={top}")
    return [(candidate["config"], candidate["us"]) for candidate in explained["candidates"]]


def tune(
    m: int, n: int, k: int, spec: GemmSpec = GemmSpec(), *, top: int = 8, ordinal: int = 0, progress: bool | None = None
) -> tuple[Measurement, ...]:
    """Times the configurations that the cost model puts first for a problem. `fp8.gemm` takes the best from then on, in later processes too.

    Args:
        m: rows of A and D.
        n: rows of B, columns of D.
        k: columns of A and B, a multiple of 16.
        spec: types, and what follows the sum.
        top: how many configurations to time. The best is timed with the other launch, too, if the spec leaves that open, and with
            the other signal.
        ordinal: the GPU's number.
        progress: shows a bar; None: if it takes long and standard error is a terminal.

    Returns:
        What was measured, the least mean time first.

    Raises:
        ValueError: an extent is out of range, or the spec has a batch or pins a configuration.
        DeviceError: there is no GPU that can do it, or its driver fails.
        HangError: a kernel does not end.
    """
    m, n, k = map(operator.index, (m, n, k))
    if min(m, n, k) < 1 or k % 16 or top < 1:
        raise ValueError(f"M, N and K are {m}, {n} and {k}, of {top} configurations; they must be 1 or more, K a multiple of 16")
    if spec.batch:
        raise ValueError("a batch is not tuned: leave batch out")
    if spec.config is not None:
        raise ValueError(f"the spec pins the configuration '{spec.config}': leave config out")
    device = get_device(ordinal)
    problem = (m, n, k)
    check_problem(problem)
    # As that of a call is which makes its D.
    spec = replace(spec, d_contiguous=padded_row(n, spec.d_dtype) == n)
    chip = chip_of(device)
    found = candidates(spec, chip, problem, top)
    changes = (_with_other_launch, _with_other_signal) if spec.programmatic is None else (_with_other_signal,)
    measurements: list[Measurement] = []
    with Progress(f"tuning {m} x {n} x {k}", progress) as shown:
        sets = list(operand_sets(device, spec, problem))

        def time_on_sets(kernel: LoadedKernel) -> float:
            return time_launches([kernel.prepare(tuple(arrays)) for arrays in sets])

        def measure(config: str, predicted: float) -> None:
            kernel = compile(replace(spec, config=config, programmatic=None), chip=chip)
            us = time_on_sets(kernel.loaded(ordinal))
            alone_us = time_on_sets(kernel.load_alone(ordinal)) if EARLY in config else us
            measurements.append(Measurement(config, us, predicted, alone_us))
            shown.update(len(measurements), len(found) + len(changes))

        for config, predicted in found:
            measure(config, predicted)
        for change in changes:
            best = min(measurements, key=lambda measurement: measurement.mean_us).config
            for config, predicted in change(best, spec, chip, problem):
                if all(config != measurement.config for measurement in measurements):
                    measure(config, predicted)
    measurements.sort(key=lambda measurement: measurement.mean_us)
    _measured.keep(device.info.name, spec, problem, measurements[0].config)
    forget_choices()
    return tuple(measurements)


def _with_other_launch(config: str, spec: GemmSpec, chip: str, problem: tuple[int, int, int]) -> list[tuple[str, float]]:
    """The configuration, programmatic with the faster signal if it is serial, else serial, with the microseconds that the cost model predicts."""
    programmatic = EARLY not in config
    other = with_launch(config, programmatic=programmatic)
    return [found for found in _predicted(spec, chip, problem, programmatic) if with_launch(found[0], programmatic=programmatic) == other][:1]


def _with_other_signal(config: str, spec: GemmSpec, chip: str, problem: tuple[int, int, int]) -> list[tuple[str, float]]:
    """A programmatic configuration that signals elsewhere, with the microseconds that the cost model predicts; nothing where it knows none."""
    if EARLY not in config:
        return []
    other = config.removesuffix(SIGNAL) if config.endswith(SIGNAL) else config + SIGNAL
    return [found for found in _predicted(spec, chip, problem, True) if found[0] == other]


def _predicted(spec: GemmSpec, chip: str, problem: tuple[int, int, int], programmatic: bool) -> list[tuple[str, float]]:
    """All configurations with that launch, the best first, with the microseconds that the cost model predicts."""
    return candidates(replace(spec, programmatic=programmatic), chip, problem, top=0)


def with_launch(config: str, *, programmatic: bool) -> str:
    """The configuration with that launch, and the signal that it has by default."""
    serial = config.replace(EARLY, "").replace(SIGNAL, "")
    if not programmatic:
        return serial
    # The edge is behind the launch, as the compiler prints a configuration.
    fields, edge, kind = serial.partition(", edge = ")
    return fields + EARLY + edge + kind


def operand_sets(device: Device, spec: GemmSpec, problem: tuple[int, int, int]) -> Iterator[list[Array]]:
    """Sets of operands, of random numbers, that together are larger than four times the L2 cache, as far as 1024 sets reach."""
    shapes = _shapes(spec, problem)
    content, places = b"", {}
    for name, (dtype, shape, strides) in shapes.items():
        places[name] = len(content)
        content += _random(dtype, _aligned(shape[0] * strides[0] * of_mlir(dtype).size))
    wanted, room = 4 * device.info.l2_cache_bytes // len(content) + 1, device.info.memory_bytes // 2 // len(content)
    for _ in range(max(1, min(wanted, room, _MAX_OPERAND_SETS))):
        buffer = Buffer(device, content)
        yield [
            Array(dtype, buffer.address + places[name], shape, strides, CUDA, device.info.ordinal, buffer)
            for name, (dtype, shape, strides) in shapes.items()
        ]


def _aligned(size: int) -> int:
    return -(-size // 256) * 256


def _shapes(spec: GemmSpec, problem: tuple[int, int, int]) -> dict[str, tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Of each argument, in the kernel's order: type, shape and strides."""
    m, n, k = problem
    shapes = {}
    for parameter in spec.parameters:
        dtype = spec.dtype_of(parameter)
        shape = extents_of(parameter, m, n, k)
        padded = (*shape[:-1], padded_row(shape[-1], dtype)) if parameter.by_tma else shape
        shapes[parameter.name] = (dtype, shape, contiguous_strides(padded))
    return shapes


@functools.lru_cache(maxsize=None)
def _normal_codes() -> bytes:
    """For each of 256 equally likely bytes an e4m3 code, so that codes are those of normal numbers whose largest is 448."""
    positive = [(2.0 ** max(code // 8, 1) * (code % 8 + 8 * (code >= 8))) / 2.0**10 for code in range(127)]
    deviation = 448 / 3
    codes = []
    for byte in range(256):
        value = NormalDist(0, deviation).inv_cdf((byte + 0.5) / 256)
        nearest = min(range(127), key=lambda code: abs(positive[code] - abs(value)))
        codes.append(nearest + 128 * (value < 0))
    return bytes(codes)


def _random(dtype: str, size: int) -> bytes:
    """Bytes of numbers of that type: of 8 bits normal ones, as quantising makes them, for what products take of power and clock depends on
    them; of the others some from 0.5 to 1."""
    if dtype == "f8E4M3FN":
        return os.urandom(size).translate(_normal_codes())
    if dtype == E8M0.mlir:  # 2^-8 to 2^-1
        return os.urandom(size).translate(bytes(119 + code % 8 for code in range(256)))
    numbers = [random.uniform(0.5, 1) for _ in range(1021)]
    values = struct.pack(f"={len(numbers)}{'e' if dtype == 'f16' else 'f'}", *numbers)
    if dtype == "bf16":
        values = b"".join(values[at + 2 : at + 4] for at in range(0, len(values), 4))
    return (values * (size // len(values) + 1))[:size]
