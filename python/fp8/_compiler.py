# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of the compiler: parse, verify, run a pipeline, print, report, kernel object."""

from __future__ import annotations

import ctypes
import json
import os
import re
import tempfile
import threading
from dataclasses import dataclass, fields
from pathlib import Path

from . import _binding, _library
from ._annotations import Source
from ._errors import CompileError, Diagnostic
from ._ptxas import find_ptxas
from ._reports import Choice, Proof, Report
from ._spec import DEFAULT_CHIP, GemmSpec

_SEVERITIES = ("error", "warning", "remark", "note")
_BYTECODE_MAGIC = b"ML\xefR"
_FILE_NAME = re.compile(r".+\.(mlir|mlirbc|bc)")  # one line


@dataclass(frozen=True)
class Resources:
    """What ptxas says of a kernel.

    Attributes:
        registers: 32-bit registers of one thread.
        spill_store_bytes: of one thread.
        spill_load_bytes: of one thread.
        stack_bytes: of one thread.
        shared_memory_bytes: static, of one CTA; dynamic is the launch's.
    """

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_memory_bytes: int


@dataclass(frozen=True)
class KernelObject:
    """A compiled kernel: PTX, launch manifest (JSON), the certificate of its proof (JSON), and a cubin if there was an assembler."""

    name: str
    chip: str
    ptx: str
    manifest: str
    certificate: str | None
    cubin: bytes | None = None
    resources: Resources | None = None


def _convert(diagnostic: _binding.CDiagnostic) -> Diagnostic:
    return Diagnostic(
        _SEVERITIES[diagnostic.severity],
        diagnostic.message.decode(errors="replace"),
        diagnostic.file.decode(errors="replace"),
        diagnostic.line,
        diagnostic.column,
        tuple(_convert(diagnostic.notes[i]) for i in range(diagnostic.note_count)),
    )


def source_of(source: Source) -> str | bytes:
    """MLIR text or bytecode, of whatever has it.

    Raises:
        TypeError: it is none.
        ValueError: it is text that names a file.
        OSError: the file that it is the path of cannot be read.
    """
    if isinstance(source, str) and (_FILE_NAME.fullmatch(source.strip()) or "\n" not in source and os.path.isfile(source)):
        raise ValueError(f"the source is the text {source!r}, which names a file and is no module: pass pathlib.Path({source!r}) to have the file read")
    if isinstance(source, (str, bytes)):
        return source
    if isinstance(source, os.PathLike):
        return Path(source).read_bytes()
    write = getattr(source, "mlir", None)
    if not callable(write):
        raise TypeError(
            f"the source is a {type(source).__name__}; it must be MLIR text or bytecode, the pathlib.Path of a file that has it, an fp8.GemmSpec, or a "
            "module of fp8.builder"
        )
    return str(write())


def name_of(source: Source, otherwise: str) -> str:
    """What diagnostics call the source: the path of a file."""
    return os.fspath(source) if isinstance(source, os.PathLike) else otherwise


