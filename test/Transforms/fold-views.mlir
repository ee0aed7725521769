// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of elements access arrays instead of views. Views that nobody uses any more go.

// RUN: fp8-opt %s --fp8-fold-views | FileCheck %s

// CHECK-LABEL: func.func @strides
// CHECK-SAME: (%[[A:.*]]: memref<64x32xf32>, %[[FIRST:.*]]: index, %[[STRIDE:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK-NEXT: %[[ROWS:.*]] = arith.muli %[[I]], %[[STRIDE]] : index
// CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[ROWS]], %[[FIRST]] : index
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[COLUMN:.*]] = arith.addi %[[J]], %[[C2]] : index
// CHECK-NEXT: memref.load %[[A]][%[[ROW]], %[[COLUMN]]] {nontemporal = true} : memref<64x32xf32>
// CHECK-NEXT: return
func.func @strides(%a: memref<64x32xf32>, %first: index, %stride: index, %i: index, %j: index) {
  %view = memref.subview %a[%first, 2] [8, 8] [%stride, 1] : memref<64x32xf32> to memref<8x8xf32, strided<[?, 1], offset: ?>>
  %x = memref.load %view[%i, %j] {nontemporal = true} : memref<8x8xf32, strided<[?, 1], offset: ?>>
  return
}

// A view of a view; the second drops the rows.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[A:.*]]: memref<64x32xf32>, %[[ROW:.*]]: index, %[[I:.*]]: index, %[[X:.*]]: f32)
// CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[WITHIN:.*]] = arith.addi %[[I]], %[[C4]] : index
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[C3]], %[[ROW]] : index
// CHECK-NEXT: memref.store %[[X]], %[[A]][%[[AT]], %[[WITHIN]]] : memref<64x32xf32>
// CHECK-NEXT: return
func.func @chain(%a: memref<64x32xf32>, %row: index, %i: index, %x: f32) {
  %rows = memref.subview %a[%row, 0] [8, 32] [1, 1] : memref<64x32xf32> to memref<8x32xf32, strided<[32, 1], offset: ?>>
  %one = memref.subview %rows[3, 4] [1, 8] [1, 1] : memref<8x32xf32, strided<[32, 1], offset: ?>> to memref<8xf32, strided<[1], offset: ?>>
  %cast = memref.cast %one : memref<8xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  memref.store %x, %cast[%i] : memref<?xf32, strided<[?], offset: ?>>
  return
}

// What is used otherwise stays.
// CHECK-LABEL: func.func @kept
// CHECK: %[[VIEW:.*]] = memref.subview
// CHECK-NEXT: memref.dim %[[VIEW]]
func.func @kept(%a: memref<64xf32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %view = memref.subview %a[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
  %size = memref.dim %view, %c0 : memref<?xf32, strided<[1]>>
  return %size : index
}
