# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels of the corpus on the simulator and says what it found."""

import collections
import dataclasses
import glob
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
import typing

import numpy as np

from kernels import Program
from recorded import Recorded

MULTIPROCESSORS = 16  # of a program's GPU: enough for a cluster of 16 CTAs, few for what starts as many CTAs as there are
MOST_ERRORS = 64
MESSAGE = re.compile(r"^(?:\S+: )?(?P<severity>error|warning): (?P<text>.*?) \[(?P<kind>[a-z0-9-]+)\]$", re.MULTILINE)
RULE = re.compile(r"\(docs/Warnings\.md, ([a-z-]+)\)$", re.MULTILINE)


@dataclasses.dataclass
class Result:
    """errors, warnings: how many instructions break each rule, over all schedules; problem: what is wrong beside them."""

    errors: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    warnings: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    problem: str = ""
    first: str = ""  # error's text
    note: str = ""  # on how it ran
    error: typing.Optional[float] = None
    instructions: int = 0
    seconds: float = 0.0

    def clean(self):
        return not self.errors and not self.problem

    def verdict(self):
        said = [f"{kind} x{count}" if count > 1 else kind for kind, count in sorted(self.errors.items())]
        return ", ".join(said + [self.problem] * bool(self.problem)) or "clean"

    def read(self, log):
        """Counts the messages, each instruction once for a rule."""
        lines = log.splitlines()
        places = {"error": set(), "warning": set()}
        for number, line in enumerate(lines):
            found = MESSAGE.match(line)
            if not found:
                continue
            rule = None
            for note in itertools.takewhile(lambda line: ": note: " in line, lines[number + 1:]):
                rule = rule or RULE.search(note)
            place = re.match(r"\S+?:(\d+): ", line)
            places[found["severity"]].add((rule[1] if rule else found["kind"], place[1] if place else line))
            if found["severity"] == "error" and not self.first:
                self.first = found["text"]
        self.errors.update(rule for rule, _ in places["error"])
        self.warnings.update(rule for rule, _ in places["warning"])


def call(command, seconds):
    """Exit status, None if it ran out of time; output and messages."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True) as process:
        try:
            out, log = process.communicate(timeout=seconds)
            return process.returncode, out, log
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # fp8-simulate and the program that it runs
            return (None, *process.communicate())


def run_description(settings, ptx, launch, schedules, first=0, limit=600, strict=False, extra=()):
    """Launches as the description says, under `schedules` seeds from `first` on."""
    result, begin = Result(), time.monotonic()
    command = [settings.tool("fp8-run"), ptx, "--launch=" + launch, "--strict" if strict else "--no-strict", f"--max-errors={MOST_ERRORS}",
               f"--schedule-seed={first}", f"--schedules={schedules}", *extra]
    status, out, log = call(command, limit)
    result.seconds = time.monotonic() - begin
    if status is None:
        result.problem = f"not done in {limit} s"
        return result
    text = out + log
    result.read(text)
    try:
        summary = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        result.problem = f"fp8-run ends with status {status}"
        return result
    compared = summary.get("expected", [])
    if compared:
        result.error = max((each["frobenius"] for each in compared), key=lambda error: float("inf") if error is None else error)
    steps = re.findall(r": (\d+) warp instructions", text)
    result.instructions = max(map(int, steps), default=0)
    if any(not each["ok"] for each in compared):
        result.problem = "wrong numbers"
    elif not summary["ok"] and not result.errors:
        result.problem = summary.get("error", "fp8-run fails")
    return result


def run_described(settings, kernel, schedules, seed):
    ptx = kernel.build(settings)
    folder = os.path.join(settings.build, "launch", kernel.name)
    launch = kernel.launch(settings, np.random.default_rng([seed, *kernel.name.encode()])).write(folder)
    return run_description(settings, ptx, launch, schedules)


def run_program(settings, kernel, schedules, seed):
    """Runs the program once, and goes on behind errors, so that it judges its numbers; then its kernel alone, as the program launched it
    or with other operands, under all schedules, each of which must write the same bytes."""
    folder = os.path.join(settings.build, "captured", kernel.name)
    shutil.rmtree(folder, ignore_errors=True)
    result, begin = Result(), time.monotonic()
    command = [settings.tool("fp8-simulate"), "--chip=" + kernel.chip, f"--multiprocessors={MULTIPROCESSORS}", f"--schedule-seed={seed}",
               f"--max-errors={MOST_ERRORS}", "--keep-going", "--quiet", "--capture=" + folder]
    path = kernel.build(settings)
    options, program = kernel.start(settings) if kernel.start else ([], [path, *kernel.arguments(settings)])
    command += [*options, *program]
    status, out, log = call(command, kernel.limit)
    result.seconds = time.monotonic() - begin
    result.read(log)
    passed, result.error = kernel.judge(out)
    if status is None:
        result.note = f"ended after {kernel.limit} s"
    if not passed:
        result.problem = "its own check does not pass" if status is not None else f"not done in {kernel.limit} s"
    for launch in captured(settings, kernel)[:1]:
        if kernel.exact:
            other = Recorded(launch[1], np.random.default_rng([seed, *kernel.name.encode()]))
            kernel.exact(other)
            other.save()
        alone = repeat(settings, launch, schedules, seed)
        if kernel.exact:
            result.error = alone.error
        result.instructions = alone.instructions
        if not result.problem:
            result.problem = alone.problem
        result.errors |= alone.errors
        result.warnings |= alone.warnings
    return result


def captured(settings, kernel):
    """(PTX, description) of each launch of a program's kernel that was recorded, in order."""
    folder = os.path.join(settings.build, "captured", kernel.name)
    found = []
    for path in glob.glob(os.path.join(folder, "launch-*", "launch.json")):
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
        if kernel.is_kernel(description["entry"]):
            found.append((int(re.search(r"launch-(\d+)", path)[1]), path))
    modules = sorted(glob.glob(os.path.join(folder, "module-*.ptx")))
    return [(modules[0], path) for _, path in sorted(found)]


def repeat(settings, launch, schedules, seed):
    """Runs a recorded launch under other schedules than the first; what that one wrote is expected of them."""
    ptx, path = launch
    first = expect_what_it_writes(settings, ptx, path, seed)
    if schedules == 1 or first.problem:
        return first
    others = run_description(settings, ptx, path, schedules - 1, seed + 1)
    others.errors |= first.errors
    others.warnings |= first.warnings
    others.error = first.error
    return others


def expect_what_it_writes(settings, ptx, path, seed):
    """Runs a recorded launch; what is expected is then what all buffers hold after it."""
    dump = os.path.join(os.path.dirname(path), "written.bin")
    result = run_description(settings, ptx, path, 1, seed, extra=["--dump=" + dump])
    if not os.path.exists(dump):
        return result
    with open(path, encoding="utf-8") as file:
        description = json.load(file)
    written, at = np.fromfile(dump, np.int8), 0
    os.remove(dump)
    description["expected"] = []
    for buffer in description["buffers"]:
        file_name = buffer["name"] + ".after.bin"
        written[at:at + buffer["bytes"]].tofile(os.path.join(os.path.dirname(path), file_name))
        at += buffer["bytes"]
        if buffer["bytes"]:
            description["expected"].append({"buffer": buffer["name"], "dtype": "i8", "file": file_name})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(description, file, indent=1)
    return result


def run(settings, kernel, schedules, seed):
    return (run_program if isinstance(kernel, Program) else run_described)(settings, kernel, schedules, seed)
