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

// expected-error @below {{tile K must be 128, the depth of a scale block, but got 64}}
#config = #fp8.gemm_config<tile = 128 x 128 x 64>

// -----

// expected-error @below {{tile N must be a multiple of 16 in 16..256, but got 40}}
#config = #fp8.gemm_config<tile = 128 x 40 x 128>
