# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps a worker (worker.py) that measures rows: restarts it without the peer
that crashed it, hung, or said nothing for too long."""

import json
import queue
import subprocess
import threading
import time

SILENCE_S = 120.0
MOST_RESTARTS = 8


class StartFailure(Exception):
    """No worker can be had, so no row can be measured."""


class Worker:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True)
        self.reader.start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.put(line)
        lines.put(None)

    def ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended; next() says so

    def next(self, seconds):
        """The next event; a string, why there is none."""
        try:
            line = self.lines.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            return "silent for %.0f s" % seconds
        if line is None:
            return "the process ended with status %d" % self.process.wait()
        return json.loads(line)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


class Supervisor:
    """`command` starts a worker; `note` takes text for people."""

    def __init__(self, command, note, silence_s=SILENCE_S):
        self.command, self.note, self.silence_s = command, note, silence_s
        self.worker = None

    def end(self):
        if self.worker:
            self.worker.end()
            self.worker = None

    def attempt(self, request, deadline):
        """(measurements, the peer at fault, what happened); the latter two are None if the row is done."""
        measurements, current = [], None
        self.worker = self.worker or Worker(self.command)
        self.worker.ask(request)
        while True:
            event = self.worker.next(min(self.silence_s, deadline - time.monotonic()))
            if isinstance(event, str):
                self.end()
                return measurements, current, event
            if "begin" in event:
                current = event["begin"]
            elif event.get("note"):
                self.note(event["note"])
            elif "measurement" in event:
                measurements.append(event["measurement"])
            elif event.get("done"):
                return measurements, None, None

    def row(self, request, deadline):
        """The measurements of a row, and whether it was finished in time."""
        failures, without = [], list(request.get("without", []))
        for _ in range(MOST_RESTARTS):
            measurements, guilty, problem = self.attempt(dict(request, without=without), deadline)
            if not problem:
                return failures + measurements, True
            late = time.monotonic() >= deadline
            self.note("%s: %s" % (guilty or "the start", "out of time" if late else problem))
            if late:
                return failures + measurements, False
            if guilty in (None, "operands"):
                raise StartFailure(problem)
            without.append(guilty)
            name, _, configuration = guilty.partition(" ")
            told = [one for one in measurements if (one["peer"], one["configuration"]) == (name, configuration)]
            failures += told or [{"peer": name, "configuration": configuration, "right": False, "error": problem}]
        return failures, False
