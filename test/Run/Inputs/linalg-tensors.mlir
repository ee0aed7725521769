// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// D = bf16(A * B^T) in linalg on tensors: A in blocks of K, the scales of B broadcast and reshaped to its size.

func.func @gemm(%am: memref<?x512xf8E4M3FN> {fp8.name = "a", fp8.access = "read"},
                %asm: memref<4x?xf32, strided<[?, 1]>> {fp8.name = "a_scale", fp8.access = "read"},
                %bm: memref<384x512xf8E4M3FN> {fp8.name = "b", fp8.access = "read"},
                %bsm: memref<3x4xf32> {fp8.name = "b_scale", fp8.access = "read"},
                %d: memref<?x384xbf16> {fp8.name = "d", fp8.access = "write"}) attributes {fp8.problem = "blockwise_gemm"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %a = bufferization.to_tensor %am restrict : memref<?x512xf8E4M3FN> to tensor<?x512xf8E4M3FN>
  %as = bufferization.to_tensor %asm restrict : memref<4x?xf32, strided<[?, 1]>> to tensor<4x?xf32>
  %b = bufferization.to_tensor %bm restrict : memref<384x512xf8E4M3FN> to tensor<384x512xf8E4M3FN>
  %bs = bufferization.to_tensor %bsm restrict : memref<3x4xf32> to tensor<3x4xf32>
  %m = tensor.dim %a, %c0 : tensor<?x512xf8E4M3FN>
  %blocks = tensor.expand_shape %a [[0], [1, 2]] output_shape [%m, 4, 128] : tensor<?x512xf8E4M3FN> into tensor<?x4x128xf8E4M3FN>
  %ae = tensor.empty(%m) : tensor<?x4x128xf32>
  %af = linalg.generic {indexing_maps = [affine_map<(m, kb, k) -> (m, kb, k)>, affine_map<(m, kb, k) -> (kb, m)>, affine_map<(m, kb, k) -> (m, kb, k)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%blocks, %as : tensor<?x4x128xf8E4M3FN>, tensor<4x?xf32>) outs(%ae : tensor<?x4x128xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  } -> tensor<?x4x128xf32>
  %a2 = tensor.collapse_shape %af [[0], [1, 2]] : tensor<?x4x128xf32> into tensor<?x512xf32>
  %se = tensor.empty() : tensor<3x128x4x128xf32>
  %spread = linalg.broadcast ins(%bs : tensor<3x4xf32>) outs(%se : tensor<3x128x4x128xf32>) dimensions = [1, 3]
  %scales = tensor.collapse_shape %spread [[0, 1], [2, 3]] : tensor<3x128x4x128xf32> into tensor<384x512xf32>
  %be = tensor.empty() : tensor<384x512xf32>
  %wide = linalg.map { arith.extf } ins(%b : tensor<384x512xf8E4M3FN>) outs(%be : tensor<384x512xf32>)
  %bf = linalg.mul ins(%wide, %scales : tensor<384x512xf32>, tensor<384x512xf32>) outs(%be : tensor<384x512xf32>) -> tensor<384x512xf32>
  %te = tensor.empty() : tensor<512x384xf32>
  %bt = linalg.transpose ins(%bf : tensor<384x512xf32>) outs(%te : tensor<512x384xf32>) permutation = [1, 0]
  %de = tensor.empty(%m) : tensor<?x384xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%de : tensor<?x384xf32>) -> tensor<?x384xf32>
  %sum = linalg.matmul ins(%a2, %bt : tensor<?x512xf32>, tensor<512x384xf32>) outs(%zeros : tensor<?x384xf32>) -> tensor<?x384xf32>
  %he = tensor.empty(%m) : tensor<?x384xbf16>
  %half = linalg.map { arith.truncf } ins(%sum : tensor<?x384xf32>) outs(%he : tensor<?x384xbf16>)
  bufferization.materialize_in_destination %half in restrict writable %d : (tensor<?x384xbf16>, memref<?x384xbf16>) -> ()
  return
}
