// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// D = bf16(relu(A * B^T + beta * C + bias)) in linalg on memrefs, one step in an op.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (0, d1)>
#number = affine_map<(d0, d1) -> (0, 0)>

func.func @gemm(%a: memref<?x?xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                %a_scale: memref<?x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                %b: memref<?x?xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                %b_scale: memref<?x?xf32> {fp8.name = "b_scale", fp8.access = "read"},
                %c: memref<?x?xbf16> {fp8.name = "c", fp8.access = "read"},
                %beta: memref<1x1xf32> {fp8.name = "beta", fp8.access = "read"},
                %bias: memref<1x?xf32> {fp8.name = "bias", fp8.access = "read"},
                %d: memref<?x?xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
  %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
  %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
  %af = memref.alloc(%m, %k) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, affine_map<(m, k) -> (k floordiv 128, m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a_scale : memref<?x?xf8E4M3FN>, memref<?x?xf32, strided<[?, 1]>>) outs(%af : memref<?x?xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %wide = memref.alloc(%n, %k) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : memref<?x?xf8E4M3FN>) outs(%wide : memref<?x?xf32>) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      linalg.yield %y : f32
  }
  // Scaled and transposed.
  %bf = memref.alloc(%k, %n) : memref<?x?xf32>
  linalg.generic {indexing_maps = [affine_map<(k, n) -> (n, k)>, affine_map<(k, n) -> (n floordiv 128, k floordiv 128)>, #id],
                  iterator_types = ["parallel", "parallel"]}
      ins(%wide, %b_scale : memref<?x?xf32>, memref<?x?xf32>) outs(%bf : memref<?x?xf32>) {
    ^bb0(%x: f32, %s: f32, %out: f32):
      %z = arith.mulf %x, %s : f32
      linalg.yield %z : f32
  }
  %sum = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.matmul ins(%af, %bf : memref<?x?xf32>, memref<?x?xf32>) outs(%sum : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %beta : memref<?x?xbf16>, memref<1x1xf32>) outs(%sum : memref<?x?xf32>) {
    ^bb0(%x: bf16, %f: f32, %out: f32):
      %y = arith.extf %x : bf16 to f32
      %z = arith.mulf %f, %y : f32
      %s = arith.addf %out, %z : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<?x?xf32>, memref<1x?xf32>) outs(%d : memref<?x?xbf16>) {
    ^bb0(%x: f32, %y: f32, %out: bf16):
      %s = arith.addf %x, %y : f32
      %r = arith.maximumf %s, %zero : f32
      %h = arith.truncf %r : f32 to bf16
      linalg.yield %h : bf16
  }
  memref.dealloc %af : memref<?x?xf32>
  memref.dealloc %wide : memref<?x?xf32>
  memref.dealloc %bf : memref<?x?xf32>
  memref.dealloc %sum : memref<?x?xf32>
  return
}
