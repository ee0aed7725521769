#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Are the objects that a target is linked from compiled alike in two build folders?

usage: compare-builds.py BUILD OTHER TARGET

Compares the commands of ninja, after the names of the folders. Prints the number of objects; exit status 1 if one differs.
"""

import re
import subprocess
import sys

SOURCE = re.compile(r" -c (\S+)$")


def commands(build, target):
    """What compiles each source file."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listed.replace(build, "BUILD").splitlines():
        source = SOURCE.search(line)
        if source:
            # ccache may stand before the compiler.
            found[source[1]] = re.sub(r"^(\S*/)?ccache ", "", line)
    return found


def main():
    build, other, target = sys.argv[1:]
    here, there = commands(build, target), commands(other, target)
    if not there or set(here) != set(there):
        sys.exit("error: compiled in one build only: " + ", ".join(sorted(set(here) ^ set(there))))
    for source in here:
        if here[source] != there[source]:
            sys.exit("error: %s is compiled in two ways:\n%s\n%s" % (source, here[source], there[source]))
    print("%d objects are compiled alike" % len(here))


if __name__ == "__main__":
    main()
