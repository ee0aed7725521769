#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles kernels of other projects from their checkouts, runs them on the simulator with random operands, and says what it found.

usage: run.py --checkouts DIR --build DIR [--bin DIR] [--only REGEX] [--schedules N] [--seed S] [--jobs N] [--table FILE] [--results FILE]

DIR of --checkouts holds DeepGEMM, cutlass, ThunderKittens and flashinfer; a project that is not there is left out and said. Triton's kernels
need a Python with triton (--triton-python). Whatever --build lacks is compiled; what it has is taken as it is. Exits with 1 where a verdict is not the expected one
(expected.py).
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

import corpus
import expected
import simulate
from families import families
from kernels import BuildFailure, Program, Settings

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))


def add_common_arguments(parser):
    parser.add_argument("--checkouts", default=os.environ.get("FP8_FOREIGN", ""), help="default: FP8_FOREIGN")
    parser.add_argument("--build", required=True)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build/bin"), help="the folder of fp8-run and fp8-simulate")
    parser.add_argument("--nvcc", default=os.environ.get("FP8_NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--triton-python", default=os.environ.get("FP8_TRITON_PYTHON", sys.executable))
    parser.add_argument("--dsl-python", default=os.environ.get("FP8_DSL_PYTHON", sys.executable), help="with tilelang and torch")
    parser.add_argument("--only", default="", metavar="REGEX", help="kernels whose name has a match")
    parser.add_argument("--schedules", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0, help="of the operands and of the first schedule")
    parser.add_argument("--jobs", type=int, default=1)


def settings_of(options):
    os.makedirs(options.build, exist_ok=True)
    return Settings(os.path.abspath(options.checkouts) if options.checkouts else "", os.path.abspath(options.build), options.nvcc,
                    options.triton_python, options.dsl_python, os.path.abspath(options.bin))


def chosen(settings, pattern):
    """The kernels to run; prints those whose project is not there."""
    found, missing = [], {}
    for kernel in corpus.KERNELS:
        if not re.search(pattern, kernel.name):
            continue
        if settings.has(kernel.file()) or corpus.available(settings, kernel.project):
            found.append(kernel)
        else:
            missing[kernel.project] = missing.get(kernel.project, 0) + 1
    for project, count in sorted(missing.items()):
        print(f"left out: {count} kernels of {project}, which is not there")
    return found


def run_one(settings, options, kernel):
    try:
        result = simulate.run(settings, kernel, options.schedules, options.seed)
    except (BuildFailure, subprocess.TimeoutExpired) as failure:
        result = simulate.Result(problem=f"not compiled: {failure}")
    needs = needs_of(settings, kernel)
    surprise = expected.surprise(kernel.name, result)
    said = f"{kernel.name}: {result.verdict()}, {result.instructions} warp instructions, {result.seconds:.1f} s"
    said += f" ({result.note})" if result.note else ""
    print(said + (f"; NOT AS EXPECTED: {surprise}; {result.first}" if surprise else ""), flush=True)
    return kernel, result, needs, surprise


def needs_of(settings, kernel):
    """Families of instructions in the kernel, or in the first that a program launches."""
    entry = ""
    if isinstance(kernel, Program):
        launches = simulate.captured(settings, kernel)
        if not launches:
            return []
        path, launch = launches[0]
        with open(launch, encoding="utf-8") as file:
            entry = json.load(file)["entry"]
    else:
        path = settings.made(kernel.name + ".ptx")
        if not os.path.exists(path):
            return []
    with open(path, encoding="utf-8") as file:
        return families(file.read(), entry)


def main():
    parser = argparse.ArgumentParser()
    add_common_arguments(parser)
    parser.add_argument("--table", metavar="FILE", help="write the table of docs/evidence/ForeignKernels.md")
    parser.add_argument("--results", metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    settings = settings_of(options)
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda kernel: run_one(settings, options, kernel), chosen(settings, options.only)))
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(corpus.table(settings, rows))
    if options.results:
        with open(options.results, "w", encoding="utf-8") as file:
            json.dump([corpus.figures(*row) for row in rows], file, indent=1)
    clean, surprises = sum(row[1].clean() for row in rows), sum(bool(row[3]) for row in rows)
    print(f"{len(rows)} kernels, {clean} clean, {surprises} not as expected, {options.schedules} schedules, {time.monotonic() - begin:.0f} s")
    sys.exit(1 if surprises or not rows else 0)


if __name__ == "__main__":
    main()
