// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!map = !fp8.tensor_map<!fp8.tile<32x64xbf16, swizzle_128b>>
!queue = !fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4>
!frag = !fp8.fragment<128x128xf32, 4>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!c_tile = !fp8.tile<128x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>

// CHECK-LABEL: func.func @epilogue
func.func @epilogue(%acc: !fp8.epilogue_stage<!acc>, %in: !fp8.consumer_stage<!ring>, %c: !c_tile, %rows: !fp8.tile<4x128xf32>, %map: !map, %b0: f32, %b1: f32, %i: index)
    -> (!fp8.epilogue_stage<!acc>, !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
  // CHECK: %[[QUEUE:.*]] = fp8.store_queue : !store_queue
  %queue = fp8.store_queue : !queue
  // CHECK: %[[ZERO:.*]] = fp8.zero : !fp8.fragment<128x128xf32, 4>
  %zero = fp8.zero : !frag
  %partial = fp8.accumulator %acc : !fp8.epilogue_stage<!acc>
  %s = fp8.tile %in["s"] : !fp8.consumer_stage<!ring>
  // CHECK: %[[ONE:.*]] = fp8.promote %[[ZERO]], %{{.*}} scales(%{{.*}}, %{{.*}}) : !fp8.fragment<128x128xf32, 4>, !fp8.tmem<128x128xf32>, !tile
  %one = fp8.promote %zero, %partial scales(%s, %b0) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  // CHECK: %[[TWO:.*]] = fp8.promote %[[ONE]], %{{.*}} scales(%{{.*}}, %{{[^,]*}}, %{{[^,]*}}) :
  %two = fp8.promote %one, %partial scales(%s, %b0, %b1) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  // CHECK: %[[THREE:.*]] = fp8.promote %[[TWO]], %{{.*}} scales(%{{.*}}, row %{{.*}}) : !fp8.fragment<128x128xf32, 4>, !fp8.tmem<128x128xf32>, !tile, !tile
  %three = fp8.promote %two, %partial scales(%s, row %s) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>, !fp8.tile<1x128xf32>
  // CHECK: fp8.promote %[[THREE]], %{{.*}} scales(%{{.*}}[%{{.*}}], %{{[^,]*}}) : !fp8.fragment<128x128xf32, 4>, !fp8.tmem<128x128xf32>, !tile{{[0-9]+}}
  %four = fp8.promote %three, %partial scales(%rows[%i], %b0) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<4x128xf32>
  // CHECK: %[[READ:.*]] = fp8.read %{{.*}} : !fp8.tmem<128x128xf32> -> !fp8.fragment<128x128xf32, 4>
  %read = fp8.read %partial : !fp8.tmem<128x128xf32> -> !frag
  // CHECK: %[[TILE:.*]] = fp8.add_tile %[[READ]][64], %{{.*}} scaled %{{.*}} : !fp8.fragment<128x128xf32, 4>, !tile{{[0-9]+}}
  %tile = fp8.add_tile %read[64], %c scaled %b0 : !frag, !c_tile
  // CHECK: %[[PLAIN:.*]] = fp8.add_tile %[[TILE]][0], %{{.*}} : !fp8.fragment<128x128xf32, 4>, !tile{{[0-9]+}}
  %plain = fp8.add_tile %tile[0], %c : !frag, !c_tile
  // CHECK: %[[ROW:.*]] = fp8.add_row %[[PLAIN]], %{{.*}} : !fp8.fragment<128x128xf32, 4>, !tile
  %row = fp8.add_row %plain, %s : !frag, !fp8.tile<1x128xf32>
  // CHECK: %[[MAP:.*]] = fp8.map(%[[X:.*]] = %[[ROW]], %[[Y:.*]] = %[[THREE]]) : !fp8.fragment<128x128xf32, 4>, !fp8.fragment<128x128xf32, 4> -> !fp8.fragment<128x128xf32, 4> {
  // CHECK-NEXT: %[[Z:.*]] = arith.mulf %[[X]], %[[Y]] : f32
  // CHECK-NEXT: fp8.yield %[[Z]] : f32
  %map_result = fp8.map(%x = %row, %y = %three) : !frag, !frag -> !frag {
    %z = arith.mulf %x, %y : f32
    fp8.yield %z : f32
  }
  // CHECK: %[[NEXT:.*]] = fp8.store %[[MAP]], %{{.*}}[%{{.*}}, %{{.*}}] through %[[QUEUE]]
  %next = fp8.store %map_result, %map[%i, %i] through %queue : !frag, !map, !queue
  // CHECK: fp8.close %[[NEXT]] : !store_queue
  fp8.close %next : !queue
  return %acc, %in : !fp8.epilogue_stage<!acc>, !fp8.consumer_stage<!ring>
}
