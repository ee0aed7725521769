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

!ring = !fp8.pipeline<3, s: !fp8.tile<8x128xf32>>
func.func @in_front(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!fp8.tile<8x128xf32>>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // The last of the eight rows is the tensor's first.
  %overlaps = arith.constant -7 : index
  fp8.tma_load %map[%overlaps, %i], %stage["s"] : !fp8.tensor_map<!fp8.tile<8x128xf32>>, !fp8.producer_stage<!ring>
  %row = arith.constant -8 : index
  // expected-error @below {{coordinate 0 must be at least -7 and below 2^31 (M6), but is -8}}
  fp8.tma_load %map[%row, %i], %stage["s"] : !fp8.tensor_map<!fp8.tile<8x128xf32>>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

func.func @beyond_the_bits(%map: !fp8.tensor_map<!fp8.tile<1x128xf32>>, %i: index) {
  %column = arith.constant 2147483648 : index
  // expected-error @below {{coordinate 1 must be at least -127 and below 2^31 (M6), but is 2147483648}}
  fp8.tma_prefetch %map[%i, %column] : !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<8x128xf32>>
func.func @within_16_bytes(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!fp8.tile<8x128xf32>>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  %column = arith.constant 6 : index
  fp8.tma_prefetch %map[%i, %column] : !fp8.tensor_map<!fp8.tile<8x128xf32>>
  // expected-error @below {{coordinate 1 must be a multiple of the 4 elements in 16 bytes (M6), but is 6}}
  fp8.tma_load %map[%i, %column], %stage["s"] : !fp8.tensor_map<!fp8.tile<8x128xf32>>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

func.func @no_such_matrix(%map: !fp8.tensor_map<!fp8.tile<1x128xf32>, rank = 3>, %i: index) {
  %matrix = arith.constant -1 : index
  // expected-error @below {{coordinate 0 must be at least 0 and below 2^31 (M6), but is -1}}
  fp8.tma_prefetch %map[%matrix, %i, %i] : !fp8.tensor_map<!fp8.tile<1x128xf32>, rank = 3>
  return
}

// -----

func.func @prefetch_of_a_row(%map: !fp8.tensor_map<!fp8.tile<1x128xf32>>, %i: index) {
  // expected-error @below {{expected two coordinates, row and column, but got 1}}
  fp8.tma_prefetch %map[%i] : !fp8.tensor_map<!fp8.tile<1x128xf32>>
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @no_batch_coordinate(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!fp8.tile<1x128xf32>, rank = 3>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{expected 3 coordinates, as the map's rank says, the last ones row and column, but got 2}}
  fp8.tma_load %map[%i, %i], %stage["s"] : !fp8.tensor_map<!fp8.tile<1x128xf32>, rank = 3>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x4xf32>>
func.func @one_index(%stage: !fp8.producer_stage<!ring>, %scales: memref<?x?xf32>, %i: index) -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{names an element of 'memref<?x?xf32>' with 1 indices}}
  fp8.load_element %scales[%i], %stage["s", 0] : memref<?x?xf32>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x4xf32>>
func.func @no_such_tile(%stage: !fp8.producer_stage<!ring>, %scales: memref<?xf32>, %i: index) -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{has no tile 'b'}}
  fp8.load_element %scales[%i], %stage["b", 0] : memref<?xf32>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x4xf32>>
!blocked = memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>
func.func @not_strided(%stage: !fp8.producer_stage<!ring>, %scales: !blocked, %i: index) -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{the source must be a strided memref without a memory space, of one dimension at least (M5), but got 'memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>'}}
  fp8.load_element %scales[%i, %i], %stage["s", 0] : !blocked, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x4xf32>>
func.func @of_a_space(%stage: !fp8.producer_stage<!ring>, %scales: memref<?xf32, 3>, %i: index) -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{the source must be a strided memref without a memory space, of one dimension at least (M5), but got 'memref<?xf32, 3>'}}
  fp8.load_element %scales[%i], %stage["s", 0] : memref<?xf32, 3>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x8xbf16>>
func.func @two_bytes(%stage: !fp8.producer_stage<!ring>, %scales: memref<?xbf16>, %i: index) -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{copies an element that must have 4 bytes, the fewest that cp.async copies (M3), but got 'bf16'}}
  fp8.load_element %scales[%i], %stage["s", 0] : memref<?xbf16>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x4xf32>>
func.func @past_the_row(%stage: !fp8.producer_stage<!ring>, %scales: memref<?xf32>, %i: index) -> !fp8.producer_stage<!ring> attributes {fp8.linear} {
  // expected-error @below {{column 4 lies outside the tile's 4 columns (M4)}}
  fp8.load_element %scales[%i], %stage["s", 4] : memref<?xf32>, !fp8.producer_stage<!ring>
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

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'i0'}}
func.func private @no_bits(!fp8.tile<1x128xi0>)

