// RUN: fp8-opt %s --fp8-structure-gemm -split-input-file -verify-diagnostics

func.func @stages(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{9 stages of 32768 bytes do not fit shared memory; at most 5 do}}
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

func.func @signal(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{with signal = wait must be launched programmatically, for a serial kernel has no wait; set launch = programmatic, or signal = store}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, signal = wait>
  return
}

// -----

func.func @signal_before_tensor_memory(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{cannot become a kernel for sm_100a: with signal = wait the following kernel may take tensor memory before this one has its own; set signal = store}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, launch = programmatic, signal = wait>
  return
}

// -----

// The ring with C takes the room of a stage.
func.func @stages_with_residual(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{5 stages of 32768 bytes do not fit shared memory; at most 4 do}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%d : memref<?x?xbf16>) outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, stages = 5>
  return
}

// -----

func.func @residual_chunks(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %c: memref<?x?xbf16>, %d: memref<?x?xf32>) {
  // expected-error @below {{tile N of 24 gives a thread 12 columns, but it reads the residual in chunks of 8 (16 bytes); set tile N to a multiple of 16}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c : memref<?x?xbf16>) outs(%d : memref<?x?xf32>) config <tile = 64 x 24 x 128>
  return
}

// -----

func.func @bias_chunks(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %bias: memref<1x?xf16>, %d: memref<?x?xf32>) {
  // expected-error @below {{tile N of 24 gives a thread 12 columns, but it reads the bias in chunks of 8 (16 bytes); set tile N to a multiple of 16}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    bias(%bias : memref<1x?xf16>) outs(%d : memref<?x?xf32>) config <tile = 64 x 24 x 128>
  return
}

// -----

module @outer {
  module @inner {
    func.func @nested(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
      // expected-error @below {{must be in a function of the outermost module, which also gets its kernel}}
      fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
        outs(%d : memref<?x?xbf16>)
      return
    }
  }
}

// -----

func.func @narrow_row(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %bs: memref<?x?xbf16>, %d: memref<?x?xf32>) {
  // expected-error @below {{tile N of 8 gives a thread 4 columns, but it reads B scales in chunks of 8 (16 bytes); set tile N to a multiple of 16}}
  fp8.blockwise_gemm ins(%a, %as, %a, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xbf16>)
    outs(%d : memref<?x?xf32>) config <tile = 64 x 8 x 128> {b_block = 1}
  return
}

// -----

func.func @stages_with_column_scales(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{9 stages of 33792 bytes do not fit shared memory; at most 5 do}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) config <tile = 128 x 128 x 128, stages = 9> {b_block = 1}
  return
}

// -----

// Two threads share a row of 240 columns, and no chunk of e4m3 ends in its middle.
func.func @chunk_of_two_threads(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xf8E4M3FN>) {
  // expected-error @below {{tile N of 240 gives a thread 120 columns, but it stores D in chunks of 16 (16 bytes); set tile N to a multiple of 32}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xf8E4M3FN>) config <tile = 128 x 240 x 128>
  return
}
