# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one case of a packed folder (gpu.py): a kernel, alone, against the simulator or under
compute-sanitizer, or a program that tests many."""

import importlib.util
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

# Seconds that one run may take before it is ended.
LIMIT_S = 300
# How struct reads the elements that are compared by value; those of bf16 as their bits.
FORMATS = {"bf16": "<H", "f16": "<e", "f32": "<f"}


def manifest_of(case, directory):
    return os.path.join(directory, case.get("manifest", case["kernel"] + ".json"))


def written_element(case, directory):
    """The type of the elements that the case's kernel writes."""
    with open(manifest_of(case, directory), encoding="utf-8") as file:
        return next(one["dtype"] for one in json.load(file)["arguments"] if one["access"] == "write")


def bytes_of(element):
    """The size of an element; MLIR's name of a type begins with a letter or two and the number of its bits."""
    return int(re.search(r"\d+", element)[0]) // 8


def find_sanitizer():
    named = os.environ.get("FP8_COMPUTE_SANITIZER")
    return named or shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")


def why_skip(case, directory, device):
    """Why the case does not run on the device; on the simulator if that is None."""
    if "missing" in case:
        return case["missing"]
    if not device:
        if case.get("slow"):
            return "too large for the simulator"
        if "exit" in case or "sanitize" in case or "program" in case or case["kernel"].endswith(".cubin"):
            return "only a GPU shows it"
        return None
    if "program" in case:
        chip = "sm_90a"
        if "host" not in case and not importlib.util.find_spec("torch"):
            return "python3 has no torch"
    else:
        with open(manifest_of(case, directory), encoding="utf-8") as file:
            chip = json.load(file)["chip"]
    if "sanitize" in case and not find_sanitizer():
        return "there is no compute-sanitizer"
    if chip not in device["runs"]:
        return "%s does not run on compute capability %s" % (chip, device["capability"])
    return None


