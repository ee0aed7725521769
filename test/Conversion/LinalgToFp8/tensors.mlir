// RUN: fp8-opt %s --convert-linalg-to-fp8 -split-input-file -verify-diagnostics | FileCheck %s
// Linalg on tensors: operands that are tensors of memrefs, and tensors that become memrefs later; a result that goes to a memref.

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @upcast
// CHECK-SAME: %[[A:[^:]*]]: memref<?x?xf8E4M3FN>, %[[AS:[^:]*]]: memref<?x?xf32>, %[[B:[^:]*]]: tensor<384x512xf8E4M3FN>, %[[BS:[^:]*]]: tensor<3x4xf32>, %[[D:[^:]*]]: memref<?x384xbf16>)
// CHECK-NEXT: %[[BB:.*]] = bufferization.to_buffer %[[B]] read_only : tensor<384x512xf8E4M3FN> to memref<384x512xf8E4M3FN>
// CHECK-NEXT: %[[BSB:.*]] = bufferization.to_buffer %[[BS]] read_only : tensor<3x4xf32> to memref<3x4xf32>
// CHECK-NEXT: fp8.blockwise_gemm ins(%[[A]], %[[AS]], %[[BB]], %[[BSB]] :
// CHECK-SAME: outs(%[[D]] : memref<?x384xbf16>)
// CHECK-NEXT: return
func.func @upcast(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: tensor<384x512xf8E4M3FN>, %bs: tensor<3x4xf32>, %d: memref<?x384xbf16>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %at = bufferization.to_tensor %a restrict : memref<?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
  %ast = bufferization.to_tensor %as restrict : memref<?x?xf32> to tensor<?x?xf32>
  %m = tensor.dim %at, %c0 : tensor<?x?xf8E4M3FN>
  %ae = tensor.empty(%m) : tensor<?x512xf32>
  %a512 = tensor.cast %at : tensor<?x?xf8E4M3FN> to tensor<?x512xf8E4M3FN>
  %as4 = tensor.cast %ast : tensor<?x?xf32> to tensor<4x?xf32>
  %af = linalg.generic {indexing_maps = [#id, affine_map<(m, k) -> (k floordiv 128, m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a512, %as4 : tensor<?x512xf8E4M3FN>, tensor<4x?xf32>) outs(%ae : tensor<?x512xf32>) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  } -> tensor<?x512xf32>
  // As StableHLO has it: scales broadcast and reshaped, operands converted, both multiplied.
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
  %sum = linalg.matmul ins(%af, %bt : tensor<?x512xf32>, tensor<512x384xf32>) outs(%zeros : tensor<?x384xf32>) -> tensor<?x384xf32>
  %he = tensor.empty(%m) : tensor<?x384xbf16>
  %half = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<?x384xf32>) outs(%he : tensor<?x384xbf16>) {
    ^bb0(%x: f32, %out: bf16):
      %y = arith.truncf %x : f32 to bf16
      linalg.yield %y : bf16
  } -> tensor<?x384xbf16>
  bufferization.materialize_in_destination %half in restrict writable %d : (tensor<?x384xbf16>, memref<?x384xbf16>) -> ()
  return
}

// -----

// CHECK-LABEL: func @returned
// CHECK-NOT: fp8.blockwise_gemm
func.func @returned(%a: tensor<64x128xf8E4M3FN>, %as: tensor<1x64xf32>, %b: tensor<128x128xf8E4M3FN>, %bs: tensor<1x1xf32>) -> tensor<64x128xf32> {
  %zeros = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-remark @below {{not converted to a GEMM op: its result is a tensor that is not written to a memref; end with bufferization.materialize_in_destination, or bufferize first}}
  // expected-note @below {{the result}}
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<64x128xf8E4M3FN>, tensor<1x64xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%zeros : tensor<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  } -> tensor<64x128xf32>
  return %sum : tensor<64x128xf32>
}

// -----

// CHECK-LABEL: func @unrestricted
// CHECK-NOT: fp8.blockwise_gemm
func.func @unrestricted(%am: memref<64x128xf8E4M3FN>, %as: tensor<1x64xf32>, %b: tensor<128x128xf8E4M3FN>, %bs: tensor<1x1xf32>, %d: memref<64x128xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-note @below {{the tensor}}
  %a = bufferization.to_tensor %am : memref<64x128xf8E4M3FN> to tensor<64x128xf8E4M3FN>
  // expected-remark @below {{not converted to a GEMM op: an operand is a tensor of a memref that other ops may write; add 'restrict'}}
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<64x128xf8E4M3FN>, tensor<1x64xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%zeros : tensor<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  } -> tensor<64x128xf32>
  bufferization.materialize_in_destination %sum in restrict writable %d : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func @collapsed
// CHECK-NOT: fp8.blockwise_gemm
func.func @collapsed(%a: tensor<64x128xf8E4M3FN>, %as: tensor<1x64xf32>, %b: tensor<128x128xf8E4M3FN>, %bs: tensor<1x1xf32>, %d: memref<8192xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-remark @below {{not converted to a GEMM op: the sum has 2 axes, but its result has 1}}
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<64x128xf8E4M3FN>, tensor<1x64xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%zeros : tensor<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  } -> tensor<64x128xf32>
  // expected-note @below {{the result}}
  %flat = tensor.collapse_shape %sum [[0, 1]] : tensor<64x128xf32> into tensor<8192xf32>
  bufferization.materialize_in_destination %flat in restrict writable %d : (tensor<8192xf32>, memref<8192xf32>) -> ()
  return
}

