// RUN: fp8-opt %s --fp8-structure-gemm -split-input-file -verify-diagnostics

func.func @stages(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{9 stages of 33280 bytes do not fit shared memory; at most 5 do}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, stages = 9>
  return
}

// -----

func.func @accumulators(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{5 accumulators of 128 columns do not fit tensor memory; at most 4 do}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, accumulators = 5>
  return
}

// -----

func.func @three_scales(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{tile N of 208 can meet three blocks of B scales, but a tile has two at most: tile N must be at most 128 + gcd(tile N, 128) = 144}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 208 x 128>
  return
}

// -----

module @outer {
  module @inner {
    func.func @nested(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
      // expected-error @below {{must stand in a function of the outermost module, beside which its kernel is put}}
      fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
        outs(%d : memref<?x?xbf16>)
      return
    }
  }
}
