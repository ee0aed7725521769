// RUN: fp8-opt %s --convert-linalg-to-fp8 -verify-diagnostics | FileCheck %s
// Granularity of B's scales, batches, and what lies transposed: looked through where it was moved, a view where rows are contiguous in the end.

#id = affine_map<(d0, d1) -> (d0, d1)>

// 64 rows of B share a scale. The sum over four factors keeps these tests short.
// CHECK-LABEL: func @blocks_of_64
// CHECK: fp8.blockwise_gemm {{.*}} {b_block = 64 : i64}
func.func @blocks_of_64(%a: memref<64x320xf8E4M3FN>, %as: memref<3x64xf32>, %b: memref<192x320xf8E4M3FN>, %bs: memref<3x3xf32>,
                        %d: memref<64x192xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x192xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x320xf8E4M3FN>, memref<3x64xf32>, memref<192x320xf8E4M3FN>, memref<3x3xf32>)
      outs(%d : memref<64x192xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %sum = arith.addf %out, %r : f32
      linalg.yield %sum : f32
  }
  return
}

// Each column has its own; the scales of A lie row by row along M, as a strided memref that others index by [m, kb].
// CHECK-LABEL: func @columns
// CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[AS:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[BS:[^:]*]]:
// CHECK-NEXT: %[[VIEW:.*]] = memref.transpose %[[AS]] (d0, d1) -> (d1, d0) : memref<64x3xf32, strided<[1, 64]>> to memref<3x64xf32, strided<[64, 1]>>
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[VIEW]], %[[B]], %[[BS]] {{.*}} {b_block = 1 : i64}
func.func @columns(%a: memref<64x320xf8E4M3FN>, %as: memref<64x3xf32, strided<[1, 64]>>, %b: memref<192x320xf8E4M3FN>, %bs: memref<3x192xbf16>,
                   %d: memref<64x192xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x192xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (k floordiv 128, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x320xf8E4M3FN>, memref<64x3xf32, strided<[1, 64]>>, memref<192x320xf8E4M3FN>, memref<3x192xbf16>)
      outs(%d : memref<64x192xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: bf16, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %ysf = arith.extf %ys : bf16 to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ysf : f32
      %r = arith.mulf %p, %q : f32
      %sum = arith.addf %out, %r : f32
      linalg.yield %sum : f32
  }
  return
}

