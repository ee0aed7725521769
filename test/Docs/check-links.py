#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the relative links of Markdown files lead somewhere: to a file or folder, and where they name a heading, to one of that file,
by the name that GitHub gives it. Fences and links to other hosts are left out.

usage: check-links.py FILE_OR_DIRECTORY...
"""

import os
import re
import sys

from documents import markdown_files

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def read(path):
    """A file's text, its fences as empty lines."""
    with open(path, encoding="utf-8") as file:
        return FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), file.read())


def anchors(path):
    names = []
    for heading in HEADING.findall(read(path)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        names.append(name if name not in names else "%s-%d" % (name, names.count(name)))
    return names


def main():
    checked, errors = 0, []
    for path in markdown_files(sys.argv[1:]):
        text = read(path)
        for match in LINK.finditer(CODE.sub(lambda code: " " * len(code[0]), text)):
            target, _, anchor = match[1].partition("#")
            if re.match(r"\w+:", target):
                continue
            checked += 1
            place = "%s:%d" % (path, text.count("\n", 0, match.start()) + 1)
            target = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(target):
                errors.append("%s: error: there is no %s" % (place, match[1]))
            elif anchor and anchor not in anchors(target):
                errors.append("%s: error: there is no heading %s" % (place, match[1]))
    print("\n".join(errors + ["%d links checked, %d errors" % (checked, len(errors))]))
    return 1 if errors or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
