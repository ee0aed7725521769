// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-guard-divisions))' > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: fp8-opt %t.mlir --pass-pipeline='builtin.module(gpu.module(fp8-guard-divisions))' | FileCheck %s

gpu.module @kernels {
  // One comparison serves the quotient and the remainder.
  // CHECK-LABEL: gpu.func @both
  // CHECK-SAME: (%[[rows:.*]]: index, %[[tile:.*]]: index, %{{.*}}: memref<?xindex>)
  gpu.func @both(%rows: index, %tile: index, %out: memref<?xindex>) kernel {
    // CHECK: %[[one:.*]] = arith.constant 1 : index
    // CHECK: %[[is_one:.*]] = arith.cmpi eq, %[[rows]], %[[one]] : index
    // CHECK: %[[place:.*]]:2 = scf.if %[[is_one]] -> (index, index) {
    // CHECK-NEXT: %[[zero:.*]] = arith.constant 0 : index
    // CHECK-NEXT: scf.yield %[[tile]], %[[zero]] : index, index
    // CHECK-NEXT: } else {
    // CHECK-NEXT: %[[column:.*]] = arith.divui %[[tile]], %[[rows]] : index
    // CHECK-NEXT: %[[row:.*]] = arith.remui %[[tile]], %[[rows]] : index
    // CHECK-NEXT: scf.yield %[[column]], %[[row]] : index, index
    // CHECK-NEXT: }
    // CHECK-NOT: arith.divui
    // CHECK-NOT: arith.remui
    // CHECK: memref.store %[[place]]#1, %{{.*}}[%[[place]]#0]
    %row = arith.remui %tile, %rows : index
    %column = arith.divui %tile, %rows : index
    memref.store %row, %out[%column] : memref<?xindex>
    gpu.return
  }

  // What one division gives, another divides.
  // CHECK-LABEL: gpu.func @chain
  // CHECK-SAME: (%[[rows:.*]]: index, %[[each:.*]]: index, %[[tile:.*]]: index,
  gpu.func @chain(%rows: index, %each: index, %tile: index, %out: memref<?xindex>) kernel {
    // CHECK: %[[first:.*]]:2 = scf.if
    // CHECK: %[[second:.*]]:2 = scf.if
    // CHECK: arith.divui %[[first]]#1, %[[each]]
    // CHECK: memref.store %[[second]]#0, %{{.*}}[%[[first]]#0]
    %row = arith.remui %tile, %rows : index
    %column = arith.divui %tile, %rows : index
    %matrix = arith.divui %row, %each : index
    memref.store %matrix, %out[%column] : memref<?xindex>
    gpu.return
  }

  // What the kernel computes, and constants, are mostly something else than one.
  // CHECK-LABEL: gpu.func @others
  gpu.func @others(%rows: index, %tile: index, %out: memref<?xindex>) kernel {
    // CHECK-NOT: scf.if
    %c2 = arith.constant 2 : index
    %pairs = arith.divui %rows, %c2 : index
    %column = arith.divui %tile, %pairs : index
    memref.store %column, %out[%tile] : memref<?xindex>
    gpu.return
  }

  // Where tiles are counted in bands, other divisions take as long.
  // CHECK-LABEL: gpu.func @bands
  gpu.func @bands(%rows: index, %tile: index, %out: memref<?xindex>) kernel {
    // CHECK-NOT: scf.if
    %band = arith.divui %tile, %rows : index
    %within = arith.remui %tile, %rows : index
    %c8 = arith.constant 8 : index
    %left = arith.subi %c8, %band : index
    %width = arith.minui %c8, %left : index
    %row = arith.remui %within, %width : index
    memref.store %row, %out[%band] : memref<?xindex>
    gpu.return
  }
}
