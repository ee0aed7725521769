# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: without-wait.py PTX N: prints the text without its Nth griddepcontrol.wait, counted from 1."""

import sys

with open(sys.argv[1], encoding="utf-8") as file:
    parts = file.read().split("griddepcontrol.wait;")
number = int(sys.argv[2])
assert 1 <= number < len(parts)
print("griddepcontrol.wait;".join(parts[:number]) + "griddepcontrol.wait;".join(parts[number:]))
