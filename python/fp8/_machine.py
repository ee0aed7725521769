# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constants of the cost model for a GPU: those that `fp8.calibrate` measured there, else those that are built in."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import IO

from . import _cache, _library
from ._log import logger, warn

_warned: set[str] = set()
_unsaved: dict[str, IO[str]] = {}
"""What this process measured without a cache, by file name. The files go when it ends."""


def file_name(gpu: str, driver: int) -> str:
    """The name, in the cache's folder, of what was measured on a GPU with a driver of that version, 13000 for 13.0."""
    return f"machine-{re.sub(r'[^a-z0-9]+', '-', gpu.lower())}-{driver // 1000}.{driver % 1000 // 10}.json"


def keep(gpu: str, driver: int, text: str) -> Path | None:
    """Remembers what was measured, for later processes too; without a cache for this one.

    Returns:
        The file; None if there is no cache.
    """
    name = file_name(gpu, driver)
    path = _cache.write_text(name, text)
    if path is None:
        file = tempfile.NamedTemporaryFile("w", suffix=".json", prefix="fp8-machine-")  # pylint: disable=consider-using-with
        file.write(text)
        file.flush()
        _unsaved[name] = file
    else:
        _unsaved.pop(name, None)
    return path


def _is_file_for(path: Path, gpu: str, chip: str) -> bool:
    try:
        fields = json.loads(path.read_text())
        return bool(fields["gpu"] == gpu and fields["chip"] == chip)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def find(gpu: str, driver: int, chip: str) -> str | None:
    """The machine for a GPU, as --fp8-choose-config takes it: what `$FP8_MACHINE` names, a file that was measured there, or the GPU's name.

    None: the chip's. With an empty `$FP8_MACHINE`, what was measured is ignored.
    """
    named = os.environ.get("FP8_MACHINE")
    if named:
        return named
    if named is None and (unsaved := _unsaved.get(file_name(gpu, driver))):
        return unsaved.name
    folder = _cache.directory()
    if named is None and folder is not None and gpu:
        path = folder / file_name(gpu, driver)
        if os.path.exists(path):  # False, too, where nobody may look
            if _is_file_for(path, gpu, chip):
                logger.debug("constants of the cost model: %s", path)
                return str(path)
            warn_of(str(path), f"it is damaged, or not for {gpu} with chip {chip}")
    return built_in(gpu)


def built_in(gpu: str) -> str | None:
    """The GPU's name, if the library has constants of it."""
    return gpu if gpu in _library.machines() else None


def describe(machine: str | None) -> str:
    """Says what `find` found."""
    if machine is None:
        return "the constants of the chip"
    return f"constants of {machine}" + ("" if machine in _library.machines() else ", a file" if os.environ.get("FP8_MACHINE") else ", measured here")


def warn_of(path: str, problem: str) -> None:
    """Says once that a file is not used."""
    if path not in _warned:
        _warned.add(path)
        warn(f"the constants of this GPU are not used: {problem} ({path}); 'python3 -m fp8 calibrate' measures them again", RuntimeWarning)
