// RUN: fp8-opt %s --convert-linalg-to-fp8 -verify-diagnostics | FileCheck %s
// The forms in which the operands may be upcast, scaled and multiplied. Nothing of them is left.

#id = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#a_scale = affine_map<(m, k) -> (k floordiv 128, m)>
#b_scale = affine_map<(n, k) -> (n floordiv 128, k floordiv 128)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @one_op
// CHECK-SAME: %[[A:.*]]: memref<256x512xf8E4M3FN>, %[[AS:.*]]: memref<4x256xf32>, %[[B:.*]]: memref<384x512xf8E4M3FN>, %[[BS:.*]]: memref<3x4xf32>, %[[D:.*]]: memref<256x384xbf16>
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] :
// CHECK-SAME: outs(%[[D]] : memref<256x384xbf16>)
// CHECK-NEXT: return
func.func @one_op(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4xf32>,
                  %d: memref<256x384xbf16>) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : memref<256x512xf32>
  linalg.generic {indexing_maps = [#id, #a_scale, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %as : memref<256x512xf8E4M3FN>, memref<4x256xf32>) outs(%af : memref<256x512xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %bf = memref.alloc() : memref<384x512xf32>
  linalg.generic {indexing_maps = [#id, #b_scale, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %bs : memref<384x512xf8E4M3FN>, memref<3x4xf32>) outs(%bf : memref<384x512xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %s, %y : f32
      linalg.yield %z : f32
  }
  %sum = memref.alloc() : memref<256x384xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<256x384xf32>)
  linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%af, %bf : memref<256x512xf32>, memref<384x512xf32>) outs(%sum : memref<256x384xf32>)
  memref.dealloc %af : memref<256x512xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<256x384xf32>) outs(%d : memref<256x384xbf16>) {
    ^bb0(%x: f32, %out: bf16):
      %y = arith.truncf %x : f32 to bf16
      linalg.yield %y : bf16
  }
  return
}

// Extents that are known when it runs; extensions by way of bf16; the cast by a copy and an op on its own; D of f16.
// CHECK-LABEL: func @separate_ops
// CHECK-SAME: %[[A:.*]]: memref<?x?xf8E4M3FN>, %[[AS:.*]]: memref<?x?xf32, strided<[?, 1]>>, %[[B:.*]]: memref<?x?xf8E4M3FN>, %[[BS:.*]]: memref<?x?xbf16>, %[[D:.*]]: memref<?x?xf16>
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] :
// CHECK-SAME: outs(%[[D]] : memref<?x?xf16>)
// CHECK-NEXT: return
func.func @separate_ops(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32, strided<[?, 1]>>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xbf16>,
                        %d: memref<?x?xf16>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
  %n = memref.dim %b, %c0 : memref<?x?xf8E4M3FN>
  %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
  %wide = memref.alloc(%m, %k) : memref<?x?xbf16>
  %af = memref.alloc(%m, %k) : memref<?x?xf32>
  %bf = memref.alloc(%n, %k) : memref<?x?xf32>
  %sum = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x?xf8E4M3FN>) outs(%wide : memref<?x?xbf16>) {
    ^bb0(%x: f8E4M3FN, %out: bf16):
      %y = arith.extf %x : f8E4M3FN to bf16
      linalg.yield %y : bf16
  }
  linalg.generic {indexing_maps = [#id, #a_scale, #id], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %as : memref<?x?xbf16>, memref<?x?xf32, strided<[?, 1]>>) outs(%af : memref<?x?xf32>) {
    ^bb0(%x: bf16, %s: f32, %out: f32):
      %y = arith.extf %x : bf16 to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : memref<?x?xf8E4M3FN>) outs(%bf : memref<?x?xf32>) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      linalg.yield %y : f32
  }
  // In place.
  linalg.generic {indexing_maps = [#b_scale, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bs : memref<?x?xbf16>) outs(%bf : memref<?x?xf32>) {
    ^bb0(%s: bf16, %out: f32):
      %t = arith.extf %s : bf16 to f32
      %z = arith.mulf %out, %t : f32
      linalg.yield %z : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%af, %bf : memref<?x?xf32>, memref<?x?xf32>) outs(%sum : memref<?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %p, %out : f32
      linalg.yield %s : f32
  }
  %half = memref.alloc(%m, %n) : memref<?x?xf16>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<?x?xf32>) outs(%half : memref<?x?xf16>) {
    ^bb0(%x: f32, %out: f16):
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
  }
  memref.copy %half, %d : memref<?x?xf16> to memref<?x?xf16>
  memref.dealloc %half : memref<?x?xf16>
  return
}

