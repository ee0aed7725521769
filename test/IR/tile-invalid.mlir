// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @other_box(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!fp8.tile<1x64xf32>>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{the map's box '!fp8.tile<1x64xf32>' must be the stage's tile '!fp8.tile<1x128xf32>' (M1)}}
  fp8.tma_load %map[%i, %i], %stage["s"] : !fp8.tensor_map<!fp8.tile<1x64xf32>>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @one_coordinate(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!fp8.tile<1x128xf32>>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{expected two coordinates, row and column, but got 1}}
  fp8.tma_load %map[%i], %stage["s"] : !fp8.tensor_map<!fp8.tile<1x128xf32>>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
func.func @wrong_shape(%d: !fp8.tmem<128x128xf32>, %a: !a, %b: !b) attributes {fp8.linear} {
  // expected-error @below {{the product of 128 rows of A and 64 rows of B is 128x64 (A2), but the accumulator is 128x128}}
  fp8.mma %d, %a, %b : !fp8.tmem<128x128xf32>, !a, !b
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN>
func.func @unswizzled(%d: !fp8.tmem<128x128xf32>, %a: !a) attributes {fp8.linear} {
  // expected-error @below {{operand tiles must be of f8E4M3FN, f8E5M2, bf16 or f16, and swizzle_128b (A1), but got '!fp8.tile<128x128xf8E4M3FN>'}}
  fp8.mma %d, %a, %a : !fp8.tmem<128x128xf32>, !a, !a
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @scale_shape(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x64xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the A scales must be an unswizzled tile of 1x128xf32 (S2), but got '!fp8.tile<1x64xf32>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x64xf32>
  return
}

// -----

!frag = !fp8.fragment<128x128xf32, 4>
func.func @missing_split(%f: !frag, %p: !fp8.tmem<128x128xf32>, %s: !fp8.tile<1x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{'split' goes with two B scales (S3)}}
  %r = fp8.promote %f, %p scales(%s, %b, %b) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  return
}

// -----

!tile = !fp8.tile<32x64xbf16, swizzle_128b>
func.func @other_warps(%f: !fp8.fragment<128x128xf32, 8>, %map: !fp8.tensor_map<!tile>, %q: !fp8.store_queue<2, !tile, 4>, %i: index)
    -> !fp8.store_queue<2, !tile, 4> attributes {fp8.linear} {
  // expected-error @below {{the queue is for 4 warps, but the fragment is held by 8 (Q3)}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<128x128xf32, 8>, !fp8.tensor_map<!tile>, !fp8.store_queue<2, !tile, 4>
  return %n : !fp8.store_queue<2, !tile, 4>
}

// -----

// expected-error @below {{a fragment's warps must be a multiple of 4 up to 32, but got 6}}
func.func private @six_warps(!fp8.fragment<128x128xf32, 6>)

// -----

// expected-error @below {{a store queue's tile has 32 rows, one for each lane, or 16 (Q1), but got 8}}
func.func private @short_tile(!fp8.store_queue<2, !fp8.tile<8x64xbf16, swizzle_128b>, 4>)

// -----

// expected-error @below {{a fragment of layout warp_halves holds 64 rows of f32}}
func.func private @halves_of_128(!fp8.fragment<128x128xf32, 4, warp_halves>)

// -----

// expected-error @below {{a fragment of 64 rows is held by 4 warps, but got 8}}
func.func private @eight_warps(!fp8.fragment<64x128xf32, 8, lane_halves>)

// -----

// expected-error @below {{expected rows, lane_halves or warp_halves}}
func.func private @layout(!fp8.fragment<64x128xf32, 4, halves>)

// -----

!frag = !fp8.fragment<64x128xf32, 4, warp_halves>
func.func @other_layout(%f: !frag, %p: !fp8.tmem<64x128xf32>, %s: !fp8.tile<1x64xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{a CTA's rows of the accumulator must have the fragment's shape and layout (S1), but got '!fp8.tmem<64x128xf32>' and '!fp8.fragment<64x128xf32, 4, warp_halves>'}}
  %r = fp8.promote %f, %p scales(%s, %b) : !frag, !fp8.tmem<64x128xf32>, !fp8.tile<1x64xf32>
  return
}

// -----

!tile = !fp8.tile<32x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<2, !tile, 4>
func.func @rows_of_a_warp(%f: !fp8.fragment<64x128xf32, 4, lane_halves>, %map: !fp8.tensor_map<!tile>, %q: !queue, %i: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the tile must have as many rows as a warp holds of the fragment (Q1), 16, but got 32}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<64x128xf32, 4, lane_halves>, !fp8.tensor_map<!tile>, !queue
  return %n : !queue
}
