// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!a = !fp8.tile<256x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<96x128xf8E5M2, swizzle_128b>
!s = !fp8.tile<1x256xf32>
!c = !fp8.tile<256x32xbf16, swizzle_64b>
!ring = !fp8.pipeline<3, a: !a, b: !b, s: !s>
!part = !fp8.fragment<128x96xf32, 8, warpgroups>
!sum = !fp8.fragment<256x96xf32, 8, warpgroups>
!d = !fp8.tile<64x32xbf16, swizzle_64b>
!queue = !fp8.store_queue<2, !d, 8>

// CHECK-LABEL: func.func @parts
func.func @parts(%in: !fp8.consumer<!ring>, %c: !c, %row: !fp8.tile<1x96xf32>, %d: !fp8.tensor_map<!d>, %queue: !queue, %sum: !sum, %b0: f32, %m: index,
                 %rest: memref<?x?xbf16, strided<[?, 1]>>)
    -> (!fp8.consumer<!ring>, !queue) attributes {fp8.linear} {
  %stage = fp8.acquire %in : !fp8.consumer<!ring>
  %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
  %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
  %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
  // CHECK: %[[FIRST:.*]] = fp8.warpgroup_mma %{{.*}}, %{{.*}} : !tile{{[0-9]*}}, !tile{{[0-9]*}} -> !fp8.pending<!fp8.fragment<128x96xf32, 8, warpgroups>>
  %first = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!part>
  // CHECK: %[[UPPER:.*]] = fp8.wait_mma %[[FIRST]] : !fp8.pending<!fp8.fragment<128x96xf32, 8, warpgroups>>
  %upper = fp8.wait_mma %first : !fp8.pending<!part>
  // CHECK: %[[ONE:.*]] = fp8.promote %{{.*}}, %[[UPPER]] scales(
  %one = fp8.promote %sum, %upper scales(%s, %b0) : !sum, !part, !s
  // CHECK: %[[SECOND:.*]] = fp8.warpgroup_mma %{{.*}}, %{{.*}} part 1 accumulate(%[[UPPER]] : !fp8.fragment<128x96xf32, 8, warpgroups>) :
  %second = fp8.warpgroup_mma %a, %b part 1 accumulate(%upper : !part) : !a, !b -> !fp8.pending<!part>
  %lower = fp8.wait_mma %second : !fp8.pending<!part>
  // CHECK: fp8.promote %[[ONE]] part 1, %{{.*}} scales(
  %two = fp8.promote %one part 1, %lower scales(%s, %b0) : !sum, !part, !s
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  %three = fp8.add_tile %two[64], %c : !sum, !c
  %four = fp8.add_row %three, %row : !sum, !fp8.tile<1x96xf32>
  // CHECK: fp8.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] through %{{.*}} rest(%{{.*}} : memref<?x?xbf16, strided<[?, 1]>>) : !fp8.fragment
  %q0 = fp8.store %four, %d[%m, %m] through %queue rest(%rest : memref<?x?xbf16, strided<[?, 1]>>) : !sum, !fp8.tensor_map<!d>, !queue
  %q = fp8.store %four, %d[%m, %m] through %q0 : !sum, !fp8.tensor_map<!d>, !queue
  return %next, %q : !fp8.consumer<!ring>, !queue
}

!fa = !fp8.tile<24x128xf8E4M3FN, swizzle_128b>
!fb = !fp8.tile<256x128xf8E4M3FN, swizzle_128b>
!fs = !fp8.tile<1x24xf32>
!few = !fp8.fragment<24x256xf32, 8, warpgroup_columns>
!half = !fp8.fragment<24x128xf32, 8, warpgroup_columns>
!fd = !fp8.tile<24x16xbf16, swizzle_32b>
!fqueue = !fp8.store_queue<2, !fd, 8>

// The operands swapped: each warpgroup has columns.
// CHECK-LABEL: func.func @swapped
func.func @swapped(%a: !fa, %b: !fb, %s: !fs, %c: !fp8.tile<24x64xbf16, swizzle_128b>, %row: !fp8.tile<1x256xf32>, %sum: !few, %b0: f32, %b1: f32,
                   %d: !fp8.tensor_map<!fd>, %queue: !fqueue, %m: index) -> !fqueue attributes {fp8.linear} {
  // CHECK: fp8.warpgroup_mma %{{.*}}, %{{.*}} part 1 : !tile{{[0-9]*}}, !tile{{[0-9]*}} -> !fp8.pending<!fp8.fragment<24x128xf32, 8, warpgroup_columns>>
  %pending = fp8.warpgroup_mma %a, %b part 1 : !fa, !fb -> !fp8.pending<!half>
  %product = fp8.wait_mma %pending : !fp8.pending<!half>
  // CHECK: fp8.promote %{{.*}} part 1, %{{.*}} scales(%{{.*}}, %{{.*}}, %{{.*}}) : !fp8.fragment<24x256xf32, 8, warpgroup_columns>, !fp8.fragment<24x128xf32, 8, warpgroup_columns>
  %one = fp8.promote %sum part 1, %product scales(%s, %b0, %b1) : !few, !half, !fs
  %two = fp8.add_tile %one[64], %c : !few, !fp8.tile<24x64xbf16, swizzle_128b>
  %three = fp8.add_row %two, %row : !few, !fp8.tile<1x256xf32>
  // CHECK: fp8.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] through %{{.*}} : !fp8.fragment<24x256xf32, 8, warpgroup_columns>
  %next = fp8.store %three, %d[%m, %m] through %queue : !few, !fp8.tensor_map<!fd>, !fqueue
  return %next : !fqueue
}
