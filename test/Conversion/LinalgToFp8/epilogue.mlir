// RUN: fp8-opt %s --convert-linalg-to-fp8 -verify-diagnostics | FileCheck %s
// What may follow the sum, and where the GEMM op ends because something else follows.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#number = affine_map<(d0, d1) -> ()>
#sum = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                         affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                         affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
!a = memref<64x256xf8E4M3FN>
!as = memref<2x64xf32>
!b = memref<128x256xf8E4M3FN>
!bs = memref<1x2xf32>
!f = memref<64x128xf32>
!h = memref<64x128xbf16>

// Each in an op of its own, in another order than the op's: bias first, then beta times C, relu, the output scale, the cast.
// CHECK-LABEL: func @all
// CHECK-SAME: %[[C:[^:]*]]: memref<64x128xbf16>, %[[BETA:[^:]*]]: memref<1x1xf32>, %[[BIAS:[^:]*]]: memref<128xf16>, %[[SCALE:[^:]*]]: memref<f32>, %[[D:[^:]*]]: memref<64x128xbf16>)
// CHECK-NEXT: %[[ROW:.*]] = memref.expand_shape %[[BIAS]] {{\[\[}}0, 1]] output_shape [1, 128] : memref<128xf16> into memref<1x128xf16>
// CHECK-NEXT: %[[NUMBER:.*]] = memref.expand_shape %[[SCALE]] [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
// CHECK-NEXT: fp8.blockwise_gemm
// CHECK-SAME: residual(%[[C]] scaled %[[BETA]] : memref<64x128xbf16>, memref<1x1xf32>) bias(%[[ROW]] : memref<1x128xf16>)
// CHECK-SAME: outs(%[[D]] : memref<64x128xbf16>) scale(%[[NUMBER]] : memref<1x1xf32>) map (%[[X:.*]]) {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[Y:.*]] = arith.maximumf %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: fp8.yield %[[Y]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @all(%a: !a, %as: !as, %b: !b, %bs: !bs, %c: !h, %beta: memref<1x1xf32>, %bias: memref<128xf16>, %scale: memref<f32>, %d: !h) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : !f
  linalg.fill ins(%zero : f32) outs(%sum : !f)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !f) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  %biases = memref.alloc() : !f
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%bias : memref<128xf16>) outs(%biases : !f) {
    ^bb0(%x: f16, %out: f32):
      %y = arith.extf %x : f16 to f32
      linalg.yield %y : f32
  }
  linalg.add ins(%sum, %biases : !f, !f) outs(%sum : !f)
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (0, 0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %beta : !h, memref<1x1xf32>) outs(%sum : !f) {
    ^bb0(%x: bf16, %f: f32, %out: f32):
      %y = arith.extf %x : bf16 to f32
      %z = arith.mulf %f, %y : f32
      %s = arith.addf %out, %z : f32
      linalg.yield %s : f32
  }
  %zeros = memref.alloc() : !f
  linalg.fill ins(%zero : f32) outs(%zeros : !f)
  linalg.elementwise kind=#linalg.elementwise_kind<max_signed> ins(%sum, %zeros : !f, !f) outs(%sum : !f)
  linalg.generic {indexing_maps = [#id, #number, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %scale : !f, memref<f32>) outs(%d : !h) {
    ^bb0(%x: f32, %f: f32, %out: bf16):
      %y = arith.mulf %x, %f : f32
      %z = arith.truncf %y : f32 to bf16
      linalg.yield %z : bf16
  }
  return
}

// C is what the sum is added to, in place; silu uses the sum twice.
// CHECK-LABEL: func @in_place
// CHECK-SAME: %[[D:[^:,]*]]: memref<64x128xf32>)
// CHECK-NEXT: fp8.blockwise_gemm
// CHECK-SAME: residual(%[[D]] : memref<64x128xf32>) outs(%[[D]] : memref<64x128xf32>) map (%[[X:.*]]) {
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.0
// CHECK-NEXT: %[[MINUS:.*]] = arith.negf %[[X]]
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[MINUS]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ONE]], %[[EXP]]
// CHECK-NEXT: %[[Y:.*]] = arith.divf %[[X]], %[[SUM]]
// CHECK-NEXT: fp8.yield %[[Y]]
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @in_place(%a: !a, %as: !as, %b: !b, %bs: !bs, %d: !f) {
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%d : !f) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%d : !f) {
    ^bb0(%x: f32):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %x : f32
      %exp = math.exp %minus : f32
      %sum = arith.addf %one, %exp : f32
      %y = arith.divf %x, %sum : f32
      linalg.yield %y : f32
  }
  return
}