class Runner:
    """Runs cases of a folder with `fp8_run` on a backend: cuda or sim."""

    def __init__(self, directory, fp8_run, backend):
        self.directory, self.fp8_run, self.backend = directory, fp8_run, backend

    def run(self, case):
        """What to say of a right run, and what is wrong with one."""
        if "sanitize" in case:
            return self.sanitize(case)
        if case.get("compare"):
            return self.compare(case)
        line, problem = self.launch(case, self.backend)
        return describe(line) if self.backend == "cuda" else "", problem

    def command(self, case, backend, more):
        arguments = case["arguments"]
        if backend == "sim":  # which has no clock
            arguments = [argument for argument in arguments if not argument.startswith(("--time", "--clock"))]
        return [self.fp8_run, os.path.join(self.directory, case["kernel"]), "--manifest=" + manifest_of(case, self.directory),
                "--backend=" + backend] + arguments + list(more)

    def launch(self, case, backend, more=()):
        """The last line of output as JSON, and what is wrong with the run."""
        command = self.command(case, backend, more)
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return {}, "no end after %d s, not even by the watchdog: %s" % (LIMIT_S, " ".join(command))
        try:
            line = json.loads(result.stdout.strip().splitlines()[-1])
        except (IndexError, ValueError):
            line = {}
        problems = []
        if result.returncode != case.get("exit", 0):
            problems.append("exit status %d" % result.returncode)
        if line.get("ok") is not (case.get("exit", 0) == 0):
            problems.append("ok is %s" % line.get("ok"))
        if case.get("error", "") not in str(line.get("error", "")):
            problems.append("the error is not '%s'" % case["error"])
        problems += ["no '%s'" % key for key in case.get("keys", []) if backend != "sim" and not line.get(key)]
        if not problems:
            return line, None
        return line, "%s\n$ %s\n%s%s" % ("; ".join(problems), " ".join(command), result.stderr, result.stdout)

    def compare(self, case):
        """Runs on the simulator and on the backend, and compares the bytes."""
        with tempfile.TemporaryDirectory() as work:
            contents = []
            for place in dict.fromkeys(["sim", self.backend]):
                dump = os.path.join(work, place)
                line, problem = self.launch(case, place, ["--dump=" + dump])
                if problem:
                    return "", problem
                with open(dump, "rb") as file:
                    contents.append(file.read())
        if self.backend == "sim":
            return "", None
        simulated, other = contents
        if case["compare"] == "near":
            return near(case["floor"], simulated, other, written_element(case, self.directory))
        if simulated == other:
            case["compared"] = line.get("elements", 0), len(other)
            return ", ".join(filter(None, [describe(line), self.equal(line, other)])), None
        return "", first_difference(simulated, other, self.backend, written_element(case, self.directory) if "elements" in line else None)

    @staticmethod
    def equal(line, content):
        return "%d elements, %d bytes, all the same" % (line["elements"], len(content)) if "elements" in line else (
            "%d bytes, all the same" % len(content))

    def sanitize(self, case):
        """Runs under a tool of compute-sanitizer, which must find nothing; with "findings", something."""
        command = [find_sanitizer(), "--tool", case["sanitize"]]
        if case["sanitize"] == "memcheck":
            # fp8-run reports the driver's errors itself, and asks for a kernel's parameters until there is none.
            command += ["--report-api-errors", "no"]
        command += self.command(case, "cuda", [])
        try:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                    timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return "", "no end after %d s: %s" % (LIMIT_S, " ".join(command))
        summary = re.search(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (.*)$", result.stdout, re.MULTILINE)
        findings = sum(map(int, re.findall(r"\d+", summary[1]))) if summary else None
        if summary and case.get("findings") and findings:
            return summary[1] + ", as it should be", None
        if summary and not case.get("findings") and not findings and not result.returncode:
            return summary[1], None
        said = summary[1] if summary else "no summary, exit status %d" % result.returncode
        return "", "%s\n$ %s\n%s" % (said, " ".join(command), shorten(result.stdout))


def shorten(text, most=6000):
    return text if len(text) <= most else "%s\n...\n%s" % (text[:most // 2], text[-most // 2:])


def run_program(case, directory, seconds, tell):
    """Runs a program that prints PASS: and FAIL: lines, each of which is told at once; how many of either there
    were."""
    seconds = min(seconds, case.get("seconds", LIMIT_S))
    command = [sys.executable, os.path.join(directory, case["program"]), directory, "--seconds=%d" % seconds,
               *case["arguments"]]
    counts = {"PASS": 0, "FAIL": 0}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        # It ends by itself; this is for one that hangs.
        ender = threading.Timer(seconds + 60, process.kill)
        ender.start()
        for line in process.stdout:
            tell(line.rstrip("\n"))
            if line[:4] in counts:
                counts[line[:4]] += 1
        status = process.wait()
        ender.cancel()
        if status and not counts["FAIL"] or not sum(counts.values()):
            errors.seek(0)
            tell("FAIL: %s exit status %d\n$ %s\n%s" % (case["name"], status, " ".join(command), shorten(errors.read())))
            counts["FAIL"] += 1
    return counts["PASS"], counts["FAIL"]


def first_difference(simulated, other, backend, element=None):
    wrong = [i for i, pair in enumerate(zip(simulated, other)) if pair[0] != pair[1]]
    at = wrong[0] if wrong else min(len(simulated), len(other))
    start = at // 16 * 16
    more = ""
    if element:
        size = bytes_of(element)
        more = ", in %d of %d elements of %s" % (len({i // size for i in wrong}), len(simulated) // size, element)
    return "%d of %d bytes differ%s, first byte %d; from %d on, the simulator: %s, %s: %s" % (
        len(wrong), len(simulated), more, at, start, simulated[start:start + 16].hex(" ", 4), backend,
        other[start:start + 16].hex(" ", 4))


def decode(content, element):
    values = [value for value, in struct.iter_unpack(FORMATS[element], content)]
    if element != "bf16":
        return values
    return [value for value, in struct.iter_unpack("<f", b"".join(struct.pack("<I", bits << 16) for bits in values))]


def near(floor, simulated, other, element):
    """For functions that a GPU approximates: every element is judged alone already, so what counts is the distance."""
    pairs = [pair for pair in zip(decode(simulated, element), decode(other, element)) if pair[0] == pair[0]]
    norm = math.sqrt(sum(value * value for value, _ in pairs))
    distance = math.sqrt(sum((second - first) ** 2 for first, second in pairs)) / norm
    said = "%d of %d elements differ, Frobenius distance %.3g, floor %.3g" % (
        sum(first != second for first, second in pairs), len(pairs), distance, floor)
    return (said, None) if distance <= floor and len(simulated) == len(other) else ("", said)


def describe(line):
    text = []
    if line.get("us") is not None:
        text.append("%.1f us" % line["us"])
    if "tflops" in line:
        text.append("%.3g TFLOP/s over %d sets of operands" % (line["tflops"], line["operand_sets"]))
    return ", ".join(text)
