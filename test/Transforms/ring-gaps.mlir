// Four input rings whose payload is no multiple of their alignment: the gaps between them take a stage's space.
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_90a -o /dev/null
// RUN: fp8-opt %s --fp8-structure-gemm=chip=sm_90a | FileCheck %s
// CHECK-COUNT-4: fp8.pipeline : !fp8.producer
func.func @gaps(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>,
                %d: memref<?x?xf8E4M3FN, strided<[?, 1]>>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf8E4M3FN, strided<[?, 1]>>) config <tile = 64 x 80 x 128, launch = programmatic, signal = wait>
  return
}
