// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @tiles
func.func @tiles(%m: index, %n: index, %x: f32) -> f32 {
  // CHECK: %[[R:.*]] = fp8.for_each_tile persistent (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) iter_args(%[[C:.*]] = %{{.*}}) -> (f32) {
  // CHECK-NEXT: fp8.yield %[[C]] : f32
  %r = fp8.for_each_tile persistent (%i, %j) in (%m, %n) iter_args(%c = %x) -> (f32) {
    fp8.yield %c : f32
  }
  // CHECK: fp8.for_each_tile one_tile (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) {
  fp8.for_each_tile one_tile (%i, %j) in (%m, %n) {
  }
  // CHECK: return %[[R]]
  return %r : f32
}
