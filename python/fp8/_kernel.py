# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels: what they are made of, and runs of them."""

from __future__ import annotations

import ctypes
import json
import threading

from . import _binding, _library, _simulator
from ._annotations import Operand, Stream
from ._arrays import CPU, CUDA, Array, describe, spelt, stands_for
from ._compiler import KernelObject, Module, Resources, run_pipeline
from ._device import Launch, LoadedKernel, as_arguments, get_device, profile_launch
from ._errors import SimulationError
from ._packages import current_stream, stream_address
from ._reports import Manifest, Proof, Report
from ._simulator import SimulationStatistics
from ._timeline import Timeline

PHASES = ("op", "structured", "linear", "barriers", "instructions", "llvm")
# The phases at whose ends the numbers 0 to 4 stand.
_NUMBERED = tuple(phase for phase in PHASES if phase != "barriers")


class Kernel:
    """A compiled kernel; `compile` makes them.

    Attributes:
        name: of the kernel.
        chip: that it is for, "sm_90a".
        ptx: its text.
        cubin: the machine code, or None if there was no ptxas.
        resources: registers, spills and so on, or None likewise.
        manifest: all that a launch needs, as docs/manifest.schema.json has it.
        certificate: the proof that the kernel ends, JSON text for fp8-check-proof; None if the proof is not complete, or was left out.
        key: what it was made from, in a few characters: equal for equal kernels of one build of the compiler.
    """

    def __init__(self, source: str | bytes, options: str, built: KernelObject, key: str):
        self._source, self._options, self._object, self.key = source, options, built, key
        self._manifest: Manifest | None = None
        self._loaded: dict[int, LoadedKernel] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._object.name

    @property
    def chip(self) -> str:
        return self._object.chip

    @property
    def ptx(self) -> str:
        return self._object.ptx

    @property
    def cubin(self) -> bytes | None:
        return self._object.cubin

    @property
    def resources(self) -> Resources | None:
        return self._object.resources

    @property
    def manifest(self) -> Manifest:
        if self._manifest is None:
            manifest: Manifest = json.loads(self._object.manifest)
            self._manifest = manifest
        return self._manifest

    @property
    def certificate(self) -> str | None:
        return self._object.certificate

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of what `simulate` and `launch` take."""
        return tuple(argument["name"] for argument in self.manifest["arguments"])

    def mlir(self, phase: str | int = "op", *, locations: bool = False) -> str:
        """The module in a phase: "op", "structured", "linear", "barriers", "instructions" or "llvm", or its number, 0 to 4.

        Phase 3 has two halves, of which 3 is the second: "instructions".

        A source that is in a later phase already stays as it is.
        """
        if isinstance(phase, int) and 0 <= phase < len(_NUMBERED):
            phase = _NUMBERED[phase]
        if phase not in PHASES:
            raise ValueError(f"there is no phase {phase!r}; there are {', '.join(PHASES)}, or 0 to {len(_NUMBERED) - 1}")
        return run_pipeline(self._source, f"fp8-gemm-to-ptx{{{self._options} phase={phase}}}", locations=locations)

    @property
    def report(self) -> Report:
        """What the compiler derived: roles, rings, barriers with their counts and bytes, shared and tensor memory.

        Raises:
            ValueError: the source has no pipelines any more, from which it is derived.
        """
        module = Module(self._source)
        module.run(f"fp8-gemm-to-ptx{{{self._options} phase=op}}")
        for kernel in module.report(self.chip):
            if kernel["kernel"] == self.name:
                return kernel
        raise ValueError(
            f"kernel '{self.name}' was compiled from a phase without pipelines, and a report is made of those: compile it from phase 0, 1 or 2"
        )

    @property
    def proof(self) -> Proof:
        """What is proved of the kernel for all launches, with the assumptions.

        Raises:
            ValueError: the source has no pipelines any more, about which it is.
        """
        module = Module(self._source)
        module.run(f"fp8-gemm-to-ptx{{{self._options} phase=op}}")
        for kernel in module.prove(self.chip):
            if kernel["kernel"] == self.name:
                return kernel
        raise ValueError(f"kernel '{self.name}' was compiled from a phase without pipelines, and a proof is about those: compile it from phase 0, 1 or 2")

    def _bind(self, arrays: tuple[Operand | Array, ...], stream: int | None = None) -> tuple[Array, ...]:
        """Describes the arrays, to be used in that stream, as the manifest's types; what else is wrong with them the library says."""
        bound = []
        for specification, given in zip(self.manifest["arguments"], arrays):
            name = specification["name"]
            array = describe(given, name, stream)
            wanted = specification["dtype"]
            if not stands_for(array.dtype, wanted):
                raise TypeError(f"{name} is of {spelt(array.dtype)} and the kernel takes {spelt(wanted)}")
            if array.read_only and specification["access"] != "read":
                raise ValueError(f"{name} is read-only, and the kernel writes to it")
            bound.append(array.as_type(wanted))
        if len(arrays) != len(bound) or len(bound) != len(self.arguments):
            raise TypeError(f"kernel '{self.name}' takes {len(self.arguments)} arrays, {', '.join(self.arguments)}, and got {len(arrays)}")
        return tuple(bound)

    def simulate(self, *arrays: Operand | Array, schedule_seed: int = 0, multiprocessors: int = 0, progress: bool | None = None) -> SimulationStatistics:
        """Runs on the simulator, on arrays in the host's memory; what the kernel writes is written to them.

        Args:
            arrays: as `arguments` names them.
            schedule_seed: chooses the order of warps and of asynchronous work.
            multiprocessors: that the device has, 1 to 65535; 0: those of the GPU that stands for the kernel's chip.
            progress: shows a bar; None: if it takes long and standard error is a terminal.

        Raises:
            SimulationError: the kernel breaks a rule; nothing is written.
            TypeError, ValueError: the arrays do not fit, or a number is out of range.
        """
        _simulator.check_multiprocessors(multiprocessors)
        options = _simulator.default_options()
        options.schedule_seed = schedule_seed
        options.multiprocessors = multiprocessors or options.multiprocessors
        statistics = _binding.SimulatorStatistics()
        bound = self._bind_host(arrays)
        _simulator.run(self.name, progress, options, lambda: self._simulate("fp8Simulate", bound, options, statistics))
        return SimulationStatistics.of(statistics)

    def _bind_host(self, arrays: tuple[Operand | Array, ...]) -> tuple[Array, ...]:
        """Describes arrays for the simulator."""
        bound = self._bind(arrays)
        for name, array in zip(self.arguments, bound):
            if array.device != CPU:
                raise ValueError(f"{name} is on {array.place}, and the simulator works on the host's memory: copy it there")
        return bound

    def _simulate(
        self, function: str, bound: tuple[Array, ...], options: _binding.SimulatorOptions, *results: _binding.SimulatorStatistics | _binding.CTimeline
    ) -> None:
        ptx = self.ptx.encode()
        _library.call(
            function,
            ptx,
            len(ptx),
            f"{self.name}.ptx".encode(),
            self._object.manifest.encode(),
            as_arguments(bound),
            len(bound),
            ctypes.byref(options),
            *(ctypes.byref(result) for result in results),
            error=SimulationError,
        )

    def find_loaded(self, ordinal: int) -> LoadedKernel | None:
        """The kernel on a GPU, if it is there already."""
        return self._loaded.get(ordinal)

    def loaded(self, ordinal: int) -> LoadedKernel:
        """The kernel on a GPU."""
        device = get_device(ordinal)
        with self._lock:
            if ordinal not in self._loaded:
                self._loaded[ordinal] = LoadedKernel(device, self._image, self._object.manifest)
            return self._loaded[ordinal]

    def load_alone(self, ordinal: int) -> LoadedKernel:
        """The kernel on a GPU once more, launched when the preceding kernel has ended, whatever its configuration says."""
        manifest = json.loads(self._object.manifest)
        manifest["launch"]["programmatic"] = False
        return LoadedKernel(get_device(ordinal), self._image, json.dumps(manifest))

    @property
    def _image(self) -> bytes:
        """What the driver loads."""
        return self.cubin or self.ptx.encode()

    def profile(self, *arrays: Operand | Array, progress: bool | None = None) -> Timeline:
        """Runs on the GPU that has the arrays, or for arrays in the host's memory on the simulator, and tells what each role did (docs/Timeline.md).

        The kernel must have been compiled with `profile=True`. On a GPU it runs several times, and waits for all work of the arrays' streams first.
        The simulator's times are its steps.

        Args:
            arrays: as `arguments` names them.
            progress: shows a bar on the simulator; None: if it takes long and standard error is a terminal.

        Raises:
            DeviceError: the GPU or its driver cannot.
            SimulationError: the kernel breaks a rule.
            TypeError, ValueError: the arrays do not fit, or the kernel was not compiled with `profile=True`.
        """
        if "profile" not in self.manifest:
            raise ValueError(f"kernel '{self.name}' writes no stamps: compile it with profile=True")
        if arrays and describe(arrays[0], "the first array").device == CUDA:
            launch, stream, bound = self._prepare(arrays, None)
            get_device(bound[0].index).await_stream(stream)
            return profile_launch(launch)
        options, timeline = _simulator.default_options(), _binding.CTimeline()
        bound = self._bind_host(arrays)
        statistics = _binding.SimulatorStatistics()
        _simulator.run(self.name, progress, options, lambda: self._simulate("fp8SimulateProfile", bound, options, statistics, timeline))
        return Timeline.take(timeline)

    def launch(self, *arrays: Operand | Array, stream: Stream | None = None) -> None:
        """Enqueues the kernel on a GPU.

        Args:
            arrays: as `arguments` names them, all on one GPU.
            stream: a CUDA stream of torch or cupy, or its address; None: the current one of the package of the first array.

        Raises:
            DeviceError: the GPU or its driver cannot.
            TypeError, ValueError: the arrays do not fit.
        """
        launch, wanted, bound = self._prepare(arrays, stream)
        launch.enqueue(wanted, *(array.address for array in bound))

    def _prepare(self, arrays: tuple[Operand | Array, ...], stream: Stream | None) -> tuple[Launch, int, tuple[Array, ...]]:
        """A launch on the arrays, the stream for it, which waits for those who write to them, and the arrays."""
        wanted = stream_address(stream) if stream is not None else _current_stream(arrays)
        bound = self._bind(arrays, wanted)
        places = {array.place for array in bound}
        if len(places) != 1 or bound[0].device != CUDA:
            raise ValueError(f"the arrays are on {', '.join(sorted(places))}; they must be on one cuda device")
        index = bound[0].index
        get_device(index).await_producers(bound, wanted)
        return self.loaded(index).prepare(bound), wanted, bound

    def __repr__(self) -> str:
        resources = self.resources
        made = f"{resources.registers} registers" if resources else "PTX only"
        launch = self.manifest["launch"]
        return f"<fp8.Kernel {self.name} for {self.chip}: {launch['block'][0]} threads, {launch['shared_memory_bytes']} bytes of shared memory, {made}>"


def _current_stream(arrays: tuple[Operand | Array, ...]) -> int:
    """That of the package that the first array is of."""
    first = describe(arrays[0], "the first array") if arrays else None
    return current_stream(arrays[0], first.index) if first and first.device == CUDA else 0