// B is moved to K x N for a plain matmul, by a view and by a copy, and its scales are spread over all elements before they multiply.
// CHECK-LABEL: func @moved
// CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[AS:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[BS:[^:]*]]: {{[^%]*}}%[[D:[^:]*]]:
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] : {{.*}}) outs(%[[D]] : memref<64x384xf32>)
// CHECK-NEXT: return
func.func @moved(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<384x256xf8E4M3FN>, %bs: memref<3x2xf32>, %d: memref<64x384xf32>) {
  %zero = arith.constant 0.0 : f32
  %bt = memref.alloc() : memref<256x384xf8E4M3FN>
  linalg.transpose ins(%b : memref<384x256xf8E4M3FN>) outs(%bt : memref<256x384xf8E4M3FN>) permutation = [1, 0]
  %spread = memref.alloc() : memref<3x128x2x128xf32>
  linalg.broadcast ins(%bs : memref<3x2xf32>) outs(%spread : memref<3x128x2x128xf32>) dimensions = [1, 3]
  %scales = memref.collapse_shape %spread [[0, 1], [2, 3]] : memref<3x128x2x128xf32> into memref<384x256xf32>
  %scalest = memref.transpose %scales (n, k) -> (k, n) : memref<384x256xf32> to memref<256x384xf32, strided<[1, 256]>>
  %bf = memref.alloc() : memref<256x384xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bt, %scalest : memref<256x384xf8E4M3FN>, memref<256x384xf32, strided<[1, 256]>>) outs(%bf : memref<256x384xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %af = memref.alloc() : memref<64x256xf32>
  linalg.generic {indexing_maps = [#id, affine_map<(m, k) -> (k floordiv 128, m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %as : memref<64x256xf8E4M3FN>, memref<2x64xf32>) outs(%af : memref<64x256xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  linalg.fill ins(%zero : f32) outs(%d : memref<64x384xf32>)
  linalg.matmul ins(%af, %bf : memref<64x256xf32>, memref<256x384xf32>) outs(%d : memref<64x384xf32>)
  return
}

// CHECK-LABEL: func @batch
// CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[AS:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[BS:[^:]*]]: {{[^%]*}}%[[D:[^:]*]]:
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] : {{.*}}) outs(%[[D]] : memref<8x64x384xbf16>)
// CHECK-NEXT: return
func.func @batch(%a: memref<8x64x256xf8E4M3FN>, %as: memref<8x2x64xf32>, %b: memref<8x384x256xf8E4M3FN>, %bs: memref<8x3x2xf32>,
                 %d: memref<8x64x384xbf16>) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : memref<8x64x256xf32>
  linalg.generic {indexing_maps = [affine_map<(l, m, k) -> (l, m, k)>, affine_map<(l, m, k) -> (l, k floordiv 128, m)>,
                                   affine_map<(l, m, k) -> (l, m, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %as : memref<8x64x256xf8E4M3FN>, memref<8x2x64xf32>) outs(%af : memref<8x64x256xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  // K x N, from B of N x K.
  %bf = memref.alloc() : memref<8x256x384xf32>
  linalg.generic {indexing_maps = [affine_map<(l, k, n) -> (l, n, k)>, affine_map<(l, k, n) -> (l, n floordiv 128, k floordiv 128)>,
                                   affine_map<(l, k, n) -> (l, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b, %bs : memref<8x384x256xf8E4M3FN>, memref<8x3x2xf32>) outs(%bf : memref<8x256x384xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %sum = memref.alloc() : memref<8x64x384xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8x64x384xf32>)
  linalg.batch_matmul ins(%af, %bf : memref<8x64x256xf32>, memref<8x256x384xf32>) outs(%sum : memref<8x64x384xf32>)
  linalg.map { arith.truncf } ins(%sum : memref<8x64x384xf32>) outs(%d : memref<8x64x384xbf16>)
  return
}

// A is quantised here and its scales are computed here, and so is C: those ops stay, and the GEMM op reads what they write. The constant factor
// of the scales is none of the product's.
// CHECK-LABEL: func @quantised_here
// CHECK-SAME: %[[B:[^:]*]]: memref<128x256xf8E4M3FN>
// CHECK: %[[A:.*]] = memref.alloc() : memref<64x256xf8E4M3FN>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<2x64xf32>
// CHECK: linalg.generic {{.*}} outs(%[[AS]] : memref<2x64xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[A]] : memref<64x256xf8E4M3FN>)
// CHECK: %[[C:.*]] = memref.alloc() : memref<64x128xf32>
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[C]] : memref<64x128xf32>)
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %{{.*}} residual(%[[C]] : memref<64x128xf32>)
// CHECK-NEXT: return
func.func @quantised_here(%b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %x: memref<64x256xf32>, %amax: memref<2x64xf32>,
                          %e: memref<64x128xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %step = arith.constant 0.002232142857 : f32
  %a = memref.alloc() : memref<64x256xf8E4M3FN>
  %as = memref.alloc() : memref<2x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%amax : memref<2x64xf32>) outs(%as : memref<2x64xf32>) {
    ^bb0(%v: f32, %out: f32):
      %w = arith.mulf %v, %step : f32
      linalg.yield %w : f32
  }
  linalg.generic {indexing_maps = [#id, affine_map<(m, k) -> (k floordiv 128, m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %as : memref<64x256xf32>, memref<2x64xf32>) outs(%a : memref<64x256xf8E4M3FN>) {
    ^bb0(%v: f32, %s: f32, %out: f8E4M3FN):
      %w = arith.divf %v, %s : f32
      %q = arith.truncf %w : f32 to f8E4M3FN
      linalg.yield %q : f8E4M3FN
  }
  %c = memref.alloc() : memref<64x128xf32>
  linalg.exp ins(%e : memref<64x128xf32>) outs(%c : memref<64x128xf32>)
  %sum = memref.alloc() : memref<64x128xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x128xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%sum : memref<64x128xf32>) {
    ^bb0(%v: f8E4M3FN, %vs: f32, %w: f8E4M3FN, %ws: f32, %out: f32):
      %vf = arith.extf %v : f8E4M3FN to f32
      %wf = arith.extf %w : f8E4M3FN to f32
      %p = arith.mulf %vf, %vs : f32
      %q = arith.mulf %wf, %ws : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.add ins(%sum, %c : memref<64x128xf32>, memref<64x128xf32>) outs(%d : memref<64x128xf32>)
  return
}

// The sum goes through a transposed view into a buffer that is read transposed back.
// CHECK-LABEL: func @sum_through_view
// CHECK-SAME: %[[D:[^:,]*]]: memref<128x128xbf16>)
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} outs(%[[D]] : memref<128x128xbf16>)
// CHECK-NEXT: return
func.func @sum_through_view(%a: memref<128x256xf8E4M3FN>, %as: memref<2x128xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<128x128xbf16>) {
  %zero = arith.constant 0.0 : f32
  %base = memref.alloc() : memref<128x128xf32>
  %view = memref.transpose %base (i, j) -> (j, i) : memref<128x128xf32> to memref<128x128xf32, strided<[1, 128]>>
  linalg.fill ins(%zero : f32) outs(%base : memref<128x128xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<128x256xf8E4M3FN>, memref<2x128xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>)
      outs(%view : memref<128x128xf32, strided<[1, 128]>>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%base : memref<128x128xf32>) outs(%d : memref<128x128xbf16>) {
    ^bb0(%x: f32, %out: bf16):
      %y = arith.truncf %x : f32 to bf16
      linalg.yield %y : bf16
  }
  return
}

// It is read as it lies, which is the sum transposed.
// CHECK-LABEL: func @transposed_sum
// CHECK-NOT: fp8.blockwise_gemm
func.func @transposed_sum(%a: memref<128x256xf8E4M3FN>, %as: memref<2x128xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<128x128xbf16>) {
  %zero = arith.constant 0.0 : f32
  %base = memref.alloc() : memref<128x128xf32>
  %view = memref.transpose %base (i, j) -> (j, i) : memref<128x128xf32> to memref<128x128xf32, strided<[1, 128]>>
  linalg.fill ins(%zero : f32) outs(%base : memref<128x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: 'fp8.blockwise_gemm' op the rows of 'd' must be contiguous (G3), but got 'memref<128x128xf32, strided<[1, 128]>>'}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<128x256xf8E4M3FN>, memref<2x128xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>)
      outs(%view : memref<128x128xf32, strided<[1, 128]>>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%base : memref<128x128xf32>) outs(%d : memref<128x128xbf16>) {
    ^bb0(%x: f32, %out: bf16):
      %y = arith.truncf %x : f32 to bf16
      linalg.yield %y : bf16
  }
  return
}
