#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts lit's results: every reason for a skip with its number, then, as the
last line, `N passed, N failed, N skipped`. Exit status 0 only if tests ran and
none failed.

usage: summarize.py RESULTS.xml UNITTEST_DIR
"""

import collections
import os
import subprocess
import sys
import xml.etree.ElementTree


def google_test_reason(directory, case):
    """The message of GTEST_SKIP, which GoogleTest keeps out of its reports: the
    skipped test is run again and tells it."""
    # The class is written fp8-unit._/BINARY/SUITE.
    _, binary, suite = case.get("classname").split("/", 2)
    name = "%s.%s" % (suite, case.get("name"))
    output = subprocess.run([os.path.join(directory, binary), "--gtest_filter=" + name],
                            capture_output=True, text=True, check=False).stdout.splitlines()
    for line, following in zip(output, output[1:]):
        if line.endswith(": Skipped"):
            return following.strip()
    return "skipped by GTEST_SKIP without a message"


def main():
    results, directory = sys.argv[1:]
    passed = failed = 0
    reasons = collections.Counter()
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif skipped is None:
            passed += 1
        elif case.get("classname").startswith("fp8-unit"):
            reasons[google_test_reason(directory, case)] += 1
        else:
            reasons[skipped.get("message", "no reason given")] += 1
    for reason, number in sorted(reasons.items()):
        print("skipped: %d (%s)" % (number, reason))
    print("%d passed, %d failed, %d skipped" % (passed, failed, sum(reasons.values())))
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
