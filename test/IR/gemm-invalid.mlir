// RUN: fp8-opt %s -split-input-file -verify-diagnostics

func.func @element_type(%a: memref<?x?xf8E5M2>, %s: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %d: memref<?x?xbf16>) {
  // expected-error @below {{'a' must be a 2-D memref of f8E4M3FN (G1), but got 'memref<?x?xf8E5M2>'}}
  fp8.blockwise_gemm ins(%a, %s, %b, %s : memref<?x?xf8E5M2>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @depth(%a: memref<64x40xf8E4M3FN>, %s: memref<?x?xf32>, %b: memref<64x40xf8E4M3FN>, %d: memref<64x64xbf16>) {
  // expected-error @below {{K must be a multiple of 16 (G4), but got 40}}
  fp8.blockwise_gemm ins(%a, %s, %b, %s : memref<64x40xf8E4M3FN>, memref<?x?xf32>, memref<64x40xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @depths_differ(%a: memref<64x128xf8E4M3FN>, %s: memref<?x?xf32>, %b: memref<64x256xf8E4M3FN>, %d: memref<64x64xbf16>) {
  // expected-error @below {{extent 1 of 'b' must be K = 128 (G1), but got 256}}
  fp8.blockwise_gemm ins(%a, %s, %b, %s : memref<64x128xf8E4M3FN>, memref<?x?xf32>, memref<64x256xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @scale_shape(%a: memref<64x320xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<64x320xf8E4M3FN>, %bs: memref<1x3xf32>, %d: memref<64x64xbf16>) {
  // expected-error @below {{extent 0 of 'a_scale' must be ceil(K/128) = 3 (G2), but got 2}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x320xf8E4M3FN>, memref<2x64xf32>, memref<64x320xf8E4M3FN>, memref<1x3xf32>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @unpadded_scales(%a: memref<129x128xf8E4M3FN>, %as: memref<1x129xf32>, %b: memref<64x128xf8E4M3FN>, %bs: memref<1x1xf32>, %d: memref<129x64xbf16>) {
  // expected-error @below {{the rows of 'a_scale' must be a multiple of 16 bytes apart, because TMA copies them (G4), but are 516; pad them by a strided layout}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<129x128xf8E4M3FN>, memref<1x129xf32>, memref<64x128xf8E4M3FN>, memref<1x1xf32>) outs(%d : memref<129x64xbf16>)
  return
}

// -----

func.func @output_rows(%a: memref<64x128xf8E4M3FN>, %as: memref<1x64xf32>, %b: memref<100x128xf8E4M3FN>, %bs: memref<1x1xf32>, %d: memref<64x100xbf16>) {
  // expected-error @below {{the rows of 'd' must be a multiple of 16 bytes apart, because TMA copies them (G4), but are 200; pad them by a strided layout}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<64x128xf8E4M3FN>, memref<1x64xf32>, memref<100x128xf8E4M3FN>, memref<1x1xf32>) outs(%d : memref<64x100xbf16>)
  return
}

// -----

func.func @strided_rows(%a: memref<64x128xf8E4M3FN, strided<[256, 2]>>, %s: memref<?x?xf32>, %b: memref<64x128xf8E4M3FN>, %d: memref<64x64xbf16>) {
  // expected-error @below {{the rows of 'a' must be contiguous (G1)}}
  fp8.blockwise_gemm ins(%a, %s, %b, %s : memref<64x128xf8E4M3FN, strided<[256, 2]>>, memref<?x?xf32>, memref<64x128xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @residual_type(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %c: memref<?x?xf8E4M3FN>) {
  // expected-error @below {{'c' must be a 2-D memref of bf16, f16 or f32 (G7), but got 'memref<?x?xf8E4M3FN>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c : memref<?x?xf8E4M3FN>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @residual_shape(%a: memref<64x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %c: memref<64x32xbf16>) {
  // expected-error @below {{extent 1 of 'c' must be N = 64 (G7), but got 32}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<64x?xf8E4M3FN>, memref<?x?xf32>, memref<64x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c : memref<64x32xbf16>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @residual_rows(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %c: memref<64x100xbf16>) {
  // expected-error @below {{the rows of 'c' must be a multiple of 16 bytes apart, because TMA copies them (G4), but are 200; pad them by a strided layout}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c : memref<64x100xbf16>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @bias_rows(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %bias: memref<2x?xf32>) {
  // expected-error @below {{'bias' must have one row (G8), but got 2}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    bias(%bias : memref<2x?xf32>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @bias_type(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %bias: memref<?xf32>) {
  // expected-error @below {{'bias' must be a 2-D memref of bf16, f16 or f32 (G8), but got 'memref<?xf32>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    bias(%bias : memref<?xf32>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @beta_shape(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %c: memref<?x?xbf16>, %beta: memref<1x2xf32>) {
  // expected-error @below {{'beta' must be one number, 1x1 (G9), but got 'memref<1x2xf32>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    residual(%c scaled %beta : memref<?x?xbf16>, memref<1x2xf32>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @scale_type(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %e: memref<1x1xbf16>) {
  // expected-error @below {{'d_scale' must be a 2-D memref of f32 (G9), but got 'memref<1x1xbf16>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) scale(%e : memref<1x1xbf16>)
  return
}

// -----

func.func @batch_of_residuals(%a: memref<2x64x128xf8E4M3FN>, %s: memref<2x1x64xf32>, %bs: memref<2x1x1xf32>, %d: memref<2x64x64xbf16>, %c: memref<3x64x64xbf16>) {
  // expected-error @below {{extent 0 of 'c' must be L = 2 (G6), but got 3}}
  fp8.blockwise_gemm ins(%a, %s, %a, %bs : memref<2x64x128xf8E4M3FN>, memref<2x1x64xf32>, memref<2x64x128xf8E4M3FN>, memref<2x1x1xf32>)
    residual(%c : memref<3x64x64xbf16>) outs(%d : memref<2x64x64xbf16>)
  return
}

// -----

func.func @batch_of_biases(%a: memref<2x64x128xf8E4M3FN>, %s: memref<2x1x64xf32>, %bs: memref<2x1x1xf32>, %d: memref<2x64x64xbf16>, %bias: memref<2x1x64xbf16>) {
  // expected-error @below {{'bias' must be a 2-D memref of bf16, f16 or f32 (G8), but got 'memref<2x1x64xbf16>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %bs : memref<2x64x128xf8E4M3FN>, memref<2x1x64xf32>, memref<2x64x128xf8E4M3FN>, memref<2x1x1xf32>)
    bias(%bias : memref<2x1x64xbf16>) outs(%d : memref<2x64x64xbf16>)
  return
}

// -----

func.func @beta_alone(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %beta: memref<1x1xf32>) {
  // expected-error @below {{has 'beta', but no 'c' for it to multiply (G9)}}
  "fp8.blockwise_gemm"(%a, %s, %a, %s, %beta, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 1, 0>}> ({})
    : (memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<1x1xf32>, memref<?x?xbf16>) -> ()
  return
}

// -----

func.func @function_type(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{its function must take one f32 (G10)}}
  "fp8.blockwise_gemm"(%a, %s, %a, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 0>}> ({
  ^bb0(%x: f32, %y: f32):
    fp8.yield %x : f32
  }) : (memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xbf16>) -> ()
  return
}

// -----

func.func @function_result(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{the body must yield one f32 (E2)}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) map (%x) {
      %y = arith.truncf %x : f32 to bf16
      fp8.yield %y : bf16
    }
  return
}

// -----

func.func @function_effects(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %table: memref<4xf32>) {
  %zero = arith.constant 0 : index
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) map (%x) {
      // expected-error @below {{may not be in an elementwise body, whose ops are pure and have no regions (E3)}}
      %y = memref.load %table[%zero] : memref<4xf32>
      fp8.yield %y : f32
    }
  return
}

// -----

func.func @function_instruction(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) map (%x) {
      // expected-error @below {{has no instruction, which an elementwise body needs (E4); use absf, ceil, exp, exp2, floor, fma, rsqrt, sqrt or tanh}}
      %y = math.sin %x : f32
      fp8.yield %y : f32
    }
  return
}

// -----

// expected-note @below {{the value}}
func.func @function_capture(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf32>, %d: memref<?x?xbf16>, %limit: f32) {
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>) map (%x) {
      // expected-error @below {{uses a value from around its function that is no constant (G10); pass it to the GEMM as an operand, such as 'scale' or 'bias'}}
      %y = arith.minimumf %x, %limit : f32
      fp8.yield %y : f32
    }
  return
}

// -----

// expected-error @below {{tile K must be 128, the depth of a scale block, but got 64}}
#config = #fp8.gemm_config<tile = 128 x 128 x 64>

// -----

// expected-error @below {{tile N must be a multiple of 8 in 8..256, but got 42}}
#config = #fp8.gemm_config<tile = 128 x 42 x 128>

// -----

// expected-error @below {{stages must be 0 to 14528, the number of 16-byte slots in shared memory, but got 1152921504606846976}}
#config = #fp8.gemm_config<tile = 128 x 128 x 128, stages = 1152921504606846976>

// -----

// expected-error @below {{accumulators must be 0 to 512, the columns of tensor memory, but got -1}}
#config = #fp8.gemm_config<tile = 128 x 128 x 128, accumulators = -1>

// -----

func.func @scale_type(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf16>, %d: memref<?x?xbf16>) {
  // expected-error @below {{'b_scale' must be a 2-D memref of f32 or bf16 (G2), but got 'memref<?x?xf16>'}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf16>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @granularity(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{b_block, the rows of B that share a scale, must be 128, 64 or 1 (G5), but got 32}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?xbf16>) {b_block = 32}
  return
}

// -----

func.func @blocks_of_64(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<300x512xf8E4M3FN>, %bs: memref<3x4xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{extent 0 of 'b_scale' must be ceil(N/64) = 5 (G2), but got 3}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<300x512xf8E4M3FN>, memref<3x4xf32>) outs(%d : memref<?x?xbf16>) {b_block = 64}
  return
}

// -----

func.func @column_scales(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<304x512xf8E4M3FN>, %bs: memref<304x4xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{extent 0 of 'b_scale' must be ceil(K/128) = 4 (G2), but got 304}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<304x512xf8E4M3FN>, memref<304x4xf32>) outs(%d : memref<?x?xbf16>) {b_block = 1}
  return
}

// -----

func.func @column_scales_rows(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<304x512xf8E4M3FN>, %bs: memref<4x?xbf16, strided<[300, 1]>>, %d: memref<?x?xbf16>) {
  // expected-error @below {{the rows of 'b_scale' must be a multiple of 16 bytes apart, because TMA copies them (G4), but are 600; pad them by a strided layout}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<304x512xf8E4M3FN>, memref<4x?xbf16, strided<[300, 1]>>) outs(%d : memref<?x?xbf16>) {b_block = 1}
  return
}

// -----

func.func @narrow_rows(%a: memref<132x128xf8E4M3FN>, %as: memref<1x132xbf16>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{the rows of 'a_scale' must be a multiple of 16 bytes apart, because TMA copies them (G4), but are 264; pad them by a strided layout}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<132x128xf8E4M3FN>, memref<1x132xbf16>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @rank_four(%a: memref<?x?x?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{'a' must be a 2-D memref of f8E4M3FN (G1), but got 'memref<?x?x?x?xf8E4M3FN>'}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?x?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @batch_type(%a: memref<?x?x?xf8E4M3FN>, %as: memref<?x?x?xf32>, %b: memref<?x?x?xf8E4M3FN>, %bs: memref<?x?x?xf16>, %d: memref<?x?x?xbf16>) {
  // expected-error @below {{'b_scale' must be a 3-D memref of f32 or bf16 (G2), but got 'memref<?x?x?xf16>'}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>, memref<?x?x?xf8E4M3FN>, memref<?x?x?xf16>) outs(%d : memref<?x?x?xbf16>)
  return
}

// -----

func.func @half_a_batch(%a: memref<?x?x?xf8E4M3FN>, %as: memref<?x?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?x?xbf16>) {
  // expected-error @below {{'a' is 'memref<?x?x?xf8E4M3FN>', but 'b' is 'memref<?x?xf8E4M3FN>'; all operands have a leading batch extent, or none (G6)}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?x?xbf16>)
  return
}

// -----

func.func @batches_differ(%a: memref<8x?x?xf8E4M3FN>, %as: memref<?x?x?xf32>, %b: memref<?x?x?xf8E4M3FN>, %bs: memref<?x?x?xf32>, %d: memref<4x?x?xbf16>) {
  // expected-error @below {{extent 0 of 'd' must be L = 8 (G6), but got 4}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<8x?x?xf8E4M3FN>, memref<?x?x?xf32>, memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>) outs(%d : memref<4x?x?xbf16>)
  return
}

// -----

func.func @batch_extents(%a: memref<8x?x512xf8E4M3FN>, %as: memref<?x?x?xf32>, %b: memref<8x300x512xf8E4M3FN>, %bs: memref<8x4x4xf32>, %d: memref<?x?x?xbf16>) {
  // expected-error @below {{extent 1 of 'b_scale' must be ceil(N/128) = 3 (G2), but got 4}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<8x?x512xf8E4M3FN>, memref<?x?x?xf32>, memref<8x300x512xf8E4M3FN>, memref<8x4x4xf32>) outs(%d : memref<?x?x?xbf16>)
  return
}

// -----

func.func @batch_too_long(%a: memref<2147483648x?x?xf8E4M3FN>, %as: memref<?x?x?xf32>, %b: memref<?x?x?xf8E4M3FN>, %bs: memref<?x?x?xf32>, %d: memref<?x?x?xbf16>) {
  // expected-error @below {{the batch extent must be below 2^31, the range of TMA coordinates (G6), but got 2147483648}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<2147483648x?x?xf8E4M3FN>, memref<?x?x?xf32>, memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>) outs(%d : memref<?x?x?xbf16>)
  return
}

// -----

func.func @batch_of_b_too_long(%a: memref<?x?x?xf8E4M3FN>, %as: memref<?x?x?xf32>, %b: memref<2147483648x?x?xf8E4M3FN>, %bs: memref<?x?x?xf32>, %d: memref<?x?x?xbf16>) {
  // expected-error @below {{the batch extent must be below 2^31, the range of TMA coordinates (G6), but got 2147483648}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>, memref<2147483648x?x?xf8E4M3FN>, memref<?x?x?xf32>) outs(%d : memref<?x?x?xbf16>)
  return
}

// -----

func.func @rows_of_d_too_many(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<2147483648x?xbf16>) {
  // expected-error @below {{M, N and K must be below 2^31, the range of TMA coordinates (G4), but got 2147483648}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<2147483648x?xbf16>)
  return
}

// -----

func.func @rows_far_apart(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32, strided<[4611686018427387904, 1]>>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xbf16>) {
  // expected-error @below {{the rows of 'a_scale' must be less than 2^40 bytes apart, and none before the other, because TMA copies them (G4), but are 4611686018427387904 elements apart}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[4611686018427387904, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @matrices_apart(%a: memref<8x64x128xf8E4M3FN, strided<[8200, 128, 1]>>, %as: memref<?x?x?xf32>, %b: memref<?x?x?xf8E4M3FN>, %bs: memref<?x?x?xf32>, %d: memref<?x?x?xbf16>) {
  // expected-error @below {{the matrices of 'a' must be a multiple of 16 bytes apart, because TMA copies them (G4), but are 8200; pad them by a strided layout}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<8x64x128xf8E4M3FN, strided<[8200, 128, 1]>>, memref<?x?x?xf32>, memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>) outs(%d : memref<?x?x?xbf16>)
  return
}

// -----

func.func @matrices_overlap(%a: memref<8x64x128xf8E4M3FN, strided<[0, 128, 1]>>, %as: memref<?x?x?xf32>, %b: memref<?x?x?xf8E4M3FN>, %bs: memref<?x?x?xf32>, %d: memref<?x?x?xbf16>) {
  // expected-error @below {{the matrices of 'a' must lie one after the other (G1), but are 0 elements apart}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<8x64x128xf8E4M3FN, strided<[0, 128, 1]>>, memref<?x?x?xf32>, memref<?x?x?xf8E4M3FN>, memref<?x?x?xf32>) outs(%d : memref<?x?x?xbf16>)
  return
}

// -----

func.func @mx_in_rows(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?xf8E8M0FNU>, %d: memref<?x?xbf16>) {
  // expected-error @below {{'a_scale' must be a 4-D memref of f8E8M0FNU (G11), but got 'memref<?x?xf8E8M0FNU>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?xf8E8M0FNU>, memref<?x?xf8E4M3FN>, memref<?x?xf8E8M0FNU>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @mx_of_one(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %bs: memref<?x?x32x16xf8E8M0FNU>, %d: memref<?x?xbf16>) {
  // expected-error @below {{'a_scale' must be a 4-D memref of f8E8M0FNU (G11), but got 'memref<?x?xf32>'; both operands have scales of f8E8M0FNU, or neither}}
  fp8.blockwise_gemm ins(%a, %as, %a, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU>) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @mx_tiles(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?x16x32xf8E8M0FNU>, %d: memref<?x?xbf16>) {
  // expected-error @below {{'a_scale' must end in tiles of 32 x 16 scales without gaps (G11), but got 'memref<?x?x16x32xf8E8M0FNU>'}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?x16x32xf8E8M0FNU>, memref<?x?xf8E4M3FN>, memref<?x?x16x32xf8E8M0FNU>)
    outs(%d : memref<?x?xbf16>)
  return
}

// -----

!gaps = memref<?x?x32x16xf8E8M0FNU, strided<[?, 1024, 32, 1]>>
func.func @mx_gaps(%a: memref<?x?xf8E4M3FN>, %s: !gaps, %d: memref<?x?xbf16>) {
  // expected-error @below {{'a_scale' must end in tiles of 32 x 16 scales without gaps (G11), but got}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, !gaps, memref<?x?xf8E4M3FN>, !gaps) outs(%d : memref<?x?xbf16>)
  return
}

// -----

func.func @mx_extents(%a: memref<300x512xf8E4M3FN>, %as: memref<2x4x32x16xf8E8M0FNU>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4x32x16xf8E8M0FNU>, %d: memref<300x384xbf16>) {
  // expected-error @below {{extent 0 of 'a_scale' must be ceil(M/128) = 3 (G11), but got 2}}
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<300x512xf8E4M3FN>, memref<2x4x32x16xf8E8M0FNU>, memref<384x512xf8E4M3FN>, memref<3x4x32x16xf8E8M0FNU>)
    outs(%d : memref<300x384xbf16>)
  return
}

// -----

func.func @mx_block(%a: memref<?x?xf8E4M3FN>, %s: memref<?x?x32x16xf8E8M0FNU>, %d: memref<?x?xbf16>) {
  // expected-error @below {{has scales of f8E8M0FNU, which each row of B has of its own; remove b_block (G11)}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU>, memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU>)
    outs(%d : memref<?x?xbf16>) {b_block = 1}
  return
}

// -----

!apart = memref<?x?x32x16xf8E8M0FNU, strided<[?, 520, 16, 1]>>
func.func @mx_tiles_apart(%a: memref<?x?xf8E4M3FN>, %s: !apart, %d: memref<?x?xbf16>) {
  // expected-error @below {{the tiles of 'a_scale' must be a multiple of 16 bytes apart, because TMA copies them (G4), but are 520; pad them by a strided layout}}
  fp8.blockwise_gemm ins(%a, %s, %a, %s : memref<?x?xf8E4M3FN>, !apart, memref<?x?xf8E4M3FN>, !apart) outs(%d : memref<?x?xbf16>)
  return
}
