// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!share = !fp8.tile<32x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<3, a: !a, cta_group = 2>
!acc = !fp8.output_pipeline<4, 256x128xf32, cta_group = 2>

// CHECK: ![[RING:.*]] = !fp8.pipeline<3, a: !{{.*}}, cta_group = 2>

// CHECK-LABEL: func.func @leading
// CHECK-SAME: fp8.cluster = array<i64: 4, 4>
func.func @leading(%end: !fp8.consumer<!ring>, %n: index) -> (!fp8.consumer<!ring>, index)
    attributes {fp8.linear, fp8.cluster = array<i64: 4, 4>} {
  // CHECK: %{{.*}}:2 = fp8.leading_cta of pair (%[[E:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}}) : !fp8.consumer<![[RING]]>, index -> (!fp8.consumer<![[RING]]>, index) {
  %r:2 = fp8.leading_cta of pair (%e = %end, %i = %n) : !fp8.consumer<!ring>, index -> (!fp8.consumer<!ring>, index) {
    %stage = fp8.acquire %e : !fp8.consumer<!ring>
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    // CHECK: fp8.yield %{{.*}}, %[[N]] : !fp8.consumer<![[RING]]>, index
    fp8.yield %next, %i : !fp8.consumer<!ring>, index
  }
  // CHECK: fp8.leading_cta of cluster {
  fp8.leading_cta of cluster {
  }
  return %r#0, %r#1 : !fp8.consumer<!ring>, index
}

// CHECK-LABEL: func.func @multicast
func.func @multicast(%stage: !fp8.producer_stage<!ring>, %map: !fp8.tensor_map<!share>, %half: !fp8.tensor_map<!fp8.tile<64x128xf8E4M3FN, swizzle_128b>>, %i: index)
    -> !fp8.producer_stage<!ring> attributes {fp8.linear, fp8.cluster = array<i64: 4, 4>} {
  // CHECK: fp8.tma_load %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}["a"] multicast along n :
  fp8.tma_load %map[%i, %i], %stage["a"] multicast along n : !fp8.tensor_map<!share>, !fp8.producer_stage<!ring>
  // Along M a pair's CTAs have rows of their own: two of the four share.
  // CHECK: fp8.tma_load %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}["a"] multicast along m :
  fp8.tma_load %half[%i, %i], %stage["a"] multicast along m : !fp8.tensor_map<!fp8.tile<64x128xf8E4M3FN, swizzle_128b>>, !fp8.producer_stage<!ring>
  return %stage : !fp8.producer_stage<!ring>
}

// CHECK-LABEL: func.func @pair_mma
func.func @pair_mma(%stage: !fp8.mma_stage<!acc>, %a: !a, %b: !fp8.tile<64x128xf8E4M3FN, swizzle_128b>)
    -> !fp8.mma_stage<!acc> attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
  %d = fp8.accumulator %stage : !fp8.mma_stage<!acc>
  // CHECK: fp8.mma %{{.*}}, %{{.*}}, %{{.*}} : !fp8.tmem<256x128xf32, cta_group = 2>, !{{.*}}, !{{.*}}
  fp8.mma %d, %a, %b : !fp8.tmem<256x128xf32, cta_group = 2>, !a, !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
  return %stage : !fp8.mma_stage<!acc>
}
