// Ops that resemble a GEMM and lose something if they become one.
// RUN: fp8-opt %s --convert-linalg-to-fp8 -split-input-file -verify-diagnostics | FileCheck %s

// A and B are read reshaped, and not to the end: the weight's extent is that of the reduction.
// CHECK-LABEL: func.func @part_of_k
// CHECK-NOT: fp8.blockwise_gemm
func.func @part_of_k(%a: memref<64x512xf8E4M3FN>, %as: memref<4x64xf32>, %b: memref<128x512xf8E4M3FN>, %bs: memref<1x4xf32>,
                     %d: memref<64x128xf32>, %w: memref<256xf32>) {
  // expected-remark @below {{not converted to a GEMM op: its reductions run through 256 elements of K, and A has 512; the GEMM op adds up all of K}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, (k floordiv 128) * 128 + k mod 128)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, (k floordiv 128) * 128 + k mod 128)>,
                                   affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (k)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs, %w : memref<64x512xf8E4M3FN>, memref<4x64xf32>, memref<128x512xf8E4M3FN>, memref<1x4xf32>, memref<256xf32>)
      outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %ww: f32, %out: f32):
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

// -----

// CHECK-LABEL: func.func @part_of_any_k
// CHECK-NOT: fp8.blockwise_gemm
func.func @part_of_any_k(%a: memref<64x?xf8E4M3FN>, %as: memref<4x64xf32>, %b: memref<128x?xf8E4M3FN>, %bs: memref<1x4xf32>,
                     %d: memref<64x128xf32>, %w: memref<256xf32>) {
  // expected-remark @below {{not converted to a GEMM op: its reductions run through 256 elements of K, and A has ?, so that they may end before; the GEMM op adds up all of K}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, (k floordiv 128) * 128 + k mod 128)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, (k floordiv 128) * 128 + k mod 128)>,
                                   affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (k)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs, %w : memref<64x?xf8E4M3FN>, memref<4x64xf32>, memref<128x?xf8E4M3FN>, memref<1x4xf32>, memref<256xf32>)
      outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %ww: f32, %out: f32):
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

// -----

// What else the body does.
// CHECK-LABEL: func.func @effect
// CHECK: linalg.generic
// CHECK: call @seen
func.func private @seen(f32)
func.func @effect(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  // expected-remark @below {{not converted to a GEMM op: its body accesses memory or has other effects, which the GEMM op would lose}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      func.call @seen(%r) : (f32) -> ()
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// A step behind the sum stores the sums, too.
// CHECK-LABEL: func.func @effect_behind
// CHECK: fp8.blockwise_gemm
// CHECK: linalg.generic
// CHECK: memref.store
func.func @effect_behind(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>,
                         %d: memref<64x128xf32>, %last: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f32):
      memref.store %x, %last[%c0] : memref<1xf32>
      %y = arith.maximumf %x, %zero : f32
      linalg.yield %y : f32
  }
  return
}

// -----

// A layout without strides.
// CHECK-LABEL: func.func @no_strides
// CHECK-NOT: fp8.blockwise_gemm
func.func @no_strides(%a: memref<256x64xf8E4M3FN, affine_map<(i, j) -> (j floordiv 2, i)>>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>,
                      %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: the layout of memref<256x64xf8E4M3FN, affine_map<(d0, d1) -> (d1 floordiv 2, d0)>> has no strides, which the GEMM op needs}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  // expected-note @above {{this memref}}
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<256x64xf8E4M3FN, affine_map<(i, j) -> (j floordiv 2, i)>>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
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

// -----

// An op that writes nothing.
// CHECK-LABEL: func.func @no_result
func.func @no_result(%a: memref<64x256xf8E4M3FN>) {
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>], iterator_types = ["reduction", "reduction"]} ins(%a : memref<64x256xf8E4M3FN>) {
    ^bb0(%x: f8E4M3FN):
      linalg.yield
  }
  return
}

// -----

// The GEMM op is lowered in host functions.
// CHECK-LABEL: gpu.func @in_kernel
// CHECK: linalg.generic
gpu.module @kernels {
gpu.func @in_kernel(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>,
                    %d: memref<64x128xf32>) kernel {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  gpu.return
}
}
