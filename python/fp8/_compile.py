# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8.compile: from a source to a kernel, by the cache or by the compiler."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from . import _cache, _library
from ._annotations import Source
from ._compiler import Module, default_chip, explain_configurations, name_of, quoted, run_pipeline, source_of
from ._errors import CompileError, Diagnostic, ProofWarning
from ._kernel import Kernel
from ._log import logger, warn
from ._ptxas import find_ptxas
from ._spec import GemmSpec, check_problem, whole_number


def _read_table(tuned: str | None) -> str:
    try:
        return Path(tuned).read_text() if tuned else ""
    except OSError as error:
        raise ValueError(f"cannot read the table of configurations {tuned}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"the table of configurations {tuned} is no text: {error}") from None


def _options(source: Source, chip: str, problem: tuple[int | None, int | None, int | None] | None, tuned: str | None) -> str:
    """What all pipelines that choose a configuration take."""
    options = f"chip={chip}"
    if isinstance(source, GemmSpec):
        options += f" launch={source.launch}"
    if problem is not None:
        check_problem(problem)
        options += " problem=" + "x".join("?" if extent is None else str(extent) for extent in problem)
    if tuned:
        options += f" tuned={quoted(tuned)}"
    return options


def _decide_to_assemble(assemble: bool | None) -> bool:
    named = os.environ.get("FP8_PTXAS")
    if named and assemble is not False and shutil.which(named) is None:
        raise CompileError(f"$FP8_PTXAS names {named!r}, which is not a program: let it name a ptxas of CUDA 12.9 or later, or leave it unset")
    if assemble and not find_ptxas():
        raise CompileError(
            "there is no ptxas of CUDA 12.9 or later to assemble with: install CUDA, or 'pip install nvidia-cuda-nvcc', or name one in "
            "$FP8_PTXAS; without assemble=True the driver assembles when the kernel is loaded"
        )
    return find_ptxas() is not None if assemble is None else assemble


def _warn(diagnostics: Iterable[Diagnostic]) -> None:
    """The remarks of the pipeline are about proofs that are not complete."""
    for diagnostic in diagnostics:
        if diagnostic.severity == "remark":
            warn(str(diagnostic), ProofWarning)


def _log_configurations(source: str | bytes, options: str) -> None:
    """Which configurations the GEMMs get, and why."""
    if not logger.isEnabledFor(logging.INFO):
        return
    for gemm in explain_configurations(source, f"{options} top=1"):
        logger.info("%s for %s: configuration %s, by the %s: %s", gemm["function"], gemm["chip"], gemm.get("config", "left open"), _CHOOSERS[gemm["source"]], gemm["reason"])


# By what --fp8-explain-config calls them.
_CHOOSERS = {"pinned": "source", "table": "table of measurements", "model": "cost model", "lowering": "lowering"}


def check_chip(chip: str) -> None:
    """Raises a ValueError if there is no code for the chip."""
    if chip not in _library.chips():
        raise ValueError(f"there is no chip {chip!r}; there are {', '.join(_library.chips())}")


def compile(
    source: Source,
    *,
    chip: str | None = None,
    problem: tuple[int | None, int | None, int | None] | None = None,
    tuned: str | os.PathLike[str] | None = None,
    debug_waits: int = 0,
    profile: bool | int = False,
    prove: bool = True,
    require_proof: bool = False,
    assemble: bool | None = None,
    strict: bool = False,
    cache: bool = True,
) -> Kernel:
    """Compiles a kernel.

    Args:
        source: a GemmSpec, a module of `fp8.builder`, or a module with one kernel, in any phase: MLIR text or bytecode, or the pathlib.Path of a
            file that has it.
        chip: what to compile for; `fp8.chips()` lists them. None: "sm_90a", or of a spec with scales of MXFP8 "sm_100a".
        problem: M, N and K to choose a configuration for, where the types leave them open; None: not known.
        tuned: a table of measured configurations from ./dev bench --tune, which is asked first.
        debug_waits: milliseconds after which a wait gives up and says what it waited for; 0: never.
        profile: the kernel writes down what its roles wait for, as `Kernel.profile` needs it; docs/Timeline.md has what that costs. A number is
            how many stamps there is room for, of each role; True: 512.
        prove: that the kernel ends for every launch (docs/Proof.md), if it is in phase 0, 1 or 2; a refuted kernel is a CompileError, and one of which it
            is not known a ProofWarning. A kernel from the cache was proved when it was compiled, and warns no more.
        require_proof: a kernel of which it is not known is a CompileError, too.
        assemble: to machine code, by NVIDIA's ptxas; None: if there is one. Without, the driver does it, slower.
        strict: a spilled register or a warning of ptxas is an error.
        cache: keep the result on disk, or take it from there.

    Raises:
        CompileError: with what the compiler says.
        TypeError, ValueError: the source is none, there is no such chip, or no such table.
        OSError: the file of the source cannot be read.
    """
    chip = chip or default_chip(source)
    check_chip(chip)
    text, name = source_of(source), name_of(source, "kernel.mlir")
    table, debug_waits = None if tuned is None else os.fsdecode(tuned), whole_number(debug_waits, "debug_waits")
    profile = profile if isinstance(profile, bool) else whole_number(profile, "profile")
    if profile:
        text = run_pipeline(text, "fp8-profile" if profile is True else f"fp8-profile{{stamps={profile}}}", name=name, locations=True)
    choice = _options(source, chip, problem, table)
    proof = " require-proof" if require_proof else "" if prove else " prove=false"
    options = choice + (f" debug-waits={debug_waits}" if debug_waits else "") + proof
    how = f"{assemble} {strict} {os.environ.get('FP8_PTXAS', '')}"
    request = _cache.key("request", text, name, options, _read_table(table), how)
    found = _cache.follow(request) if cache else None
    if found and (found[1].cubin or assemble is False or not find_ptxas()):
        return Kernel(text, options, found[1], found[0])
    assemble = _decide_to_assemble(assemble)
    _log_configurations(text, choice)
    began = time.perf_counter()
    module = Module(text, name)
    module.run(f"fp8-gemm-to-ptx{{{options} phase=op}}")
    # Requests that get the same configuration get the same kernel. Its lines name the places in the source.
    key = _cache.key("kernel", module.text(locations=True), chip, str(debug_waits), proof, str(assemble), how)
    built = _cache.load(key) if cache else None
    if built is None:
        module.run(f"fp8-gemm-to-ptx{{{options}}}")
        lowered = time.perf_counter()
        _warn(module.diagnostics)
        built = module.object(assemble=assemble, strict=strict)
        logger.info(
            "%s for %s: lowered in %.3f s, made into %s in %.3f s", built.name, chip, lowered - began, "PTX and machine code" if built.cubin else "PTX",
            time.perf_counter() - lowered,
        )
        if cache:
            _cache.store(key, built)
    if cache:
        _cache.store_request(request, key)
    return Kernel(text, options, built, key)
