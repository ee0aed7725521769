// Two ops in one function: two kernels with names of their own.
// RUN: fp8-opt %s --fp8-structure-gemm | FileCheck %s

// CHECK: gpu.module @gemm_kernels {
// CHECK: gpu.func @gemm_kernel(
// CHECK: gpu.module @gemm_kernels_0 {
// CHECK: gpu.func @gemm_kernel_0(
// CHECK: gpu.launch_func @gemm_kernels::@gemm_kernel
// CHECK: gpu.launch_func @gemm_kernels_0::@gemm_kernel_0
func.func @gemm(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}
