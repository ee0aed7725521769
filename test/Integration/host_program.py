#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program of host and device in one module (examples/host.mlir), which compares every element with loops of its own.

usage: host_program.py DIR [--seconds=N] [--backend=cuda|sim]

DIR has the program, `host`. Prints a line for each shape; exit status 0 if all were right.
"""

import argparse
import os
import re
import subprocess
import sys

LINE = re.compile(r"(\d+) x (\d+) x (\d+), wrong elements: (\d+)")
SHAPES = 5


def main():
    parser = argparse.ArgumentParser(description="Runs a program of host and device in one module.")
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--backend", default="cuda")
    options = parser.parse_args()
    done = subprocess.run([os.path.join(options.directory, "host")], env={**os.environ, "FP8_BACKEND": options.backend}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=options.seconds, check=False)
    found = LINE.findall(done.stdout)
    for m, n, k, wrong in found:
        print("%s: host-%sx%sx%s %s wrong elements" % ("FAIL" if int(wrong) else "PASS", m, n, k, wrong))
    if len(found) != SHAPES or done.returncode:
        print("FAIL: host %d of %d shapes, exit status %d: %s" % (len(found), SHAPES, done.returncode, done.stdout[-500:]))
    sys.exit(done.returncode or len(found) != SHAPES)


if __name__ == "__main__":
    main()
