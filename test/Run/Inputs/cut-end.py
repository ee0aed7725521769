# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes away what keeps the CTAs of a cluster alive while others signal them.

usage: cut-end.py IN.ptx OUT.ptx [barrier] [N]

`barrier` is the cluster barrier before the end. N is one of the waits for slots to come back, from 0 on, as test/Mutants counts them.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Mutants/corpus"))
import ptx  # noqa: E402
import ptx_operators  # noqa: E402


def main():
    source, target, *what = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    numbers = [int(word) for word in what if word != "barrier"]
    if numbers:
        waits = [planted for family, _, _, planted in ptx_operators.sites(ptx.Program(text)) if family == "last wait"]
        text = waits[numbers[0]]()
    if "barrier" in what:
        instructions = r"\tbarrier\.cluster\.(arrive|wait)\S*;\n"
        last = list(re.finditer(instructions, text))[-2:]
        if [found[1] for found in last] != ["arrive", "wait"] or not re.match(r"(\s*\.loc.*\n)*\s*ret;", text[last[1].end():]):
            sys.exit("cut-end.py: no cluster barrier before the end")
        text = text[:last[0].start()] + text[last[1].end():]
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


main()