class Module:
    """A module of the compiler, in a context of its own; used by one thread at a time.

    Args:
        source: MLIR text or bytecode, or what has it, as `source_of` says.
        name: of the module, for diagnostics.

    Raises:
        CompileError: it does not parse, or a verifier refuses it.
    """

    def __init__(self, source: Source, name: str = "module.mlir"):
        text = source_of(source)
        data = text.encode() if isinstance(text, str) else text
        self._name = name
        self._text = None if data.startswith(_BYTECODE_MAGIC) else data.decode(errors="replace")
        self._context = _library.own("fp8ContextCreate", "fp8ContextFree")
        self.diagnostics: list[Diagnostic] = []
        heard = self.diagnostics
        # ctypes keeps no reference to a callback.
        self._handler = _binding.DiagnosticHandler(lambda diagnostic, _: heard.append(_convert(diagnostic[0])))
        _library.functions().fp8ContextSetDiagnosticHandler(self._context.handle, self._handler, None)
        self._module = self._make("fp8ModuleParse", "fp8ModuleFree", self._context.handle, data, len(data), name.encode())

    def _failure(self, error: CompileError) -> CompileError:
        return CompileError(str(error), tuple(self.diagnostics), self._text, self._name)

    def _make(self, make: str, free: str, *arguments: object) -> _binding.Owned:
        try:
            return _library.own(make, free, *arguments, error=CompileError)
        except CompileError as error:
            raise self._failure(error) from None

    def _call(self, name: str, *arguments: object) -> None:
        try:
            _library.call(name, self._module.handle, *arguments, error=CompileError)
        except CompileError as error:
            raise self._failure(error) from None

    def own(self, make: str, free: str, *arguments: object) -> _binding.Owned:
        """Makes a handle of what works on the module, which must outlive it."""
        return self._make(make, free, self._module.handle, *arguments)

    def __del__(self) -> None:
        # The module goes before its context.
        self._module = None  # type: ignore[assignment]
        self._context = None  # type: ignore[assignment]

    def verify(self) -> None:
        self._call("fp8ModuleVerify")

    def run(self, pipeline: str) -> None:
        self._call("fp8ModuleRunPipeline", pipeline.encode())

    def _print(self, format: int) -> bytes:
        text = _binding.Handle()
        self._call("fp8ModulePrint", format, ctypes.byref(text))
        return _library.take_text(text)

    def text(self, *, locations: bool = False) -> str:
        return self._print(1 if locations else 0).decode()

    def report(self, chip: str) -> list[Report]:
        text = _binding.Handle()
        self._call("fp8ModuleReport", chip.encode(), ctypes.byref(text))
        kernels: list[Report] = json.loads(_library.take_text(text))
        return kernels

    def prove(self, chip: str) -> list[Proof]:
        text = _binding.Handle()
        self._call("fp8ModuleProve", chip.encode(), ctypes.byref(text))
        kernels: list[Proof] = json.loads(_library.take_text(text))["kernels"]
        return kernels

    def object(self, kernel: str | None = None, *, assemble: bool = False, strict: bool = False) -> KernelObject:
        """The kernel of a module in phase 4; `assemble` needs a ptxas."""
        ptxas = find_ptxas() if assemble else None
        options = _binding.KernelObjectOptions(
            kernel.encode() if kernel else None, int(assemble), ptxas.encode() if ptxas else None, int(strict)
        )
        made = self._make("fp8KernelObjectCreate", "fp8KernelObjectFree", self._module.handle, ctypes.byref(options))
        library, handle = _library.functions(), made.handle
        size = ctypes.c_size_t()
        cubin = library.fp8KernelObjectCubin(handle, ctypes.byref(size))
        resources = _binding.KernelResources()
        certificate = library.fp8KernelObjectCertificate(handle)
        has_resources = library.fp8KernelObjectResources(handle, ctypes.byref(resources))
        return KernelObject(
            name=library.fp8KernelObjectName(handle).decode(),
            chip=library.fp8KernelObjectChip(handle).decode(),
            ptx=library.fp8KernelObjectPTX(handle).decode(),
            manifest=library.fp8KernelObjectManifest(handle).decode(),
            certificate=certificate.decode() if certificate else None,
            cubin=ctypes.string_at(cubin, size.value) if cubin else None,
            resources=Resources(**{field.name: getattr(resources, field.name) for field in fields(Resources)}) if has_resources else None,
        )


def quoted(path: str) -> str:
    """A path, or a name, as a pass takes it in an option.

    Raises:
        ValueError: the text of a pipeline has no way to say it.
    """
    for quote in "'\"":
        if not {quote, "{", "}"} & set(path):
            return f"{quote}{path}{quote}"
    raise ValueError(f"the path {path!r} has a brace or both kinds of quotation marks, which no option of a pass can have: rename it")


