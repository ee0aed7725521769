# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long work in the C library that Ctrl-C ends."""

from __future__ import annotations

import _thread
import threading
from typing import Callable, Generic, TypeVar

Result = TypeVar("Result")


class _Task(Generic[Result]):
    """Runs `work` once, unless it is told to stop before; keeps what it returns or raises."""

    def __init__(self, work: Callable[[threading.Event], Result]):
        self._work = work
        self.stop = threading.Event()
        self.began = self.ended = False
        # Not an event: an exception that a handler raises within Event.wait can leave the event's own lock held, for which `set` then waits.
        self._gate = _thread.allocate_lock()
        self._gate.acquire()
        self._results: list[Result] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        self.began = True
        try:
            if not self.stop.is_set():
                self._results.append(self._work(self.stop))
        except BaseException as error:  # the thread that waits raises it
            self._error = error
        finally:
            self.ended = True
            self._gate.release()

    def wait(self) -> None:
        """Returns when the work has ended; called once, or again after an exception."""
        # A signal that comes right before the lock's wait does not end it; Python sees the signal at the next round.
        while not self._gate.acquire(timeout=0.05):
            pass

    def result(self) -> Result:
        if self._error is not None:
            raise self._error
        return self._results[0]


def run_interruptibly(work: Callable[[threading.Event], Result]) -> Result:
    """Runs `work` on a thread of its own while the caller's thread waits.

    Python runs signal handlers on the main thread, between two of its instructions. The main thread has none of these while it is in the C library,
    and Python drops what a handler raises in a callback of that library. A main thread that waits for another runs handlers at once.

    Args:
        work: is given an event, and must end soon after that is set.

    Raises:
        What `work` raises. What a handler raises meanwhile, such as KeyboardInterrupt; `work` has ended then.
    """
    task = _Task(work)
    try:
        _thread.start_new_thread(task.run, ())
        task.wait()
    except BaseException:
        task.stop.set()
        # A thread that has not got as far as its first instruction finds `stop` set, and does nothing.
        while task.began and not task.ended:
            try:
                task.wait()
            except BaseException:  # a second Ctrl-C: the first is raised already
                pass
        raise
    return task.result()
