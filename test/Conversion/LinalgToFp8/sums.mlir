// RUN: fp8-opt %s --convert-linalg-to-fp8 -split-input-file -verify-diagnostics | FileCheck %s
// A sum may be a factor of what is added up. One over the elements of a K block is opened, since what multiplies it multiplies each of them; a
// second one is not, for the product of two sums is more than the sum of products. A sum that has nothing to do with f8 is a number as any other.

// CHECK-LABEL: func @scales_summed_up
// CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[PARTS:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[BS:[^:]*]]: {{[^%]*}}%[[D:[^:]*]]:
// CHECK: %[[AS:.*]] = memref.alloc() : memref<2x128xf32>
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[AS]] :
// CHECK-NEXT: linalg.reduce {{.*}} ins(%[[PARTS]] : {{.*}} outs(%[[AS]] :
// CHECK: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[B]], %[[BS]] : {{.*}}) outs(%[[D]] : memref<128x128xf32>)
// CHECK-NEXT: return
func.func @scales_summed_up(%a: memref<128x256xf8E4M3FN>, %parts: memref<2x128x4xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>,
                            %d: memref<128x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %as = memref.alloc() : memref<2x128xf32>
  linalg.fill ins(%zero : f32) outs(%as : memref<2x128xf32>)
  linalg.reduce { arith.addf } ins(%parts : memref<2x128x4xf32>) outs(%as : memref<2x128xf32>) dimensions = [2]
  %a3 = memref.expand_shape %a [[0], [1, 2]] output_shape [128, 2, 128] : memref<128x256xf8E4M3FN> into memref<128x2x128xf8E4M3FN>
  %b3 = memref.expand_shape %b [[0], [1, 2]] output_shape [128, 2, 128] : memref<128x256xf8E4M3FN> into memref<128x2x128xf8E4M3FN>
  %sums = memref.alloc() : memref<2x128x128xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<2x128x128xf32>)
  linalg.contract indexing_maps = [affine_map<(kb, m, n, k) -> (m, kb, k)>, affine_map<(kb, m, n, k) -> (n, kb, k)>,
                                   affine_map<(kb, m, n, k) -> (kb, m, n)>]
      ins(%a3, %b3 : memref<128x2x128xf8E4M3FN>, memref<128x2x128xf8E4M3FN>) outs(%sums : memref<2x128x128xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<128x128xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, kb) -> (kb, m, n)>, affine_map<(m, n, kb) -> (kb, m)>,
                                   affine_map<(m, n, kb) -> (n floordiv 128, kb)>, affine_map<(m, n, kb) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%sums, %as, %bs : memref<2x128x128xf32>, memref<2x128xf32>, memref<1x2xf32>) outs(%d : memref<128x128xf32>) {
    ^bb0(%x: f32, %xs: f32, %ys: f32, %out: f32):
      %p = arith.mulf %x, %xs : f32
      %q = arith.mulf %p, %ys : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func @both_operands
// CHECK-NOT: fp8.blockwise_gemm
func.func @both_operands(%a: memref<64x512xf8E4M3FN>, %as: memref<4x64xf32>, %b: memref<128x512xf8E4M3FN>, %bs: memref<1x4xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %a3 = memref.expand_shape %a [[0], [1, 2]] output_shape [64, 4, 128] : memref<64x512xf8E4M3FN> into memref<64x4x128xf8E4M3FN>
  %b3 = memref.expand_shape %b [[0], [1, 2]] output_shape [128, 4, 128] : memref<128x512xf8E4M3FN> into memref<128x4x128xf8E4M3FN>
  %asum = memref.alloc() : memref<64x4xf32>
  %bsum = memref.alloc() : memref<128x4xf32>
  linalg.fill ins(%zero : f32) outs(%asum : memref<64x4xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies f8 elements of 1 operands; the GEMM op multiplies two, A and B}}
  linalg.generic {indexing_maps = [affine_map<(m, kb, k) -> (m, kb, k)>, affine_map<(m, kb, k) -> (m, kb)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a3 : memref<64x4x128xf8E4M3FN>) outs(%asum : memref<64x4xf32>) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %s = arith.addf %out, %y : f32
      linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%bsum : memref<128x4xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies f8 elements of 1 operands; the GEMM op multiplies two, A and B}}
  // expected-note @below {{the second sum}}
  linalg.generic {indexing_maps = [affine_map<(n, kb, k) -> (n, kb, k)>, affine_map<(n, kb, k) -> (n, kb)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b3 : memref<128x4x128xf8E4M3FN>) outs(%bsum : memref<128x4xf32>) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %s = arith.addf %out, %y : f32
      linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies sums of K blocks with one another; the GEMM op multiplies elements}}
  linalg.generic {indexing_maps = [affine_map<(m, n, kb) -> (m, kb)>, affine_map<(m, n, kb) -> (kb, m)>, affine_map<(m, n, kb) -> (n, kb)>,
                                   affine_map<(m, n, kb) -> (n floordiv 128, kb)>, affine_map<(m, n, kb) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%asum, %as, %bsum, %bs : memref<64x4xf32>, memref<4x64xf32>, memref<128x4xf32>, memref<1x4xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f32, %xs: f32, %y: f32, %ys: f32, %out: f32):
      %p = arith.mulf %x, %xs : f32
      %q = arith.mulf %y, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// The op sums up within the blocks itself, with a factor that did so before.
// CHECK-LABEL: func @one_operand
// CHECK-NOT: fp8.blockwise_gemm
func.func @one_operand(%a: memref<128x256xf8E4M3FN>, %as: memref<2x128xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<128x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %a3 = memref.expand_shape %a [[0], [1, 2]] output_shape [128, 2, 128] : memref<128x256xf8E4M3FN> into memref<128x2x128xf8E4M3FN>
  %b3 = memref.expand_shape %b [[0], [1, 2]] output_shape [128, 2, 128] : memref<128x256xf8E4M3FN> into memref<128x2x128xf8E4M3FN>
  %asum = memref.alloc() : memref<128x2xf32>
  linalg.fill ins(%zero : f32) outs(%asum : memref<128x2xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies f8 elements of 1 operands; the GEMM op multiplies two, A and B}}
  // expected-note @below {{the second sum}}
  linalg.generic {indexing_maps = [affine_map<(m, kb, k) -> (m, kb, k)>, affine_map<(m, kb, k) -> (m, kb)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a3 : memref<128x2x128xf8E4M3FN>) outs(%asum : memref<128x2xf32>) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %s = arith.addf %out, %y : f32
      linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%d : memref<128x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies sums of K blocks with one another; the GEMM op multiplies elements}}
  linalg.generic {indexing_maps = [affine_map<(m, n, kb, k) -> (m, kb)>, affine_map<(m, n, kb, k) -> (kb, m)>, affine_map<(m, n, kb, k) -> (n, kb, k)>,
                                   affine_map<(m, n, kb, k) -> (n floordiv 128, kb)>, affine_map<(m, n, kb, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%asum, %as, %b3, %bs : memref<128x2xf32>, memref<2x128xf32>, memref<128x2x128xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<128x128xf32>) {
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

// A loop that is neither of an axis nor a reduction, in the outer op and in the inner one; a reduction that is of an axis.
// CHECK-LABEL: func @odd_loops
// CHECK-NOT: fp8.blockwise_gemm
func.func @odd_loops(%a: memref<128x128xf8E4M3FN>, %as: memref<1x128xf32>, %seven: memref<7xf32>, %d: memref<128x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %a3 = memref.expand_shape %a [[0], [1, 2]] output_shape [128, 1, 128] : memref<128x128xf8E4M3FN> into memref<128x1x128xf8E4M3FN>
  %asum = memref.alloc() : memref<128x1xf32>
  linalg.fill ins(%zero : f32) outs(%asum : memref<128x1xf32>)
  // expected-remark @below {{not converted to a GEMM op: its result has 2 axes; the result of the GEMM op has the axes m and n, in a batch after l, with one loop for each}}
  linalg.generic {indexing_maps = [affine_map<(m, kb, p, k) -> (m, kb, k)>, affine_map<(m, kb, p, k) -> (p)>, affine_map<(m, kb, p, k) -> (m, kb)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a3, %seven : memref<128x1x128xf8E4M3FN>, memref<7xf32>) outs(%asum : memref<128x1xf32>) {
    ^bb0(%x: f8E4M3FN, %u: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %u : f32
      %s = arith.addf %out, %z : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, kb) -> (m, kb)>, affine_map<(m, n, kb) -> (kb, m)>, affine_map<(m, n, kb) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%asum, %as : memref<128x1xf32>, memref<1x128xf32>) outs(%d : memref<128x128xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not converted to a GEMM op: it is not a sum of products that one arith.addf adds to a result without the reduction's axis}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, k)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : memref<128x128xf8E4M3FN>, memref<128x128xf8E4M3FN>) outs(%d : memref<128x128xf32>) {
    ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %yf : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// The products are reduced, but in another way.
// CHECK-LABEL: func @no_sums
// CHECK-NOT: fp8.blockwise_gemm
#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
func.func @no_sums(%a: memref<128x128xf8E4M3FN>, %d: memref<128x128xf32>, %e: memref<128x128xbf16>) {
  // expected-remark @below {{not converted to a GEMM op: it is not a sum of products that one arith.addf adds to a result without the reduction's axis}}
  linalg.generic #product ins(%a, %a : memref<128x128xf8E4M3FN>, memref<128x128xf8E4M3FN>) outs(%d : memref<128x128xf32>) {
    ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %yf : f32
      %s = arith.maximumf %out, %p : f32
      linalg.yield %s : f32
  }
  // Each partial sum is rounded.
  // expected-remark @below {{not converted to a GEMM op: it is not a sum of products that one arith.addf adds to a result without the reduction's axis}}
  linalg.generic #product ins(%a, %a : memref<128x128xf8E4M3FN>, memref<128x128xf8E4M3FN>) outs(%e : memref<128x128xbf16>) {
    ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %out: bf16):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %wide = arith.extf %out : bf16 to f32
      %p = arith.mulf %xf, %yf : f32
      %s = arith.addf %wide, %p : f32
      %r = arith.truncf %s : f32 to bf16
      linalg.yield %r : bf16
  }
  return
}

// -----

// The second sum is within the first.
// CHECK-LABEL: func @nested
// CHECK-NOT: fp8.blockwise_gemm
func.func @nested(%a: memref<128x2x128xf8E4M3FN>, %as: memref<2x128xf32>, %b: memref<128x2x128x4xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<128x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %bsum = memref.alloc() : memref<128x2x128xf32>
  linalg.fill ins(%zero : f32) outs(%bsum : memref<128x2x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies f8 elements of 1 operands; the GEMM op multiplies two, A and B}}
  // expected-note @below {{the second sum}}
  linalg.generic {indexing_maps = [affine_map<(n, kb, k, j) -> (n, kb, k, j)>, affine_map<(n, kb, k, j) -> (n, kb, k)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%b : memref<128x2x128x4xf8E4M3FN>) outs(%bsum : memref<128x2x128xf32>) {
    ^bb0(%x: f8E4M3FN, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %s = arith.addf %out, %y : f32
      linalg.yield %s : f32
  }
  %sums = memref.alloc() : memref<2x128x128xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<2x128x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it reads A at [m, l, k floordiv 4], but the GEMM op reads at [l, m, k]}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(kb, m, n, k) -> (m, kb, k)>, affine_map<(kb, m, n, k) -> (n, kb, k)>, affine_map<(kb, m, n, k) -> (kb, m, n)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %bsum : memref<128x2x128xf8E4M3FN>, memref<128x2x128xf32>) outs(%sums : memref<2x128x128xf32>) {
    ^bb0(%x: f8E4M3FN, %y: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %p = arith.mulf %xf, %y : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%d : memref<128x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies sums of K blocks with one another; the GEMM op multiplies elements}}
  linalg.generic {indexing_maps = [affine_map<(m, n, kb) -> (kb, m, n)>, affine_map<(m, n, kb) -> (kb, m)>, affine_map<(m, n, kb) -> (n floordiv 128, kb)>,
                                   affine_map<(m, n, kb) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%sums, %as, %bs : memref<2x128x128xf32>, memref<2x128xf32>, memref<1x2xf32>) outs(%d : memref<128x128xf32>) {
    ^bb0(%x: f32, %xs: f32, %ys: f32, %out: f32):
      %p = arith.mulf %x, %xs : f32
      %q = arith.mulf %p, %ys : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
  }
  return
}
