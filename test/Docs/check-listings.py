#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the listings of Markdown files to what fp8-opt prints.

A fence that follows a comment `<!-- kernel of: fp8-opt ARGUMENTS -->` holds the type aliases and the gpu.module that the command
prints in the root of the repository, its long lines broken. White space is not compared.

usage: check-listings.py [--update] FP8_OPT ROOT FILE...
"""

import re
import shlex
import subprocess
import sys

LISTING = re.compile(r"(<!-- kernel of: fp8-opt (.*?) -->\n```mlir\n)(.*?)(\n```)", re.S)
WIDTH = 120


def wrap(line):
    """Breaks a line at blanks, never after a `->` or a `=`."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    rows = []
    while len(line) > WIDTH:
        breaks = [m.start() for m in re.finditer(r"(?<![=>]) (?![={])", line) if len(indent) < m.start() <= WIDTH]
        if not breaks:
            break
        rows.append(line[:breaks[-1]])
        line = indent + line[breaks[-1] + 1:]
    return rows + [line]


def kernel(fp8_opt, root, arguments):
    command = [fp8_opt] + shlex.split(arguments)
    text = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    aliases = [line for line in text.splitlines() if line.startswith("!")]
    body = re.search(r"^( *)gpu\.module .*?^\1}$", text, re.S | re.M)
    indent = len(body[1])
    lines = [line[indent:] for line in body[0].splitlines()]
    uses = lambda name: len(re.findall(re.escape(name) + r"\b", "\n".join(aliases + lines)))
    used = [alias for alias in aliases if uses(alias.split()[0]) > 1]
    return "\n".join(row for line in used + lines for row in wrap(line.rstrip()))


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    fp8_opt, root, *files = arguments[update:]
    checked = stale = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()

        def renew(match):
            nonlocal checked, stale
            checked += 1
            printed = kernel(fp8_opt, root, match[2])
            is_stale = match[3].split() != printed.split()
            stale += is_stale
            if is_stale and not update:
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path}:{line}: error: fp8-opt prints another kernel; renew the listing with --update")
            return match[1] + printed + match[4]

        renewed = LISTING.sub(renew, text)
        if update:
            with open(path, "w", encoding="utf-8") as file:
                file.write(renewed)
    print(f"{checked} listings checked, {stale} stale")
    return 1 if (stale and not update) or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
