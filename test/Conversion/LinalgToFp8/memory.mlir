// RUN: fp8-opt %s --convert-linalg-to-fp8 -split-input-file -verify-diagnostics | FileCheck %s
// On memrefs a GEMM op reads its operands later than the ops did that it replaces, and nobody sees what it has computed so far. Where
// that would make a difference, nothing is changed.

// CHECK-NOT: fp8.blockwise_gemm

// Two arguments may be the same memory.
#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                         affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                         affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
!a = memref<64x256xf8E4M3FN>
!af = memref<64x256xf32>
!as = memref<2x64xf32>
!b = memref<128x256xf8E4M3FN>
!bs = memref<1x2xf32>
!d = memref<64x128xf32>
func.func @overwritten(%a: !a, %as: !as, %b: !b, %bs: !bs, %e: !a, %f: !a, %d: !d) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : !af
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : !a) outs(%af : !af) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      linalg.yield %y : f32
  }
  // expected-note @below {{written or freed here}}
  memref.copy %f, %e : !a to !a
  linalg.fill ins(%zero : f32) outs(%d : !d)
  // expected-remark @below {{not converted to a GEMM op: an operand may be overwritten or freed between the op that reads it and the last replaced op, where the GEMM op would read it}}
  linalg.generic #sum ins(%af, %as, %b, %bs : !af, !as, !b, !bs) outs(%d : !d) {
    ^bb0(%x: f32, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %x, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                         affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                         affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
!a = memref<64x256xf8E4M3FN>
!af = memref<64x256xf32>
!as = memref<2x64xf32>
!b = memref<128x256xf8E4M3FN>
!bs = memref<1x2xf32>
!d = memref<64x128xf32>
func.func @freed(%a: !a, %as: !as, %b: !b, %bs: !bs, %d: !d) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : !af
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : !a) outs(%af : !af) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      linalg.yield %y : f32
  }
  // expected-note @below {{written or freed here}}
  memref.dealloc %a : !a
  linalg.fill ins(%zero : f32) outs(%d : !d)
  // expected-remark @below {{not converted to a GEMM op: an operand may be overwritten or freed between the op that reads it and the last replaced op, where the GEMM op would read it}}
  linalg.generic #sum ins(%af, %as, %b, %bs : !af, !as, !b, !bs) outs(%d : !d) {
    ^bb0(%x: f32, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %x, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// Somebody reads the zeros.
#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                         affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                         affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
!a = memref<64x256xf8E4M3FN>
!af = memref<64x256xf32>
!as = memref<2x64xf32>
!b = memref<128x256xf8E4M3FN>
!bs = memref<1x2xf32>
!d = memref<64x128xf32>
func.func @looked_at(%af: !a, %as: !as, %b: !b, %bs: !bs, %d: !d) -> !d {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%d : !d)
  // expected-note @below {{read here}}
  memref.copy %d, %e : !d to !d
  // expected-remark @below {{not converted to a GEMM op: the result may be read before it is complete}}
  linalg.generic #sum ins(%af, %as, %b, %bs : !a, !as, !b, !bs) outs(%d : !d) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %yf = arith.extf %y : f8E4M3FN to f32
      %xf = arith.extf %x : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return %e : !d
}

// -----

// The bias lies where D does: it is not added by the GEMM op.
// CHECK-LABEL: func @over_an_operand
// CHECK: fp8.blockwise_gemm {{.*}} outs(%[[SUM:.*]] : memref<1x128xf32>)
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[SUM]], %[[D:.*]] : {{.*}} outs(%[[D]] :
#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                         affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                         affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
!a = memref<1x256xf8E4M3FN>
!as = memref<2x1xf32, strided<[4, 1]>>
!b = memref<128x256xf8E4M3FN>
!bs = memref<1x2xf32>
!d = memref<1x128xf32>
func.func @over_an_operand(%af: !a, %as: !as, %b: !b, %bs: !bs, %d: !d) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%sum : !d)
  linalg.generic #sum ins(%af, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !d) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %yf = arith.extf %y : f8E4M3FN to f32
      %xf = arith.extf %x : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not part of the GEMM op: the result overwrites an operand while the GEMM op reads it}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (0, d1)>, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %d : !d, !d) outs(%d : !d) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
  }
  return
}