class Chooser:
    """Chooses configurations of one GEMM for one problem after another, in microseconds. Threads may share it.

    Args:
        source: a module with one GEMM op, which pins none.
        chip: what kernels are compiled for.
        tuned: the path of a table of measured configurations, or None.
        machine: the name of a GPU, or the path of a file with its constants; None: the chip's.
        launch: "fastest", "serial" or "programmatic".

    Raises:
        CompileError: it is no such module, no such table, or no such machine.
    """

    def __init__(self, source: Source, chip: str, tuned: str | None = None, machine: str | None = None, launch: str = "fastest"):
        self._module = Module(source)
        self._launch = launch
        self._options = f"chip={chip}" + (f" tuned={quoted(tuned)}" if tuned else "") + (f" machine={quoted(machine)}" if machine else "")
        paths = (os.fsencode(path) if path else None for path in (tuned, machine))
        self._owned = self._module.own("fp8ChooserCreate", "fp8ChooserFree", chip.encode(), *paths, launch.encode())
        self._lock = threading.Lock()

    def __del__(self) -> None:
        # The chooser goes before its module.
        self._owned = None  # type: ignore[assignment]

    def choose(self, m: int, n: int, k: int) -> str:
        """Returns the configuration for M, N and K, as a GemmSpec has it; "" if the lowering chooses."""
        found = ctypes.c_char_p()
        with self._lock:
            _library.call("fp8ChooserChoose", self._owned.handle, m, n, k, ctypes.byref(found), error=CompileError)
            return (found.value or b"").decode()

    def explain(self, source: Source, m: int, n: int, k: int, launch: str | None = None) -> Choice:
        """Returns all that is known of the choice for M, N and K.

        Args:
            source: the module of the chooser, or one that pins a configuration.
            launch: of the candidates; None: the chooser's.
        """
        (explained,) = explain_configurations(source, f"{self._options} launch={launch or self._launch} problem={m}x{n}x{k} exact top=0")
        return explained

    def fit(self, measured: str, gpu: str) -> str:
        """Returns the text of a machine file: the constants of the cost model, fitted to the times in a table of the format of `tuned`."""
        text = _binding.Handle()
        with self._lock:
            _library.call("fp8ChooserFit", self._owned.handle, os.fsencode(measured), gpu.encode(), ctypes.byref(text), error=CompileError)
        return _library.take_text(text).decode()


def verify(source: Source, *, name: str | None = None) -> tuple[Diagnostic, ...]:
    """Verifies a module: each op by itself, and that what is linear is consumed exactly once on every path.

    Args:
        source: MLIR text or bytecode, in any phase; the pathlib.Path of a file that has it; or a module of `fp8.builder`.
        name: of the file, for diagnostics; None: that of the path, or "module.mlir".

    Returns:
        Warnings and remarks.

    Raises:
        CompileError: with the diagnostics.
    """
    module = Module(source, name or name_of(source, "module.mlir"))
    module.verify()
    return tuple(module.diagnostics)


def default_chip(source: Source) -> str:
    """What a source is compiled for if nobody says it."""
    return source.default_chip if isinstance(source, GemmSpec) else DEFAULT_CHIP


def prove(source: Source, *, chip: str | None = None, name: str | None = None) -> list[Proof]:
    """Proves kernels for all launches (docs/Proof.md). A refuted kernel is no exception here: its verdict says so.

    Args:
        source: MLIR text or bytecode, in phase 0, 1 or 2; the pathlib.Path of a file that has it; a GemmSpec; or a module of `fp8.builder`.
        chip: for which GEMM ops are lowered. None: "sm_90a", or of a spec with scales of MXFP8 "sm_100a".
        name: of the file, for diagnostics; None: that of the path, or "module.mlir".

    Returns:
        What is proved of each kernel. Kernels in phase 3 and 4 are left out.

    Raises:
        CompileError: the module is wrong, or cannot be lowered.
    """
    return Module(source, name or name_of(source, "module.mlir")).prove(chip or default_chip(source))


def run_pipeline(source: Source, pipeline: str, *, name: str | None = None, locations: bool = False) -> str:
    """Runs passes on a module and returns it as text.

    Args:
        source: MLIR text or bytecode, the pathlib.Path of a file that has it, a GemmSpec, or a module of `fp8.builder`.
        pipeline: as fp8-opt's --pass-pipeline has it, with or without the "builtin.module(...)" around it:
            "fp8-gemm-to-ptx{chip=sm_90a phase=linear}".
        name: of the file, for diagnostics; None: that of the path, or "module.mlir".
        locations: print where each op is from.

    Raises:
        CompileError: the module or the pipeline is wrong, or a pass fails.
        TypeError, ValueError: the pipeline is no text, or has a NUL.
    """
    if not isinstance(pipeline, str):
        raise TypeError(f"pipeline is a {type(pipeline).__name__}; it must be text")
    if "\0" in pipeline:
        raise ValueError(f"pipeline is {pipeline!r}, which has a NUL, where the compiler would end it: leave it out")
    module = Module(source, name or name_of(source, "module.mlir"))
    module.run(pipeline)
    return module.text(locations=locations)


def explain_configurations(source: Source, options: str) -> list[Choice]:
    """What --fp8-explain-config tells of each GEMM op (docs/Chooser.md)."""
    module = Module(source)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "configurations.json")
        module.run(f"fp8-explain-config{{{options} format=json output={quoted(path)}}}")
        with open(path, encoding="utf-8") as file:
            explained: list[Choice] = json.load(file)
    return explained
