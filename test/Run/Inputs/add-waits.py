# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a manifest the table of waits of test/Launch/Inputs/valid/debug-waits.json.

usage: add-waits.py IN.json OUT.json
"""

import json
import os
import sys

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Launch/Inputs/valid/debug-waits.json")
with open(EXAMPLE, encoding="utf-8") as file:
    example = json.load(file)
with open(sys.argv[1], encoding="utf-8") as file:
    manifest = json.load(file)
manifest.update(version=example["version"], debug_waits=example["debug_waits"])
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(manifest, file)
