// RUN: fp8-opt %s --fp8-unroll-laps --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-unroll-laps=max-trips=3 --split-input-file | FileCheck %s --check-prefix=MOST

// RUN: fp8-opt %s --fp8-profile --fp8-unroll-laps --split-input-file | FileCheck %s --check-prefix=STAMPS

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>

// Two laps, and the trip's number. Stamps in each copy would take too many registers.
// STAMPS-LABEL: func.func @two_laps(
// STAMPS: scf.for
// CHECK-LABEL: func.func @two_laps(
// CHECK-NOT: scf.for
// CHECK-COUNT-4: fp8.acquire
// CHECK-NOT: fp8.acquire
// CHECK: return
// MOST-LABEL: func.func @two_laps(
// MOST: scf.for
func.func @two_laps(%end: !fp8.consumer<!ring>, %count: index) -> (!fp8.consumer<!ring>, index) attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %last:2 = scf.for %i = %zero to %four step %one iter_args(%inner = %end, %sum = %count) -> (!fp8.consumer<!ring>, index) {
    %stage = fp8.acquire %inner : !fp8.consumer<!ring>
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    %more = arith.addi %sum, %i : index
    scf.yield %next, %more : !fp8.consumer<!ring>, index
  }
  return %last#0, %last#1 : !fp8.consumer<!ring>, index
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>

// A trip more than a lap: the next time around it would begin at the other slot.
// CHECK-LABEL: func.func @lap_and_a_half(
// CHECK: scf.for
func.func @lap_and_a_half(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %last = scf.for %i = %zero to %three step %one iter_args(%inner = %end) -> !fp8.consumer<!ring> {
    %stage = fp8.acquire %inner : !fp8.consumer<!ring>
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    scf.yield %next : !fp8.consumer<!ring>
  }
  return %last : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>

// A number of trips that is not known, and none at all.
// CHECK-LABEL: func.func @unknown(
// CHECK-COUNT-2: scf.for
func.func @unknown(%end: !fp8.consumer<!ring>, %count: index) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = scf.for %i = %zero to %count step %one iter_args(%inner = %end) -> !fp8.consumer<!ring> {
    %stage = fp8.acquire %inner : !fp8.consumer<!ring>
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    scf.yield %next : !fp8.consumer<!ring>
  }
  %same = scf.for %i = %one to %zero step %one iter_args(%inner = %last) -> !fp8.consumer<!ring> {
    %stage = fp8.acquire %inner : !fp8.consumer<!ring>
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    scf.yield %next : !fp8.consumer<!ring>
  }
  return %same : !fp8.consumer<!ring>
}

// -----

!acc = !fp8.output_pipeline<4, 128x128xf32>

// The handle of a warp is an end too; what carries none is none of this pass's business.
// CHECK-LABEL: func.func @warp(
// CHECK-COUNT-4: fp8.per_k_stage
// CHECK: scf.for
// CHECK-NOT: fp8.per_k_stage
// CHECK: return
func.func @warp(%warp: !fp8.mma_warp<!acc>, %count: index) -> (!fp8.mma_warp<!acc>, index) attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %last = scf.for %i = %zero to %four step %one iter_args(%inner = %warp) -> !fp8.mma_warp<!acc> {
    %next = fp8.per_k_stage(%stage = %inner) : !fp8.mma_warp<!acc> -> !fp8.mma_warp<!acc> {
    }
    scf.yield %next : !fp8.mma_warp<!acc>
  }
  %sum = scf.for %i = %zero to %four step %one iter_args(%inner = %count) -> index {
    %more = arith.addi %inner, %i : index
    scf.yield %more : index
  }
  return %last, %sum : !fp8.mma_warp<!acc>, index
}

// -----

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x64xf32>
!ring = !fp8.pipeline<2, a: !a, b: !b, s: !s>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>

