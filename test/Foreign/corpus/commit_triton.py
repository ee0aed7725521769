#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renews the PTX of ../Inputs from what run.py left in a build folder, without the lines for debuggers.

usage: commit_triton.py BUILD NAME...
"""

import os
import re
import shutil
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Inputs")
LICENCE = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n// Compiled by Triton from triton_source.py; see commit_triton.py.\n"


def main():
    build, *names = sys.argv[1:]
    for name in names:
        with open(os.path.join(build, "made", name + ".ptx"), encoding="utf-8") as file:
            text = file.read()
        text = text.split("\t.section")[0]
        text = re.sub(r"[ \t]+//.*$", "", text, flags=re.MULTILINE)
        text = re.sub(r"^\s*(//.*|\.loc\b.*|\.file\b.*|\$L__(tmp|func_)\w+:)?\n", "", text, flags=re.MULTILINE)
        with open(os.path.join(INPUTS, name + ".ptx"), "w", encoding="utf-8") as file:
            file.write(LICENCE + text)
        shutil.copy(os.path.join(build, "made", name + ".json"), INPUTS)


main()
