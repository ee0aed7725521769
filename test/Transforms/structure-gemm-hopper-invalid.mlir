// RUN: fp8-opt %s --fp8-structure-gemm=chip=sm_90a -split-input-file -verify-diagnostics

func.func @rows_of_24_bytes(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xf8E4M3FN>) {
  // expected-error @below {{tile N of 24 makes rows of 24 bytes of 'f8E4M3FN', but TMA copies multiples of 16 bytes; set tile N to a multiple of 16}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf8E4M3FN>) config <tile = 64 x 24 x 128>
  return
}

// -----

func.func @columns_of_three_warpgroups(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{tile N must be at most 200 with a tile M of 192, whose three warpgroups have no registers for an MMA of 208 columns; set tile N to 200 or less, or tile M to 128}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 192 x 208 x 128>
  return
}

// -----

// The sums that three CTAs exchange leave no room.
func.func @no_stage_beside_exchange(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %c: memref<?x?xf32>, %d: memref<?x?xf32>) {
  // expected-error @below {{leaves no room for a stage of A and B: with a tile of 256 x 96 a stage takes}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c : memref<?x?xf32>) outs(%d : memref<?x?xf32>) config <tile = 256 x 96 x 128, split_k = 3>
  return
}

// -----

func.func @no_stage(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xf32>) {
  // expected-error @below {{shared memory has 232448; use a smaller tile, or remove split_k}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf32>) config <tile = 256 x 128 x 128, split_k = 2>
  return
}

// -----

// With stages asked for it is the same error.
func.func @no_stage_of_two(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{leaves no room for a stage of A and B: with a tile of 256 x 256 a stage takes}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 256 x 256 x 128, split_k = 2, stages = 2>
  return
}

// -----

!mx = memref<?x?x32x16xf8E8M0FNU>
func.func @scales_of_mx(%a: memref<?x?xf8E4M3FN>, %s: !mx, %d: memref<?x?xbf16>) {
  // expected-error @below {{cannot become a kernel for sm_90a: its tensor cores apply no scales of f8E8M0FNU; use scales of f32 for 128 elements of K (G2), or compile for a chip with tensor memory, such as sm_100a}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, !mx, memref<?x?xf8E4M3FN>, !mx) outs(%d : memref<?x?xbf16>)
  return
}
