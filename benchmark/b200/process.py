# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command in a process of its own, with a time limit. What it starts ends with it. A process that waits for a driver which
does not come back cannot be ended; it is left behind, and said to be stuck."""

import os
import signal
import subprocess
import time
from typing import NamedTuple, Optional

GRACE_S = 10.0


class Outcome(NamedTuple):
    command: list
    status: Optional[int]  # None: it was ended, or is stuck
    out: str
    err: str
    seconds: float
    late: bool = False   # it passed its limit
    stuck: bool = False  # it could not even be ended


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def end(process):
    """Whether the process and those that it started are gone."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def run(command, limit_s, log, environment=None, during=None):
    """Runs the command; its outputs go to LOG.out and LOG.err, so that they are there whatever happens. `during` is called now and
    then while it runs."""
    begin = time.monotonic()
    with open(log + ".out", "wb") as out, open(log + ".err", "wb") as err:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                       env=dict(os.environ, **(environment or {})))
        except OSError as error:
            return Outcome(command, 127, "", str(error), 0.0)
    late = stuck = False
    try:
        while True:
            left = begin + limit_s - time.monotonic()
            try:
                process.wait(max(min(left, 0.05 if during else left), 0.001))
                break
            except subprocess.TimeoutExpired:
                if during:
                    during()
                if left <= 0:
                    late, stuck = True, not end(process)
                    break
    except BaseException:  # Ctrl-C, too
        end(process)
        raise
    status = None if late else process.returncode
    return Outcome(command, status, read(log + ".out"), read(log + ".err"), time.monotonic() - begin, late, stuck)
