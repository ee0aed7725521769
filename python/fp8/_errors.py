# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong, as exceptions."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Diagnostic:
    """What the compiler says about a place in its input.

    Attributes:
        severity: "error", "warning", "remark" or "note".
        message: one line, or several.
        file: the name that the text was given; empty if there is no place.
        line: from 1; 0 if there is no place.
        column: from 1; 0 if there is no place.
        notes: the causes, each a diagnostic of its own.
    """

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    notes: tuple[Diagnostic, ...] = field(default=())

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        return "\n".join([f"{place}{self.severity}: {self.message}", *map(str, self.notes)])


class Fp8Error(RuntimeError):
    """The base of what this package raises, beside TypeError and ValueError."""


class CompileError(Fp8Error):
    """The compiler refuses its input.

    Attributes:
        diagnostics: all that it said, errors first to last, each with its notes.
        text: the input, if it was text.
        name: what the diagnostics call the input. They name other files where the input says that it was made from these: the
            lines of Python of a module of `fp8.builder`.
    """

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = (), text: str | None = None, name: str = ""):
        super().__init__(message)
        self.diagnostics = diagnostics
        self.text = text
        self.name = name

    def __str__(self) -> str:
        errors = [d for d in self.diagnostics if d.severity == "error"]
        if not errors:
            return super().__str__()
        lines = self.text.splitlines() if self.text else []
        return "\n".join(_with_source(error, {self.name: lines}) for error in errors)


def _with_source(diagnostic: Diagnostic, sources: dict[str, list[str]]) -> str:
    """The diagnostic with the lines that it and its notes are about, as compilers print it.

    Args:
        diagnostic: to be shown.
        sources: the lines of inputs that are no files, by their names.
    """
    shown = []
    for part in (diagnostic, *diagnostic.notes):
        shown.append(str(Diagnostic(part.severity, part.message, part.file, part.line, part.column)))
        lines = sources[part.file] if part.file in sources else linecache.getlines(part.file)
        if 0 < part.line <= len(lines):
            shown += [lines[part.line - 1].rstrip("\n"), " " * max(part.column - 1, 0) + "^"]
    return "\n".join(shown)


class ProofWarning(UserWarning):
    """It was not proved that the kernel ends for every launch: the compiler's remark, with the place at which the proof ended."""


class SimulationError(Fp8Error):
    """The kernel breaks a rule of the hardware on the simulator; the message has all of them, with their places."""


class DeviceError(Fp8Error):
    """There is no GPU that can do it, or its driver fails."""


class HangError(DeviceError):
    """A kernel did not end in time; only the end of the process stops it."""