// Two residuals are one too many: the second op stays, behind a GEMM op that writes the buffer between them.
// CHECK-LABEL: func @two_residuals
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<64x128xf32>
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} residual(%{{.*}} : memref<64x128xf32>) outs(%[[SUM]] : memref<64x128xf32>)
// CHECK-NEXT: linalg.add ins(%[[SUM]], %{{.*}}) outs(%{{.*}} : memref<64x128xf32>)
// CHECK-NEXT: return
func.func @two_residuals(%a: !a, %as: !as, %b: !b, %bs: !bs, %c: !f, %e: !f, %d: !f) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : !f
  linalg.fill ins(%zero : f32) outs(%sum : !f)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !f) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.add ins(%sum, %c : !f, !f) outs(%sum : !f)
  // expected-remark @below {{not part of the GEMM op: the function of the sum uses a value that is neither the sum nor a constant (G10)}}
  // expected-note @below {{used here}}
  linalg.add ins(%sum, %e : !f, !f) outs(%d : !f)
  return
}

// The upcast operand and the sum have other readers: what they read stays.
// CHECK-LABEL: func @other_readers
// CHECK: %[[UPCAST:.*]] = memref.alloc() : memref<64x256xf32>
// CHECK-NEXT: linalg.generic {{.*}} outs(%[[UPCAST]] : memref<64x256xf32>)
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<64x128xf32>
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} outs(%[[SUM]] : memref<64x128xf32>)
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK: return %[[UPCAST]], %[[SUM]]
func.func @other_readers(%a: !a, %as: !as, %b: !b, %bs: !bs, %d: !h) -> (memref<64x256xf32>, !f) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : memref<64x256xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : !a) outs(%af : memref<64x256xf32>) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      linalg.yield %y : f32
  }
  %sum = memref.alloc() : !f
  linalg.fill ins(%zero : f32) outs(%sum : !f)
  linalg.generic #sum ins(%af, %as, %b, %bs : memref<64x256xf32>, !as, !b, !bs) outs(%sum : !f) {
    ^bb0(%x: f32, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %x, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not part of the GEMM op: other ops also read the result before this op}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum : !f) outs(%d : !h) {
    ^bb0(%x: f32, %out: bf16):
      %y = arith.truncf %x : f32 to bf16
      linalg.yield %y : bf16
  }
  // expected-note @below {{read here}}
  return %af, %sum : memref<64x256xf32>, !f
}

// The GEMM op rounds in one way.
// CHECK-LABEL: func @rounding
// CHECK: fp8.blockwise_gemm {{.*}} outs(%[[SUM:.*]] : memref<64x128xf32>)
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK: fp8.blockwise_gemm {{.*}} outs(%{{.*}} : memref<64x128xbf16>)
// CHECK-NEXT: return
func.func @rounding(%a: !a, %as: !as, %b: !b, %bs: !bs, %d: !h, %e: !h) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : !f
  linalg.fill ins(%zero : f32) outs(%sum : !f)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !f) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not part of the GEMM op: the result is rounded toward_zero; the GEMM op rounds to_nearest_even}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum : !f) outs(%d : !h) {
    ^bb0(%x: f32, %out: bf16):
      // expected-note @below {{rounded here}}
      %y = arith.truncf %x toward_zero : f32 to bf16
      linalg.yield %y : bf16
  }
  %other = memref.alloc() : !f
  linalg.fill ins(%zero : f32) outs(%other : !f)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%other : !f) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%other : !f) outs(%e : !h) {
    ^bb0(%x: f32, %out: bf16):
      %y = arith.truncf %x to_nearest_even : f32 to bf16
      linalg.yield %y : bf16
  }
  return
}
