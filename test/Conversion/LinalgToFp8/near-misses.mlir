// RUN: fp8-opt %s --convert-linalg-to-fp8 -split-input-file -verify-diagnostics | FileCheck %s
// What is almost a GEMM stays as it is, and a remark says why.

// CHECK-NOT: fp8.blockwise_gemm

func.func @block_of_32(%a: memref<64x256xf8E4M3FN>, %as: memref<8x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it reads the scales of A at [k floordiv 32, m], but the GEMM op reads at [k floordiv 128, m]}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 32, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<8x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
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

func.func @b_block_of_32(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<4x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it reads the scales of B at [n floordiv 32, k floordiv 128], but the GEMM op reads at [n floordiv 128, k floordiv 128]}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 32, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<4x2xf32>) outs(%d : memref<64x128xf32>) {
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

func.func @wrong_axis(%a: memref<64x256xf8E4M3FN>, %as: memref<1x256xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it reads the scales of A at [m floordiv 128, k], but the GEMM op reads at [k floordiv 128, m]}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m floordiv 128, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<1x256xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
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

func.func @f8E5M2(%a: memref<64x256xf8E5M2>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: an operand has elements of f8E5M2; the GEMM op multiplies f8E4M3FN}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E5M2>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E5M2, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E5M2 to f32
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

func.func @f8E4M3FNUZ(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FNUZ>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: an operand has elements of f8E4M3FNUZ; the GEMM op multiplies f8E4M3FN}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FNUZ>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FNUZ, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FNUZ to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// What the op's own rules refuse is said in their words.
func.func @k_of_40(%a: memref<64x40xf8E4M3FN>, %as: memref<1x64xf32>, %b: memref<128x40xf8E4M3FN>, %bs: memref<1x1xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: 'fp8.blockwise_gemm' op K must be a multiple of 16 (G4), but got 40}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x40xf8E4M3FN>, memref<1x64xf32>, memref<128x40xf8E4M3FN>, memref<1x1xf32>) outs(%d : memref<64x128xf32>) {
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

// The scales of A as M x K blocks, whose rows along M are not contiguous.
func.func @scales_by_row(%a: memref<64x256xf8E4M3FN>, %as: memref<64x2xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: 'fp8.blockwise_gemm' op the rows of 'a_scale' must be contiguous (G2), but got 'memref<2x64xf32, strided<[1, 2]>>'}}
  // expected-note @below {{read here at [m, k floordiv 128], so the pass uses a transposed view}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, k floordiv 128)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<64x2xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
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

// B of K x N.
func.func @k_by_n(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<256x128xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: 'fp8.blockwise_gemm' op the rows of 'b' must be contiguous (G1), but got 'memref<128x256xf8E4M3FN, strided<[1, 128]>>'}}
  // expected-note @below {{read here at [k, n], so the pass uses a transposed view}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<256x128xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
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

func.func @strided_rows(%a: memref<64x256xf8E4M3FN, strided<[?, ?]>>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: 'fp8.blockwise_gemm' op the rows of 'a' must be contiguous (G1), but got 'memref<64x256xf8E4M3FN, strided<[?, ?]>>'}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN, strided<[?, ?]>>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
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

// One B for a whole batch.
func.func @shared_b(%a: memref<8x64x256xf8E4M3FN>, %as: memref<8x2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<8x1x2xf32>, %d: memref<8x64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<8x64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it reads B at [n, k], but the GEMM op reads at [l, n, k]}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [affine_map<(l, m, n, k) -> (l, m, k)>, affine_map<(l, m, n, k) -> (l, k floordiv 128, m)>, affine_map<(l, m, n, k) -> (n, k)>, affine_map<(l, m, n, k) -> (l, n floordiv 128, k floordiv 128)>, affine_map<(l, m, n, k) -> (l, m, n)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<8x64x256xf8E4M3FN>, memref<8x2x64xf32>, memref<128x256xf8E4M3FN>, memref<8x1x2xf32>) outs(%d : memref<8x64x128xf32>) {
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

// Scaled operands in bf16: they are rounded before they are multiplied.
func.func @in_bf16(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it multiplies in bf16, but the GEMM op computes in f32}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to bf16
      %yf = arith.extf %y : f8E4M3FN to f32
      %xb = arith.truncf %xs : f32 to bf16
      // expected-note @below {{multiplied here}}
      %p = arith.mulf %xf, %xb : bf16
      %pf = arith.extf %p : bf16 to f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %pf, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

func.func @zero_point(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: a factor in the sum is neither read from memory nor a product; the GEMM op multiplies A and B by their scales}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %one = arith.constant 1.0 : f32
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      // expected-note @below {{the factor}}
      %xz = arith.subf %xf, %one : f32
      %p = arith.mulf %xz, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

func.func @no_scales(%a: memref<64x256xf8E4M3FN>, %as: memref<2x64xf32>, %b: memref<128x256xf8E4M3FN>, %bs: memref<1x2xf32>, %d: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<64x128xf32>)
  // expected-remark @below {{not converted to a GEMM op: it has no scales of B, which the GEMM op reads for each block}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : memref<64x256xf8E4M3FN>, memref<2x64xf32>, memref<128x256xf8E4M3FN>, memref<1x2xf32>) outs(%d : memref<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %r = arith.mulf %p, %yf : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  return
}

// -----

// Added up in f16.
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @in_f16(%a: memref<64x256xf8E4M3FN>, %b: memref<256x128xf8E4M3FN>, %d: memref<64x128xf16>) {
  // expected-remark @below {{not converted to a GEMM op: it multiplies in f16, but the GEMM op computes in f32}}
  // expected-note @below {{multiplied here}}
  linalg.matmul ins(%a, %b : memref<64x256xf8E4M3FN>, memref<256x128xf8E4M3FN>) outs(%d : memref<64x128xf16>)
  return
}

// -----

// A product or sum that has nothing to do with f8 is none of ours: no remark.
func.func @other(%a: memref<64x256xf32>, %b: memref<256x128xf32>, %d: memref<64x128xf32>, %e: memref<64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x256xf32>, memref<256x128xf32>) outs(%d : memref<64x128xf32>)
  linalg.reduce { arith.addf } ins(%a : memref<64x256xf32>) outs(%e : memref<64xf32>) dimensions = [1]
  return
}
