#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that all that states the version of the project states the same one, and is the version to be released, if that is given.

usage: check-release.py ROOT [VERSION]

To be released, the changelog's newest section must be of the version and name a day.
"""

import os
import re
import sys

STATEMENTS = {
    "CMakeLists.txt": r"^project\(fp8 VERSION ([\d.]+) ",
    "python/fp8/__init__.py": r'^__version__ = "([\d.]+)"',
    "CITATION.cff": r"^version: ([\d.]+)$",
    "CHANGELOG.md": r"^## ([\d.]+), (?:unreleased|\d{4}-\d\d-\d\d)$",
}


def main():
    root, *wanted = sys.argv[1:]
    found, errors = {}, []
    for name, pattern in STATEMENTS.items():
        with open(os.path.join(root, name), encoding="utf-8") as file:
            match = re.search(pattern, file.read(), re.M)
        if match:
            found[name] = match
        else:
            errors.append("%s: error: it states no version as %s" % (name, pattern))
    version = wanted[0] if wanted else found["CMakeLists.txt"][1]
    errors += ["%s: error: the version is %s, not %s" % (name, match[1], version) for name, match in found.items() if match[1] != version]
    if wanted and "unreleased" in found["CHANGELOG.md"][0]:
        errors.append("CHANGELOG.md: error: %s is unreleased; write the day of the release" % version)
    print("\n".join(errors + ["%d statements of version %s, %d errors" % (len(found), version, len(errors))]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
