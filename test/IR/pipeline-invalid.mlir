// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @no_consumer() attributes {fp8.linear} {
  // expected-error @below {{'fp8.pipeline' op must have at least one producer end and one consumer end (P1), but got 1 and 0}}
  %p = fp8.pipeline : !fp8.producer<!ring>
  fp8.close %p : !fp8.producer<!ring>
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!other = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
func.func @two_rings() attributes {fp8.linear} {
  // expected-error @below {{must make the ends of one ring (P2), but got}}
  %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!other>
  fp8.close %p : !fp8.producer<!ring>
  fp8.close %c : !fp8.consumer<!other>
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @unknown_tile(%stage: !fp8.consumer_stage<!ring>) -> !fp8.consumer_stage<!ring> attributes {fp8.linear} {
  // expected-error @+1 {{has no tile "a"}}
  %tile = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
  return %stage : !fp8.consumer_stage<!ring>
}

// -----

// expected-error @below {{a pipeline has at least one stage and at most as many as shared memory has room for barriers, 14528, but got 0}}
func.func private @no_stages(!fp8.producer<!fp8.pipeline<0, s: !fp8.tile<1x128xf32>>>)

// -----

// expected-error @below {{a pipeline's tiles have different names, but got 's' twice}}
func.func private @same_names(!fp8.producer<!fp8.pipeline<1, s: !fp8.tile<1x128xf32>, s: !fp8.tile<1x128xf32>>>)

// -----

// expected-error @below {{extents of a tile must be in 1..256, TMA's limit for a box (T1), but got 512}}
func.func private @large_tile(!fp8.tile<512x16xf32>)

// -----

// expected-error @below {{a tile's row must be a multiple of 16 bytes (T2), but got 12}}
func.func private @narrow_tile(!fp8.tile<8x3xf32>)

// -----

// expected-error @below {{a row under swizzle_128b divides its 128 bytes (T3), but got 256}}
func.func private @wide_swizzle(!fp8.tile<8x64xf32, swizzle_128b>)

// -----

// expected-error @below {{expected a ring, such as !fp8.pipeline or !fp8.output_pipeline, but got 'f32'}}
func.func private @not_a_ring(!fp8.producer<f32>)

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @produce_of_consumer(%c: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{'fp8.produce' op expected one producer end or mma warp}}
  %n = fp8.produce(%stage = %c) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
  }
  return %n : !fp8.consumer<!ring>
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @consume_of_mma_warp(%w: !fp8.mma_warp<!acc>) -> !fp8.mma_warp<!acc> attributes {fp8.linear} {
  // expected-error @below {{'fp8.consume' op expected one consumer end or epilogue warps}}
  %n = fp8.consume(%stage = %w) : !fp8.mma_warp<!acc> -> !fp8.mma_warp<!acc> {
  }
  return %n : !fp8.mma_warp<!acc>
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @produce_of_a_bare_end(%p: !fp8.producer<!acc>) -> !fp8.producer<!acc> attributes {fp8.linear} {
  // expected-error @below {{'fp8.produce' op cannot acquire from the end of an output pipeline, since its tensor memory is not allocated yet; make an mma warp or epilogue warps of the end first}}
  %n = fp8.produce(%stage = %p) : !fp8.producer<!acc> -> !fp8.producer<!acc> {
  }
  return %n : !fp8.producer<!acc>
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
func.func @consume_of_a_bare_end(%c: !fp8.consumer<!acc>) -> !fp8.consumer<!acc> attributes {fp8.linear} {
  // expected-error @below {{'fp8.consume' op cannot acquire from the end of an output pipeline, since its tensor memory is not allocated yet; make an mma warp or epilogue warps of the end first}}
  %n = fp8.consume(%stage = %c) : !fp8.consumer<!acc> -> !fp8.consumer<!acc> {
  }
  return %n : !fp8.consumer<!acc>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @wrong_result(%c: !fp8.consumer<!ring>) -> index attributes {fp8.linear} {
  // expected-error @below {{expected result 0 to be of type '!fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>' (the ends, advanced), but got 'index'}}
  %n = fp8.consume(%stage = %c) : !fp8.consumer<!ring> -> index {
  }
  return %n : index
}

// -----

// Rows that crossed the pattern would be permuted by it in two ways.
// expected-error @below {{a row under swizzle_128b divides its 128 bytes (T3), but got 96}}
func.func private @crossing_row(!fp8.consumer<!fp8.pipeline<3, c: !fp8.tile<16x48xbf16, swizzle_128b>>>)
