// What the leading CTA does is a branch on the rank, with and without values that it hands on.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers))' | FileCheck %s

// CHECK-LABEL: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%d: memref<?xf32>, %i: index, %x: f32) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    // CHECK: %[[RANK:.*]] = arith.remui %{{.*}}, %{{.*}} : i32
    fp8.role "read" warps(4) {
      // CHECK: %[[LEADS:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}} : i32
      // CHECK-NEXT: scf.if %[[LEADS]] {
      // CHECK-NEXT: memref.store
      // CHECK-NEXT: } else {
      // CHECK-NEXT: }
      fp8.leading_cta of cluster {
        memref.store %x, %d[%i] : memref<?xf32>
      }
      // CHECK: scf.if %{{.*}} -> (f32)
      %y = fp8.leading_cta of cluster (%z = %x) : f32 -> f32 {
        %twice = arith.addf %z, %z : f32
        fp8.yield %twice : f32
      }
      memref.store %y, %d[%i] : memref<?xf32>
    }
    gpu.return
  }
}
