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

// -----

// expected-error @below {{an accumulator with scale_slots has 128 rows (O4), but got 64}}
func.func private @scaled_rows(!fp8.mma_warp<!fp8.output_pipeline<2, 64x128xf32, scale_slots = 2>>)

// -----

// Sums of 224 columns, and scales of 4 + 12 columns in two slots, take 256.
func.func private @scaled_columns(!fp8.mma_warp<!fp8.output_pipeline<2, 256x224xf32, cta_group = 2, scale_slots = 2>>)
// expected-error @below {{2 stages of 272 columns do not fit the 512 columns of tensor memory (O3); at most 1 stages do}}
func.func private @too_many_scaled_columns(!fp8.mma_warp<!fp8.output_pipeline<2, 256x224xf32, cta_group = 2, scale_slots = 3>>)

// -----

// expected-error @below {{an accumulator of a CTA pair with scale_slots has a multiple of 32 columns (O4), but got 240}}
func.func private @odd_scaled_columns(!fp8.mma_warp<!fp8.output_pipeline<2, 256x240xf32, cta_group = 2, scale_slots = 1>>)

// -----

// expected-error @below {{the number of scale_slots is 1 to 512, or left out if operands have no scales, but got -1}}
func.func private @negative(!fp8.mma_warp<!fp8.output_pipeline<2, 128x128xf32, scale_slots = -1>>)

// -----

// expected-error @below {{expected cta_group, scale_slots or swapped}}
func.func private @option(!fp8.mma_warp<!fp8.output_pipeline<2, 128x128xf32, scaled>>)

// -----

// expected-error @below {{expected scale_slots or swapped}}
func.func private @second_option(!fp8.mma_warp<!fp8.output_pipeline<2, 128x128xf32, cta_group = 2, scaled>>)

// -----

// expected-error @below {{the number of scale_slots is 1 to 512, or left out if operands have no scales, but got 2305843009213693936}}
func.func private @overflow(!fp8.mma_warp<!fp8.output_pipeline<2, 128x128xf32, scale_slots = 2305843009213693936>>)

// -----

// expected-error @below {{an accumulator of 128 columns with 60 scale_slots takes 608 of the 512 columns of tensor memory (O3)}}
func.func private @too_many_slots(!fp8.mma_warp<!fp8.output_pipeline<1, 128x128xf32, scale_slots = 60>>)

// -----

// expected-error @below {{expected scale_slots or swapped}}
func.func private @order(!fp8.mma_warp<!fp8.output_pipeline<2, 256x128xf32, cta_group = 2, cta_group = 2>>)

// -----

// expected-error @below {{a swapped accumulator belongs to one CTA (O5), but got cta_group = 2}}
func.func private @swapped_pair(!fp8.mma_warp<!fp8.output_pipeline<2, 32x128xf32, cta_group = 2, swapped>>)

// -----

// expected-error @below {{a swapped accumulator has 64 or 128 columns, the rows of the MMA (O5), but got 96}}
func.func private @swapped_columns(!fp8.mma_warp<!fp8.output_pipeline<2, 32x96xf32, swapped>>)

// -----

// expected-error @below {{a swapped accumulator of 128 columns has a multiple of 16 rows up to 112 (O5), but got 24}}
func.func private @swapped_rows(!fp8.mma_warp<!fp8.output_pipeline<2, 24x128xf32, swapped>>)

// -----

// expected-error @below {{a swapped accumulator of 64 columns has a multiple of 8 rows up to 120 (O5), but got 128}}
func.func private @many_swapped_rows(!fp8.mma_warp<!fp8.output_pipeline<2, 128x64xf32, swapped>>)

// -----

// expected-error @below {{a swapped accumulator with scale_slots has 128 columns (O4), but got 64}}
func.func private @swapped_scaled_columns(!fp8.mma_warp<!fp8.output_pipeline<2, 32x64xf32, scale_slots = 2, swapped>>)

// -----

// expected-error @below {{a swapped accumulator with scale_slots has a multiple of 32 rows (O4), but got 48}}
func.func private @swapped_scaled_rows(!fp8.mma_warp<!fp8.output_pipeline<2, 48x128xf32, scale_slots = 2, swapped>>)

// -----

// expected-error @below {{a swapped accumulator of 96 rows with 40 scale_slots takes 576 of the 512 columns of tensor memory (O3)}}
func.func private @swapped_scales(!fp8.mma_warp<!fp8.output_pipeline<1, 96x128xf32, scale_slots = 40, swapped>>)

// -----

// expected-error @below {{expected nothing behind swapped}}
func.func private @behind_swapped(!fp8.mma_warp<!fp8.output_pipeline<1, 96x128xf32, swapped, scale_slots = 2>>)
