// RUN: fp8-opt %s --convert-linalg-to-fp8 -verify-diagnostics | FileCheck %s
// Operands that share memory with D or with what the ops computed on the way.

#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k floordiv 128, m)>,
                         affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>,
                         affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
!a = memref<128x128xf8E4M3FN>
!as = memref<1x128xf32>
!b = memref<128x128xf8E4M3FN>
!bs = memref<1x1xf32>
!d = memref<128x128xf32>
!part = memref<128x128xf32, strided<[128, 1], offset: ?>>

// C and D are parts of one buffer that cannot meet, wherever the first begins.
// CHECK-LABEL: func @parts_apart
// CHECK: %[[C:.*]] = memref.subview
// CHECK-NEXT: %[[D:.*]] = memref.subview
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} residual(%[[C]] : {{.*}} outs(%[[D]] :
// CHECK-NEXT: return
func.func @parts_apart(%a: !a, %as: !as, %b: !b, %bs: !bs, %all: memref<256x128xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %rows = arith.constant 128 : index
  %next = arith.addi %i, %rows : index
  %c = memref.subview %all[%i, 0] [128, 128] [1, 1] : memref<256x128xf32> to !part
  %d = memref.subview %all[%next, 0] [128, 128] [1, 1] : memref<256x128xf32> to !part
  %sum = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%sum : !d)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !d) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.add ins(%sum, %c : !d, !part) outs(%d : !part)
  return
}

// They share the rows between.
// CHECK-LABEL: func @parts_that_overlap
// CHECK: %[[SUM:.*]] = memref.alloc()
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} outs(%[[SUM]] :
// CHECK-NEXT: linalg.add ins(%[[SUM]], 
func.func @parts_that_overlap(%a: !a, %as: !as, %b: !b, %bs: !bs, %all: memref<256x128xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %rows = arith.constant 1 : index
  %next = arith.addi %i, %rows : index
  %c = memref.subview %all[%i, 0] [128, 128] [1, 1] : memref<256x128xf32> to !part
  %d = memref.subview %all[%next, 0] [128, 128] [1, 1] : memref<256x128xf32> to !part
  %sum = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%sum : !d)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !d) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not part of the GEMM op: the result overwrites an operand while the GEMM op reads it}}
  // expected-note @below {{read here}}
  linalg.add ins(%sum, %c : !d, !part) outs(%d : !part)
  return
}

// Nobody knows.
// CHECK-LABEL: func @parts_anywhere
// CHECK: %[[SUM:.*]] = memref.alloc()
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} outs(%[[SUM]] :
// CHECK-NEXT: linalg.add ins(%[[SUM]], 
func.func @parts_anywhere(%a: !a, %as: !as, %b: !b, %bs: !bs, %all: memref<256x128xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %c = memref.subview %all[%i, 0] [128, 128] [1, 1] : memref<256x128xf32> to !part
  %d = memref.subview %all[%j, 0] [128, 128] [1, 1] : memref<256x128xf32> to !part
  %sum = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%sum : !d)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !d) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not part of the GEMM op: the result overwrites an operand while the GEMM op reads it}}
  // expected-note @below {{read here}}
  linalg.add ins(%sum, %c : !d, !part) outs(%d : !part)
  return
}

// Another kind of view of the same buffer.
// CHECK-LABEL: func @another_view
// CHECK: %[[SUM:.*]] = memref.alloc()
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} outs(%[[SUM]] :
// CHECK-NEXT: linalg.add ins(%[[SUM]], 
func.func @another_view(%a: !a, %as: !as, %b: !b, %bs: !bs, %all: memref<256x128xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %c = memref.subview %all[%i, 0] [128, 128] [1, 1] : memref<256x128xf32> to !part
  %d = memref.reinterpret_cast %all to offset: [%j], sizes: [128, 128], strides: [128, 1] : memref<256x128xf32> to !part
  %sum = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%sum : !d)
  linalg.generic #sum ins(%a, %as, %b, %bs : !a, !as, !b, !bs) outs(%sum : !d) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not part of the GEMM op: the result overwrites an operand while the GEMM op reads it}}
  // expected-note @below {{read here}}
  linalg.add ins(%sum, %c : !d, !part) outs(%d : !part)
  return
}

