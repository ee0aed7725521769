# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every file of ours that an installed header or TableGen file includes is installed, too.

usage: check-includes.py INCLUDE
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#?\s*include\s+["<](fp8(?:-c)?/[^">]+)[">]', re.M)

root = pathlib.Path(sys.argv[1])
checked, missing = 0, []
for file in sorted(path for path in root.rglob("*") if path.is_file()):
    for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
        checked += 1
        if not (root / name).is_file():
            missing.append(f"{file.relative_to(root)}: error: includes {name}, which is not installed; name it in cmake/Fp8Package.cmake")
print(*missing, f"{checked} includes checked, {len(missing)} missing", sep="\n")
sys.exit(bool(missing))
