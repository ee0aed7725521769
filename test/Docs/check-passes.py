#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the examples of the generated reference of the passes to the passes: what stands under "Before:" becomes what stands under "After:"
or "After, for CHIP:", once both are canonical and their functions have one name. Fragments, which are no modules, are left out.

usage: check-passes.py FP8_OPT FILE...
"""

import re
import subprocess
import sys

PASS = re.compile(r"^### `-([\w-]+)`$", re.M)
EXAMPLE = re.compile(r"^Before:\n\n```mlir\n(.*?)^```\n\nAfter(?:, for (\w+))?:\n\n```mlir\n(.*?)^```$", re.M | re.S)


def canonical(fp8_opt, text, *options):
    command = [fp8_opt, "-", *options, "--canonicalize", "--cse", "--mlir-print-local-scope"]
    result = subprocess.run(command, input=re.sub(r"@(before|after)\b", "@example", text), capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else result.stderr


def main():
    fp8_opt, *files = sys.argv[1:]
    checked = failed = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        parts = PASS.split(text)
        for name, section in zip(parts[1::2], parts[2::2]):
            for before, chip, after in EXAMPLE.findall(section):
                checked += 1
                made = canonical(fp8_opt, before, "--" + name + ("=chip=" + chip if chip else ""))
                if made != canonical(fp8_opt, after):
                    failed += 1
                    print("%s: error: --%s makes something else of its example\n%s" % (path, name, made))
    print("%d examples of passes checked, %d failed" % (checked, failed))
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
