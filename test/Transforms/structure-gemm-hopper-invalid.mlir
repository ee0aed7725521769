// RUN: fp8-opt %s --fp8-structure-gemm=chip=sm_90a -verify-diagnostics

func.func @rows_of_24_bytes(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xf8E4M3FN>) {
  // expected-error @below {{tile N of 24 makes rows that are no multiple of 16 bytes of 'f8E4M3FN', but TMA copies such alone; take a tile N that is a multiple of 16}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf8E4M3FN>) config <tile = 64 x 24 x 128>
  return
}
