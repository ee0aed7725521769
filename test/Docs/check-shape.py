#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the shape of the product's C++: no list of many of our ops in one isa or TypeSwitch, no long file, no long function.

usage: check-shape.py ROOT
"""

import os
import re
import sys

MOST_OPS, MOST_LINES, MOST_FUNCTION_LINES = 6, 450, 80
CURE_OPS = "let the ops say it by an interface or a trait (include/fp8/IR/Fp8Interfaces.td)"
DEFINITION = re.compile(r"^def Fp8_(\w+Op)\b", re.M)
LIST = re.compile(r"\b(?:isa|isa_and_nonnull|isa_and_present|dyn_cast|IsaPred)<([^<>;]*)>")
SWITCH = re.compile(r"\bTypeSwitch<.*?;", re.S)
CASE = re.compile(r"\.Case<([^<>]*)>|\.Case\(\[[^\]]*\]\((?:const )?(?:auto )?(\w+)")
# Clang-format puts the braces of a definition at the start of a line, or two columns in for a member.
OPENS = re.compile(r"^(?P<indent>(?:  )?)(?P<head>[^\s#/}].*)\{$")
NOT_A_FUNCTION = re.compile(r"^(namespace|struct|class|enum|union|extern|return|if|else|for|while|do|switch|case|template <[^>]*> (struct|class)|.*[=,(]\s*\{$|.*= \[)")


def files(root):
    """The product's C++ files."""
    for top in ("include/fp8", "include/fp8-c", "lib", "tools"):
        for directory, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".cpp", ".h")):
                    yield os.path.relpath(os.path.join(directory, name), root)


def our_ops(root):
    """The names of the dialect's op classes."""
    folder = os.path.join(root, "include/fp8/IR")
    ops = set()
    for name in os.listdir(folder):
        if name.endswith(".td"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                ops.update(DEFINITION.findall(file.read()))
    if len(ops) < 20:
        sys.exit("check-shape.py: error: found no ops in include/fp8/IR")
    return ops


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def long_lists(text, ops):
    """(line, number of our ops) of each list that has too many."""
    for match in LIST.finditer(text):
        listed = ops.intersection(re.findall(r"\w+", match.group(1)))
        if len(listed) > MOST_OPS:
            yield line_of(text, match.start()), len(listed)
    for match in SWITCH.finditer(text):
        cases = " ".join(a or b for a, b in CASE.findall(match.group(0)))
        listed = ops.intersection(re.findall(r"\w+", cases))
        if len(listed) > MOST_OPS:
            yield line_of(text, match.start()), len(listed)


def functions(lines):
    """(first line, lines) of each function."""
    number = 0
    while number < len(lines):
        match = OPENS.match(lines[number])
        start = number
        number += 1
        if not match or NOT_A_FUNCTION.match(match.group("head")) or "(" not in "".join(lines[max(0, start - 6):start + 1]):
            continue
        end = next((at for at in range(number, len(lines)) if re.match(match.group("indent") + r"\}", lines[at])), None)
        if end is None:
            continue
        yield start + 1, end - start + 1
        number = end


def main():
    root = sys.argv[1]
    ops = our_ops(root)
    errors, seen = [], 0
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        lines = text.splitlines()
        for line, count in long_lists(text, ops):
            errors.append(f"{path}:{line}: error: lists {count} of our ops, more than {MOST_OPS}; {CURE_OPS}")
        if path.endswith(".cpp") and len(lines) > MOST_LINES:
            errors.append(f"{path}:1: error: has {len(lines)} lines, more than {MOST_LINES}; split it by what its parts do")
        for line, length in functions(lines):
            seen += 1
            if length > MOST_FUNCTION_LINES:
                errors.append(f"{path}:{line}: error: a function of {length} lines, more than {MOST_FUNCTION_LINES}; name its steps")
    if seen < 1000:
        errors.append(f"check-shape.py: error: found {seen} functions; the pattern of a definition is wrong")
    print("\n".join(errors) or f"{seen} functions are of a readable size")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
