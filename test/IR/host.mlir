// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @host
func.func @host(%a: memref<?x?xf8E4M3FN>) -> index {
  // CHECK: fp8.tensor_map %{{.*}} : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!tile>
  %map = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
  // CHECK: fp8.tensor_map %{{.*}} whole_units : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!tile>
  %whole = fp8.tensor_map %a whole_units : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
  // CHECK: fp8.tensor_map %{{.*}} l2_promotion 128 : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!tile>
  %promoted = fp8.tensor_map %a l2_promotion 128 : memref<?x?xf8E4M3FN> -> !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
  // CHECK: %[[FIT:.*]] = fp8.fit_rows %{{.*}} : !fp8.tensor_map<!tile>
  %fit = fp8.fit_rows %map : !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
  // CHECK: fp8.box_bytes %[[FIT]] : !fp8.tensor_map<!tile>
  %bytes = fp8.box_bytes %fit : !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
  // CHECK: %[[N:.*]] = fp8.multiprocessor_count
  %n = fp8.multiprocessor_count
  // CHECK: %{{.*}} = fp8.is_constant %{{.*}}, %{{.*}} : memref<?x?xf8E4M3FN>, memref<?x?xf8E4M3FN>
  %constant = fp8.is_constant %a, %a : memref<?x?xf8E4M3FN>, memref<?x?xf8E4M3FN>
  // CHECK: return %[[N]] : index
  return %n : index
}

// CHECK-LABEL: func.func @batch
func.func @batch(%a: memref<?x?x?xf8E4M3FN>) {
  // CHECK: fp8.tensor_map %{{.*}} : memref<?x?x?xf8E4M3FN> -> !fp8.tensor_map<!tile, rank = 3>
  %map = fp8.tensor_map %a : memref<?x?x?xf8E4M3FN> -> !fp8.tensor_map<!fp8.tile<128x128xf8E4M3FN, swizzle_128b>, rank = 3>
  return
}
