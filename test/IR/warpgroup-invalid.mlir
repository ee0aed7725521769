// RUN: fp8-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{a warpgroup has 4 warps, so that a fragment's warps must be a multiple of 4 up to 32, but got 6}}
func.func @six_warps(%f: !fp8.fragment<128x64xf32, 6, warpgroups>) { return }

// -----

// expected-error @below {{a fragment of 2 warpgroups holds a multiple of 128 rows of f32, up to 256 (PTX ISA, wgmma shapes)}}
func.func @rows(%f: !fp8.fragment<64x64xf32, 8, warpgroups>) { return }

// -----

// expected-error @below {{a fragment of warpgroups has a multiple of 8 columns up to 256 (PTX ISA, wgmma shapes), but got 12}}
func.func @columns(%f: !fp8.fragment<64x12xf32, 4, warpgroups>) { return }

// -----

// expected-error @below {{a pending product is a fragment of 64 rows, or swapped of 64 columns, for each warpgroup, but got '!fp8.fragment<128x64xf32, 4>'}}
func.func @pending(%p: !fp8.pending<!fp8.fragment<128x64xf32, 4>>) attributes {fp8.linear} { return }

// -----

!a = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<64x96xf32, 4, warpgroups>
func.func @tile_rows(%a: !a) attributes {fp8.linear} {
  // expected-error @below {{A must have 64 rows for each of the 1 warpgroups, or several times as many (A4), but got '!fp8.tile<96x128xf8E4M3FN, swizzle_128b>'}}
  %p = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!part>
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<64x128xf32, 4, warpgroups>
func.func @part(%a: !a) attributes {fp8.linear} {
  // expected-error @below {{A has 2 parts of 64 rows for each warpgroup (A4), but got part 2}}
  %p = fp8.warpgroup_mma %a, %a part 2 : !a, !a -> !fp8.pending<!part>
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<64x128xf32, 4, warpgroups>
func.func @product_columns(%a: !a) attributes {fp8.linear} {
  // expected-error @below {{the product with 64 rows of B has as many columns (A5), but got '!fp8.fragment<64x128xf32, 4, warpgroups>'}}
  %p = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!part>
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<64x64xf32, 4, warpgroups>
!other = !fp8.fragment<128x64xf32, 4>
func.func @accumulator(%a: !a, %f: !other) attributes {fp8.linear} {
  // expected-error @below {{adds to a fragment of the product's type '!fp8.fragment<64x64xf32, 4, warpgroups>' (A5), but got '!fp8.fragment<128x64xf32, 4>'}}
  %p = fp8.warpgroup_mma %a, %a accumulate(%f : !other) : !a, !a -> !fp8.pending<!part>
  %g = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

!a = !fp8.tile<64x64xbf16, swizzle_128b>
!b = !fp8.tile<64x64xf16, swizzle_128b>
!part = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @types(%a: !a, %b: !b) attributes {fp8.linear} {
  // expected-error @below {{operands wider than 8 bits must be of one type (A1), but got '!fp8.tile<64x64xbf16, swizzle_128b>' and '!fp8.tile<64x64xf16, swizzle_128b>'}}
  %p = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!part>
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

// Operands swapped: columns are divided, rows are few.
// expected-error @below {{a fragment of 2 warpgroups holds a multiple of 128 columns of f32, up to 256 (PTX ISA, wgmma shapes)}}
func.func @swapped_columns(%f: !fp8.fragment<16x64xf32, 8, warpgroup_columns>) { return }

// -----

// expected-error @below {{a fragment of warpgroup_columns has a multiple of 8 rows up to 120 (PTX ISA, wgmma shapes), but got 128}}
func.func @swapped_rows(%f: !fp8.fragment<128x64xf32, 4, warpgroup_columns>) { return }

// -----

!a = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<16x64xf32, 4, warpgroup_columns>
func.func @swapped_tile_rows(%a: !a, %b: !b) attributes {fp8.linear} {
  // expected-error @below {{B must have 64 rows for each of the 1 warpgroups, or several times as many (A4), but got '!fp8.tile<96x128xf8E4M3FN, swizzle_128b>'}}
  %p = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!part>
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

!a = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<16x64xf32, 4, warpgroup_columns>
func.func @swapped_part(%a: !a, %b: !b) attributes {fp8.linear} {
  // expected-error @below {{B has 2 parts of 64 rows for each warpgroup (A4), but got part 2}}
  %p = fp8.warpgroup_mma %a, %b part 2 : !a, !b -> !fp8.pending<!part>
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

!a = !fp8.tile<24x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<16x64xf32, 4, warpgroup_columns>
func.func @swapped_product_rows(%a: !a, %b: !b) attributes {fp8.linear} {
  // expected-error @below {{the product with 24 rows of A has as many rows (A5), but got '!fp8.fragment<16x64xf32, 4, warpgroup_columns>'}}
  %p = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!part>
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return
}

// -----

!sum = !fp8.fragment<16x128xf32, 4, warpgroup_columns>
!part = !fp8.fragment<16x64xf32, 4, warpgroup_columns>
func.func @swapped_promotion(%f: !sum, %p: !part, %s: !fp8.tile<1x16xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the fragment has 2 parts of 64 columns for each warpgroup (S1), but got part 3}}
  %r = fp8.promote %f part 3, %p scales(%s, %b) : !sum, !part, !fp8.tile<1x16xf32>
  return
}

// -----

!sum = !fp8.fragment<16x128xf32, 4, warpgroup_columns>
!part = !fp8.fragment<16x64xf32, 4, warpgroup_columns>
func.func @swapped_scales(%f: !sum, %p: !part, %s: !fp8.tile<1x16xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the B scales must divide the 128 columns into equal parts of a multiple of 64 columns (S3), but there are 4}}
  %r = fp8.promote %f, %p scales(%s, %b, %b, %b, %b) : !sum, !part, !fp8.tile<1x16xf32>
  return
}

// -----

!sum = !fp8.fragment<16x128xf32, 4, warpgroup_columns>
func.func @swapped_tile_columns(%f: !sum, %c: !fp8.tile<16x24xf32>) attributes {fp8.linear} {
  // expected-error @below {{the tile's columns, 16 to 39, must begin and end at multiples of 16 (F3)}}
  %r = fp8.add_tile %f[16], %c : !sum, !fp8.tile<16x24xf32>
  return
}

// -----

!d = !fp8.tile<16x32xbf16, swizzle_64b>
!queue = !fp8.store_queue<2, !d, 4>
!sum = !fp8.fragment<16x128xf32, 4, warpgroup_columns>
func.func @swapped_store(%sum: !sum, %d: !fp8.tensor_map<!d>, %queue: !queue, %m: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the tile must have the 16 columns that a warp holds (Q2), but got 32}}
  %q = fp8.store %sum, %d[%m, %m] through %queue : !sum, !fp8.tensor_map<!d>, !queue
  return %q : !queue
}

// -----

// The stage goes back while the product still reads its tiles.
!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a>
!part = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @release_before_wait(%in: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %stage = fp8.acquire %in : !fp8.consumer<!ring>
  %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
  // expected-note @below {{lent here}}
  %p = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!part>
  // expected-note @below {{consumed here}}
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{used here}}
  %f = fp8.wait_mma %p : !fp8.pending<!part>
  return %next : !fp8.consumer<!ring>
}

