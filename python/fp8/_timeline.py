# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines: what the roles of a profiled kernel did, and waited for (docs/Timeline.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Union

from . import _binding, _library


@dataclass(frozen=True)
class Timeline:
    """What the roles of a kernel did in one launch.

    Attributes:
        summary: lines of text; the last one names the bottleneck.
        trace: JSON text, which Perfetto opens.
    """

    summary: tuple[str, ...]
    trace: str

    @classmethod
    def take(cls, found: _binding.CTimeline) -> Timeline:
        """Takes the texts of the library, which are freed."""
        summary, trace = (_library.take_text(_binding.Handle(text)).decode() for text in (found.summary, found.trace))
        return cls(tuple(summary.splitlines()), trace)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the trace to a file.

        Raises:
            OSError: the file cannot be written.
        """
        Path(path).write_text(self.trace, encoding="utf-8")

    def __str__(self) -> str:
        return "\n".join(self.summary)
