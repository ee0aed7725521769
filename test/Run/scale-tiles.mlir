// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of MXFP8's scales that lie column by column.

// REQUIRES: compiler
// RUN: fp8-opt %s --fp8-gemm-to-ptx=chip=sm_100a --emit=ptx -o %t.ptx
// RUN: fp8-run %t.ptx --backend=sim --m=512 --n=128 --k=1024 | FileCheck %s
// CHECK: {"ok":true,{{.*}}"errors":0,{{.*}}"wrong":0,"unwritten":0,
// Strides by which tiles overlap, or have gaps, are no layout.
// RUN: sed 's/ 2048,/ 100,/' %t.ptx.json > %t.overlap.json
// RUN: not fp8-run %t.ptx --manifest=%t.overlap.json --backend=sim --m=512 --n=128 --k=1024 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: error: argument 'a_scale' has stride 100 along axis 1; tiles of scales would overlap

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An MXFP8 GEMM for Blackwell: each 32 elements of a row of A and of B share a scale, a power of two (UE8M0), which the tensor cores apply. The
// scales lie in tiles of 512 bytes, as cuBLAS and PyTorch take them. mxfp8_gemm.mlir is a kernel of that kind, written by hand.

func.func @gemm(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                %a_scale: memref<?x?x32x16xf8E8M0FNU, strided<[512, 2048, 16, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                %b_scale: memref<?x?x32x16xf8E8M0FNU> {fp8.name = "b_scale", fp8.access = "read"},
                %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  fp8.blockwise_gemm ins(%a, %a_scale, %b, %b_scale
      : memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU, strided<[512, 2048, 16, 1]>>, memref<?x?xf8E4M3FN>, memref<?x?x32x16xf8E8M0FNU>)
    outs(%d : memref<?x?xbf16>)
  return
}
