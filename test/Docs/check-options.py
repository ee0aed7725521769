#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each option that a tool's --help shows is in a document.

usage: check-options.py [--documents=DIR] ROOT TOOL...
"""

import argparse
import os
import re
import subprocess
import sys

from documents import markdown_files

# What every tool has, or LLVM gives it.
COMMON = {"--help", "--help-list", "--version"}
# MLIR documents its own; check-passes.py looks at passes.
OTHERS = ("MLIR options in common use", "Passes of fp8", "Pipelines of fp8")


def options_of(tool, root):
    """The long flags of its own that the tool's --help shows."""
    sys.path.insert(0, os.path.join(root, "tools", "manual"))
    import help_text
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    return {flag for option in help_text.read(text).options if option.group not in OTHERS for flag in option.flags if len(flag) > 2} - COMMON


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root")
    parser.add_argument("--documents", help="instead of ROOT/docs")
    parser.add_argument("tools", nargs="+", help="programs")
    options = parser.parse_args()
    words = set()
    for path in markdown_files([options.documents or os.path.join(options.root, "docs")]):
        with open(path, encoding="utf-8") as file:
            words.update(re.findall(r"(?<![\w-])--?[a-z][\w-]*", file.read()))
    checked = errors = 0
    for tool in options.tools:
        for flag in sorted(options_of(tool, options.root)):
            checked += 1
            if flag not in words:
                errors += 1
                print("error: no document mentions the option %s of %s; say in docs/ what it is for" % (flag, os.path.basename(tool)))
    print("%d options checked, %d errors" % (checked, errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