// -----

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'i24'}}
func.func private @three_bytes(!fp8.tile<1x128xi24>)

// -----

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'i128'}}
func.func private @quad(!fp8.tile<1x128xi128>)

// -----

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'f80'}}
func.func private @extended(!fp8.tile<1x128xf80>)

// -----

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'si32'}}
func.func private @signed(!fp8.tile<1x128xsi32>)

// -----

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'i4'}}
func.func private @half_byte(!fp8.tile<1x128xi4>)

// -----

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'f8E4M3'}}
func.func private @other_float8(!fp8.tile<1x128xf8E4M3>)

// -----

// expected-error @below {{a tile's elements must be f8E4M3FN, f8E5M2, f8E8M0FNU, bf16, f16, f32, f64, i8, i16, i32 or i64, which a tensor map can describe (T4), but got 'index'}}
func.func private @index(!fp8.tile<1x128xindex>)

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
func.func @no_columns_for_scales(%d: !fp8.tmem<128x128xf32>, %a: !a, %s: !s) attributes {fp8.linear} {
  // expected-error @below {{takes scales of 1 slot, but the accumulator has room for those of 0 (A6); write 'scale_slots = 1' in its type}}
  fp8.mma %d, %a, %a scaled_by(%s, %s) : !fp8.tmem<128x128xf32>, !a, !a
  return
}

// -----

