// RUN: fp8-opt %s --fp8-unswitch-scales --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-profile --fp8-unswitch-scales --split-input-file | FileCheck %s --check-prefix=STAMPS

// A kernel in which blocks end at one of eight places within a tile: copies of two loops, beside the first and the last K block.
// RUN: fp8-opt %S/Inputs/straddling.mlir --fp8-gemm-to-ptx='chip=sm_90a phase=linear' | FileCheck %s --check-prefix=KERNEL
// KERNEL-COUNT-18: fp8.warpgroup_mma
// KERNEL-NOT: fp8.warpgroup_mma

// In tiles of 72 columns a block ends at one of nine places, which are too many.
// RUN: sed 's/128 x 144/128 x 72/' %S/Inputs/straddling.mlir | fp8-opt --fp8-gemm-to-ptx='chip=sm_90a phase=linear' | FileCheck %s --check-prefix=MANY
// MANY-COUNT-2: fp8.warpgroup_mma
// MANY-NOT: fp8.warpgroup_mma

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!sum = !fp8.fragment<128x96xf32, 8, warpgroups>

// Two columns where a block may have ended make three copies. The select of another value stays.
// STAMPS-LABEL: func.func @three(
// STAMPS-NOT: scf.if
// STAMPS-COUNT-3: arith.select
// CHECK-LABEL: func.func @three(
// CHECK-SAME: memref<?x2xf32>, %[[SPLIT:.*]]: index, %{{.*}}: index)
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[BOTH:.*]] = arith.cmpi ugt, %[[SPLIT]], %[[C64]]
// CHECK: %[[RESULT:.*]] = scf.if %[[BOTH]]
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = memref.load %{{.*}}[%{{.*}}, %c0]
// CHECK: %[[OTHER:.*]] = arith.select %{{.*}}, %[[FIRST]], %{{.*}} : f32
// CHECK: fp8.promote %{{.*}}, %{{.*}} scales(%{{.*}}, %[[OTHER]], %[[FIRST]], %[[FIRST]])
// CHECK: } else {
// CHECK: %[[ONE:.*]] = arith.cmpi ugt, %[[SPLIT]], %[[C32]]
// CHECK: scf.if %[[ONE]]
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = memref.load %{{.*}}[%{{.*}}, %c0]
// CHECK: %[[SECOND:.*]] = memref.load %{{.*}}[%{{.*}}, %c1]
// CHECK: scales(%{{.*}}, %{{.*}}, %[[FIRST]], %[[SECOND]])
// CHECK: } else {
// CHECK: scf.for
// CHECK: %[[SECOND:.*]] = memref.load %{{.*}}[%{{.*}}, %c1]
// CHECK: scales(%{{.*}}, %{{.*}}, %[[SECOND]], %[[SECOND]])
// CHECK-NOT: scf.for
// CHECK: return %[[RESULT]]
func.func @three(%a: !a, %b: !b, %s: !s, %sum: !sum, %scales: memref<?x2xf32>, %split: index, %count: index) -> !sum attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %result = scf.for %i = %c0 to %count step %c1 iter_args(%sums = %sum) -> !sum {
    %first = memref.load %scales[%i, %c0] : memref<?x2xf32>
    %second = memref.load %scales[%i, %c1] : memref<?x2xf32>
    %of_trip = arith.cmpi ugt, %i, %c32 : index
    %left = arith.select %of_trip, %first, %second : f32
    %of_middle = arith.cmpi ugt, %split, %c32 : index
    %middle = arith.select %of_middle, %first, %second : f32
    %of_right = arith.cmpi ugt, %split, %c64 : index
    %right = arith.select %of_right, %first, %second : f32
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %left, %middle, %right) : !sum, !sum, !s
    scf.yield %more : !sum
  }
  return %result : !sum
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!sum = !fp8.fragment<128x96xf32, 8, warpgroups>

// The outer loop computes where the block ends. The middle one is copied, with the one in it.
// CHECK-LABEL: func.func @tiles(
// CHECK: scf.for
// CHECK: %[[SPLIT:.*]] = arith.subi
// CHECK: arith.cmpi ugt, %[[SPLIT]]
// CHECK: scf.if
// CHECK-COUNT-2: scf.for
// CHECK: } else {
// CHECK-COUNT-2: scf.for
// CHECK-NOT: arith.select
// CHECK: return
func.func @tiles(%a: !a, %b: !b, %s: !s, %sum: !sum, %scales: memref<?x2xf32>, %count: index) -> !sum attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %c128 = arith.constant 128 : index
  %result = scf.for %tile = %c0 to %c128 step %c1 iter_args(%of_tiles = %sum) -> !sum {
    %split = arith.subi %c128, %tile : index
    %of_groups = scf.for %group = %c0 to %count step %c1 iter_args(%outer = %of_tiles) -> !sum {
      %of_blocks = scf.for %i = %c0 to %count step %c1 iter_args(%sums = %outer) -> !sum {
        %first = memref.load %scales[%i, %c0] : memref<?x2xf32>
        %second = memref.load %scales[%i, %c1] : memref<?x2xf32>
        %is_first = arith.cmpi ugt, %split, %c48 : index
        %right = arith.select %is_first, %first, %second : f32
        %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
        %product = fp8.wait_mma %pending : !fp8.pending<!sum>
        %more = fp8.promote %sums, %product scales(%s, %first, %right) : !sum, !sum, !s
        scf.yield %more : !sum
      }
      scf.yield %of_blocks : !sum
    }
    scf.yield %of_groups : !sum
  }
  return %result : !sum
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!sum = !fp8.fragment<128x96xf32, 8, warpgroups>

