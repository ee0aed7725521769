# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build ID of an ELF file, by which copies of a file are known as one build (System V ABI, program header and notes)."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import BinaryIO

_NOTES, _BUILD_ID = 4, 3  # PT_NOTE, NT_GNU_BUILD_ID
_HEADER = struct.Struct("<32xQ14xHH")  # where program headers begin, the bytes of one, how many; of 64 bits, the lowest byte first
_SEGMENT = struct.Struct("<I4xQ16xQ8xQ")  # type, offset, bytes in the file, alignment
_NOTE = struct.Struct("<3I")  # bytes of the name, bytes of the contents, type


def build_id(path: Path) -> str:
    """What the linker computed from the contents of the file, in hexadecimal digits; where it wrote nothing, the SHA-256 of the contents."""
    with open(path, "rb") as file:
        try:
            found = _find(file)
        except struct.error:  # the file ends too early
            found = None
        if found:
            return found.hex()
        file.seek(0)
        return hashlib.sha256(file.read()).hexdigest()


def _find(file: BinaryIO) -> bytes | None:
    header = file.read(64)
    if header[:6] != b"\x7fELF\x02\x01":
        return None
    start, size, count = _HEADER.unpack_from(header)
    file.seek(start)
    segments = file.read(size * count)
    for number in range(count):
        kind, offset, length, alignment = _SEGMENT.unpack_from(segments, number * size)
        if kind != _NOTES:
            continue
        file.seek(offset)
        if found := _find_note(file.read(length), max(alignment, 4)):
            return found
    return None


def _find_note(notes: bytes, alignment: int) -> bytes | None:
    def align(position: int) -> int:
        return -(-position // alignment) * alignment

    position = 0
    while position + _NOTE.size <= len(notes):
        name_size, size, kind = _NOTE.unpack_from(notes, position)
        name = position + _NOTE.size
        contents = align(name + name_size)
        if kind == _BUILD_ID and notes[name : name + name_size] == b"GNU\0":
            return notes[contents : contents + size]
        position = align(contents + size)
    return None
