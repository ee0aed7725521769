#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants faults in what a kernel of the GEMM op computes, and expects the proof of its numbers to refute each.

usage: numbers.py FP8-OPT SOURCE DIRECTORY

SOURCE holds one GEMM op. Each fault is planted in phase 2 of its kernel for sm_100a, where the protocol of the rings stays as it was.
"""

import collections
import re
import subprocess
import sys

Fault = collections.namedtuple("Fault", "name pattern by rule")

FAULTS = [
    Fault("K of B is the block's number", r"(fp8\.tma_load %map_1\[%\w+, )%15", r"\1%14", "tiles of a product must begin at the same element of K"),
    Fault("A is read at the column", r"(fp8\.tma_load %map\[)%10(, %15)", r"\1%11\2", "A scales must be of the rows of the product"),
    Fault("B in place of A", r"fp8\.tma_load %map\[%10, %15\]", "fp8.tma_load %map_1[%10, %15]", "A tile of a product must hold elements of 'a'"),
    Fault("A is copied twice", r"( *fp8\.tma_load %map\[%10, %15\].*\n)", r"\1\1", "a tile of a slot must be filled once"),
    Fault("A is not copied", r" *fp8\.tma_load %map\[%10, %15\].*\n", "", "A tile of a product must hold elements of 'a'"),
    Fault("scales of another row", r"scales\(%a_scale_27\[%27\]", "scales(%a_scale_27[%c0]", "A scales must be of the K block of the product"),
    Fault("scales of the first group", r"tma_load %map_0\[%arg5, %10\]", "tma_load %map_0[%c0, %10]", "A scales must be of the K block of the product"),
    Fault("B scale of another lane", r"(gpu\.shuffle  idx %arg6, )%28", r"\1%25", "B scales must be of the K block of the product"),
    Fault("B scales of the first row", r"memref\.load %arg0\[%21, %20\]", "memref.load %arg0[%c0, %20]", "B scales must be of the columns of the product"),
    Fault("the next B scales too early", r"(%20 = arith\.addi %arg5, )%c8 ", r"\1%c1 ", "B scales must be of the K block of the product"),
    Fault("D transposed", r"%map_2\[%10, %11\]", "%map_2[%11, %10]", "a sum and the box that it is stored to must have the same"),
    Fault("the sum before the last group", r"fp8\.store %19#2", "fp8.store %18#2", "what is stored must add up all of K"),
    Fault("a block is left out", r"promote %sum_30, %acc", "promote %sum_22, %acc", "a product must be added to a sum that ends where its K begins"),
    Fault("A and B exchanged", r"fp8\.mma %accumulator, %a, %b", "fp8.mma %accumulator, %b, %a", "A tile of a product must hold elements of 'a'"),
    Fault("no store", r"(?s)%store_queue_17 = fp8\.store [^\n]*\n(.*?)%store_queue_17", r"\1%store_queue_15", "each sum must be stored"),
]


def prove(opt, path):
    done = subprocess.run([opt, path, "--fp8-prove=chip=sm_100a", "-o", "/dev/null"], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def main():
    opt, source, directory = sys.argv[1:]
    base = f"{directory}/base.mlir"
    subprocess.run([opt, source, "--fp8-gemm-to-ptx=chip=sm_100a phase=linear", "-o", base], check=True)
    with open(base, encoding="utf-8") as file:
        text = file.read()
    code, said = prove(opt, base)
    if code or "computes what it says" not in said:
        sys.exit(f"the kernel itself is not proved: {said}")
    wrong = 0
    for fault in FAULTS:
        planted, count = re.subn(fault.pattern, fault.by, text)
        if not count:
            sys.exit(f"{fault.name}: the kernel has no such line")
        path = f"{directory}/{fault.name.replace(' ', '-')}.mlir"
        with open(path, "w", encoding="utf-8") as file:
            file.write(planted)
        code, said = prove(opt, path)
        if code != 1 or "does not compute what it says" not in said or fault.rule not in said:
            wrong += 1
            print(f"{fault.name}: expected a refutation by '{fault.rule}', but got {code}:\n{said}")
    print(f"{len(FAULTS)} faults planted, {wrong} not refuted as expected")
    sys.exit(wrong > 0)


main()