!a = !fp8.tile<128x64xbf16, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
func.func @scaled_bf16(%d: !fp8.tmem<128x128xf32, scale_slots = 1>, %a: !a, %s: !s) attributes {fp8.linear} {
  // expected-error @below {{scales operands of f8E4M3FN and f8E5M2 only (A6), but got '!fp8.tile<128x64xbf16, swizzle_128b>'}}
  fp8.mma %d, %a, %a scaled_by(%s, %s) : !fp8.tmem<128x128xf32, scale_slots = 1>, !a, !a
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
func.func @scales_of_half_of_b(%d: !fp8.tmem<256x256xf32, cta_group = 2, scale_slots = 1>, %a: !a, %s: !s) attributes {fp8.linear} {
  // expected-error @below {{needs 3 tiles of scales, one for A and 2 for the 256 rows of B (A6), but got 2}}
  fp8.mma %d, %a, %a scaled_by(%s, %s) : !fp8.tmem<256x256xf32, cta_group = 2, scale_slots = 1>, !a, !a
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
func.func @scales_of_another_type(%d: !fp8.tmem<128x128xf32, scale_slots = 1>, %a: !a, %s: !fp8.tile<1x128xf32>) attributes {fp8.linear} {
  // expected-error @below {{operand #3 must be variadic of tile of 32x16xf8E8M0FNU, the scales of 128 rows, but got '!fp8.tile<1x128xf32>'}}
  "fp8.mma"(%d, %a, %a, %s, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0, 0>}>
      : (!fp8.tmem<128x128xf32, scale_slots = 1>, !a, !a, !fp8.tile<1x128xf32>, !fp8.tile<1x128xf32>) -> ()
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
!ring = !fp8.pipeline<3, a: !a, as: !s, bs: !s>
func.func @fewer_slots_than_the_ring(%d: !fp8.tmem<128x128xf32, scale_slots = 2>, %in: !fp8.consumer_stage<!ring>) -> !fp8.consumer_stage<!ring>
    attributes {fp8.linear} {
  %a = fp8.tile %in["a"] : !fp8.consumer_stage<!ring>
  %as = fp8.tile %in["as"] : !fp8.consumer_stage<!ring>
  %bs = fp8.tile %in["bs"] : !fp8.consumer_stage<!ring>
  // expected-error @below {{takes scales of 3 slots, but the accumulator has room for those of 2 (A6); write 'scale_slots = 3' in its type}}
  fp8.mma %d, %a, %a scaled_by(%as, %bs) : !fp8.tmem<128x128xf32, scale_slots = 2>, !a, !a
  return %in : !fp8.consumer_stage<!ring>
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
!ring = !fp8.pipeline<3, a: !a, as: !s, bs: !s>
func.func @scales_of_two_stages(%d: !fp8.tmem<128x128xf32, scale_slots = 3>, %in: !fp8.consumer_stage<!ring>, %other: !fp8.consumer_stage<!ring>)
    -> (!fp8.consumer_stage<!ring>, !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
  %a = fp8.tile %in["a"] : !fp8.consumer_stage<!ring>
  %as = fp8.tile %in["as"] : !fp8.consumer_stage<!ring>
  %bs = fp8.tile %other["bs"] : !fp8.consumer_stage<!ring>
  // expected-error @below {{takes tiles of scales of two stages (A6); put them into one slot}}
  fp8.mma %d, %a, %a scaled_by(%as, %bs) : !fp8.tmem<128x128xf32, scale_slots = 3>, !a, !a
  return %in, %other : !fp8.consumer_stage<!ring>, !fp8.consumer_stage<!ring>
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
func.func @slot_of_no_scales(%d: !fp8.tmem<128x128xf32>, %a: !a, %slot: index) attributes {fp8.linear} {
  // expected-error @below {{names a slot, which only scales have (A6); leave it out}}
  fp8.mma %d, %a, %a at %slot : !fp8.tmem<128x128xf32>, !a, !a
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
!ring = !fp8.pipeline<3, a: !a, as: !s, bs: !s>
func.func @slot_of_a_ring(%d: !fp8.tmem<128x128xf32, scale_slots = 3>, %in: !fp8.consumer_stage<!ring>, %slot: index) -> !fp8.consumer_stage<!ring>
    attributes {fp8.linear} {
  %a = fp8.tile %in["a"] : !fp8.consumer_stage<!ring>
  %as = fp8.tile %in["as"] : !fp8.consumer_stage<!ring>
  %bs = fp8.tile %in["bs"] : !fp8.consumer_stage<!ring>
  // expected-error @below {{names a slot, which is derived (A6); leave it out}}
  fp8.mma %d, %a, %a scaled_by(%as, %bs) at %slot : !fp8.tmem<128x128xf32, scale_slots = 3>, !a, !a
  return %in : !fp8.consumer_stage<!ring>
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
func.func @row_of_no_scales(%d: !fp8.tmem<128x128xf32>, %a: !a, %row: index) attributes {fp8.linear} {
  // expected-error @below {{names a row of B's scales, but has no scales (A6); leave it out}}
  fp8.mma %d, %a, %a from %row : !fp8.tmem<128x128xf32>, !a, !a
  return
}

// -----

// Tiles of 96 rows of B begin at rows 0, 32, 64 and 96 of a tile of scales, and so may touch two.
!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
func.func @second_tile(%d: !fp8.tmem<128x96xf32, scale_slots = 1>, %a: !a, %b: !b, %s: !s, %row: index) attributes {fp8.linear} {
  // expected-error @below {{needs 3 tiles of scales, one for A and 2 for the 96 rows of B (A6), but got 2}}
  fp8.mma %d, %a, %b scaled_by(%s, %s) from %row : !fp8.tmem<128x96xf32, scale_slots = 1>, !a, !b
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
func.func @row_beyond_the_tile(%d: !fp8.tmem<128x64xf32, scale_slots = 1>, %a: !a, %b: !b, %s: !s) attributes {fp8.linear} {
  %c96 = arith.constant 96 : index
  // expected-error @below {{names row 96 of the first tile of B's scales, but 64 rows of B begin at a multiple of 32 up to 64 (A6)}}
  fp8.mma %d, %a, %b scaled_by(%s, %s) from %c96 : !fp8.tmem<128x64xf32, scale_slots = 1>, !a, !b
  return
}

// -----

// The lender of a tile is verified after the MMA, if its block stands behind.
!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
func.func @lender_that_is_none(%d: !fp8.tmem<128x128xf32, scale_slots = 1>, %a: !a, %x: i32) attributes {fp8.linear} {
  cf.br ^later
^mma:
  fp8.mma %d, %a, %a scaled_by(%s, %s) : !fp8.tmem<128x128xf32, scale_slots = 1>, !a, !a
  return
^later:
  // expected-error @below {{operand #0 must be producer or consumer stage of a pipeline, but got 'i32'}}
  %s = "fp8.tile"(%x) <{name = "s"}> : (i32) -> !s
  cf.br ^mma
}

// -----

!few = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!many = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!scales = !fp8.tile<32x16xf8E8M0FNU>
func.func @scales_of_few_rows(%d: !fp8.tmem<96x128xf32, scale_slots = 1, swapped>, %a: !few, %b: !many, %s: !scales) attributes {fp8.linear} {
  // expected-error @below {{needs 3 tiles of scales, one for B and 2 for the 96 rows of A (A6), but got 2}}
  fp8.mma %d, %a, %b scaled_by(%s, %s) : !fp8.tmem<96x128xf32, scale_slots = 1, swapped>, !few, !many
  return
}

// -----

!few = !fp8.tile<32x128xf8E4M3FN, swizzle_128b>
!many = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!scales = !fp8.tile<32x16xf8E8M0FNU>
func.func @first_of_few_rows(%d: !fp8.tmem<32x128xf32, scale_slots = 1, swapped>, %a: !few, %b: !many, %s: !scales) attributes {fp8.linear} {
  %row = arith.constant 16 : index
  // expected-error @below {{names row 16 of the first tile of A's scales, but 32 rows of A begin at a multiple of 32 up to 96 (A6)}}
  fp8.mma %d, %a, %b scaled_by(%s, %s) from %row : !fp8.tmem<32x128xf32, scale_slots = 1, swapped>, !few, !many
  return
}
