#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of two roles that step as often as some value says, or whose lanes write somewhere: what the proof says of each value.

usage: values.py FP8-OPT
"""

import re
import subprocess
import sys

KERNEL = """
!x = !fp8.pipeline<2>
gpu.module @kernels {
  FUNCTIONS
  gpu.func @kernel(%t: index, %u: memref<?xi32>, %v: memref<?xi32>, %out: OUT) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %three = arith.constant 3.0 : f32
    %p, %c = fp8.pipeline : !fp8.producer<!x>, !fp8.consumer<!x>
    fp8.role "P" warps(1) (%x = %p, %w = PVALUE) : !fp8.producer<!x>, TYPE {
      PBOUND
      %x3 = scf.for %k = %c0 to %n step %c1 iter_args(%x1 = %x) -> (!fp8.producer<!x>) {
        %s = fp8.acquire %x1 : !fp8.producer<!x>
        %x2 = fp8.release %s : !fp8.producer_stage<!x>
        scf.yield %x2 : !fp8.producer<!x>
      }
      fp8.close %x3 : !fp8.producer<!x>
    }
    fp8.role "C" warps(1) (%x = %c, %w = CVALUE) : !fp8.consumer<!x>, TYPE {
      CBOUND
      %x3 = scf.for %k = %c0 to %n step %c1 iter_args(%x1 = %x) -> (!fp8.consumer<!x>) {
        %s = fp8.acquire %x1 : !fp8.consumer<!x>
        STORE
        %x2 = fp8.release %s : !fp8.consumer_stage<!x>
        scf.yield %x2 : !fp8.consumer<!x>
      }
      fp8.close %x3 : !fp8.consumer<!x>
    }
    gpu.return
  }
}
"""

ROUNDED = "%i = arith.fptosi %w : f32 to i32 %n = arith.index_cast %i : i32 to index"
EXTENT = "%n = memref.dim %w, %c0 : memref<?xi32>"
LOADED = "%i = memref.load %w[%c0] : memref<?xi32> %n = arith.index_cast %i : i32 to index"
WRITTEN = "%i5 = arith.constant 5 : i32 memref.store %i5, %w[%c0] : memref<?xi32> " + LOADED
NARROW = "%g = arith.index_cast %w : index to i64 %i = arith.trunci %g : i64 to i8 "
WIDE = " : i8 to index"
SUM = NARROW + "%d = arith.constant 100 : i8 %j = arith.addi %i, %d : i8 %n = arith.index_cast %j" + WIDE
SHIFTED = NARROW + "%d = arith.constant 7 : i8 %j = arith.shli %i, %d : i8 %l = arith.shrsi %j, %d : i8 %n = arith.index_cast %l" + WIDE
ITSELF = NARROW + "%n = arith.index_cast %i" + WIDE
WIDE_SUM = NARROW + "%j = arith.index_cast %i" + WIDE + " %d = arith.constant 100 : index %n = arith.addi %j, %d : index"
ZEROS = "%i = arith.index_cast %w : index to i{0} %j = math.ctlz %i : i{0} %n = arith.index_cast %j : i{0} to index"
SAME = "%n = arith.addi %w, %c0 : index"
LANE = "%lane = gpu.lane_id %b = arith.index_cast %lane : index to i32 %f = arith.uitofp %b : i32 to f32 "
STORED = LANE + "memref.store %f, %out[{}] : OUT"
AS_INTEGER = "%i = arith.index_cast %w : index to i32 "
TO_INDEX = "%n = arith.index_cast %j : i32 to index"
SHIFT = AS_INTEGER + "%d = arith.constant {} : i32 %j = arith.shrui %i, %d : i32 " + TO_INDEX
SHIFT_BY_VALUE = AS_INTEGER + "%j = arith.shrui %i, %i : i32 " + TO_INDEX
REMAINDER = AS_INTEGER + "%e = arith.constant 8 : i32 %o = arith.constant 1 : i32 %g = arith.shrui %i, {} : i32 %j = arith.remui %g, %e : i32 %q = arith.cmpi ult, %j, %e : i32 %n = arith.select %q, %c1, %c0 : index"
DIFFERENCE = "%i = memref.load %w[%c0] : memref<?xi32> %d = arith.constant 3 : i32 %e = arith.constant 5 : i32 %j = arith.subi %i, %d : i32 %q = arith.cmpi {}lt, %j, %e : i32 %n = arith.select %q, %c1, %c0 : index"
DIFFERENCE_OF_INDEX = "%d = arith.constant 3 : index %e = arith.constant 5 : index %j = arith.subi %w, %d : index %q = arith.cmpi {}lt, %j, %e : index %n = arith.select %q, %c1, %c0 : index"
ONE = "%n = arith.constant 1 : index"
FLOAT = "%i = memref.load %w[%c0] : memref<?xi32> %f = arith.bitcast %i : i32 to f32 "
ROUNDED_FLOAT = FLOAT + "%j = arith.fptosi %f : f32 to i32 " + TO_INDEX
LARGE = "%f = arith.constant {} : f32 %j = arith.fptosi %f : f32 to i32 " + TO_INDEX
COMPARED = FLOAT + "%g = arith.constant 1.0 : f32 %q = arith.cmpf olt, %f, %g {} : f32 %n = arith.select %q, %c0, %c1 : index"
FLAGGED = "%i = memref.load %w[%c0] : memref<?xi32> %d = arith.constant {2} : i32 %j = arith.{0} %i, %d {1} : i32 " + TO_INDEX
FLAGGED_INDEX = "%d = arith.constant 3 : index %n = arith.{0} %w, %d overflow<nsw, nuw> : index"
FLAGGED_NARROW = NARROW + "%d = arith.constant 100 : i8 %j = arith.addi %i, %d overflow<nsw> : i8 %n = arith.index_cast %j" + WIDE
FLAGGED_CAST = AS_INTEGER + "%j = arith.trunci %i overflow<{}> : i32 to i1 %n = arith.select %j, %c1, %c0 : index"
EXACT = AS_INTEGER + "%d = arith.constant 3 : i32 %j = arith.divui %i, %d exact : i32 " + TO_INDEX
LESS = "%d = arith.constant {1} : index %q = arith.cmpi {0}lt, %w, %d : index %n = arith.select %q, %c1, %c0 : index"
QUOTIENT = AS_INTEGER + "%d = arith.constant {} : i32 %j = arith.divui %i, %d : i32 " + TO_INDEX
BEHIND = LANE + "%i2 = memref.load %u[%c0] : memref<?xi32> %n2 = arith.index_cast %i2 : i32 to index %at = arith.addi %n2, %lane {} : index memref.store %f, %out[%at] : OUT"
# Two steps: the second number is beyond 127, the last of eight bits.
EIGHT_BITS = "%n = arith.constant 127 : i8 %l8 = arith.constant 0 : i8 %s8 = arith.constant 100 : i8"
TWO = "%n = arith.constant 2 : index"
FEW_LANES = "%b = gpu.lane_id %h = arith.cmpi ult, %b, %c1 : index scf.if %h { OP }"
SHUFFLE = "%w32 = arith.constant 32 : i32 %q, %z = gpu.shuffle xor %w32, %w32, %w32 : i32 %f = arith.sitofp %q : i32 to f32 memref.store %f, %out[%c0] : OUT"
MEETING = "%m = arith.constant -1 : i32 nvvm.bar.warp.sync %m : i32"
PRODUCER_LOOP = "%c0 to %n step %c1 iter_args(%x1 = %x) -> (!fp8.producer<!x>)"
CONSUMER_LOOP = "%x3 = scf.for %k = %c0 to %n step %c1 iter_args(%x1 = %x) -> (!fp8.consumer<!x>) {"
# The same loop, as branches between blocks; in each turn four warps write the same elements.
BLOCKS = """%x3 = scf.execute_region -> !fp8.consumer<!x> {
        cf.br ^head(%x, %c0 : !fp8.consumer<!x>, index)
      ^head(%x1: !fp8.consumer<!x>, %k: index):
        %go = arith.cmpi ult, %k, %n : index
        cf.cond_br %go, ^turn, ^done
      ^turn:
"""
LAST_BLOCKS = """%next = arith.addi %k, %c1 : index
        cf.br ^head(%x2, %next : !fp8.consumer<!x>, index)
      ^done:
        scf.yield %x1 : !fp8.consumer<!x>
"""
OF_TURN = "%k32 = arith.index_cast %k : index to i32 %f = arith.sitofp %k32 : i32 to f32 scf.for %i = %c0 to %c1 step %c1 { memref.store %f, %out[%i] : OUT }"
NUMBER_OF_TURN = "%k32 = arith.index_cast %k : index to i32 %f = arith.sitofp %k32 : i32 to f32 "
IN_TURN = NUMBER_OF_TURN + "memref.store %f, %out[%k] : OUT"
OF_SLOT = "%d = arith.constant 2 : index %at = arith.remui %k, %d : index {}"
READ_OF_SLOT = OF_SLOT.format("%g = memref.load %out[%at] : OUT %h = arith.bitcast %g : f32 to i32 memref.store %h, %u[%k] : memref<?xi32>")
RELEASE = "%x2 = fp8.release %s : !fp8.producer_stage<!x>"
GUARDED = {RELEASE: NUMBER_OF_TURN + OF_SLOT.format("memref.store %f, %out[%at] : OUT") + " " + RELEASE}
CELL = """memref.global "private" @cell : memref<4xf32> = uninitialized
  func.func private @put(%v: f32) attributes {no_inline} {
    %z = arith.constant 0 : index
    %m = memref.get_global @cell : memref<4xf32>
    memref.store %v, %m[%z] : memref<4xf32>
    return
  }
"""
HALF = """func.func private @half(%v: f32) -> f32 attributes {no_inline} {
    %h = arith.addf %v, %v : f32
    return %h : f32
  }
"""
BITS = LANE + "%b2 = arith.index_cast %lane : index to i2 %at = arith.index_castui %b2 : i2 to index memref.store %f, %out[%at] : OUT"

# The name; the type and the values of the roles' arguments; what bounds their loops; the array and the store; the verdicts of progress and ownership; what else differs.
CASES = [
    ("one float", "f32", "%one %one", (ROUNDED, ROUNDED), None, "proved proved"),
    ("two floats", "f32", "%one %three", (ROUNDED, ROUNDED), None, "not"),
    ("one extent", "memref<?xi32>", "%u %u", (EXTENT, EXTENT), None, "proved"),
    ("two extents", "memref<?xi32>", "%u %v", (EXTENT, EXTENT), None, "not"),
    ("one array", "memref<?xi32>", "%u %u", (LOADED, LOADED), None, "proved"),
    ("two arrays", "memref<?xi32>", "%u %v", (LOADED, LOADED), None, "not"),
    ("one narrow sum", "index", "%t %t", (SUM, SUM), None, "proved proved"),
    ("a narrow sum and a wide one", "index", "%t %t", (SUM, WIDE_SUM), None, "not"),
    ("a narrow shift and none", "index", "%t %t", (SHIFTED, ITSELF), None, "not"),
    ("zeros of one width", "index", "%t %t", (ZEROS.format(32), ZEROS.format(32)), None, "proved proved"),
    ("zeros of two widths", "index", "%t %t", (ZEROS.format(32), ZEROS.format(64)), None, "not"),
    ("an element for each lane", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", STORED.format("%lane")), "proved proved"),
    ("a row for each lane", "index", "%t %t", (SAME, SAME), ("memref<?x?xf32>", STORED.format("%lane, %k")), "proved proved"),
    ("lanes by two bits", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", BITS), "proved not"),
    ("lanes in one place", "index", "%t %t", (SAME, SAME), ("memref<4096xf32, strided<[0]>>", STORED.format("%lane")), "proved not"),
    ("rows that overlap", "index", "%t %t", (SAME, SAME), ("memref<64x64xf32, strided<[1, 1]>>", STORED.format("%lane, %lane")), "proved not"),
    ("a shift by half of the bits", "index", "%t %t", (SHIFT.format(16), SHIFT.format(16)), None, "proved"),
    ("a shift by all bits", "index", "%t %t", (SHIFT.format(32), SHIFT.format(32)), None, "not"),
    ("a shift by a value", "index", "%t %t", (SHIFT_BY_VALUE, SHIFT_BY_VALUE), None, "not"),
    ("whether a remainder of a shift by one is small", "index", "%t %t", (REMAINDER.format("%o"), ONE), None, "proved"),
    ("whether a remainder of a shift by a value is small", "index", "%t %t", (REMAINDER.format("%i"), ONE), None, "not"),
    ("differences of data to one unsigned op", "memref<?xi32>", "%u %u", (DIFFERENCE.format("u"),) * 2, None, "proved"),
    ("differences of data to an unsigned op and a signed one", "memref<?xi32>", "%u %u", (DIFFERENCE.format("u"), DIFFERENCE.format("s")), None, "not"),
    ("differences of an argument to an unsigned op and a signed one", "index", "%t %t", (DIFFERENCE_OF_INDEX.format("u"), DIFFERENCE_OF_INDEX.format("s")), None, "proved"),
    ("a quotient", "index", "%t %t", (QUOTIENT.format(3), QUOTIENT.format(3)), None, "proved"),
    ("a quotient by 0", "index", "%t %t", (QUOTIENT.format(0), QUOTIENT.format(0)), None, "not"),
    ("a quotient without a remainder", "index", "%t %t", (EXACT, EXACT), None, "not"),
    *((f"data, {op} without a flag", "memref<?xi32>", "%u %u", (FLAGGED.format(op, "", 3),) * 2, None, "proved") for op in ("addi", "muli", "subi", "shli")),
    *((f"data that {op} {flag} must fit", "memref<?xi32>", "%u %u", (FLAGGED.format(op, f"overflow<{flag}>", 3),) * 2, None, "not") for op in ("addi", "muli", "subi", "shli") for flag in ("nsw", "nuw")),
    *((f"an argument that {op} must fit", "index", "%t %t", (FLAGGED_INDEX.format(op),) * 2, None, "proved") for op in ("addi", "muli", "shli")),
    ("a sum of eight bits that must fit", "index", "%t %t", (FLAGGED_NARROW, FLAGGED_NARROW), None, "not"),
    *((f"a cast to one bit that must fit, {flag}", "index", "%t %t", (FLAGGED_CAST.format(flag),) * 2, None, "not") for flag in ("nsw", "nuw")),
    ("an element for each lane, behind data", "index", "%t %t", (SAME, SAME), ("memref<?xf32>", BEHIND.format("")), "proved proved"),
    ("an element for each lane, behind data that must fit", "index", "%t %t", (SAME, SAME), ("memref<?xf32>", BEHIND.format("overflow<nsw>")), "proved not"),
    ("a float that no integer has", "index", "%t %t", (LARGE.format("3.0e9"), LARGE.format("3.0e9")), None, "not"),
    ("a float of an array", "memref<?xi32>", "%u %u", (ROUNDED_FLOAT, ROUNDED_FLOAT), None, "not"),
    ("a comparison", "memref<?xi32>", "%u %u", (COMPARED.format(""), COMPARED.format("")), None, "proved"),
    ("a comparison of what is no NaN", "memref<?xi32>", "%u %u", (COMPARED.format("fastmath<nnan>"), COMPARED.format("fastmath<nnan>")), None, "not"),
    ("less than an index of 31 bits", "index", "%t %t", (LESS.format("s", 2147483647), LESS.format("u", 2147483647)), None, "proved"),
    ("less than an index of 32 bits", "index", "%t %t", (LESS.format("s", 3000000000), LESS.format("u", 3000000000)), None, "not"),
    ("an array that a role writes", "memref<?xi32>", "%u %u", (LOADED, WRITTEN), None, "not"),
    ("a loop of eight bits", "index", "%t %t", (EIGHT_BITS, TWO), None, "not", {PRODUCER_LOOP: "%l8 to %n step %s8 iter_args(%x1 = %x) -> (!fp8.producer<!x>) : i8"}),
    ("a step of 0", "index", "%t %t", (SAME, SAME), None, "not", {PRODUCER_LOOP: PRODUCER_LOOP.replace("step %c1", "step %c0")}),
    ("a shuffle by all lanes", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", SHUFFLE), "proved"),
    ("a shuffle by some lanes", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", FEW_LANES.replace("OP", SHUFFLE)), "not"),
    ("a barrier of some lanes", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", FEW_LANES.replace("OP", MEETING)), "not"),
    ("four warps write in turns", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", OF_TURN), "proved not",
     {CONSUMER_LOOP: BLOCKS, "scf.yield %x2 : !fp8.consumer<!x>\n": LAST_BLOCKS, '"C" warps(1)': '"C" warps(4)'}),
    ("four warps write an element in each turn", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", IN_TURN), "proved proved", {'"C" warps(1)': '"C" warps(4)'}),
    ("four warps write in one place", "index", "%t %t", (SAME, SAME), ("memref<4096xf32, strided<[0]>>", IN_TURN), "proved not", {'"C" warps(1)': '"C" warps(4)'}),
    ("elements guarded by slots", "index", "%t %t", (SAME, SAME), ("memref<2xf32>", READ_OF_SLOT), "proved proved", GUARDED),
    ("one place guarded by slots", "index", "%t %t", (SAME, SAME), ("memref<2xf32, strided<[0]>>", READ_OF_SLOT), "proved not", GUARDED),
    ("a call that writes", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", "func.call @put(%one) : (f32) -> ()"), "proved not", {"FUNCTIONS": CELL}),
    ("a call that computes", "index", "%t %t", (SAME, SAME), ("memref<4096xf32>", "%f = func.call @half(%one) : (f32) -> f32"), "proved proved", {"FUNCTIONS": HALF}),
]


def text_of(kind, values, bounds, store, others):
    producer, consumer = values.split()
    array, stored = store or ("memref<4096xf32>", "")
    text = KERNEL
    for key, value in {"FUNCTIONS": "", **others, "PVALUE": producer, "CVALUE": consumer, "TYPE": kind, "PBOUND": bounds[0], "CBOUND": bounds[1], "STORE": stored, "OUT": array}.items():
        text = text.replace(key, value)
    return re.sub(r" (%\w+ = |memref\.store )", r"\n\1", text)


def main():
    wrong = 0
    for name, kind, values, bounds, store, expected, *others in CASES:
        done = subprocess.run([sys.argv[1], "-", "--fp8-prove", "-o", "/dev/null"], input=text_of(kind, values, bounds, store, dict(*others)), capture_output=True, text=True, check=False)
        verdicts = ["proved" if re.search(said + r".* \(proved in ", done.stderr) else "not" for said in ("ends for all launches", "keeps ownership")]
        if not re.match(expected, " ".join(verdicts)) or not re.search("ends for all launches|does not end|is not complete|could not|waits forever", done.stderr):
            wrong += 1
            print(f"{name}: {' '.join(verdicts)}, not {expected}\n{done.stderr[:600]}")
    print(f"{len(CASES)} values, {wrong} judged otherwise")


if __name__ == "__main__":
    main()
