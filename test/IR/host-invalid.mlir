// RUN: fp8-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: memref<?xf32>) {
  // expected-error @below {{the source must be a 2-D memref of 'f32' (H1), but got 'memref<?xf32>'}}
  %map = fp8.tensor_map %a : memref<?xf32> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

func.func @stride(%a: memref<4x129xf32>) {
  // expected-error @below {{the rows of the source must be a multiple of 16 bytes apart (H2), but are 516; pad them by a strided layout}}
  %map = fp8.tensor_map %a : memref<4x129xf32> -> !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}
