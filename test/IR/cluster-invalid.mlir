// RUN: fp8-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'func.func' op attribute 'fp8.cluster' must be an array of two or three i64, the CTAs of a cluster along M and N and those that divide K, on a function}}
func.func private @rank() attributes {fp8.cluster = array<i64: 2>}

// -----

// expected-error @below {{'func.func' op a cluster must have 1 to 16 CTAs (CUDA programming guide, thread block clusters), but got 8 x 4}}
func.func private @large() attributes {fp8.cluster = array<i64: 8, 4>}

// -----

// expected-error @below {{'func.func' op 1 to 16 CTAs of a cluster divide K (CUDA programming guide, thread block clusters), but got 17}}
func.func private @too_many_along_k() attributes {fp8.cluster = array<i64: 1, 1, 17>}

// -----

// expected-error @below {{'func.func' op 1 to 16 CTAs of a cluster divide K (CUDA programming guide, thread block clusters), but got 0}}
func.func private @none_along_k() attributes {fp8.cluster = array<i64: 1, 1, 0>}

// -----

// expected-error @below {{a CTA group has 1 or 2 CTAs, but got 3}}
func.func private @three(!fp8.producer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>, cta_group = 3>>)

// -----

// expected-error @below {{an accumulator of a CTA pair has 128 or 256 rows (O1), but got 64}}
func.func private @pair_rows(!fp8.mma_warp<!fp8.output_pipeline<2, 64x128xf32, cta_group = 2>>)

// -----

// expected-error @below {{an accumulator of a CTA pair of 128 rows has a multiple of 16 columns up to 256 (O2), but got 40}}
func.func private @pair_columns(!fp8.mma_warp<!fp8.output_pipeline<2, 128x40xf32, cta_group = 2>>)

// -----

// A pair's 128 rows take half the columns: nine stages of 64 do not fit, eight do.
func.func private @pair_stages(!fp8.mma_warp<!fp8.output_pipeline<8, 128x128xf32, cta_group = 2>>)
// expected-error @below {{9 stages of 64 columns do not fit the 512 columns of tensor memory (O3); at most 8 stages do}}
func.func private @too_many(!fp8.mma_warp<!fp8.output_pipeline<9, 128x128xf32, cta_group = 2>>)

// -----

func.func @odd_cluster() attributes {fp8.cluster = array<i64: 3, 1>} {
  // expected-error @below {{'fp8.leading_cta' op needs clusters with an even number of CTAs along M, since a CTA pair takes two; set 'fp8.cluster' on the kernel}}
  fp8.leading_cta of pair {
  }
  return
}

// -----

func.func @other_type(%i: index, %f: f32) attributes {fp8.cluster = array<i64: 2, 1>} {
  // expected-error @below {{'fp8.leading_cta' op must yield values of the types of its operands}}
  %r = fp8.leading_cta of pair (%j = %i) : index -> index {
    fp8.yield %f : f32
  }
  return
}

// -----

func.func @no_result(%i: index) attributes {fp8.cluster = array<i64: 2, 1>} {
  // expected-error @below {{'fp8.leading_cta' op must have a result for each of its 1 values, but has 0 results}}
  fp8.leading_cta of pair (%j = %i) : index {
    fp8.yield %j : index
  }
  return
}

// -----

func.func @nobody() {
  // expected-error @below {{expected pair or cluster, but got grid}}
  fp8.leading_cta of grid {
  }
  return
}

// -----

// Consumed in the leading CTA, still alive in the others.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>, cta_group = 2>
// expected-error @below {{consumer end is consumed on one path but not on another (L4)}}
func.func @closed_in_one(%end: !fp8.consumer<!ring>) attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
  // expected-note @below {{}}
  fp8.leading_cta of pair {
    // expected-note @below {{consumed here}}
    fp8.close %end : !fp8.consumer<!ring>
  }
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a>
func.func @whole_box(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!a>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear, fp8.cluster = array<i64: 1, 4>} {
  // expected-error @below {{the map's box '!fp8.tile<128x128xf8E4M3FN, swizzle_128b>' must be '!fp8.tile<32x128xf8E4M3FN, swizzle_128b>', the share that each of 4 CTAs copies of the stage's tile '!fp8.tile<128x128xf8E4M3FN, swizzle_128b>' (M1)}}
  fp8.tma_load %map[%i, %i], %stage["a"] multicast along n : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!b = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<3, b: !b>
func.func @small_share(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!b>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear, fp8.cluster = array<i64: 4, 1>} {
  // expected-error @below {{each of the 4 CTAs along m copies a share of the tile's 16 rows, which must be a multiple of 8 rows (M2)}}
  fp8.tma_load %map[%i, %i], %stage["b"] multicast along m : !fp8.tensor_map<!b>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
func.func @pair_product(%d: !fp8.tmem<256x128xf32, cta_group = 2>, %a: !a) attributes {fp8.linear} {
  // expected-error @below {{the product of 128 rows of A and 128 rows of B in each CTA of a pair is 256x256 (A2), but the accumulator is 256x128}}
  fp8.mma %d, %a, %a : !fp8.tmem<256x128xf32, cta_group = 2>, !a, !a
  return
}

// -----

!a = !fp8.tile<128x64xbf16, swizzle_128b>
!b = !fp8.tile<128x64xf16, swizzle_128b>
func.func @mixed(%d: !fp8.tmem<128x128xf32>, %a: !a, %b: !b) attributes {fp8.linear} {
  // expected-error @below {{operands wider than 8 bits must be of one type (A1), but got '!fp8.tile<128x64xbf16, swizzle_128b>' and '!fp8.tile<128x64xf16, swizzle_128b>'}}
  fp8.mma %d, %a, %b : !fp8.tmem<128x128xf32>, !a, !b
  return
}
