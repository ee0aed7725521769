#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Are the objects that a target is linked from compiled alike in a build and in one that is configured as pip does?

usage: compare-builds.py BUILD SOURCE OTHER TARGET

Configures OTHER, for the compilers and the kind of build that BUILD is of, and compares the commands of ninja, but for the names of the folders. Prints
the number of objects; exit status 1 if one differs.
"""

import os
import re
import subprocess
import sys

SAME = ("CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_PREFIX_PATH", "FP8_ENABLE_ASSERTIONS", "FP8_SANITIZE")
SOURCE = re.compile(r" -c (\S+)$")


def configure(build, source, other):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), flags=re.MULTILINE))
    options = [f"-D{name}={cache[name]}" for name in SAME if cache.get(name)]
    subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", other, "-DFP8_INCLUDE_TESTS=OFF", *options], check=True, stdout=subprocess.DEVNULL)


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
    build, source, other, target = sys.argv[1:]
    configure(build, source, other)
    here, there = commands(build, target), commands(other, target)
    if not there or set(here) != set(there):
        sys.exit("error: compiled in one build only: " + ", ".join(sorted(set(here) ^ set(there))))
    for source in here:
        if here[source] != there[source]:
            sys.exit("error: %s is compiled in two ways:\n%s\n%s" % (source, here[source], there[source]))
    print("%d objects are compiled alike" % len(here))


if __name__ == "__main__":
    main()