// Blocks end at two places: there are copies for the first one, each of which selects for the other.
// CHECK-LABEL: func.func @two_places(
// CHECK-COUNT-1: scf.if
// CHECK-COUNT-2: arith.select
// CHECK-NOT: arith.select
// CHECK: return
func.func @two_places(%a: !a, %b: !b, %s: !s, %sum: !sum, %first: f32, %second: f32, %one: index, %other: index) -> !sum attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %result = scf.for %i = %c0 to %c128 step %c1 iter_args(%sums = %sum) -> !sum {
    %of_middle = arith.cmpi ugt, %one, %c32 : index
    %middle = arith.select %of_middle, %first, %second : f32
    %of_right = arith.cmpi ugt, %other, %c64 : index
    %right = arith.select %of_right, %first, %second : f32
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %first, %middle, %right) : !sum, !sum, !s
    scf.yield %more : !sum
  }
  return %result : !sum
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
!s = !fp8.tile<1x128xf32>
!sum = !fp8.fragment<128x128xf32, 4>

// Products in tensor memory.
// CHECK-LABEL: func.func @tensor_memory(
// CHECK-NOT: scf.if
// CHECK: return
func.func @tensor_memory(%partial: !fp8.tmem<128x128xf32>, %s: !s, %sum: !sum, %first: f32, %second: f32, %split: index) -> !sum attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %result = scf.for %i = %c0 to %c128 step %c1 iter_args(%sums = %sum) -> !sum {
    %is_first = arith.cmpi ugt, %split, %c64 : index
    %right = arith.select %is_first, %first, %second : f32
    %more = fp8.promote %sums, %partial scales(%s, %first, %right) : !sum, !fp8.tmem<128x128xf32>, !s
    scf.yield %more : !sum
  }
  return %result : !sum
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!sum = !fp8.fragment<128x96xf32, 8, warpgroups>

// What selects at another column, or for something else, stays as it is: only the promotion's own scales are resolved.
// CHECK-LABEL: func.func @others(
// CHECK: scf.if
// CHECK-COUNT-2: arith.select
// CHECK: } else {
// CHECK-COUNT-2: arith.select
// CHECK-NOT: arith.select
// CHECK: return
func.func @others(%a: !a, %b: !b, %s: !s, %sum: !sum, %one: f32, %two: f32, %three: f32, %split: index, %out: memref<?xf32>) -> !sum attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %result = scf.for %i = %c0 to %c128 step %c1 iter_args(%sums = %sum) -> !sum {
    %is_other = arith.cmpi ugt, %split, %c16 : index
    %other = arith.select %is_other, %one, %two : f32
    memref.store %other, %out[%i] : memref<?xf32>
    %is_inner = arith.cmpi ugt, %split, %c64 : index
    %inner = arith.select %is_inner, %two, %three : f32
    %is_outer = arith.cmpi ugt, %split, %c32 : index
    %outer = arith.select %is_outer, %one, %inner : f32
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %one, %outer) : !sum, !sum, !s
    scf.yield %more : !sum
  }
  return %result : !sum
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!sum = !fp8.fragment<128x96xf32, 8, warpgroups>

// Selects outside of the loop, and comparisons of integers that are no index.
// CHECK-LABEL: func.func @outside(
// CHECK-NOT: scf.if
// CHECK: return
func.func @outside(%a: !a, %b: !b, %s: !s, %sum: !sum, %one: f32, %two: f32, %split: index, %number: i32) -> !sum attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %i32 = arith.constant 32 : i32
  %is_first = arith.cmpi ugt, %split, %c32 : index
  %right = arith.select %is_first, %one, %two : f32
  %result = scf.for %i = %c0 to %c128 step %c1 iter_args(%sums = %sum) -> !sum {
    %is_left = arith.cmpi ugt, %number, %i32 : i32
    %left = arith.select %is_left, %one, %two : f32
    %pending = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
    %product = fp8.wait_mma %pending : !fp8.pending<!sum>
    %more = fp8.promote %sums, %product scales(%s, %left, %right) : !sum, !sum, !s
    scf.yield %more : !sum
  }
  return %result : !sum
}
