// RUN: fp8-opt %s --fp8-structure-gemm=chip=sm_90a | FileCheck %s

// What is pinned stands in for the band that the schedule would choose.
// CHECK-LABEL: gpu.func @rows_kernel
// CHECK: fp8.for_each_tile persistent band(3) (
func.func @rows(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, band = 3>
  return
}

// It leaves the direction of bands as it is.
// CHECK-LABEL: gpu.func @columns_kernel
// CHECK: fp8.for_each_tile persistent band(4 columns) (
func.func @columns(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 256 x 128 x 128, band = 4>
  return
}

// A grid that is launched at once has bands only where they are pinned.
// CHECK-LABEL: gpu.func @at_once_kernel
// CHECK: fp8.for_each_tile one_tile (
func.func @at_once(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, scheduler = one_tile>
  return
}
// CHECK-LABEL: gpu.func @at_once_in_bands_kernel
// CHECK: fp8.for_each_tile one_tile band(2) (
func.func @at_once_in_bands(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>,
                            %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, scheduler = one_tile, band = 2>
  return
}
