// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scales alone say how many K blocks there are: linalg adds up as many as they have rows. The GEMM op wants as many as K has.

func.func @gemm(%a: memref<64x512xf8E4M3FN>, %as: memref<?x64xf32>, %b: memref<128x512xf8E4M3FN>, %bs: memref<1x?xf32>, %within: memref<128xf32>,
                %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, kb, k) -> (m, kb * 128 + k)>, affine_map<(m, n, kb, k) -> (kb, m)>,
                                   affine_map<(m, n, kb, k) -> (n, kb * 128 + k)>, affine_map<(m, n, kb, k) -> (n floordiv 128, kb)>,
                                   affine_map<(m, n, kb, k) -> (k)>, affine_map<(m, n, kb, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %as, %b, %bs, %within : memref<64x512xf8E4M3FN>, memref<?x64xf32>, memref<128x512xf8E4M3FN>, memref<1x?xf32>, memref<128xf32>)
      outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %unused: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// The first element of D, where A and B are 1 and the scales 0.5: a quarter of K.
func.func private @try(%blocks: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 0x38 : i8
  %half = arith.constant 0.5 : f32
  %code = arith.bitcast %one : i8 to f8E4M3FN
  %a = memref.alloc() {alignment = 128} : memref<64x512xf8E4M3FN>
  %b = memref.alloc() {alignment = 128} : memref<128x512xf8E4M3FN>
  %as = memref.alloc(%blocks) {alignment = 128} : memref<?x64xf32>
  %bs = memref.alloc(%blocks) {alignment = 128} : memref<1x?xf32>
  %within = memref.alloc() : memref<128xf32>
  %d = memref.alloc() {alignment = 128} : memref<64x128xf32>
  linalg.fill ins(%code : f8E4M3FN) outs(%a : memref<64x512xf8E4M3FN>)
  linalg.fill ins(%code : f8E4M3FN) outs(%b : memref<128x512xf8E4M3FN>)
  linalg.fill ins(%half : f32) outs(%as : memref<?x64xf32>)
  linalg.fill ins(%half : f32) outs(%bs : memref<1x?xf32>)
  func.call @gemm(%a, %as, %b, %bs, %within, %d)
      : (memref<64x512xf8E4M3FN>, memref<?x64xf32>, memref<128x512xf8E4M3FN>, memref<1x?xf32>, memref<128xf32>, memref<64x128xf32>) -> ()
  %first = memref.load %d[%c0, %c0] : memref<64x128xf32>
  vector.print %first : f32
  return
}

func.func @main() -> i32 {
  %blocks = arith.constant 4 : index
  %ok = arith.constant 0 : i32
  func.call @try(%blocks) : (index) -> ()
  return %ok : i32
}
