# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the input of a finding small: leaves out lines, as long as the same is found."""

import glob
import time

MOST_SECONDS = 120


def read_lines(path):
    with open(path, "rb") as file:
        return file.read().splitlines(keepends=True)


def write_lines(path, lines):
    with open(path, "wb") as file:
        file.write(b"".join(lines))


def minimise(worker, finding, prefix):
    """Of each file of the input, in pieces that get smaller."""
    end = time.monotonic() + MOST_SECONDS
    signature, index = finding.signature(), finding.indices[0]

    def is_found():
        again = worker.reads(index, prefix)
        return again is not None and again.signature() == signature

    if finding.kind in ("hang", "memory") or not is_found():
        return
    for path in sorted(glob.glob(f"{glob.escape(prefix)}.*")):
        if path == f"{prefix}.log":
            continue
        lines = read_lines(path)
        size = max(1, len(lines) // 2)
        while lines and time.monotonic() < end:
            at = 0
            while at < len(lines) and time.monotonic() < end:
                write_lines(path, lines[:at] + lines[at + size:])
                if is_found():
                    del lines[at:at + size]
                else:
                    at += size
            if size == 1:
                break
            size //= 2
        write_lines(path, lines)
