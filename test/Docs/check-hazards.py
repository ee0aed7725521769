#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the tables of hazards in a Markdown file: every number from 1 to the
last is there once, with a verdict; every link leads to a file, every `@name`
that is a link's text to a function there; every diagnostic that a row quotes,
as `error: ...`, stands in the test case of one of its functions.

usage: check-hazards.py LAST FILE
"""

import os
import re
import sys

VERDICTS = ("rejected", "inexpressible", "not applicable")
LINK = re.compile(r"\[`?([^`\]]+)`?\]\(([^)#]+)\)")
ROW = re.compile(r"^\| (\d+) \|")


def test_case(path, function):
    """The text of the split that defines the function, None if there is none."""
    with open(path, encoding="utf-8") as file:
        for case in re.split(r"^// -----$", file.read(), flags=re.M):
            if re.search(r"func (private )?@%s\b" % re.escape(function), case):
                return case
    return None


def check_links(directory, text, report):
    """The test cases that the text links to."""
    cases = []
    for name, target in LINK.findall(text):
        path = os.path.join(directory, target)
        if target.startswith("http"):
            continue
        if not os.path.isfile(path):
            report("there is no file %s" % target)
        elif name.startswith("@"):
            case = test_case(path, name[1:])
            if case is None:
                report("%s has no function %s" % (target, name))
            else:
                cases.append(case)
    return cases


def check_row(directory, cells, report):
    if len(cells) != 4:
        report("a row has four cells, but this has %d" % len(cells))
        return
    verdict, how = cells[2], cells[3]
    if verdict not in VERDICTS:
        report("the verdict is %s, but got '%s'" % (" or ".join(VERDICTS), verdict))
    cases = check_links(directory, how, report)
    quotes = re.findall(r"`error: ([^`]+)`", how)
    if verdict == "rejected" and not quotes:
        report("a mistake that is rejected needs its diagnostic")
    if verdict == "inexpressible" and not LINK.search(how):
        report("what is inexpressible needs the place where it is derived, or a test")
    for quote in quotes:
        if not any(quote in case for case in cases):
            report("no test linked here has the diagnostic '%s'" % quote)


def main():
    last, path = int(sys.argv[1]), sys.argv[2]
    directory = os.path.dirname(path)
    errors, seen = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            def report(message, place=number):
                errors.append("%s:%d: error: %s" % (path, place, message))
            row = ROW.match(line)
            if row:
                seen.append(int(row[1]))
                check_row(directory, [c.strip() for c in line.strip().strip("|").split("|")], report)
            else:
                check_links(directory, line, report)
    for hazard in range(1, last + 1):
        if seen.count(hazard) != 1:
            errors.append("%s: error: hazard %d has %d rows" % (path, hazard, seen.count(hazard)))
    print("\n".join(errors + ["%d hazards checked, %d errors" % (len(seen), len(errors))]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
