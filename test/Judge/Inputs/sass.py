# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether ptxas makes the same code of each judged kernel and of what rewrite.py makes of it.

usage: sass.py FP8-OPT PTXAS WORKDIR [--full]

--full adds kernels that kernels.py judges in its full run, and those that proofs.py does.
"""

import argparse
import os
import re
import struct
import subprocess
import sys

import proofs
from kernels import KERNELS, lower
from rewrite import REWRITES, rewrite, without_hints


def code(ptxas, ptx, stem):
    """The bytes of the sections .text.* in the cubin that ptxas makes, by name (ELF-64, sections and their names)."""
    with open(f"{stem}.ptx", "w", encoding="utf-8") as file:
        file.write(ptx)
    subprocess.run([ptxas, "-arch=sm_100a", f"{stem}.ptx", "-o", f"{stem}.cubin"], check=True)
    with open(f"{stem}.cubin", "rb") as file:
        cubin = file.read()
    table, = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<II4Q", cubin, table + number * size) for number in range(count)]
    begin = sections[names][4]
    named = {cubin[begin + name:].split(b"\0", 1)[0].decode(): cubin[offset:offset + length] for name, _, _, _, offset, length in sections}
    return {name: text for name, text in named.items() if name.startswith(".text.")}


def judged(opt, work, full):
    """Names and texts."""
    for kernel in KERNELS:
        if full or not kernel.full:
            yield kernel.name, lower(kernel, opt, work)[0]
    options = argparse.Namespace(opt=opt, run=None, full=True, only=None)
    for case in proofs.choose(options) if full else []:
        ptx = proofs.lower(case, options, work)[1]
        if ptx:
            yield case.name, ptx


def main():
    opt, ptxas, work, *full = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    same, used, hints = [], set(), []
    for name, ptx in judged(opt, work, full):
        used |= {number for number, (pattern, _) in enumerate(REWRITES) if pattern.search(ptx)}
        original = without_hints(ptx)
        hints += [name] if original != ptx else []
        before, after = (code(ptxas, text, os.path.join(work, "kernel")) for text in (original, rewrite(ptx)))
        same.append(bool(before) and before == after)
        if not same[-1]:
            print(f"{name}: another SASS")
    print(f"{len(same)} kernels: the same SASS of {sum(same)}, another of {len(same) - sum(same)}; {len(used)} of {len(REWRITES)} rewrites used")
    print(f"compared without prefetches: {', '.join(hints) or 'none'}")
    sys.exit(not all(same))


if __name__ == "__main__":
    main()
