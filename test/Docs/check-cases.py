#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the tables of docs/GpuTests.md with the headings `group` and `probe` name each group, and each case of the group `probes`, of
test/Integration/cases.json once, and nothing else. `-32b` behind `probe-box-none` is short for `probe-box-32b`.

usage: check-cases.py PAGE CASES_JSON
"""

import json
import re
import sys


def table(text, heading):
    """The names in the first column of the table whose first heading is `heading`."""
    match = re.search(r"^\| %s \|.*\n\|[-|]+\n((?:\|.*\n)*)" % heading, text, re.M)
    names = []
    for row in match[1].splitlines() if match else []:
        for name in re.findall(r"`([^`]+)`", row.split("|")[1]):
            names.append(names[-1].rsplit("-", 1)[0] + name if name.startswith("-") else name)
    return names


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        cases = json.load(file)
    there = {"group": {case["group"] for case in cases}, "probe": {case["name"] for case in cases if case["group"] == "probes"}}
    errors = 0
    for heading, names in there.items():
        told = table(text, heading)
        wrong = [(name, "is missing") for name in sorted(names - set(told))]
        wrong += [(name, "is no %s" % heading) for name in told if name not in names]
        wrong += [(name, "is there twice") for name in sorted(set(told)) if told.count(name) > 1]
        for name, what in wrong:
            print("%s: error: in the table of each %s, %s %s" % (sys.argv[1], heading, name, what))
        errors += len(wrong)
    print("%d groups and %d probes, %d errors" % (len(there["group"]), len(there["probe"]), errors))
    return 1 if errors or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
