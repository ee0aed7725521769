# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C ends a simulation at any moment, with KeyboardInterrupt, and nothing is written. Each program has a process of its own, and most of their
signals are an alarm's, which Python is told to handle as it does Ctrl-C's."""

from __future__ import annotations

import subprocess
import sys
import textwrap

BEGIN = """
import os, random, signal, sys, threading
import fp8, numpy as np
from problem import Problem

# Of this size a simulation takes many seconds: one that is not interrupted outlasts the test.
p = Problem(2048, 2048, 8192)
kernel = fp8.compile(fp8.GemmSpec(d_dtype="f32", config="tile = 128 x 128 x 128"), chip="sm_90a", assemble=False)
d = np.full((2048, 2048), np.nan, np.float32)
arrays = (p.a, np.ascontiguousarray(p.a_scale.T), p.b, p.b_scale, d)

def interrupt_after(seconds):
    # By the system's clock, so that a signal comes at any moment, not where Python lets another thread run.
    signal.setitimer(signal.ITIMER_REAL, seconds)

# What is started in the background is told to ignore Ctrl-C.
for number in (signal.SIGALRM, signal.SIGINT):
    signal.signal(number, signal.default_int_handler)
"""


def run(lines, timeout=200):
    program = BEGIN + textwrap.dedent(lines)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout, cwd=__file__.rsplit("/", 1)[0], check=False)
    assert done.returncode == 0, done.stderr
    assert "ignored" not in done.stderr, done.stderr
    return done.stdout.split()


def test_at_any_moment():
    """The moments are spread from the first microseconds of a call to well within the run."""
    assert run("""
        random.seed(1)
        for i in range(20):
            try:
                interrupt_after(random.choice((1e-4, 1e-3, 0.3)) * (0.1 + random.random()))
                kernel.simulate(*arrays)
                sys.exit("a simulation ended by itself")
            except KeyboardInterrupt:
                pass
            assert np.isnan(d).all(), "a run that was ended has written"
        print("ended")
    """) == ["ended"]


def test_with_a_bar():
    assert run("""
        for i in range(3):
            interrupt_after(0.2)
            try:
                kernel.simulate(*arrays, progress=True)
                sys.exit("a simulation ended by itself")
            except KeyboardInterrupt:
                pass
        print("ended")
    """) == ["ended"]


def test_twice_in_a_row():
    """A second Ctrl-C, while the first is being dealt with, changes nothing."""
    assert run("""
        interrupts = []
        def handler(*_):
            interrupts.append(1)
            if len(interrupts) == 1:
                interrupt_after(1e-4)
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, handler)
        interrupt_after(0.2)
        try:
            kernel.simulate(*arrays)
        except KeyboardInterrupt:
            print(len(interrupts))
    """) == ["2"]


def test_gemm_and_the_signal_of_a_keyboard():
    assert run("""
        fp8.gemm(*Problem(16, 32, 128).operands, simulate=True, d_dtype="float32")
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            fp8.gemm(*p.operands, simulate=True, d_dtype="float32")
        except KeyboardInterrupt:
            print("ended")
    """) == ["ended"]


def test_the_main_thread_while_another_simulates():
    """Python interrupts the main thread only; the other goes on to its end."""
    assert run("""
        small = Problem(512, 512, 2048)
        result = np.full((512, 512), np.nan, np.float32)
        ended = threading.Event()
        def simulate():
            kernel.simulate(small.a, np.ascontiguousarray(small.a_scale.T), small.b, small.b_scale, result)
            ended.set()
        threading.Thread(target=simulate).start()
        try:
            interrupt_after(1e-3)  # long before the simulation ends
            ended.wait()
        except KeyboardInterrupt:
            print("interrupted")
        ended.wait()
        small.check(result)
        print("right")
    """) == ["interrupted", "right"]


def test_other_handlers_raise_too():
    assert run("""
        class Alarm(Exception): pass
        def handler(*_): raise Alarm
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            kernel.simulate(*arrays)
        except Alarm:
            print("alarm")
    """) == ["alarm"]


def test_errors_of_the_bar_are_raised():
    assert run("""
        class Closed:
            def write(self, text): raise BrokenPipeError("closed")
            def flush(self): pass
            def isatty(self): return False
        shown, sys.stderr = sys.stderr, Closed()
        try:
            kernel.simulate(*arrays, progress=True)
        except BrokenPipeError as error:
            print(error)
        sys.stderr = shown
    """) == ["closed"]
