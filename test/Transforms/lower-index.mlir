// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each op of the index dialect becomes the op of arith that computes the same, in kernels and in host functions.

// RUN: fp8-opt %s --fp8-lower-index | FileCheck %s --implicit-check-not='= index.'

// CHECK-LABEL: func.func @binary
// CHECK-NEXT: arith.addi %arg0, %arg1 : index
// CHECK-NEXT: arith.subi %arg0, %arg1 : index
// CHECK-NEXT: arith.muli %arg0, %arg1 : index
// CHECK-NEXT: arith.divsi %arg0, %arg1 : index
// CHECK-NEXT: arith.divui %arg0, %arg1 : index
// CHECK-NEXT: arith.ceildivsi %arg0, %arg1 : index
// CHECK-NEXT: arith.ceildivui %arg0, %arg1 : index
// CHECK-NEXT: arith.floordivsi %arg0, %arg1 : index
// CHECK-NEXT: arith.remsi %arg0, %arg1 : index
// CHECK-NEXT: arith.remui %arg0, %arg1 : index
// CHECK-NEXT: arith.maxsi %arg0, %arg1 : index
// CHECK-NEXT: arith.maxui %arg0, %arg1 : index
// CHECK-NEXT: arith.minsi %arg0, %arg1 : index
// CHECK-NEXT: arith.minui %arg0, %arg1 : index
// CHECK-NEXT: arith.shli %arg0, %arg1 : index
// CHECK-NEXT: arith.shrsi %arg0, %arg1 : index
// CHECK-NEXT: arith.shrui %arg0, %arg1 : index
// CHECK-NEXT: arith.andi %arg0, %arg1 : index
// CHECK-NEXT: arith.ori %arg0, %arg1 : index
// CHECK-NEXT: arith.xori %arg0, %arg1 {note} : index
// CHECK-NEXT: return
func.func @binary(%a: index, %b: index) {
  %0 = index.add %a, %b
  %1 = index.sub %a, %b
  %2 = index.mul %a, %b
  %3 = index.divs %a, %b
  %4 = index.divu %a, %b
  %5 = index.ceildivs %a, %b
  %6 = index.ceildivu %a, %b
  %7 = index.floordivs %a, %b
  %8 = index.rems %a, %b
  %9 = index.remu %a, %b
  %10 = index.maxs %a, %b
  %11 = index.maxu %a, %b
  %12 = index.mins %a, %b
  %13 = index.minu %a, %b
  %14 = index.shl %a, %b
  %15 = index.shrs %a, %b
  %16 = index.shru %a, %b
  %17 = index.and %a, %b
  %18 = index.or %a, %b
  %19 = index.xor %a, %b {note}
  return
}

// CHECK-LABEL: func.func @compare
// CHECK-NEXT: arith.cmpi eq, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi ne, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi slt, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi sle, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi sgt, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi sge, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi ult, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi ule, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi ugt, %arg0, %arg1 : index
// CHECK-NEXT: arith.cmpi uge, %arg0, %arg1 : index
// CHECK-NEXT: return
func.func @compare(%a: index, %b: index) {
  %0 = index.cmp eq(%a, %b)
  %1 = index.cmp ne(%a, %b)
  %2 = index.cmp slt(%a, %b)
  %3 = index.cmp sle(%a, %b)
  %4 = index.cmp sgt(%a, %b)
  %5 = index.cmp sge(%a, %b)
  %6 = index.cmp ult(%a, %b)
  %7 = index.cmp ule(%a, %b)
  %8 = index.cmp ugt(%a, %b)
  %9 = index.cmp uge(%a, %b)
  return
}

// CHECK-LABEL: func.func @other
// CHECK-NEXT: arith.constant 7 : index
// CHECK-NEXT: arith.constant true
// CHECK-NEXT: arith.index_cast %arg0 : index to i32
// CHECK-NEXT: arith.index_cast %arg1 : i32 to index
// CHECK-NEXT: arith.index_castui %arg0 : index to i64
// CHECK-NEXT: return
func.func @other(%a: index, %b: i32) {
  %0 = index.constant 7
  %1 = index.bool.constant true
  %2 = index.casts %a : index to i32
  %3 = index.casts %b : i32 to index
  %4 = index.castu %a : index to i64
  return
}
