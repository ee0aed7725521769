// What hazards 31, 32 and 35 of docs/evidence/Hazards.md are about, in the kernel that the GEMM op becomes.
// RUN: fp8-opt %s --fp8-structure-gemm -split-input-file | FileCheck %s

// 32: as many accumulators as tensor memory has room for, not two: 128 columns each, or 96.
// CHECK-DAG: !output_pipeline = !fp8.output_pipeline<4, 128x128xf32>
// CHECK-LABEL: gpu.func @early_kernel
// 31: B's scale is read before the wait for the accumulator that it belongs to.
// CHECK: fp8.epilogue_warp
// CHECK: memref.load
// CHECK: fp8.per_k_stage
// CHECK: fp8.promote
func.func @early(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}

// -----

// CHECK-DAG: !output_pipeline = !fp8.output_pipeline<5, 128x96xf32>
// CHECK-LABEL: gpu.func @narrow_kernel
func.func @narrow(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 96 x 128>
  return
}

// -----

// 35: a tile that only fills a cluster up lies past B's last row of scales: it reads the last one instead.
// CHECK-LABEL: gpu.func @filled_up_kernel
// CHECK: fp8.epilogue_warp
// CHECK: %[[ROWS:.*]] = memref.dim %[[SCALES:.*]], %
// CHECK: %[[LAST:.*]] = arith.subi %[[ROWS]], %
// CHECK: %[[ROW:.*]] = arith.minui %{{.*}}, %[[LAST]]
// CHECK: memref.load %[[SCALES]][%[[ROW]], %
func.func @filled_up(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, cluster = 1 x 2>
  return
}
