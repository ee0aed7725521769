// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An MXFP8 GEMM for Blackwell: each 32 elements of a row of A and of B share a scale, a power of two (UE8M0), which the tensor cores apply. The
// scales lie in tiles of 512 bytes, as cuBLAS and PyTorch take them. mxfp8_gemm.mlir is a kernel of that kind, written by hand.

func.func @gemm(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                %a_scale: memref<?x?x32x16xf8E8M0FNU> {fp8.name = "a_scale", fp8.access = "read"},
                %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                %b_scale: memref<?x?x32x16xf8E8M0FNU> {fp8.name = "b_scale", fp8.access = "read"},
                %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale
      : memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU>, memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU>)
    outs(%d : memref<?x?xbf16>)
  return
}
