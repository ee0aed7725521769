# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels, and what was measured, on disk.

A file for each, named by what it was made from. It is written beside its place and renamed, so that processes that race read a
whole file or none; what does not read back as it was written counts as not there. A cache that cannot be written costs time only.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import json
import os
import re
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import _elf, _library
from ._compiler import KernelObject, Resources
from ._errors import Fp8Error
from ._log import logger, warn

_FORMAT = 1
_OURS = re.compile(r"[0-9a-f]{40}\.json|\.fp8-.*\.tmp")
_warned: set[str] = set()


def directory() -> Path | None:
    """$FP8_CACHE_DIR, else fp8 in the user's cache folder; None if $FP8_CACHE_DIR is empty, which means no cache."""
    named = os.environ.get("FP8_CACHE_DIR")
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "fp8"
    except RuntimeError:  # there is no home
        return None


_build_id = functools.lru_cache(maxsize=None)(_elf.build_id)


def build_id() -> str:
    """Tells builds of the compiler of one version apart, and not the copies of one."""
    return _build_id(_library.library_path())


def _library_identity() -> str:
    return f"{_library.version()} {build_id()}"


def key(*parts: str | bytes) -> str:
    """The name of what is made from `parts` by this build of the compiler."""
    digest = hashlib.sha256()
    for part in (str(_FORMAT), _library_identity(), *parts):
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()[:40]


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def read(name: str) -> dict[str, Any] | None:
    """What `write` put under the name, or None."""
    folder = directory()
    if folder is None:
        return None
    try:
        checksum, _, body = (folder / f"{name}.json").read_text().partition("\n")
        fields = json.loads(body) if checksum == _checksum(body) else None
    except FileNotFoundError:
        logger.debug("cache: no %s in %s", name, folder)
        return None
    except (OSError, ValueError):
        fields = None
    if not isinstance(fields, dict):
        logger.debug("cache: %s in %s is damaged", name, folder)
        return None
    logger.debug("cache: found %s in %s", name, folder)
    return fields


def load(name: str) -> KernelObject | None:
    """What `store` kept under the name, or None."""
    fields = read(name)
    try:
        if fields is None:
            return None
        cubin, resources = fields.pop("cubin"), fields.pop("resources")
        return KernelObject(
            **fields,
            cubin=base64.b64decode(cubin) if cubin else None,
            resources=Resources(**resources) if resources else None,
        )
    except (ValueError, TypeError, KeyError):
        return None


def follow(request: str) -> tuple[str, KernelObject] | None:
    """The kernel, with its name, that a request got before."""
    name = (read(request) or {}).get("kernel")
    if not isinstance(name, str):
        return None
    kernel = load(name)
    return (name, kernel) if kernel else None


def store(name: str, kernel: KernelObject) -> None:
    """Keeps the kernel; if that fails, a warning says so once."""
    fields = asdict(kernel)
    fields["cubin"] = base64.b64encode(kernel.cubin).decode() if kernel.cubin else None
    write(name, fields)


def store_request(request: str, name: str) -> None:
    """Keeps which kernel a request gets, so that the compiler need not be asked again."""
    write(request, {"kernel": name})


def write(name: str, fields: dict[str, Any]) -> None:
    """Puts it there whole or, with a warning, not at all."""
    body = json.dumps(fields)
    write_text(f"{name}.json", f"{_checksum(body)}\n{body}")


def write_text(name: str, text: str) -> Path | None:
    """Puts a file there whole or, with a warning, not at all.

    Returns:
        Its path, if it is there.
    """
    folder = directory()
    if folder is None:
        return None
    temporary = folder / f".fp8-{secrets.token_hex(8)}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(temporary, "x") as file:  # whom the umask lets may read it: an image is often filled by another user
            file.write(text)
        os.replace(temporary, folder / name)
        logger.debug("cache: wrote %s to %s, %d bytes", name.removesuffix(".json"), folder, len(text))
        return folder / name
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if str(folder) not in _warned:
            _warned.add(str(folder))
            warn(
                f"kernels are compiled again in each process: cannot write to the cache {folder} ({error.strerror}); let $FP8_CACHE_DIR name "
                "another folder, or nothing for no cache",
                RuntimeWarning,
            )
        return None


def _files() -> list[Path]:
    """The kernels in the cache, and what a process left that was killed; nothing that somebody else has put there. None where nobody may look."""
    folder = directory()
    try:
        return [path for path in folder.iterdir() if _OURS.fullmatch(path.name)] if folder else []
    except OSError:
        return []


def usage() -> tuple[int, int]:
    """How many files of kernels the cache has, and their bytes."""
    sizes = []
    for path in _files():
        with contextlib.suppress(OSError):  # another process has removed it
            sizes.append(path.stat().st_size)
    return len(sizes), sum(sizes)


def clear() -> int:
    """Removes what is in the cache on disk; how many files that were.

    Raises:
        Fp8Error: a file cannot be removed; the others are gone.
    """
    files, failures = _files(), []
    for path in files:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            failures.append(f"{path} ({error.strerror})")
    if failures:
        raise Fp8Error(f"cannot remove {len(failures)} of {len(files)} files of the cache, the first of which is {failures[0]}: remove them as their owner, or "
                       "let $FP8_CACHE_DIR name another folder")
    return len(files)
