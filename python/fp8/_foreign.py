# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Any PTX kernel on the simulator: the arguments of a launch, described as docs/launch.schema.json has it."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsIndex, Union

from . import _binding, _library, _simulator
from ._arrays import package_of
from ._errors import SimulationError
from ._simulator import SimulationStatistics
from ._spec import whole_number
from ._types import by_name

Extents = Union[SupportsIndex, Sequence[SupportsIndex]]

# The element types of TMA, by the names of NumPy and PyTorch; 8-bit floats are copied as bytes.
_TMA_TYPES = {
    "uint8": "u8", "int8": "u8", "bool": "u8", "uint16": "u16", "int16": "u16", "uint32": "u32", "int32": "s32", "uint64": "u64", "int64": "s64",
    "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16",
}


@dataclass(frozen=True)
class Im2col:
    """What cuTensorMapEncodeIm2col takes in place of a box: copies of pixels, for convolutions of tensors of rank 3 to 5.

    Attributes:
        channels: of a copy, 1 to 256.
        pixels: of a copy, 1 to 1024; they follow each other within the corners.
        lower_corner: where W, H and D of the pixels begin, from the tensor's first ones; -128 to 127 with three of them, more with fewer.
        upper_corner: where they end, from the tensor's last ones.
    """

    channels: int
    pixels: int
    lower_corner: Sequence[int]
    upper_corner: Sequence[int]

    def _describe(self) -> dict[str, Any]:
        return {
            "channels": int(self.channels),
            "pixels": int(self.pixels),
            "lower_corner": [int(place) for place in self.lower_corner],
            "upper_corner": [int(place) for place in self.upper_corner],
        }


@dataclass(frozen=True)
class TensorMap:
    """A tensor map of an array, as cuTensorMapEncodeTiled or, with `im2col`, cuTensorMapEncodeIm2col makes it; a parameter of its own or a field of a `Struct`.

    Attributes:
        array: of numpy, or a CPU tensor of torch; None: the address is 0, for the kernel to set.
        box: elements of a copy, innermost dimension first, as TMA counts dimensions; 1 row of columns for tile::gather4 and scatter4. None: with im2col.
        swizzle: "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B" or "128B_ATOM_64B".
        interleave: "none", "16B" or "32B".
        oob_fill: "zero" or "nan".
        dtype: of TMA, such as "bf16", "u8" or "16u4_align8b"; None: the array's.
        dims: elements of the tensor, innermost first; None: the array's extents.
        strides_bytes: of dims 1 and up; None: the array's.
        element_strides: steps, innermost first; None: 1.
        offset: in bytes, from the array's first element.
        im2col: a column of pixels in place of a box.
    """

    array: object
    box: Sequence[int] | None = None
    swizzle: str = "none"
    interleave: str = "none"
    oob_fill: str = "zero"
    dtype: str | None = None
    dims: Sequence[int] | None = None
    strides_bytes: Sequence[int] | None = None
    element_strides: Sequence[int] | None = None
    offset: int = 0
    im2col: Im2col | None = None

    def _tiling(self, name: str) -> dict[str, Any]:
        """The box or the pixels of a copy."""
        if (self.box is None) == (self.im2col is None):
            raise TypeError(f"{name} is a tensor map that needs either a box or im2col")
        if self.im2col is not None:
            return {"im2col": self.im2col._describe()}
        return {"box": [int(extent) for extent in self.box or ()]}


@dataclass(frozen=True)
class Struct:
    """A struct that a kernel takes by value.

    Attributes:
        size: bytes.
        fields: values by their offsets in bytes: what `simulate_ptx` takes as arguments. The rest is zero.
    """

    size: int
    fields: Mapping[int, object]


@dataclass(frozen=True)
class SimulationReport:
    """What a run of `simulate_ptx` found.

    Attributes:
        warnings: where the kernel breaks the letter of the PTX ISA and no hardware was seen to mind, each with its place and reason.
        statistics: of the last schedule.
    """

    warnings: tuple[str, ...]
    statistics: SimulationStatistics


@dataclass(frozen=True)
class _Memory:
    """Where an array is, and what errors call it. Strides count bytes."""

    name: str
    start: int
    end: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    read_only: bool


def _memory_of(array: Any, name: str) -> _Memory | None:
    """The memory of an array of numpy or a CPU tensor of torch; None: it is neither."""
    package = package_of(array)
    if package == "torch":
        if array.device.type != "cpu":
            raise ValueError(f"{name} is on {array.device}, and the simulator works on the host's memory: copy it there")
        size = array.element_size()
        start, read_only = array.data_ptr(), False
        dtype = str(array.dtype).removeprefix("torch.")
        shape, strides = tuple(array.shape), tuple(step * size for step in array.stride())
    elif package == "numpy":
        size = array.itemsize
        start, read_only = array.__array_interface__["data"]
        dtype, shape, strides = array.dtype.name, tuple(array.shape), tuple(array.strides)
    else:
        return None
    if any(step < 0 for step in strides):
        raise ValueError(f"{name} has a negative stride: copy it")
    length = 0 if 0 in shape else size + sum((extent - 1) * step for extent, step in zip(shape, strides))
    return _Memory(name, start, start + length, dtype, shape, strides, read_only)


