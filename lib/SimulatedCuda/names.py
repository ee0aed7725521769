#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a C++ file with a weak definition for each function that CUDA's headers declare. It says that the simulated GPU lacks the function; the
definitions of the library take its place. Functions for the per-thread default stream jump to those for the legacy one, as the simulated GPU has but one.

usage: names.py OUT HEADER...
"""

import re
import sys

DECLARATION = re.compile(r"(?:CUDARTAPI|CUDARTAPI_CDECL|CUDAAPI)\s+(cu\w+)\s*\(")
PER_THREAD = re.compile(r"__(?:CUDART_API|CUDA_API)_PT([SD][ZS])\((cu\w+)\)")
RENAME = re.compile(r"^\s*#\s*define\s+(cu\w+)\s+(?:__CUDA_API_PT[SD][ZS]\((cu\w+)\)|(cu\w+))\s*$", re.M)


def main(out, headers):
    names, per_thread = set(), {"__cudaLaunchKernel_ptsz": "__cudaLaunchKernel"}
    for header in headers:
        with open(header, encoding="utf-8", errors="replace") as file:
            text = file.read()
        names.update(DECLARATION.findall(text))
        for _, stream_version, version in RENAME.findall(text):
            names.add(stream_version or version)
        for suffix, name in PER_THREAD.findall(text):
            per_thread[f"{name}_pt{suffix.lower()}"] = name
    lines = ["// Made by names.py. See there.", "#ifdef __aarch64__", '#define JUMP "b "', '#define PLT ""', "#else", '#define JUMP "jmp "', '#define PLT "@PLT"',
             "#endif", 'extern "C" {', "int fp8CudaRefuse(const char *function);", ""]
    for name in sorted(names):
        lines.append(f'__attribute__((weak, visibility("default"))) int {name}() {{ return fp8CudaRefuse("{name}"); }}')
    for alias, name in sorted(per_thread.items()):
        lines.append(f'__asm__(".globl {alias}\\n.type {alias}, %function\\n{alias}: " JUMP "{name}" PLT);')
    lines += ["}", ""]
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
