// RUN: fp8-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: memref<?xf32>) {
  // expected-error @below {{the source must be a 2-D memref of 'f32' (H1), but got 'memref<?xf32>'}}
  %map = fp8.tensor_map %a : memref<?xf32> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

func.func @stride(%a: memref<4x129xf32>) {
  // expected-error @below {{the rows of the source must be a multiple of 16 bytes apart, because TMA copies them (H2), but are 516; pad them by a strided layout}}
  %map = fp8.tensor_map %a : memref<4x129xf32> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

func.func @far_apart(%a: memref<4x128xf32, strided<[4611686018427387904, 1]>>) {
  // expected-error @below {{the rows of the source must be less than 2^40 bytes apart, and none before the other, because TMA copies them (H2), but are 4611686018427387904 elements apart}}
  %map = fp8.tensor_map %a : memref<4x128xf32, strided<[4611686018427387904, 1]>> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

func.func @backwards(%a: memref<4x128xf32, strided<[-128, 1]>>) {
  // expected-error @below {{the rows of the source must be less than 2^40 bytes apart, and none before the other, because TMA copies them (H2), but are -128 elements apart}}
  %map = fp8.tensor_map %a : memref<4x128xf32, strided<[-128, 1]>> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

func.func @batch_rank(%a: memref<?x?xf32>) {
  // expected-error @below {{the source must be a 3-D memref of 'f32' (H1), but got 'memref<?x?xf32>'}}
  %map = fp8.tensor_map %a : memref<?x?xf32> -> !fp8.tensor_map<!fp8.tile<1x128xf32>, rank = 3>
  return
}

// -----

func.func @batch_stride(%a: memref<2x4x128xf32, strided<[514, 128, 1]>>) {
  // expected-error @below {{the matrices of the source must be a multiple of 16 bytes apart, because TMA copies them (H2), but are 2056; pad them by a strided layout}}
  %map = fp8.tensor_map %a : memref<2x4x128xf32, strided<[514, 128, 1]>> -> !fp8.tensor_map<!fp8.tile<1x128xf32>, rank = 3>
  return
}

// -----

// expected-error @below {{the tensor of a tensor map has 2 to 5 dimensions (PTX ISA, tensors), but got 6}}
func.func private @six(!fp8.tensor_map<!fp8.tile<1x128xf32>, rank = 6>)

// -----

func.func @promotion(%a: memref<?x?xf32>) {
  // expected-error @below {{attribute 'l2_promotion' failed to satisfy constraint: 64-bit signless integer attribute whose value is one of {64, 128, 256}}}
  %map = fp8.tensor_map %a l2_promotion 32 : memref<?x?xf32> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

func.func @nothing() -> i32 {
  // expected-error @below {{needs at least one source (H3)}}
  %constant = "fp8.is_constant"() : () -> i32
  return %constant : i32
}

// -----

!map = !fp8.tensor_map<!fp8.tile<64x128xf8E4M3FN, swizzle_128b>>
func.func @fitted_twice(%a: memref<?x?xf8E4M3FN>) -> i32 {
  %map = fp8.tensor_map %a : memref<?x?xf8E4M3FN> -> !map
  // expected-note @below {{the map}}
  %fit = fp8.fit_rows %map : !map
  // expected-error @below {{takes a map whose boxes fit already (H7); use the operand in place of the result}}
  %again = fp8.fit_rows %fit : !map
  %bytes = fp8.box_bytes %again : !map
  return %bytes : i32
}
