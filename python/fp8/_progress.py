# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bar for what takes long, on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_PATIENCE = 1.0  # seconds after which a bar appears
_WIDTH = 30


class Progress:
    """Shows how much of something is done.

    Args:
        what: is being done.
        wanted: True: show it; False: do not; None: if standard error is a terminal, and not before a second has passed. A process that has
            closed its standard error, as a service does, shows none.
    """

    def __init__(self, what: str, wanted: bool | None):
        self._what = what
        self._enabled = sys.stderr is not None and (sys.stderr.isatty() if wanted is None else wanted)
        self._start = self._shown = time.monotonic()
        if wanted:
            self._start -= _PATIENCE
        self._drawn = False

    def update(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._enabled and now - self._start >= _PATIENCE and (now - self._shown >= 0.1 or done == total):
            self._draw(done, total)
            self._shown = now

    def _draw(self, done: int, total: int) -> None:
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        sys.stderr.write(f"\r{self._what} [{bar}] {done}/{total}, {time.monotonic() - self._start:.0f} s")
        sys.stderr.flush()
        self._drawn = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._drawn:
            sys.stderr.write("\n")
