#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples of the generated reference of passes and pipelines: each has one, a ```mlir fence, on which it runs; where a second follows, it is what
comes out of the first when both are canonical, but for the name @before, there @after. "After `chip=sm_90a`:" gives options.

usage: check-passes.py FP8_OPT FILE...
"""

import os
import re
import subprocess
import sys

PASS = re.compile(r"^### `-([\w-]+)`$", re.M)
EXAMPLE = re.compile(r"^([^\n]*)\n\n```mlir\n(.*?)^```$", re.M | re.S)


def run(fp8_opt, text, *options):
    return subprocess.run([fp8_opt, "-", *options], input=text, capture_output=True, text=True, check=False)


def check(fp8_opt, name, examples):
    """What is wrong with the examples of a pass, each the line before it and its text; nothing if they are right."""
    if not examples:
        return "has no example"
    lead, *_ = examples[-1]
    given = re.search(r"`([^`]*=[^`]*)`", lead)
    option = "--%s=%s" % (name, given[1]) if given else "--" + name
    result = run(fp8_opt, examples[0][1], option, *(["-o", os.devnull] if len(examples) == 1 else ["--canonicalize"]))
    if result.returncode:
        return "refuses its example\n" + result.stderr
    if len(examples) == 1:
        return ""
    after = run(fp8_opt, examples[1][1].replace("@after", "@before"), "--canonicalize").stdout
    return "" if result.stdout == after else "does not make of its first example the second, but\n" + result.stdout


def main():
    fp8_opt, *paths = sys.argv[1:]
    count = errors = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            _, *sections = PASS.split(file.read())
        for name, section in zip(sections[::2], sections[1::2]):
            count += 1
            problem = check(fp8_opt, name, EXAMPLE.findall(section))
            if problem:
                errors += 1
                print("%s: error: %s %s" % (path, name, problem))
    print("%d passes checked, %d errors" % (count, errors))
    return 1 if errors or not count else 0


if __name__ == "__main__":
    sys.exit(main())
