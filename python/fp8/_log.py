# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The logger "fp8": configurations and compile times at INFO, the cache at DEBUG. $FP8_LOG names a level to show on standard error."""

from __future__ import annotations

import logging
import os
import sys
import warnings

logger = logging.getLogger("fp8")
_LEVELS = ("debug", "info", "warning", "error")


def warn(message: str, category: type[Warning]) -> None:
    """Warns of the line that called the package, however deep in it this is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def configure() -> None:
    """Does what $FP8_LOG says; without it, whoever configures Python's logging decides what is shown."""
    logger.addHandler(logging.NullHandler())
    named = os.environ.get("FP8_LOG")
    if not named:
        return
    if named.lower() not in _LEVELS:
        warnings.warn(f"$FP8_LOG is {named!r}, and nothing is logged: it must be {', '.join(_LEVELS[:-1])} or {_LEVELS[-1]}", RuntimeWarning, stacklevel=3)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("fp8: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(named.upper())
    logger.propagate = False  # an application's own handlers would show each message again
