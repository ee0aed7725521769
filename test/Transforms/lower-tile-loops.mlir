// RUN: fp8-opt %s --fp8-lower-tile-loops | FileCheck %s

// CHECK-LABEL: func.func @persistent
// CHECK-SAME: (%[[M:.*]]: index, %[[N:.*]]: index, %[[X:.*]]: index)
func.func @persistent(%m: index, %n: index, %x: index) -> index {
  // CHECK-DAG: %[[CTA:.*]] = gpu.block_id x
  // CHECK-DAG: %[[TILES:.*]] = arith.muli %[[M]], %[[N]]
  // CHECK-DAG: %[[GRID:.*]] = gpu.grid_dim x
  // CHECK: %[[R:.*]] = scf.for %[[T:.*]] = %[[CTA]] to %[[TILES]] step %[[GRID]] iter_args(%[[C:.*]] = %[[X]]) -> (index) {
  // CHECK-DAG: %[[ROW:.*]] = arith.remui %[[T]], %[[M]]
  // CHECK-DAG: %[[COLUMN:.*]] = arith.divui %[[T]], %[[M]]
  // CHECK: %[[S:.*]] = arith.addi %[[ROW]], %[[COLUMN]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[S]], %[[C]]
  // CHECK: scf.yield %[[NEXT]]
  %r = fp8.for_each_tile persistent (%i, %j) in (%m, %n) iter_args(%c = %x) -> (index) {
    %s = arith.addi %i, %j : index
    %next = arith.addi %s, %c : index
    fp8.yield %next : index
  }
  // CHECK: return %[[R]]
  return %r : index
}

// CHECK-LABEL: func.func @one_tile
// CHECK-SAME: (%[[M:.*]]: index, %{{.*}}: index, %[[X:.*]]: index)
func.func @one_tile(%m: index, %n: index, %x: index) -> index {
  // CHECK-NOT: scf.for
  // CHECK-DAG: %[[CTA:.*]] = gpu.block_id x
  // CHECK-DAG: %[[ROW:.*]] = arith.remui %[[CTA]], %[[M]]
  // CHECK-DAG: arith.divui %[[CTA]], %[[M]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[X]]
  %r = fp8.for_each_tile one_tile (%i, %j) in (%m, %n) iter_args(%c = %x) -> (index) {
    %next = arith.addi %i, %c : index
    fp8.yield %next : index
  }
  // CHECK: return %[[NEXT]]
  return %r : index
}

// Along a band's rows, then to the next band; the last may have fewer columns.
// CHECK-LABEL: func.func @band_of_columns
// CHECK-SAME: (%[[M:.*]]: index, %[[N:.*]]: index, %{{.*}}: index)
func.func @band_of_columns(%m: index, %n: index, %x: index) -> index {
  // CHECK: scf.for %[[T:.*]] = %{{.*}} iter_args
  // CHECK: %[[BAND:.*]] = arith.constant 4 : index
  // CHECK: %[[SIZE:.*]] = arith.muli %[[BAND]], %[[M]]
  // CHECK: %[[NUMBER:.*]] = arith.divui %[[T]], %[[SIZE]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[BAND]]
  // CHECK: %[[WITHIN:.*]] = arith.remui %[[T]], %[[SIZE]]
  // CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[FIRST]]
  // CHECK: %[[COLUMNS:.*]] = arith.minui %[[BAND]], %[[LEFT]]
  // CHECK: %[[PLACE:.*]] = arith.remui %[[WITHIN]], %[[COLUMNS]]
  // CHECK: %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[PLACE]]
  // CHECK: %[[ROW:.*]] = arith.divui %[[WITHIN]], %[[COLUMNS]]
  // CHECK: arith.subi %[[ROW]], %[[COLUMN]]
  %r = fp8.for_each_tile persistent band(4 columns) (%i, %j) in (%m, %n) iter_args(%c = %x) -> (index) {
    %s = arith.subi %i, %j : index
    %next = arith.addi %s, %c : index
    fp8.yield %next : index
  }
  return %r : index
}

// Work that does not depend on the tile's place stays in front of it.
func.func private @work()
// CHECK-LABEL: func.func @begun
// CHECK-SAME: (%[[M:.*]]: index, %{{.*}}: index, %[[X:.*]]: index)
func.func @begun(%m: index, %n: index, %x: index) -> index {
  // CHECK: scf.for %[[T:.*]] = %{{.*}} iter_args(%[[C:.*]] = %[[X]])
  // CHECK-NEXT: func.call @work
  // CHECK-NEXT: %[[ROW:.*]] = arith.remui %[[T]], %[[M]]
  // CHECK-NEXT: %[[COLUMN:.*]] = arith.divui %[[T]], %[[M]]
  // CHECK-NEXT: %[[ONE:.*]] = arith.addi %[[C]], %[[COLUMN]]
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[ONE]], %[[ROW]]
  // CHECK-NEXT: scf.yield %[[NEXT]]
  %r = fp8.for_each_tile persistent (%i, %j) in (%m, %n) iter_args(%c = %x) -> (index) {
    func.call @work() : () -> ()
    %one = arith.addi %c, %j : index
    %next = arith.addi %one, %i : index
    fp8.yield %next : index
  }
  return %r : index
}
