// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!tile = !fp8.tile<32x64xbf16, swizzle_128b>
func.func @other_warps(%f: !fp8.fragment<128x128xf32, 8>, %map: !fp8.tensor_map<!tile>, %q: !fp8.store_queue<2, !tile, 4>, %i: index)
    -> !fp8.store_queue<2, !tile, 4> attributes {fp8.linear} {
  // expected-error @below {{the queue is for 4 warps, but the fragment is held by 8 (Q3)}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<128x128xf32, 8>, !fp8.tensor_map<!tile>, !fp8.store_queue<2, !tile, 4>
  return %n : !fp8.store_queue<2, !tile, 4>
}

// -----

!tile = !fp8.tile<32x128xi8, swizzle_128b>
func.func @integers(%f: !fp8.fragment<128x128xf32, 4>, %map: !fp8.tensor_map<!tile>, %q: !fp8.store_queue<2, !tile, 4>, %i: index)
    -> !fp8.store_queue<2, !tile, 4> attributes {fp8.linear} {
  // expected-error @below {{stores bf16, f16, f32, f8E4M3FN or f8E5M2 (Q4), but got 'i8'}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<128x128xf32, 4>, !fp8.tensor_map<!tile>, !fp8.store_queue<2, !tile, 4>
  return %n : !fp8.store_queue<2, !tile, 4>
}

// -----

!tile = !fp8.tile<32x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<2, !tile, 4>
func.func @rest_of_another_type(%f: !fp8.fragment<128x128xf32, 4>, %map: !fp8.tensor_map<!tile>, %q: !queue, %i: index, %d: memref<?x?xf16>)
    -> !queue attributes {fp8.linear} {
  // expected-error @below {{the rest must be a 2-D memref of 'bf16' with contiguous rows and without a memory space (Q5), but got 'memref<?x?xf16>'}}
  %n = fp8.store %f, %map[%i, %i] through %q rest(%d : memref<?x?xf16>) : !fp8.fragment<128x128xf32, 4>, !fp8.tensor_map<!tile>, !queue
  return %n : !queue
}

// -----

!tile = !fp8.tile<32x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<2, !tile, 4>
func.func @rest_with_gaps(%f: !fp8.fragment<128x128xf32, 4>, %map: !fp8.tensor_map<!tile>, %q: !queue, %i: index,
                          %d: memref<?x?xbf16, strided<[?, 2]>>) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the rest must be a 2-D memref of 'bf16' with contiguous rows and without a memory space (Q5), but got 'memref<?x?xbf16, strided<[?, 2]>>'}}
  %n = fp8.store %f, %map[%i, %i] through %q rest(%d : memref<?x?xbf16, strided<[?, 2]>>) : !fp8.fragment<128x128xf32, 4>, !fp8.tensor_map<!tile>, !queue
  return %n : !queue
}

// -----

// expected-error @below {{a store queue's tile must have 32 rows (one for each lane), 16, 64 (those of a warpgroup) or, of a swapped product, a multiple of 8 below 128 (Q1), but got 12}}
func.func private @odd_tile(!fp8.store_queue<2, !fp8.tile<12x64xbf16, swizzle_128b>, 4>)

// -----

!tile = !fp8.tile<32x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<2, !tile, 4>
func.func @rows_of_a_warp(%f: !fp8.fragment<64x128xf32, 4, lane_halves>, %map: !fp8.tensor_map<!tile>, %q: !queue, %i: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the tile must have as many rows as a warp holds of the fragment (Q1), 16, but got 32}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<64x128xf32, 4, lane_halves>, !fp8.tensor_map<!tile>, !queue
  return %n : !queue
}

// -----

// Whole rows are for threads that share one in a warp.
!tile = !fp8.tile<32x128xbf16>
!queue = !fp8.store_queue<1, !tile, 4>
func.func @whole_rows_of_two_warps(%f: !fp8.fragment<64x128xf32, 4, warp_halves>, %map: !fp8.tensor_map<!tile>, %q: !queue, %i: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the tile's 128 columns must divide the 64 that a thread owns (Q2)}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<64x128xf32, 4, warp_halves>, !fp8.tensor_map<!tile>, !queue
  return %n : !queue
}

