#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a digest of all that the tests depend on: where it is that of a run that passed, the same run would pass again.

That is every file of the sources that git does not ignore, what the build has made and tests run or read, the packages of the system and of each
Python that tests use, NVIDIA's tools, the GPUs, and the variables that choose tests.

usage: inputs.py BUILD
"""

import hashlib
import os
import shutil
import stat
import subprocess
import sys

VARIABLES = ("CUDA_HOME", "CUDA_PATH", "FP8_CUDA_LIBRARY", "FP8_NVCC", "FP8_NVDISASM", "FP8_PTXAS", "FP8_PYTHON", "FP8_TEST_FULL", "PATH")
BUILT = ("bin", "lib", "unittests", "docs", "include", os.path.join("python", "lib"))
PACKAGES = "import importlib.metadata as m, sys; print(sys.version, sorted((d.name, d.version) for d in m.distributions()))"


def output(*command):
    """What a command prints; of one that is not there or fails, that."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
        return b"%d %s" % (done.returncode, done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__.encode()


def source_files():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True).stdout
    return sorted(os.fsdecode(name) for name in listed.split(b"\0") if name)


def built_files(build):
    for folder in BUILT:
        for parent, folders, names in os.walk(os.path.join(build, folder)):
            folders.sort()
            # Archives are linked into what is here; of tests lit keeps how long they took.
            yield from (os.path.join(parent, name) for name in sorted(names) if not name.endswith((".a", ".o", ".lit_test_times.txt")) and "CMakeFiles" not in parent)


def add_file(digest, path):
    try:
        mode = os.lstat(path).st_mode
        content = os.readlink(path).encode() if stat.S_ISLNK(mode) else open(path, "rb").read() if stat.S_ISREG(mode) else b""
    except OSError:
        mode, content = 0, b""  # deleted, and git does not know it yet
    digest.update(b"%s %o %d\n" % (os.fsencode(path), mode, len(content)))
    digest.update(content)


def main():
    build = sys.argv[1]
    digest = hashlib.sha256()
    for path in (*source_files(), *built_files(build)):
        add_file(digest, path)
    add_file(digest, os.path.join(build, "site", "venv", "requirements.txt"))  # there when the test of the site can run
    for name in VARIABLES:
        digest.update(f"{name}={os.environ.get(name)}\n".encode())
    for tool in ("ptxas", "nvcc", "nvdisasm"):
        named = os.environ.get("FP8_" + tool.upper()) or shutil.which(tool)
        digest.update(output(named, "--version") if named else b"none")
    for python in (os.environ.get("FP8_PYTHON"), shutil.which("python3"), "/usr/bin/python3"):
        digest.update(output(python, "-c", PACKAGES) if python else b"none")
    digest.update(output("dpkg-query", "-W") + output(os.path.join(build, "bin", "fp8-run"), "--list-devices"))
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