def _tma_type(memory: _Memory, name: str) -> str:
    format = by_name().get(memory.dtype)
    found = _TMA_TYPES.get(memory.dtype) or ("u8" if format and format.mlir.startswith("f8") else None)
    if found is None:
        raise TypeError(f"{name} is of {memory.dtype}, which TMA does not copy: give the map a dtype")
    return found


class _Buffer(NamedTuple):
    """Memory of arrays that overlap, called what the first of them is."""

    name: str
    start: int
    end: int
    read_only: bool


class _Launch:
    """Collects arrays while arguments are described; arrays that overlap are one buffer."""

    def __init__(self) -> None:
        self._memories: dict[int, _Memory] = {}
        self.buffers: list[_Buffer] = []

    def collect(self, value: Any, name: str) -> None:
        """Notes the arrays of a value."""
        if isinstance(value, Struct):
            for offset, field in value.fields.items():
                self.collect(field, f"{name}, offset {offset}")
        else:
            array = value.array if isinstance(value, TensorMap) else value
            memory = _memory_of(array, name)
            if memory:
                self._memories.setdefault(id(array), memory)

    def place(self) -> None:
        """Makes buffers of what was noted."""
        for memory in sorted(self._memories.values(), key=lambda memory: memory.start):
            if self.buffers and memory.start < self.buffers[-1].end:
                last = self.buffers[-1]
                self.buffers[-1] = last._replace(end=max(last.end, memory.end), read_only=last.read_only and memory.read_only)
            else:
                self.buffers.append(_Buffer(memory.name, memory.start, memory.end, memory.read_only))

    def _address(self, array: Any, offset: int = 0) -> dict[str, Any]:
        memory = self._memories[id(array)]
        for buffer in self.buffers:
            if buffer.start <= memory.start < buffer.end or buffer.start == memory.start == buffer.end:
                return {"buffer": buffer.name, "offset": memory.start - buffer.start + offset}
        raise AssertionError("an array has no buffer")

    def describe(self, value: Any, name: str) -> dict[str, Any]:
        """A value, as the description has it."""
        if value is None:
            return {"u64": 0}
        if isinstance(value, Struct):
            fields = [{"offset": offset, "value": self.describe(field, f"{name}, offset {offset}")} for offset, field in value.fields.items()]
            return {"struct": {"bytes": value.size, "fields": fields}}
        if isinstance(value, TensorMap):
            return {"tensor_map": self._map(value, name)}
        if isinstance(value, (bytes, bytearray)):
            return {"hex": bytes(value).hex()}
        if id(value) in self._memories:
            return self._address(value)
        return _scalar(value, name)

    def _map(self, value: TensorMap, name: str) -> dict[str, Any]:
        memory = self._memories.get(id(value.array))
        dtype, dims, strides = value.dtype, value.dims, value.strides_bytes
        if memory:
            dtype = dtype or _tma_type(memory, name)
            dims = memory.shape[::-1] if dims is None else dims
            strides = memory.strides[::-1][1:] if strides is None else strides
        elif value.array is not None:
            raise TypeError(f"{name} is a tensor map of a {type(value.array).__name__}; it must be of an array of numpy or a CPU tensor of torch")
        if dtype is None or dims is None or strides is None:
            raise TypeError(f"{name} is a tensor map without an array: give it dtype, dims and strides_bytes")
        described = {
            **(self._address(value.array, value.offset) if memory else {}),
            "dtype": dtype,
            "dims": [int(extent) for extent in dims],
            "strides_bytes": [int(step) for step in strides],
            **value._tiling(name),
            "swizzle": value.swizzle,
            "interleave": value.interleave,
            "oob_fill": value.oob_fill,
        }
        if value.element_strides is not None:
            described["element_strides"] = [int(step) for step in value.element_strides]
        return described


def _scalar(value: Any, name: str) -> dict[str, Any]:
    """A number of numpy or ctypes, whose type says its size."""
    if isinstance(value, (bool, int, float)) and type(value).__module__ == "builtins":
        raise TypeError(f"{name} is {value!r}, whose size Python does not say: pass it as np.int32({value!r}), np.float32({value!r}) or the like")
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return {"hex": value.tobytes().hex()}
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Array)):
        return {"hex": bytes(value).hex()}
    raise TypeError(
        f"{name} is a {type(value).__name__}; it must be an array of numpy, a CPU tensor of torch, a number of numpy or ctypes, None, bytes, "
        "fp8.TensorMap or fp8.Struct"
    )


def _extents(given: Extents, name: str) -> list[int]:
    numbers = [whole_number(extent, name) for extent in (given if isinstance(given, Iterable) and not isinstance(given, str) else (given,))]
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"{name} has {len(numbers)} extents; it must have 1 to 3")
    return numbers + [1] * (3 - len(numbers))


