# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants one mistake that no rule of the dialect forbids in examples/structured.mlir.

usage: plant-mistake.py MISTAKE IN.mlir > OUT.mlir

Each mistake is a list of replacements, (text, by what); one whose text is not there is an error.
"""

import re
import sys

MMA = "fp8.mma %accumulator, %at, %bt : !fp8.tmem<128x128xf32>, !a_tile, !a_tile"
PROMOTE = "fp8.promote %f, %partial scales(%as, %bs) : !sum, !fp8.tmem<128x128xf32>, !scale_tile"
LOAD_A = 'fp8.tma_load %a[%m, %k], %stage["a"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!a_ring>'
LOAD_B = 'fp8.tma_load %b[%n, %k], %stage["b"] : !fp8.tensor_map<!a_tile>, !fp8.producer_stage<!b_ring>'
B_LOOP = "%p3 = scf.for %kb = %c0 to %blocks step"
LATER = "%later = arith.cmpi ne, %kb, %c0 : index\nscf.if %later {\n"

MISTAKES = {
    "none": [],
    # Rings whose sides do not agree.
    "fewer-trips": [(B_LOOP, "%less = arith.shrui %blocks, %c1 : index\n" + B_LOOP.replace("%blocks", "%less"))],
    "threads-part": [("%w4, %s4, %sum = scf.for %kb = %c0 to %blocks step",
                      "%tid = gpu.thread_id x\n%most = arith.minui %tid, %blocks : index\n"
                      "%w4, %s4, %sum = scf.for %kb = %c0 to %most step")],
    # Slots and accumulators that are not filled, or twice.
    "no-copy": [(LOAD_B, LATER + LOAD_B + "\n}")],
    "copied-twice": [(LOAD_B, LOAD_B + "\n" + LOAD_B)],
    "no-mma": [(MMA, LATER + MMA + "\n}")],
    "accumulates-on-nothing": [(MMA, "%true = arith.constant true\n" + MMA.replace("%bt :", "%bt accumulate(%true) :"))],
    # Numbers of another place.
    "promoted-twice": [(f"%f6 = {PROMOTE}\n", f"%f7 = {PROMOTE}\n%f6 = " + PROMOTE.replace("%f,", "%f7,") + "\n")],
    "scales-of-block-0": [("%a_scale[%kb, %m]", "%a_scale[%c0, %m]")],
    "b-scale-of-tile-0": [("%b_scale[%tn, %kb]", "%b_scale[%c0, %kb]")],
    "scale-of-other-part": [("scales(%as, %bs)", "scales(%as, %bs, %other)"),
                            ("%w5, %s5, %f5 =", "%other = memref.load %b_scale[%c0, %kb] : memref<?x?xf32>\n%w5, %s5, %f5 =")],
    "operands-swapped": [(MMA, MMA.replace("%at, %bt", "%bt, %at"))],
    "stored-elsewhere": [("%d[%m, %n] through", "%d[%n, %m] through")],
    "stored-on-one-tile": [("%d[%m, %n] through", "%d[%c0, %n] through")],
    "other-multicast": [("kernel attributes {fp8.linear, ", "kernel attributes {fp8.linear, fp8.cluster = array<i64: 1, 2>, "),
                        ("!scale_tile = ", "!share = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>\n!scale_tile = "),
                        ("%a: !fp8.tensor_map<!a_tile>", "%a: !fp8.tensor_map<!share>"),
                        ("%map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!a_tile>",
                         "%map_a = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!share>"),
                        ("%map_a : !fp8.tensor_map<!a_tile>", "%map_a : !fp8.tensor_map<!share>"),
                        (LOAD_A, "%own = arith.muli %tn, %c128 : index\n" + LOAD_A.replace("%a[%m", "%a[%own").replace(
                            ' : !fp8.tensor_map<!a_tile>', " multicast along n : !fp8.tensor_map<!share>"))],
    "map-of-b": [("args(%map_a :", "args(%map_b :")],
}


def main():
    mistake, source = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for old, new in MISTAKES[mistake]:
        planted = old.sub(new, text) if isinstance(old, re.Pattern) else text.replace(old, new)
        if planted == text:
            sys.exit(f"plant-mistake.py: {mistake} finds no place")
        text = planted
    print(text)


main()