// Products of warpgroups: their addresses would take the registers of the sums.
// CHECK-LABEL: func.func @products(
// CHECK: scf.for
// CHECK-COUNT-1: fp8.warpgroup_mma
// CHECK-NOT: fp8.warpgroup_mma
func.func @products(%end: !fp8.consumer<!ring>, %sum: !sum, %scale: f32) -> (!fp8.consumer<!ring>, !sum) attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %last:2 = scf.for %i = %zero to %two step %one iter_args(%inner = %end, %sums = %sum) -> (!fp8.consumer<!ring>, !sum) {
    %stage = fp8.acquire %inner : !fp8.consumer<!ring>
    %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
    %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
    %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %scale) : !sum, !sum, !s
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    scf.yield %next, %more : !fp8.consumer<!ring>, !sum
  }
  return %last#0, %last#1 : !fp8.consumer<!ring>, !sum
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, a: !a, b: !b, s: !s>
!sum = !fp8.fragment<128x128xf32, 8, warpgroups>

// Two warpgroups with products of 128 columns gain by copies, if no lap fixes their slots.
// CHECK-LABEL: func.func @products_of_two_warpgroups(
// CHECK-NOT: scf.for
// CHECK-COUNT-4: fp8.warpgroup_mma
// CHECK-NOT: fp8.warpgroup_mma
// CHECK: return
func.func @products_of_two_warpgroups(%first: !fp8.consumer_stage<!ring>, %sum: !sum, %scale: f32) -> (!fp8.consumer_stage<!ring>, !sum) attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %trips = arith.constant 4 : index
  %last:2 = scf.for %i = %zero to %trips step %one iter_args(%stage = %first, %sums = %sum) -> (!fp8.consumer_stage<!ring>, !sum) {
    %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
    %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
    %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %scale) : !sum, !sum, !s
    %end = fp8.release %stage : !fp8.consumer_stage<!ring>
    %next = fp8.acquire %end : !fp8.consumer<!ring>
    scf.yield %next, %more : !fp8.consumer_stage<!ring>, !sum
  }
  return %last#0, %last#1 : !fp8.consumer_stage<!ring>, !sum
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, a: !a, b: !b, s: !s>
!sum = !fp8.fragment<128x128xf32, 8, warpgroups>

// Four trips are two laps.
// CHECK-LABEL: func.func @products_in_laps(
// CHECK: scf.for
// CHECK-COUNT-1: fp8.warpgroup_mma
// CHECK-NOT: fp8.warpgroup_mma
func.func @products_in_laps(%first: !fp8.consumer_stage<!ring>, %sum: !sum, %scale: f32) -> (!fp8.consumer_stage<!ring>, !sum) attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %trips = arith.constant 4 : index
  %last:2 = scf.for %i = %zero to %trips step %one iter_args(%stage = %first, %sums = %sum) -> (!fp8.consumer_stage<!ring>, !sum) {
    %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
    %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
    %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %scale) : !sum, !sum, !s
    %end = fp8.release %stage : !fp8.consumer_stage<!ring>
    %next = fp8.acquire %end : !fp8.consumer<!ring>
    scf.yield %next, %more : !fp8.consumer_stage<!ring>, !sum
  }
  return %last#0, %last#1 : !fp8.consumer_stage<!ring>, !sum
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, a: !a, b: !b, s: !s>
!sum = !fp8.fragment<128x64xf32, 8, warpgroups>

// Products of 64 columns do not gain.
// CHECK-LABEL: func.func @narrow_products(
// CHECK: scf.for
// CHECK-COUNT-1: fp8.warpgroup_mma
// CHECK-NOT: fp8.warpgroup_mma
func.func @narrow_products(%first: !fp8.consumer_stage<!ring>, %sum: !sum, %scale: f32) -> (!fp8.consumer_stage<!ring>, !sum) attributes {fp8.linear} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %trips = arith.constant 4 : index
  %last:2 = scf.for %i = %zero to %trips step %one iter_args(%stage = %first, %sums = %sum) -> (!fp8.consumer_stage<!ring>, !sum) {
    %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
    %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
    %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %scale) : !sum, !sum, !s
    %end = fp8.release %stage : !fp8.consumer_stage<!ring>
    %next = fp8.acquire %end : !fp8.consumer<!ring>
    scf.yield %next, %more : !fp8.consumer_stage<!ring>, !sum
  }
  return %last#0, %last#1 : !fp8.consumer_stage<!ring>, !sum
}
