# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the scripts of this folder read, run and import, with one line for what is wrong: the file, the command or the package, and the cure.

A script ends by inputs.run(main): exit status 2 where an input is bad.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys

RESULTS = "give a file of results that ./dev bench wrote"
CONFIGURATIONS = "give a file of configurations, such as benchmark/gpu/configurations.json"
TABLE = "give a table of tuned configurations, such as benchmark/tuned/h200.json"
TRACE = "give a trace that fp8-run --timeline wrote"
# How to get the packages that scripts import.
PACKAGES = {"torch": "pip install torch", "fp8": "./dev wheel && pip install build/python/*.whl"}


class InputError(Exception):
    """What is wrong with an input, in one line."""


def fail(path, what, cure):
    raise InputError("%s: %s; %s" % (path, what, cure))


@contextlib.contextmanager
def reading(path, cure):
    """The file, open. What is wrong with it, or with what is read of it here, is an InputError that ends with `cure`."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            yield file
    except OSError as problem:
        fail(path, "cannot be read: %s" % (problem.strerror or problem), cure)
    except json.JSONDecodeError as problem:
        fail("%s:%d:%d" % (path, problem.lineno, problem.colno), "is no JSON: %s" % problem.msg, cure)
    except KeyError as problem:
        fail(path, "has no '%s'" % problem.args[0], cure)
    except StopIteration:
        fail(path, "has no row", cure)
    except (AttributeError, IndexError, TypeError, ValueError) as problem:
        fail(path, "has a wrong value: %s" % problem, cure)


@contextlib.contextmanager
def writing(path, newline=None):
    """The file, open to write."""
    try:
        with open(path, "w", encoding="utf-8", newline=newline) as file:
            yield file
    except OSError as problem:
        fail(path, "cannot be written: %s" % (problem.strerror or problem), "name another file")


def parse_shape(name):
    """(m, n, k) of "MxNxK"."""
    extents = name.split("x")
    if len(extents) != 3 or not all(extent.isdecimal() and int(extent) for extent in extents):
        raise InputError("a row is MxNxK, such as 64x7168x2048, but got '%s'" % name)
    return tuple(map(int, extents))


def run_tool(command, text=None, option="--fp8-opt", stream="stdout"):
    """What the command prints to `stream`; an InputError where it fails, or where there is no such tool, which `option` names."""
    try:
        result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as problem:
        raise InputError("cannot run '%s': %s; build it, or name it with %s" % (command[0], problem.strerror, option)) from None
    if result.returncode:
        said = [line for line in result.stderr.splitlines() if "error:" in line] or result.stderr.strip().splitlines() or ["exit status %d" % result.returncode]
        raise InputError("%s: %s" % (os.path.basename(command[0]), said[0].strip()))
    return getattr(result, stream)


def load(package):
    """The package, one of PACKAGES; an InputError where it cannot be imported."""
    try:
        return importlib.import_module(package)
    except ImportError as problem:
        raise InputError("cannot import %s: %s; get it by '%s'" % (package, problem, PACKAGES[package])) from None


@contextlib.contextmanager
def using_fp8():
    """The package fp8. An InputError where it cannot be imported, or an error of its own that says what is wrong."""
    fp8 = load("fp8")
    try:
        yield fp8
    except fp8.Fp8Error as problem:
        raise InputError(problem) from None


@contextlib.contextmanager
def ending():
    """Ends the script with status 2 after the line that says which input is bad."""
    try:
        yield
    except InputError as problem:
        print("%s: error: %s" % (os.path.basename(sys.argv[0]), problem), file=sys.stderr)
        sys.exit(2)


def require(*packages):
    """Ends the script where one of PACKAGES is missing. Call it in front of the imports that need them."""
    with ending():
        for package in packages:
            load(package)


def run(main):
    """Ends the script with the status of `main`, or as `ending` says."""
    with ending():
        sys.exit(main())