// -----

// What a tensor lies in is gone where the GEMM op would read it: of a part, and of all.
// CHECK-LABEL: func @freed
// CHECK-NOT: fp8.blockwise_gemm
func.func @freed(%am: memref<128x128xf8E4M3FN>, %asm: memref<4x128xf32>, %b: tensor<128x128xf8E4M3FN>, %bs: tensor<1x1xf32>,
                 %d: memref<128x128xf32>, %e: memref<128x128xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = bufferization.to_tensor %am restrict : memref<128x128xf8E4M3FN> to tensor<128x128xf8E4M3FN>
  %all = bufferization.to_tensor %asm restrict : memref<4x128xf32> to tensor<4x128xf32>
  %as = tensor.extract_slice %all[1, 0] [1, 128] [1, 1] : tensor<4x128xf32> to tensor<1x128xf32>
  // expected-remark @below {{not converted to a GEMM op: an operand may be overwritten or freed between the op that reads it and the last replaced op, where the GEMM op would read it}}
  // expected-note @below {{read here}}
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<128x128xf8E4M3FN>, tensor<1x128xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%zeros : tensor<128x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  } -> tensor<128x128xf32>
  // expected-note @below {{written or freed here}}
  memref.dealloc %asm : memref<4x128xf32>
  bufferization.materialize_in_destination %sum in restrict writable %d : (tensor<128x128xf32>, memref<128x128xf32>) -> ()
  // expected-remark @below {{not converted to a GEMM op: an operand may be overwritten or freed between the op that reads it and the last replaced op, where the GEMM op would read it}}
  // expected-note @below {{read here}}
  %other = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<128x128xf8E4M3FN>, tensor<1x128xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%zeros : tensor<128x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  } -> tensor<128x128xf32>
  // expected-note @below {{written or freed here}}
  memref.dealloc %am : memref<128x128xf8E4M3FN>
  bufferization.materialize_in_destination %other in restrict writable %e : (tensor<128x128xf32>, memref<128x128xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func @in_a_loop
// CHECK-NOT: fp8.blockwise_gemm
func.func @in_a_loop(%am: memref<64x128xf8E4M3FN>, %as: tensor<1x64xf32>, %b: tensor<128x128xf8E4M3FN>, %bs: tensor<1x1xf32>, %d: memref<64x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64x128xf32>
  // expected-note @below {{the tensor}}
  %a = bufferization.to_tensor %am restrict : memref<64x128xf8E4M3FN> to tensor<64x128xf8E4M3FN>
  scf.for %i = %c0 to %n step %c1 {
    // expected-remark @below {{not converted to a GEMM op: an operand is a tensor of a memref in another block}}
    %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<64x128xf8E4M3FN>, tensor<1x64xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%zeros : tensor<64x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    bufferization.materialize_in_destination %sum in restrict writable %d : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
    memref.dealloc %am : memref<64x128xf8E4M3FN>
  }
  return
}

// -----

// C may be what D becomes; a bias may not be a part of that. Another result that is written before is none of theirs.
// CHECK-LABEL: func @in_place
// CHECK-SAME: %[[D:[^:]*]]: memref<128x128xf32>, %[[E:[^:]*]]: memref<128x128xf32>)
// CHECK: fp8.blockwise_gemm {{.*}} residual(%[[D]] : {{.*}} outs(%[[D]] :
// CHECK-NEXT: linalg.generic
// CHECK-NOT: fp8.blockwise_gemm
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @in_place(%am: memref<128x128xf8E4M3FN>, %as: tensor<1x128xf32>, %b: tensor<128x128xf8E4M3FN>, %bs: tensor<1x1xf32>,
                    %d: memref<128x128xf32>, %e: memref<128x128xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = bufferization.to_tensor %am restrict : memref<128x128xf8E4M3FN> to tensor<128x128xf8E4M3FN>
  %c = bufferization.to_tensor %d restrict : memref<128x128xf32> to tensor<128x128xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<128x128xf8E4M3FN>, tensor<1x128xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%c : tensor<128x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  } -> tensor<128x128xf32>
  bufferization.materialize_in_destination %sum in restrict writable %d : (tensor<128x128xf32>, memref<128x128xf32>) -> ()
  // expected-remark @below {{not converted to a GEMM op: the result overwrites an operand while the GEMM op reads it}}
  %other = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                                   affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %as, %b, %bs : tensor<128x128xf8E4M3FN>, tensor<1x128xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>)
      outs(%zeros : tensor<128x128xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  } -> tensor<128x128xf32>
  %old = bufferization.to_tensor %e restrict : memref<128x128xf32> to tensor<128x128xf32>
  %bias = tensor.extract_slice %old[0, 0] [1, 128] [1, 1] : tensor<128x128xf32> to tensor<1x128xf32>
  // expected-note @below {{read here}}
  %biased = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (0, d1)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%other, %bias : tensor<128x128xf32>, tensor<1x128xf32>) outs(%zeros : tensor<128x128xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
  } -> tensor<128x128xf32>
  bufferization.materialize_in_destination %biased in restrict writable %e : (tensor<128x128xf32>, memref<128x128xf32>) -> ()
  return
}
