// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A host function and a kernel that compute by the index and affine dialects, down to the launch manifest and the PTX.

// RUN: fp8-opt %s --fp8-gemm-to-ptx="chip=sm_90a require-proof" --emit=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx.json
// CHECK: "grid": [
// CHECK-NEXT: {
// CHECK-NEXT: "max": [
// CHECK-NEXT: {
// CHECK-NEXT: "ceildiv": [
// CHECK-NEXT: {
// CHECK-NEXT: "dim": [
// CHECK-NEXT: "t",
// CHECK-NEXT: 0
// CHECK-NEXT: ]
// CHECK-NEXT: },
// CHECK-NEXT: 4
// CHECK: "value": {
// CHECK-NEXT: "add": [

!ring = !fp8.pipeline<2>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%n: index) kernel attributes {fp8.linear} {
      %c0 = index.constant 0
      %c1 = index.constant 1
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
        %trips = affine.apply affine_map<(d0) -> (d0 * 2)>(%n)
        %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
          %stage = fp8.acquire %e : !fp8.producer<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        }
        fp8.close %last : !fp8.producer<!ring>
      }
      fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
        %trips = index.shl %n, %c1
        %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
          %stage = fp8.acquire %e : !fp8.consumer<!ring>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          scf.yield %next : !fp8.consumer<!ring>
        }
        fp8.close %last : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
  func.func @launch(%t: memref<?xi32> {fp8.name = "t", fp8.access = "read"}) {
    %c0 = index.constant 0
    %c1 = index.constant 1
    %c4 = index.constant 4
    %threads = index.constant 64
    %size = memref.dim %t, %c0 : memref<?xi32>
    %groups = index.ceildivu %size, %c4
    %grid = index.maxu %groups, %c1
    %n = affine.apply affine_map<(d0) -> (d0 + 3)>(%size)
    gpu.launch_func @kernels::@kernel blocks in (%grid, %c1, %c1) threads in (%threads, %c1, %c1) args(%n : index)
    return
  }
}