// The upcast A is C, too: it is still computed.
// CHECK-LABEL: func @upcast_is_residual
// CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[AS:[^:]*]]: {{.*}}, %[[D:[^:,]*]]: memref<128x128xf32>)
// CHECK: %[[C:.*]] = memref.alloc()
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[A]], %[[AS]] : {{.*}} outs(%[[C]] :
// CHECK: fp8.blockwise_gemm ins(%[[A]], %[[AS]], {{.*}} residual(%[[C]] : {{.*}} outs(%[[D]] :
// CHECK-NEXT: return
func.func @upcast_is_residual(%a: !a, %as: !as, %b: !b, %bs: !bs, %d: !d) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : !d
  linalg.generic {indexing_maps = [#id, affine_map<(m, k) -> (k floordiv 128, m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %as : !a, !as) outs(%af : !d) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %sum = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%sum : !d)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                   affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%af, %b, %bs : !d, !b, !bs) outs(%sum : !d) {
    ^bb0(%x: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %yf = arith.extf %y : f8E4M3FN to f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %x, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.add ins(%sum, %af : !d, !d) outs(%d : !d)
  return
}

// And where it lies, D goes.
// CHECK-LABEL: func @upcast_is_result
// CHECK: %[[D:.*]] = memref.alloc()
// CHECK-NEXT: linalg.generic {{.*}} outs(%[[D]] :
// CHECK: fp8.blockwise_gemm {{.*}} residual(%[[D]] : {{.*}} outs(%[[D]] :
// CHECK-NEXT: return
func.func @upcast_is_result(%a: !a, %as: !as, %b: !b, %bs: !bs) {
  %zero = arith.constant 0.0 : f32
  %af = memref.alloc() : !d
  linalg.generic {indexing_maps = [#id, affine_map<(m, k) -> (k floordiv 128, m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %as : !a, !as) outs(%af : !d) {
    ^bb0(%x: f8E4M3FN, %s: f32, %out: f32):
      %y = arith.extf %x : f8E4M3FN to f32
      %z = arith.mulf %y, %s : f32
      linalg.yield %z : f32
  }
  %sum = memref.alloc() : !d
  linalg.fill ins(%zero : f32) outs(%sum : !d)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                   affine_map<(m, n, k) -> (n floordiv 128, k floordiv 128)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%af, %b, %bs : !d, !b, !bs) outs(%sum : !d) {
    ^bb0(%x: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %yf = arith.extf %y : f8E4M3FN to f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %x, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  linalg.add ins(%sum, %af : !d, !d) outs(%af : !d)
  return
}

// What the sum is multiplied by is one of its own elements.
// CHECK-LABEL: func @own_element
// CHECK: %[[SUM:.*]] = memref.alloc
// CHECK-NEXT: fp8.blockwise_gemm {{.*}} outs(%[[SUM]] :
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[SUM]], %[[SUM]] :
func.func @own_element(%a: memref<?x?xf8E4M3FN>, %as: memref<?x?xf32>, %b: memref<?x?xf8E4M3FN>, %bs: memref<?x?xf32>, %d: memref<?x?xf32>,
                       %m: index, %n: index) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.generic #sum ins(%a, %as, %b, %bs : memref<?x?xf8E4M3FN>, memref<?x?xf32>, memref<?x?xf8E4M3FN>, memref<?x?xf32>) outs(%sum : memref<?x?xf32>) {
    ^bb0(%x: f8E4M3FN, %xs: f32, %y: f8E4M3FN, %ys: f32, %out: f32):
      %xf = arith.extf %x : f8E4M3FN to f32
      %yf = arith.extf %y : f8E4M3FN to f32
      %p = arith.mulf %xf, %xs : f32
      %q = arith.mulf %yf, %ys : f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %out, %r : f32
      linalg.yield %s : f32
  }
  // expected-remark @below {{not part of the GEMM op: other ops also read the result before this op}}
  // expected-note @below {{read here}}
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (0, 0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %sum : memref<?x?xf32>, memref<?x?xf32>) outs(%d : memref<?x?xf32>) {
    ^bb0(%x: f32, %first: f32, %out: f32):
      %y = arith.mulf %x, %first : f32
      linalg.yield %y : f32
  }
  return
}
