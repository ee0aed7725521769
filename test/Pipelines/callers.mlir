// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions are inlined into kernels, not those that launch kernels into the ones that call them: a launch manifest describes one launch.

// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_90a | FileCheck %s

// CHECK: func.func @gemm
// CHECK: gpu.launch_func
// CHECK: func.func @twice
// CHECK-NEXT: call @gemm
// CHECK-NEXT: call @gemm
// CHECK-NEXT: return
func.func @gemm(%a: memref<?x?xf8E4M3FN>, %a_scale: memref<?x?xf32, strided<[?, 1]>>, %b: memref<?x?xf8E4M3FN>,
                %b_scale: memref<?x?xf32>, %d: memref<?x?xf32>) {
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale
      : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf32>)
  return
}
func.func @twice(%a: memref<?x?xf8E4M3FN>, %a_scale: memref<?x?xf32, strided<[?, 1]>>, %b: memref<?x?xf8E4M3FN>,
                 %b_scale: memref<?x?xf32>, %d: memref<?x?xf32>) {
  call @gemm(%a, %a_scale, %b, %b_scale, %d) : (memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>,
                                                memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf32>) -> ()
  call @gemm(%a, %a_scale, %b, %b_scale, %d) : (memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>,
                                                memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf32>) -> ()
  return
}
