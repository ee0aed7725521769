// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// D = bf16(A * B^T) as a function of tensors, which returns one: what a front end makes before bufferization.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @gemm(%a: tensor<100x512xf8E4M3FN> {fp8.name = "a", fp8.access = "read"}, %as: tensor<4x100xf32> {fp8.name = "a_scale", fp8.access = "read"},
                %b: tensor<384x512xf8E4M3FN> {fp8.name = "b", fp8.access = "read"}, %bs: tensor<3x4xf32> {fp8.name = "b_scale", fp8.access = "read"})
    -> (tensor<100x384xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  %zero = arith.constant 0.0 : f32
  %ae = tensor.empty() : tensor<100x512xf32>
  %af = linalg.generic {indexing_maps = [#id, affine_map<(m, k) -> (k floordiv 128, m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %as : tensor<100x512xf8E4M3FN>, tensor<4x100xf32>) outs(%ae : tensor<100x512xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  } -> tensor<100x512xf32>
  %be = tensor.empty() : tensor<384x512xf32>
  %bf = linalg.generic {indexing_maps = [#id, affine_map<(n, k) -> (n floordiv 128, k floordiv 128)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %bs : tensor<384x512xf8E4M3FN>, tensor<3x4xf32>) outs(%be : tensor<384x512xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  } -> tensor<384x512xf32>
  %de = tensor.empty() : tensor<100x384xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%de : tensor<100x384xf32>) -> tensor<100x384xf32>
  %sum = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%af, %bf : tensor<100x512xf32>, tensor<384x512xf32>)
      outs(%zeros : tensor<100x384xf32>) -> tensor<100x384xf32>
  %he = tensor.empty() : tensor<100x384xbf16>
  %half = linalg.map { arith.truncf } ins(%sum : tensor<100x384xf32>) outs(%he : tensor<100x384xbf16>)
  return %half : tensor<100x384xbf16>
}
