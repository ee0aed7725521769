# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of the builder, and the lines of the caller's source that ops and errors name."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass

from .._errors import Fp8Error


@dataclass(frozen=True)
class Location:
    """A place in a Python source file.

    Attributes:
        file: The file as Python names it.
        line: The line, from 1.
        column: The column in bytes, from 1; 1 as well where Python does not say (3.10).
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def caller() -> Location:
    """Returns the place from which the builder was called: that of the innermost frame outside of it and of `contextlib`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith((f"{__package__}.", "contextlib.")):
        frame = frame.f_back
    line, column = frame.f_lineno, 0
    if sys.version_info >= (3, 11):
        position = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
        column = position[2] or 0
    return Location(frame.f_code.co_filename, line, column + 1)


class BuildError(Fp8Error):
    """A misuse of Python's objects, which has no form in MLIR, so that the compiler cannot see it.

    Attributes:
        message: What is wrong, and what to do.
        location: The call at which it was noticed.
        notes: The causes, each a sentence and its place; one for each place.
    """

    __module__ = "fp8.builder"

    def __init__(self, message: str, *notes: tuple[str, Location]) -> None:
        self.message = message
        self.location = caller()
        self.notes = tuple({place: (note, place) for note, place in reversed(notes)}.values())[::-1]
        super().__init__(message)

    def __str__(self) -> str:
        lines = [f"{self.location}: error: {self.message}"]
        lines += [f"{location}: note: {note}" for note, location in self.notes]
        return "\n".join(lines)
