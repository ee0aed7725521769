# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configurations that were the best where `fp8.tune` measured them: a file for each GPU in the cache's folder, and this process's."""

from __future__ import annotations

import functools
import json
import re
import threading
from dataclasses import asdict, replace

from . import _cache
from ._spec import GemmSpec

_lock = threading.Lock()
_by_gpu: dict[str, dict[str, str]] = {}


def _file(gpu: str) -> str:
    return "tuned-" + re.sub(r"\W+", "-", gpu.lower())


@functools.lru_cache(maxsize=1024)
def _fields(spec: GemmSpec) -> str:
    return json.dumps(asdict(replace(spec, config=None)))


def _key(spec: GemmSpec, problem: tuple[int, int, int]) -> str:
    return f"{json.dumps(problem)[:-1]}, {_fields(spec)}]"


def _configurations(gpu: str) -> dict[str, str]:
    if gpu not in _by_gpu:
        kept = _cache.read(_file(gpu)) or {}
        # Another release may have other configurations.
        _by_gpu[gpu] = dict(kept.get("configurations", {})) if kept.get("build") == _cache.key() else {}
    return _by_gpu[gpu]


def find(gpu: str, spec: GemmSpec, problem: tuple[int, int, int]) -> str | None:
    """The configuration that was the best for that problem, if it was measured."""
    with _lock:
        configurations = _configurations(gpu)
        return configurations.get(_key(spec, problem)) if configurations else None


def keep(gpu: str, spec: GemmSpec, problem: tuple[int, int, int], config: str) -> None:
    """Remembers it, for later processes too. Of two that write at once, one is lost."""
    with _lock:
        mine = _by_gpu.pop(gpu, {})
        configurations: dict[str, str] = _configurations(gpu)  # as another process may have written it since
        configurations.update(mine)
        configurations[_key(spec, problem)] = config
        _cache.write(_file(gpu), {"build": _cache.key(), "configurations": configurations})
