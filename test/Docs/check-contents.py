#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the table of contents of the site names each document once, that the README leads to each in at most two clicks, and that it
is a page that one reads to its end.

usage: check-contents.py ROOT

Documents are the Markdown files that git knows at the root, in docs, benchmark, examples and python.
"""

import collections
import os
import re
import subprocess
import sys
import tomllib

LINK = re.compile(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)")
CLICKS = 2
README_LINES = 150


def documents(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return {name for name in listed.split("\n") if re.match(r"[A-Z]\w+\.md|(?:docs|benchmark|examples|python)/", name) and os.path.exists(os.path.join(root, name))}


def distances(root, found):
    clicks, waiting = {"README.md": 0}, collections.deque(["README.md"])
    while waiting:
        name = waiting.popleft()
        with open(os.path.join(root, name), encoding="utf-8") as file:
            targets = LINK.findall(file.read())
        for target in targets:
            path = os.path.normpath(os.path.join(os.path.dirname(name), target))
            if path in found and path not in clicks:
                clicks[path] = clicks[name] + 1
                waiting.append(path)
    return clicks


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "docs", "site", "contents.toml"), "rb") as file:
        contents = tomllib.load(file)
    pages = collections.Counter(page for section in contents["section"] for page in section["pages"])
    found = documents(root)
    errors = ["%s is there %d times" % item for item in sorted(pages.items()) if item[1] > 1]
    errors += ["there is no %s" % page for page in sorted(set(pages) - found) if not page.startswith("reference/")]
    errors += ["%s is missing; give it a section" % page for page in sorted(found - set(pages) - set(contents["left_out"]) - {"README.md"})]
    clicks = distances(root, found)
    errors += ["%s is more than %d clicks from the README" % (page, CLICKS) for page in sorted(pages)
               if page in found and clicks.get(page, CLICKS + 1) > CLICKS]
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        length = len(file.readlines())
    if length > README_LINES:
        errors.append("README.md has %d lines, more than %d; give what it says a page" % (length, README_LINES))
    for error in errors:
        print("contents.toml: error: " + error)
    print("%d pages, %d errors" % (len(pages), len(errors)))
    return 1 if errors or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
