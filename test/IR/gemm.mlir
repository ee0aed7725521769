// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @static
// CHECK: fp8.blockwise_gemm ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>) outs(%{{.*}} : memref<256x384xf16>) config <tile = 128 x 128 x 128, stages = 3, scheduler = one_tile>
func.func @static(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>,
                  %bs: memref<3x4xf32>, %d: memref<256x384xf16>) {
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<256x512xf8E4M3FN>, memref<4x256xf32>, memref<384x512xf8E4M3FN>, memref<3x4xf32>)
    outs(%d : memref<256x384xf16>) config <tile = 128 x 128 x 128, stages = 3, scheduler = one_tile>
  return
}

// Rows of a_scale that are padded to 16 bytes.
// CHECK-LABEL: func.func @padded
func.func @padded(%a: memref<129x512xf8E4M3FN>, %as: memref<4x129xf32, strided<[132, 1]>>, %b: memref<?x512xf8E4M3FN>,
                  %bs: memref<?x4xf32>, %d: memref<129x?xbf16>) {
  // CHECK: fp8.blockwise_gemm
  fp8.blockwise_gemm ins(%a, %as, %b, %bs : memref<129x512xf8E4M3FN>, memref<4x129xf32, strided<[132, 1]>>, memref<?x512xf8E4M3FN>, memref<?x4xf32>)
    outs(%d : memref<129x?xbf16>)
  return
}
