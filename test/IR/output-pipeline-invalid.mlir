// RUN: fp8-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{an accumulator has 64 or 128 rows (O1), but got 32}}
func.func private @rows(!fp8.mma_warp<!fp8.output_pipeline<2, 32x128xf32>>)

// -----

// expected-error @below {{an accumulator of 128 rows has a multiple of 16 columns up to 256 (O2), but got 40}}
func.func private @columns(!fp8.mma_warp<!fp8.output_pipeline<2, 128x40xf32>>)

// -----

// expected-error @below {{5 stages of 128 columns do not fit the 512 columns of tensor memory (O3); at most 4 stages do}}
func.func private @stages(!fp8.mma_warp<!fp8.output_pipeline<5, 128x128xf32>>)

// -----

// Stages begin at multiples of 16 columns: those of 24 take 32.
func.func private @even_stages(!fp8.mma_warp<!fp8.output_pipeline<16, 64x24xf32>>)
// expected-error @below {{17 stages of 32 columns do not fit the 512 columns of tensor memory (O3); at most 16 stages do}}
func.func private @odd_stages(!fp8.mma_warp<!fp8.output_pipeline<17, 64x24xf32>>)

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @per_k_of_producer(%p: !fp8.producer<!acc>) -> !fp8.producer<!acc> attributes {fp8.linear} {
  // expected-error @below {{expected an mma warp or an epilogue warp first}}
  %n = fp8.per_k_stage(%s = %p) : !fp8.producer<!acc> -> !fp8.producer<!acc> {
  }
  return %n : !fp8.producer<!acc>
}
