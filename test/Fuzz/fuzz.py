#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs inputs of a fuzzer, starts it again behind each that ended it, and lists what was found, each fault once.

usage: fuzz.py WORKER --corpus DIRECTORY --work DIRECTORY [--seed S] [--start I] [--count N] [--jobs N] [--strict] [--minimise]

WORKER is fp8-fuzz-simulator or fp8-fuzz-compiler. The inputs of the findings are left in the work directory, and a line of JSON for each
finding in findings.json. Exits with 1 if a finding has a frame of ours in its stack; with --strict, if there is any finding.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import threading
import time

from findings import Finding
from minimise import minimise

SLACK = 60  # how many times its limit of processor time an input may take by the clock: the machine is busy


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--work", required=True)
    for name, default in (("seed", 1), ("start", 0), ("count", 1000), ("jobs", 1), ("seconds", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--strict", action="store_true", help="any finding is a failure, whosever it is")
    parser.add_argument("--minimise", action="store_true", help="make the inputs of findings small")
    parser.add_argument("--plant", action="append", default=[], metavar="KIND@INDEX", help="crash or hang there, to test this")
    return parser.parse_args()


class Worker:
    """One command line of the worker, but for what differs from run to run."""

    def __init__(self, options):
        self.options = options
        self.command = [options.worker, f"--corpus={options.corpus}", f"--seed={options.seed}", f"--seconds={options.seconds}"]
        symbolizer = shutil.which("llvm-symbolizer") or "/usr/lib/llvm-22/bin/llvm-symbolizer"
        self.environment = {**os.environ, "LLVM_SYMBOLIZER_PATH": symbolizer}
        # One fault at a time: the first is an argument of the worker's.
        self.plants = [plant.split("@") for plant in options.plant]

    def planted(self, start, count):
        for kind, index in self.plants:
            if start <= int(index) < start + count:
                return [f"--plant={kind}", f"--at={index}"]
        return []

    def run(self, start, count):
        """Runs inputs until one ends the process: what each came to, and what the last one wrote, or None when all ran."""
        command = [*self.command, f"--start={start}", f"--count={count}", *self.planted(start, count)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=self.environment) as worker:
            # Its own timer sees an input that computes; this, one that sleeps.
            watch = Watch(worker, SLACK * self.options.seconds)
            outcomes = []
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                complaint = pool.submit(lambda: tail(worker.stderr))
                for number, line in enumerate(worker.stdout):
                    watch.progress()
                    if number % 2:
                        outcomes.append(line.strip())
                status = worker.wait()
                watch.stop()
                text = complaint.result()
        if status == 0:
            return outcomes, None
        if status == 2:
            sys.exit(f"fuzz.py: {text}")
        return outcomes, Finding.read(text, status)

    def write(self, index, prefix):
        subprocess.run([*self.command, f"--start={index}", f"--write={prefix}"], check=True, env=self.environment)

    def reads(self, index, prefix):
        """The finding of files instead of input `index`; None where they give none."""
        command = [*self.command, f"--start={index}", f"--read={prefix}"]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", env=self.environment, check=False)
        return Finding.read(result.stderr, result.returncode) if result.returncode else None


class Watch:
    """Kills a process that makes no progress."""

    def __init__(self, process, seconds):
        self.process, self.seconds, self.last = process, seconds, time.monotonic()
        self.done = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while not self.done.wait(1):
            if time.monotonic() - self.last > self.seconds:
                self.process.kill()

    def progress(self):
        self.last = time.monotonic()

    def stop(self):
        self.done.set()


def tail(stream, most=200000):
    """The end of what a worker says: before it, upstream may have warned of anything."""
    text = ""
    for line in stream:
        text = (text + line)[-most:]
    return text


class Campaign:
    def __init__(self, options):
        self.options, self.worker = options, Worker(options)
        self.outcomes, self.findings = collections.Counter(), {}

    def run_range(self, start, end):
        outcomes, findings = collections.Counter(), []
        while start < end:
            came_to, finding = self.worker.run(start, end - start)
            outcomes.update(came_to)
            start += len(came_to)
            if finding:
                finding.indices.append(start)
                findings.append(finding)
                start += 1
        return outcomes, findings

    def run(self):
        """Runs all inputs in pieces, so that jobs end together."""
        begin, end = self.options.start, self.options.start + self.options.count
        piece = max(1, min(1000, self.options.count // self.options.jobs))
        ranges = [(at, min(at + piece, end)) for at in range(begin, end, piece)]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for outcomes, findings in pool.map(lambda range_: self.run_range(*range_), ranges):
                self.outcomes.update(outcomes)
                for finding in findings:
                    self.add(finding)

    def add(self, finding):
        known = self.findings.setdefault(finding.signature(), finding)
        if known is not finding:
            known.indices += finding.indices
            return
        print(f"found at input {finding.indices[0]}: {finding.signature()}", flush=True)

    def keep_inputs(self):
        for number, finding in enumerate(self.findings.values()):
            prefix = f"{self.options.work}/finding-{number}"
            self.worker.write(finding.indices[0], prefix)
            with open(f"{prefix}.log", "w", encoding="utf-8") as file:
                file.write(finding.text)
            if self.options.minimise:
                minimise(self.worker, finding, prefix)

    def report(self, seconds):
        count = self.options.count
        print(f"{count} inputs of seed {self.options.seed} from {self.options.start} on, in {seconds:.0f} s: {count / seconds:.1f} a second")
        for outcome, number in self.outcomes.most_common():
            print(f"  {number:8} {outcome}")
        ours = [finding for finding in self.findings.values() if finding.is_ours()]
        with open(f"{self.options.work}/findings.json", "w", encoding="utf-8") as file:
            for number, finding in enumerate(self.findings.values()):
                whose = "ours" if finding.is_ours() else "upstream's"
                print(f"finding {number}, {whose}, {len(finding.indices)} times, first at input {finding.indices[0]}: {finding.signature()}")
                json.dump({"whose": whose, "signature": finding.signature(), "indices": finding.indices,
                           "frames": [str(frame) for frame in finding.frames[:12]]}, file)
                file.write("\n")
        print(f"findings: {len(ours)} of ours, {len(self.findings) - len(ours)} of upstream")
        return 1 if ours or (self.options.strict and self.findings) else 0


def main():
    options = parse_arguments()
    os.makedirs(options.work, exist_ok=True)
    campaign = Campaign(options)
    begin = time.monotonic()
    campaign.run()
    seconds = time.monotonic() - begin
    campaign.keep_inputs()
    return campaign.report(seconds)


if __name__ == "__main__":
    sys.exit(main())