// -----

!tile = !fp8.tile<16x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<2, !tile, 4>
func.func @rows_of_a_warp(%f: !fp8.fragment<64x64xf32, 4, warpgroups>, %map: !fp8.tensor_map<!tile>, %q: !queue, %i: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the tile must have as many rows as a warpgroup's part of the fragment (Q1), 64, but got 16}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<64x64xf32, 4, warpgroups>, !fp8.tensor_map<!tile>, !queue
  return %n : !queue
}

// -----

!tile = !fp8.tile<64x4xf32>
!queue = !fp8.store_queue<2, !tile, 4>
func.func @half_of_eight(%f: !fp8.fragment<64x64xf32, 4, warpgroups>, %map: !fp8.tensor_map<!tile>, %q: !queue, %i: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the tile's 4 columns must be whole eights of a warpgroup's fragment (Q2)}}
  %n = fp8.store %f, %map[%i, %i] through %q : !fp8.fragment<64x64xf32, 4, warpgroups>, !fp8.tensor_map<!tile>, !queue
  return %n : !queue
}

// -----

// Eight warps would stage tiles where two warpgroups have room.
!tile = !fp8.tile<64x16xbf16, swizzle_32b>
!queue = !fp8.store_queue<1, !tile, 8>
!sum = !fp8.fragment<64x256xf32, 8, warpgroup_columns>
func.func @swapped_rows_of_a_warpgroup(%sum: !sum, %map: !fp8.tensor_map<!tile>, %queue: !queue, %m: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{a warp stages the tile of 64 rows (Q1); write 'of_warps' in the queue's type}}
  %next = fp8.store %sum, %map[%m, %m] through %queue : !sum, !fp8.tensor_map<!tile>, !queue
  return %next : !queue
}

// -----

!tile = !fp8.tile<64x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<1, !tile, 4, of_warps>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @rows_of_a_warpgroup(%sum: !sum, %map: !fp8.tensor_map<!tile>, %queue: !queue, %m: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{a warpgroup stages the tile (Q1); remove 'of_warps' from the queue's type}}
  %next = fp8.store %sum, %map[%m, %m] through %queue : !sum, !fp8.tensor_map<!tile>, !queue
  return %next : !queue
}

// -----

// expected-error @below {{a store queue's tile of 32 rows is a warp's anyway (Q1); remove of_warps}}
func.func private @of_warps(!fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4, of_warps>)

// -----

!tile = !fp8.tile<48x16xbf16, swizzle_32b>
!queue = !fp8.store_queue<1, !tile, 4>
!sum = !fp8.fragment<48x128xf32, 4, quarter_columns>
func.func @half_of_a_warp(%sum: !sum, %map: !fp8.tensor_map<!tile>, %queue: !queue, %m: index) -> !queue attributes {fp8.linear} {
  // expected-error @below {{the tile must have the 32 columns that a warp holds (Q2), but got 16}}
  %next = fp8.store %sum, %map[%m, %m] through %queue : !sum, !fp8.tensor_map<!tile>, !queue
  return %next : !queue
}

// -----

!tile = !fp8.tile<64x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<1, !tile, 4>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @in_front(%sum: !sum, %map: !fp8.tensor_map<!tile>, %queue: !queue, %n: index) -> !queue attributes {fp8.linear} {
  %row = arith.constant -1 : index
  // expected-error @below {{coordinate 0 must be at least 0 and below 2^31 (M6), but is -1}}
  %next = fp8.store %sum, %map[%row, %n] through %queue : !sum, !fp8.tensor_map<!tile>, !queue
  return %next : !queue
}

// -----

!tile = !fp8.tile<64x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<1, !tile, 4>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
func.func @within_16_bytes(%sum: !sum, %map: !fp8.tensor_map<!tile>, %queue: !queue, %m: index) -> !queue attributes {fp8.linear} {
  %column = arith.constant 12 : index
  // expected-error @below {{coordinate 1 must be a multiple of the 8 elements in 16 bytes (M6), but is 12}}
  %next = fp8.store %sum, %map[%m, %column] through %queue : !sum, !fp8.tensor_map<!tile>, !queue
  return %next : !queue
}
