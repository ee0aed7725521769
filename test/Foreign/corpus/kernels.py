# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the corpus is made of: kernels that a description launches, and host programs that launch their own."""

import dataclasses
import fnmatch
import os
import re
import subprocess
from typing import Callable

COMPILE_LIMIT_S = 1800


class BuildFailure(Exception):
    pass


@dataclasses.dataclass
class Settings:
    """Where things are. checkouts: the folder with DeepGEMM, cutlass, ThunderKittens, flashinfer, and so on; build: what is made of them;
    triton_python, dsl_python: a Python with triton, and one with tilelang."""

    checkouts: str
    build: str
    nvcc: str
    triton_python: str
    dsl_python: str
    bin: str

    def checkout(self, project):
        return os.path.join(self.checkouts, project)

    def made(self, name):
        """The path of a file in the build folder."""
        folder = os.path.join(self.build, "made")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, name)

    def has(self, name):
        return os.path.exists(self.made(name))

    def tool(self, name):
        return os.path.join(self.bin, name)


@dataclasses.dataclass
class Described:
    """A kernel of which the corpus writes the launch, with operands and what is right in float64."""

    name: str
    project: str
    chip: str
    compile: Callable  # (settings, path of the PTX)
    launch: Callable   # (settings, random generator) -> Launch

    def file(self):
        return self.name + ".ptx"

    def build(self, settings):
        path = settings.made(self.file())
        if not os.path.exists(path):
            self.compile(settings, path)
        return path


@dataclasses.dataclass
class Program:
    """A host program that initialises, launches and verifies by itself. kernel: a pattern of the entries under test, which the
    program's own reference kernels do not match; judge: from what the program prints, whether its results are right, and their
    relative error if it says one; exact: puts random operands into the recorded launch, and says what they make in float64; limit: seconds
    after which the run is ended, and judged by what it has printed: some benchmark behind their check."""

    name: str
    project: str
    chip: str
    compile: Callable  # (settings, path of the program)
    arguments: Callable  # (settings) -> list
    judge: Callable  # (output) -> (bool, error or None)
    kernel: str
    exact: Callable = None  # (Recorded) -> None
    start: Callable = None  # (settings) -> (options of fp8-simulate, command), where that is not the program and its arguments
    limit: int = 600

    def file(self):
        return self.name

    def build(self, settings):
        path = settings.made(self.file())
        if not os.path.exists(path):
            self.compile(settings, path)
        return path

    def is_kernel(self, entry):
        return fnmatch.fnmatchcase(entry, self.kernel)


def prints(text):
    """Judges a program that says in words that its results are right."""
    return lambda output: (text in output, None)


def judge_relative_error(output):
    """Judges a program of this project, which prints its error against double."""
    error = re.search(r"relative error ([\d.e+-]+)", output)
    right = error is not None and float(error[1]) < 1e-5 and "wrong" not in output and "failed" not in output
    return right, float(error[1]) if error else None


def change(text, changes, what):
    """text: a project's source. changes: patterns and replacements, each of which must be found."""
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text)
        if not count:
            raise BuildFailure(f"{what} has changed: it has no {pattern!r}")
    return text


def compute(chip):
    """What nvcc calls the PTX of a chip: sm_90a -> compute_90a."""
    return chip.replace("sm_", "compute_")


def call(command, log):
    """Runs a compiler; its output goes to LOG, and stays there if it fails."""
    with open(log, "wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, timeout=COMPILE_LIMIT_S, check=False)
    if done.returncode:
        raise BuildFailure(f"{os.path.basename(command[0])} fails; see {os.path.basename(log)}")
    os.remove(log)


@dataclasses.dataclass
class Mend:
    """Lines that a header of another project lacks (docs/evidence/ForeignKernels.md#finds). before: a pattern of what they precede, which the
    header has once."""

    header: str
    before: str
    lines: str

    def write(self, includes, folder):
        """Writes the mended header to a folder that comes first among those of headers."""
        path = os.path.join(folder, self.header)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(os.path.join(includes, self.header), encoding="utf-8") as file:
            text, count = re.subn(rf"(\n *)({self.before})", lambda found: found[1] + self.lines + found[1] + found[2], file.read())
        if count != 1:
            raise BuildFailure(f"{self.header} has changed: there are {count} places for {self.lines}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def compile_ptx(settings, source, path, chip, flags):
    """source: the text of a .cu file."""
    with open(path[:-4] + ".cu", "w", encoding="utf-8") as file:
        file.write(source)
    command = [settings.nvcc, "-ptx", "-std=c++20", "-O3", "--expt-relaxed-constexpr", "--expt-extended-lambda",
               "--diag-suppress=39,161,174,177,186,940", f"-gencode=arch={compute(chip)},code={compute(chip)}", *flags]
    call([*command, "-o", path, path[:-4] + ".cu"], path[:-4] + ".log")


def compile_program(settings, source, path, chip, flags):
    """source: the path of a .cu file. The program takes CUDA's runtime from a shared library, for fp8-simulate to stand in."""
    command = [settings.nvcc, "-cudart", "shared", "-DNDEBUG", "--expt-relaxed-constexpr", "--expt-extended-lambda",
               "-diag-suppress=20012,177,186", f"-gencode=arch={compute(chip)},code={compute(chip)}", *flags]
    call([*command, "-o", path, source, "-lcuda"], path + ".log")
