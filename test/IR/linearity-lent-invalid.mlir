// What a borrow lends, used too late or passed on (L9).
// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @use_of_lent_after_release(%end: !fp8.consumer<!ring>, %m: memref<?xf32>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{lent here}}
  %index = fp8.index %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{consumed here}}
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{used here}}
  %x = memref.load %m[%index] : memref<?xf32>
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @lent_escapes(%end: !fp8.consumer<!ring>) -> (!fp8.consumer<!ring>, index) attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %index = fp8.index %stage : !fp8.consumer_stage<!ring>
  %c1 = arith.constant 1 : index
  %next_index = arith.addi %index, %c1 : index
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{passed on here}}
  return %next, %next_index : !fp8.consumer<!ring>, index
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @lent_is_stored(%end: !fp8.consumer<!ring>, %m: memref<index>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %index = fp8.index %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{passed on here}}
  memref.store %index, %m[] : memref<index>
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @lent_is_added_to_memory(%end: !fp8.consumer<!ring>, %m: memref<index>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %index = fp8.index %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{passed on here}}
  %old = memref.atomic_rmw addi %index, %m[] : (index, memref<index>) -> index
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @counted_from_what_was_lent(%end: !fp8.consumer<!ring>, %m: memref<?xf32>, %n: index) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %c1 = arith.constant 1 : index
  // expected-error @below {{consumer stage was consumed before the last use of what it lent (L9); consume it after that}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  %slot = fp8.index %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{consumed here}}
  // expected-note @below {{lent here}}
  %last = scf.for %i = %slot to %n step %c1 iter_args(%s = %stage) -> !fp8.consumer_stage<!ring> {
    // expected-note @below {{used here}}
    %x = memref.load %m[%i] : memref<?xf32>
    scf.yield %s : !fp8.consumer_stage<!ring>
  }
  %next = fp8.release %last : !fp8.consumer_stage<!ring>
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
#map = affine_map<(d0) -> (d0)>
func.func @lent_is_captured(%end: !fp8.consumer<!ring>, %m: memref<?xf32>, %t: tensor<4xf32>) -> (!fp8.consumer<!ring>, tensor<4xf32>) attributes {fp8.linear} {
  // expected-error @below {{consumer stage lends a value that 'linalg.generic' captures (L6); read what its regions need in front of it}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{lent here}}
  %slot = fp8.index %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{captured here}}
  %r = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%t : tensor<4xf32>) {
  ^bb0(%z: f32):
    // expected-note @below {{used here}}
    %x = memref.load %m[%slot] : memref<?xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %next, %r : !fp8.consumer<!ring>, tensor<4xf32>
}

// -----

// A sum is computed with its scales, wherever the products come from.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!sum = !fp8.fragment<128x128xf32, 4>
func.func @lent_is_promoted(%acc: !fp8.epilogue_stage<!acc>, %stage: !fp8.consumer_stage<!ring>, %f: !sum) -> (!fp8.epilogue_stage<!acc>, !fp8.consumer<!ring>, !sum) attributes {fp8.linear} {
  %partial = fp8.accumulator %acc : !fp8.epilogue_stage<!acc>
  %scale = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
  // expected-error @below {{what 'fp8.index' lends must not outlive its handle (L9); pass the handle on and borrow again}}
  %slot = fp8.index %stage : !fp8.consumer_stage<!ring>
  %i = arith.index_cast %slot : index to i32
  %x = arith.sitofp %i : i32 to f32
  %sum = fp8.promote %f, %partial scales(%scale, %x) : !sum, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{passed on here}}
  return %acc, %next, %sum : !fp8.epilogue_stage<!acc>, !fp8.consumer<!ring>, !sum
}
