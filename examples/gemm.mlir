// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A blockwise-scaled FP8 GEMM with extents known at launch. The rows of a_scale are padded to 16 bytes, so its layout is strided.

func.func @gemm(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale
      : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?xf32>)
    outs(%d : memref<?x?xbf16>)
  return
}