def simulate_ptx(
    ptx: str | bytes,
    *args: object,
    grid: Extents,
    block: Extents,
    cluster: Extents = (1, 1, 1),
    shared: int = 0,
    entry: str | None = None,
    programmatic: bool = False,
    variables: Mapping[str, object] | None = None,
    schedules: int = 1,
    schedule_seed: int = 0,
    strict: bool = False,
    multiprocessors: int = 0,
    progress: bool | None = None,
) -> SimulationReport:
    """Runs any PTX kernel for sm_90a or sm_100a on the simulator, on arrays in the host's memory; what it writes is written to them.

    Args:
        ptx: the text.
        args: the kernel's parameters in order: arrays of numpy and CPU tensors of torch, as their addresses; numbers of numpy or ctypes, whose
            types say their sizes, as np.int32(3); None, a null pointer; bytes; TensorMap; Struct.
        grid: CTAs, x first, as `block` and `cluster`.
        block: threads.
        cluster: CTAs.
        shared: bytes of dynamic shared memory.
        entry: the kernel; None: the only one.
        programmatic: the kernel may start before the preceding one ends.
        variables: values of the module's variables by name, like `args`.
        schedules: runs that many, 1 or more, of consecutive seeds and from the same contents; the arrays hold what the last one wrote.
        schedule_seed: chooses the order of warps and of asynchronous work, of the first.
        strict: warnings are errors.
        multiprocessors: that the device has, 1 to 65535; 0: those of the GPU that stands for the kernel's chip.
        progress: shows a bar; None: if it takes long and standard error is a terminal.

    Raises:
        SimulationError: the kernel breaks a rule of the hardware, or does what the simulator does not know; the arrays are as before that run.
        TypeError, ValueError: an argument is none that a kernel takes.
    """
    if not isinstance(ptx, (str, bytes)):
        raise TypeError(f"ptx is a {type(ptx).__name__}; it must be the text of a module, str or bytes{': pass ptx.read_text()' * hasattr(ptx, 'read_text')}")
    shared, schedules = whole_number(shared, "shared"), whole_number(schedules, "schedules")
    multiprocessors = whole_number(multiprocessors, "multiprocessors")
    if schedules < 1:
        raise ValueError(f"schedules is {schedules}; it must be 1 or more")
    _simulator.check_multiprocessors(multiprocessors)
    launch = _Launch()
    named = [*((f"argument {i}", value) for i, value in enumerate(args)), *((f"variable {name}", value) for name, value in (variables or {}).items())]
    for name, value in named:
        launch.collect(value, name)
    launch.place()
    description: dict[str, Any] = {
        "version": 1,
        **({"entry": entry} if entry else {}),
        "grid": _extents(grid, "grid"),
        "block": _extents(block, "block"),
        "cluster": _extents(cluster, "cluster"),
        "shared_memory_bytes": shared,
        "programmatic": programmatic,
        "buffers": [{"name": buffer.name} for buffer in launch.buffers],
        "arguments": [launch.describe(value, f"argument {i}") for i, value in enumerate(args)],
        "variables": {name: launch.describe(value, f"variable {name}") for name, value in (variables or {}).items()},
    }
    options = _simulator.default_options()
    options.strict = strict
    options.multiprocessors = multiprocessors or options.multiprocessors
    given = _given_arrays(launch)
    before = [ctypes.string_at(array.data, array.bytes) for array in given] if schedules > 1 else []
    warnings: dict[str, None] = {}
    for seed in range(schedule_seed, schedule_seed + schedules):
        if seed != schedule_seed:
            for array, contents in zip(given, before):
                if not array.read_only:
                    ctypes.memmove(array.data, contents, array.bytes)
        options.schedule_seed = seed
        statistics, found = _simulate(ptx.encode() if isinstance(ptx, str) else ptx, entry or "kernel", description, given, options, progress)
        warnings.update(dict.fromkeys(found))
    return SimulationReport(tuple(warnings), statistics)


def _given_arrays(launch: _Launch) -> ctypes.Array[_binding.GivenArray]:
    given = (_binding.GivenArray * len(launch.buffers))()
    for array, (name, start, end, read_only) in zip(given, launch.buffers):
        array.name, array.data, array.bytes, array.read_only = name.encode(), start, end - start, read_only
    return given


def _simulate(
    ptx: bytes,
    label: str,
    description: dict[str, Any],
    given: ctypes.Array[_binding.GivenArray],
    options: _binding.SimulatorOptions,
    progress: bool | None,
) -> tuple[SimulationStatistics, list[str]]:
    """One run: what it did, and its warnings."""
    statistics, report = _binding.SimulatorStatistics(), _binding.Handle()
    texts: list[bytes] = []

    def work() -> None:
        try:
            _library.call(
                "fp8SimulateLaunch",
                ptx,
                len(ptx),
                f"{label}.ptx".encode(),
                json.dumps(description).encode(),
                given,
                len(given),
                ctypes.byref(options),
                ctypes.byref(statistics),
                ctypes.byref(report),
                error=SimulationError,
            )
        finally:
            if report:
                texts.append(_library.take_text(report))

    _simulator.run(label, progress, options, work)
    return SimulationStatistics.of(statistics), json.loads(texts[0])["warnings"]
