// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!map = !fp8.tensor_map<!fp8.tile<32x64xbf16, swizzle_128b>>
!queue = !fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4>
!frag = !fp8.fragment<128x128xf32, 4>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>

// CHECK-LABEL: func.func @epilogue
func.func @epilogue(%acc: !fp8.epilogue_stage<!acc>, %in: !fp8.consumer_stage<!ring>, %map: !map, %b0: f32, %b1: f32, %i: index)
    -> (!fp8.epilogue_stage<!acc>, !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
  // CHECK: %[[QUEUE:.*]] = fp8.store_queue : !store_queue
  %queue = fp8.store_queue : !queue
  // CHECK: %[[ZERO:.*]] = fp8.zero : !fp8.fragment<128x128xf32, 4>
  %zero = fp8.zero : !frag
  %partial = fp8.accumulator %acc : !fp8.epilogue_stage<!acc>
  %s = fp8.tile %in["s"] : !fp8.consumer_stage<!ring>
  // CHECK: %[[ONE:.*]] = fp8.promote %[[ZERO]], %{{.*}} scales(%{{.*}}, %{{.*}}) : !fp8.fragment<128x128xf32, 4>, !fp8.tmem<128x128xf32>, !tile
  %one = fp8.promote %zero, %partial scales(%s, %b0) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  // CHECK: %[[TWO:.*]] = fp8.promote %[[ONE]], %{{.*}} scales(%{{.*}}, %{{.*}}, %{{.*}} split %{{.*}})
  %two = fp8.promote %one, %partial scales(%s, %b0, %b1 split %i) : !frag, !fp8.tmem<128x128xf32>, !fp8.tile<1x128xf32>
  // CHECK: %[[NEXT:.*]] = fp8.store %[[TWO]], %{{.*}}[%{{.*}}, %{{.*}}] through %[[QUEUE]]
  %next = fp8.store %two, %map[%i, %i] through %queue : !frag, !map, !queue
  // CHECK: fp8.close %[[NEXT]] : !store_queue
  fp8.close %next : !queue
  return %acc, %in : !fp8.epilogue_stage<!acc>, !fp8.consumer_stage<!ring>
}