// -----

// The product is carried away from its stage.
!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a>
!part = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @outlives(%stage: !fp8.consumer_stage<!ring>) -> (!fp8.consumer<!ring>, !fp8.pending<!part>) attributes {fp8.linear} {
  // expected-error @below {{what 'fp8.tile' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  %p = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!part>
  // expected-note @below {{passed on here}}
  return %next, %p : !fp8.consumer<!ring>, !fp8.pending<!part>
}

// -----

// A product that nobody waits for.
!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @forgotten(%a: !a) attributes {fp8.linear} {
  // expected-error @below {{pending product leaks: it is never consumed (L1); consume it with 'fp8.wait_mma'}}
  %p = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!part>
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

!sum = !fp8.fragment<128x64xf32, 4, warpgroups>
!part = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @promoted_part(%f: !sum, %p: !part, %s: !fp8.tile<1x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the fragment has 2 parts of 64 rows for each warpgroup (S1), but got part 2}}
  %r = fp8.promote %f part 2, %p scales(%s, %b) : !sum, !part, !fp8.tile<1x128xf32>
  return
}

// -----

!sum = !fp8.fragment<128x64xf32, 4, warpgroups>
func.func @promoted_whole(%f: !sum, %s: !fp8.tile<1x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{a product in registers must be a part of the fragment, in the layout warpgroups or warpgroup_columns (S1), but got '!fp8.fragment<128x64xf32, 4, warpgroups>' and '!fp8.fragment<128x64xf32, 4, warpgroups>'}}
  %r = fp8.promote %f, %f scales(%s, %b) : !sum, !sum, !fp8.tile<1x128xf32>
  return
}

// -----

!sum = !fp8.fragment<64x72xf32, 4, warpgroups>
func.func @scale_parts(%f: !sum, %s: !fp8.tile<1x64xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{the B scales must divide the 72 columns into equal parts of a multiple of 8 columns (S3), but there are 2}}
  %r = fp8.promote %f, %f scales(%s, %b, %b) : !sum, !sum, !fp8.tile<1x64xf32>
  return
}

// -----

!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @tile_columns(%f: !sum, %c: !fp8.tile<64x16xf32, swizzle_64b>) attributes {fp8.linear} {
  // expected-error @below {{the tile's columns, 4 to 19, must begin and end at multiples of 8 (F3)}}
  %r = fp8.add_tile %f[4], %c : !sum, !fp8.tile<64x16xf32, swizzle_64b>
  return
}

// -----

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!part = !fp8.fragment<64x64xf32, 4, warpgroups>
!tmem = !fp8.tmem<128x64xf32>
func.func @part_of_tmem(%f: !fp8.fragment<128x64xf32, 4>, %p: !tmem, %s: !fp8.tile<1x128xf32>, %b: f32) attributes {fp8.linear} {
  // expected-error @below {{takes a part of what warpgroups hold alone (S1), but got '!fp8.tmem<128x64xf32>'}}
  %r = fp8.promote %f part 1, %p scales(%s, %b) : !fp8.fragment<128x64xf32, 4>, !tmem, !fp8.tile<1x128xf32>
  return
}
