# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers built elsewhere (docs/Benchmark.md has the protocol for their authors):
a shared library that enqueues its product, and is then timed as all others are;
or a program that reads operands from files, times itself by the same rule, leaves
its results in files and prints a line of CSV.

This file needs no torch.
"""

import csv
import ctypes
import json
import os
import subprocess

VERSION = 1
INPUTS = ("a", "a_scale", "b", "b_scale")


class ProgramFailure(Exception):
    pass


class LibraryOperands(ctypes.Structure):
    """Fp8PeerOperands of docs/Benchmark.md; addresses on the device."""
    _fields_ = [(name, ctypes.c_int64) for name in ("m", "n", "k", "a_scale_stride")] + [
        (name, ctypes.c_void_p) for name in (*INPUTS, "d")]


class LibraryPeer:
    """A shared library with fp8PeerEnqueue, and fp8PeerPrepare and fp8PeerConfiguration if it likes."""

    def __init__(self, name, path, operands, stream):
        self.name, self.sets, self.stream = name, operands.sets, stream
        self.library = ctypes.CDLL(os.path.abspath(path))
        self.enqueue = self.library.fp8PeerEnqueue
        self.enqueue.argtypes, self.enqueue.restype = [ctypes.POINTER(LibraryOperands), ctypes.c_void_p], ctypes.c_int
        self.operands = [LibraryOperands(*operands.shape, one.a_scale.stride(0),
                                         *(getattr(one, field).data_ptr() for field in (*INPUTS, "d")))
                         for one in self.sets]
        if hasattr(self.library, "fp8PeerPrepare"):
            prepare = self.library.fp8PeerPrepare
            prepare.argtypes, prepare.restype = [ctypes.POINTER(LibraryOperands), ctypes.c_size_t], ctypes.c_int
            array = (LibraryOperands * len(self.operands))(*self.operands)
            self.check("fp8PeerPrepare", prepare(array, len(array)))
        self.configuration = os.path.basename(path)
        if hasattr(self.library, "fp8PeerConfiguration"):
            self.library.fp8PeerConfiguration.restype = ctypes.c_char_p
            self.configuration = self.library.fp8PeerConfiguration().decode()

    @staticmethod
    def check(function, status):
        if status:
            raise ProgramFailure("%s returns %d" % (function, status))

    def launch(self, index):
        self.check("fp8PeerEnqueue", self.enqueue(ctypes.byref(self.operands[index]), self.stream()))

    def outputs(self):
        return [one.d for one in self.sets]


def file_of(directory, name, index):
    return os.path.join(directory, "%s.%d.bin" % (name, index))


def write_request(directory, shape, a_scale_stride, sets, timing):
    """`sets`: of each set, the bytes of a, a_scale, b and b_scale by name; `timing`: replays, rest_s, least_replay_us."""
    for index, one in enumerate(sets):
        for name in INPUTS:
            with open(file_of(directory, name, index), "wb") as file:
                file.write(one[name])
    m, n, k = shape
    request = dict(timing, version=VERSION, m=m, n=n, k=k, sets=len(sets), a_scale_stride=a_scale_stride)
    with open(os.path.join(directory, "request.json"), "w", encoding="utf-8") as file:
        json.dump(request, file)


def run_program(command, directory, seconds=60):
    """(microseconds a launch, configuration), from the last line that the program prints."""
    try:
        result = subprocess.run([*command, directory], capture_output=True, text=True, check=False, timeout=seconds)
    except OSError as error:
        raise ProgramFailure(str(error)) from error
    except subprocess.TimeoutExpired as error:
        raise ProgramFailure("no end after %g s" % seconds) from error
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["no message"]
        raise ProgramFailure("exit status %d: %s" % (result.returncode, lines[-1]))
    lines = result.stdout.strip().splitlines()
    fields = next(csv.reader(lines[-1:]), [])
    try:
        microseconds = float(fields[0])
    except (IndexError, ValueError):
        microseconds = 0.0
    if not 0 < microseconds < float("inf"):
        raise ProgramFailure("the last line is '%s', not MICROSECONDS,CONFIGURATION" % (lines[-1] if lines else ""))
    return microseconds, ",".join(fields[1:])


def read_result(directory, index, expected_bytes):
    """The bytes of set index's D."""
    path = file_of(directory, "d", index)
    try:
        with open(path, "rb") as file:
            contents = file.read()
    except OSError as error:
        raise ProgramFailure("the program left no %s" % os.path.basename(path)) from error
    if len(contents) != expected_bytes:
        raise ProgramFailure("%s has %d bytes instead of %d" % (os.path.basename(path), len(contents), expected_bytes))
    return contents
