#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each warning of Rules.def has one section of its name in docs/Warnings.md, that each section is of a warning, and that no two
rules share a name.

usage: check-warnings.py RULES WARNINGS
"""

import collections
import re
import sys

KIND = re.compile(r'^FP8_KIND\(\w+,\s*"([^"]+)"', re.M)
RULE = re.compile(r'^FP8_RULE\(\w+,\s*\w+,\s*(\w+),\s*"([^"]+)"', re.M)
SECTION = re.compile(r"^## (.+)$", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    rules, page = sys.argv[1:]
    text = read(rules)
    named = RULE.findall(text)
    names = collections.Counter(KIND.findall(text) + [name for _, name in named])
    warnings = {name for severity, name in named if severity == "Warning"}
    sections = collections.Counter(SECTION.findall(read(page)))
    errors = ["%d rules are named %s" % (count, name) for name, count in sorted(names.items()) if count > 1]
    errors += ["%s has %d sections" % (name, sections[name]) for name in sorted(warnings) if sections[name] != 1]
    errors += ["the section %s is of no warning" % name for name in sorted(set(sections) - warnings)]
    for error in errors:
        print("%s: error: %s" % (page, error))
    print("%d warnings checked, %d errors" % (len(warnings), len(errors)))
    return 1 if errors or not warnings else 0


if __name__ == "__main__":
    sys.exit(main())
