#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds the ```mlir fences of Markdown files to fp8-opt, so that a documented
example cannot rot. Fences marked otherwise (```mlir-fragment: not a module by
itself) are counted, not run.

usage: check-fences.py FP8_OPT FILE_OR_DIRECTORY...
"""

import os
import subprocess
import sys

from documents import markdown_files


def fences(path):
    """(line, language, text) of each fence."""
    language = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            mark = line.strip()
            if language is None and mark.startswith("```"):
                start, language, text = number, mark[3:].strip(), []
            elif language is not None and mark == "```":
                yield start, language, "".join(text)
                language = None
            elif language is not None:
                text.append(line)


def run(fp8_opt, text):
    command = [fp8_opt, "-split-input-file", "--verify-roundtrip", "-o", os.devnull, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def check(fp8_opt, path):
    """The number of fences run, left out, and failed."""
    all_fences = list(fences(path))
    runnable = [(line, text) for line, language, text in all_fences if language == "mlir"]
    fragments = sum(language.startswith("mlir-") for _, language, _ in all_fences)
    failures = 0
    joined = "\n// -----\n".join(text for _, text in runnable)
    if runnable and run(fp8_opt, joined).returncode:
        for line, text in runnable:
            result = run(fp8_opt, text)
            if result.returncode:
                failures += 1
                print("%s:%d: error: this example is refused by fp8-opt\n%s\n%s"
                      % (path, line, text, result.stderr))
    return len(runnable), fragments, failures


def main():
    fp8_opt, *paths = sys.argv[1:]
    totals = [sum(column) for column in
              zip(*(check(fp8_opt, path) for path in markdown_files(paths)))] or [0, 0, 0]
    print("%d examples checked, %d fragments left out, %d failed" % tuple(totals))
    return 1 if totals[2] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