// K as blocks of 128, and N of B; both scaled in that shape and put together again. D is the sum.
// CHECK-LABEL: func @reshaped
// CHECK-SAME: %[[A:.*]]: memref<256x512xf8E4M3FN>, %[[AS:.*]]: memref<4x256xf32>, %[[B:.*]]: memref<384x512xf8E4M3FN>, %[[BS:.*]]: memref<3x4xf32>, %[[D:.*]]: memref<256x384xf32>
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] :
// CHECK-SAME: outs(%[[D]] : memref<256x384xf32>)
// CHECK-NEXT: return
func.func @reshaped(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4xf32>,
                    %d: memref<256x384xf32>) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : memref<256x4x128xf32>
  %a3 = memref.expand_shape %a [[0], [1, 2]] output_shape [256, 4, 128] : memref<256x512xf8E4M3FN> into memref<256x4x128xf8E4M3FN>
  %ast = memref.transpose %as (i, j) -> (j, i) : memref<4x256xf32> to memref<256x4xf32, strided<[1, 256]>>
  linalg.generic {indexing_maps = [#id3, affine_map<(m, kb, k) -> (m, kb)>, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a3, %ast : memref<256x4x128xf8E4M3FN>, memref<256x4xf32, strided<[1, 256]>>) outs(%af : memref<256x4x128xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %bf = memref.alloc() : memref<3x128x4x128xf32>
  %b4 = memref.expand_shape %b [[0, 1], [2, 3]] output_shape [3, 128, 4, 128] : memref<384x512xf8E4M3FN> into memref<3x128x4x128xf8E4M3FN>
  linalg.generic {indexing_maps = [#id4, affine_map<(nb, n, kb, k) -> (nb, kb)>, #id4],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b4, %bs : memref<3x128x4x128xf8E4M3FN>, memref<3x4xf32>) outs(%bf : memref<3x128x4x128xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %a2 = memref.collapse_shape %af [[0], [1, 2]] : memref<256x4x128xf32> into memref<256x512xf32>
  %b2 = memref.collapse_shape %bf [[0, 1], [2, 3]] : memref<3x128x4x128xf32> into memref<384x512xf32>
  linalg.fill ins(%zero : f32) outs(%d : memref<256x384xf32>)
  linalg.contract indexing_maps = [#mk, #nk, #mn] ins(%a2, %b2 : memref<256x512xf32>, memref<384x512xf32>) outs(%d : memref<256x384xf32>)
  return
}

// All four factors in one op, over K blocks and within them.
// CHECK-LABEL: func @one_sum
// CHECK-SAME: %[[A:.*]]: memref<256x512xf8E4M3FN>, %[[AS:.*]]: memref<4x256xf32>, %[[B:.*]]: memref<384x512xf8E4M3FN>, %[[BS:.*]]: memref<3x4xf32>, %[[D:.*]]: memref<256x384xf32>
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] :
// CHECK-NEXT: return
func.func @one_sum(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4xf32>,
                   %d: memref<256x384xf32>) {
  %zero = arith.constant 0.0 : f32
  %a3 = memref.expand_shape %a [[0], [1, 2]] output_shape [256, 4, 128] : memref<256x512xf8E4M3FN> into memref<256x4x128xf8E4M3FN>
  %b3 = memref.expand_shape %b [[0], [1, 2]] output_shape [384, 4, 128] : memref<384x512xf8E4M3FN> into memref<384x4x128xf8E4M3FN>
  linalg.fill ins(%zero : f32) outs(%d : memref<256x384xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, kb, k) -> (m, kb, k)>, affine_map<(m, n, kb, k) -> (kb, m)>,
                                   affine_map<(m, n, kb, k) -> (n, kb, k)>, affine_map<(m, n, kb, k) -> (n floordiv 128, kb)>,
                                   affine_map<(m, n, kb, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a3, %as, %b3, %bs : memref<256x4x128xf8E4M3FN>, memref<4x256xf32>, memref<384x4x128xf8E4M3FN>, memref<3x4xf32>)
      outs(%d : memref<256x384xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %scale = arith.mulf %ys, %xs : f32
      %p = arith.mulf %yf, %scale : f32
      %q = arith.mulf %p, %xf : f32
      %sum = arith.addf %out, %q : f32
      linalg.yield %sum : f32
  }
  return
}

// The sums of K blocks, scaled and added up by another op.
// CHECK-LABEL: func @sums_of_blocks
// CHECK-SAME: %[[A:.*]]: memref<256x512xf8E4M3FN>, %[[AS:.*]]: memref<4x256xf32>, %[[B:.*]]: memref<384x512xf8E4M3FN>, %[[BS:.*]]: memref<3x4xf32>, %[[D:.*]]: memref<256x384xf32>
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] :
// CHECK-NEXT: return
func.func @sums_of_blocks(%a: memref<256x512xf8E4M3FN>, %as: memref<4x256xf32>, %b: memref<384x512xf8E4M3FN>, %bs: memref<3x4xf32>,
                          %d: memref<256x384xf32>) {
  %zero = arith.constant 0.0 : f32
  %a3 = memref.expand_shape %a [[0], [1, 2]] output_shape [256, 4, 128] : memref<256x512xf8E4M3FN> into memref<256x4x128xf8E4M3FN>
  %b3 = memref.expand_shape %b [[0], [1, 2]] output_shape [384, 4, 128] : memref<384x512xf8E4M3FN> into memref<384x4x128xf8E4M3FN>
  %sums = memref.alloc() : memref<4x256x384xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<4x256x384xf32>)
  linalg.contract indexing_maps = [affine_map<(kb, m, n, k) -> (m, kb, k)>, affine_map<(kb, m, n, k) -> (n, kb, k)>,
                                   affine_map<(kb, m, n, k) -> (kb, m, n)>]
      ins(%a3, %b3 : memref<256x4x128xf8E4M3FN>, memref<384x4x128xf8E4M3FN>) outs(%sums : memref<4x256x384xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<256x384xf32>)
  linalg.generic {indexing_maps = [affine_map<(kb, m, n) -> (kb, m, n)>, affine_map<(kb, m, n) -> (kb, m)>,
                                   affine_map<(kb, m, n) -> (n floordiv 128, kb)>, affine_map<(kb, m, n) -> (m, n)>],
                  iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%sums, %as, %bs : memref<4x256x384xf32>, memref<4x256xf32>, memref<3x4xf32>) outs(%d : memref<256x384xf32>) {
    ^bb0(%x: f32, %xs: f32, %ys: f32, %out: f32):
      %p = arith.mulf %x, %xs : f32
      %q = arith.mulf %p, %ys : f32
      %sum = arith.addf %out, %q : f32
      linalg.yield %sum : f32
  }
  return
}
