// RUN: fp8-opt %s --fp8-structure-gemm=chip=sm_90a | FileCheck %s

// A kernel that lets the next one start behind its wait is launched in clusters of two that share nothing: the grid is a multiple of two, and
// the kernel has no cluster.
// CHECK-LABEL: gpu.func @twos_kernel(
// CHECK-NOT: fp8.cluster
// CHECK: fp8.role
// CHECK-LABEL: func.func @twos(
// CHECK: fp8.is_constant
// CHECK: %[[TILES:.*]] = arith.muli
// CHECK: %[[HALF_OF_TILES:.*]] = arith.ceildivui %[[TILES]], %c2
// CHECK: %[[SMS:.*]] = fp8.multiprocessor_count
// CHECK: %[[HALF:.*]] = arith.divui %[[SMS]], %c2
// CHECK: %[[FIT:.*]] = arith.maxui %[[HALF]], %c1
// CHECK: %[[RESIDENT:.*]] = arith.minui %[[HALF_OF_TILES]], %[[FIT]]
// CHECK: %[[GRID:.*]] = arith.muli %[[RESIDENT]], %c2
// CHECK: gpu.launch_func @twos_kernels::@twos_kernel clusters in (%c2{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}}) blocks in (%[[GRID]],
func.func @twos(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 64 x 64 x 128, launch = programmatic, signal = wait>
  return
}

// A cluster of its own already says where CTAs run. Its size is left to the conversion.
// CHECK-LABEL: func.func @cluster(
// CHECK: gpu.launch_func @cluster_kernels::@cluster_kernel blocks in
func.func @cluster(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 64 x 64 x 128, split_k = 2, launch = programmatic, signal = wait>
  return
}

// Each CTA has one tile, so none may be left over.
// CHECK-LABEL: func.func @one_tile(
// CHECK-NOT: clusters in
// CHECK: gpu.launch_func @one_tile_kernels::@one_tile_kernel blocks in
func.func @one_tile(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 64 x 64 x 128, scheduler = one_tile, launch = programmatic, signal = wait>
  return
}

// The CTAs of a launch that signals late begin together.
// CHECK-LABEL: func.func @late(
// CHECK: gpu.launch_func @late_kernels::@late_kernel blocks in
func.func @late(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 64 x 64 x 128, launch = programmatic>
  return
}
