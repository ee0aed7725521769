// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, a: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>, s: !tile>

// CHECK-LABEL: func.func @linear
func.func @linear() attributes {fp8.linear} {
  // CHECK: %[[ENDSP:.*]], %[[ENDSC0:.*]], %[[ENDSC1:.*]] = fp8.pipeline : !fp8.producer<!pipeline>, !fp8.consumer<!pipeline>, !fp8.consumer<!pipeline>
  %p, %c0, %c1 = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>
  // CHECK: %[[STAGE:.*]] = fp8.acquire %[[ENDSC0]] : !fp8.consumer<!pipeline>
  %stage = fp8.acquire %c0 : !fp8.consumer<!ring>
  // CHECK: fp8.tile %[[STAGE]]["s"] : !fp8.consumer_stage<!pipeline>
  %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
  // CHECK: fp8.index %[[STAGE]] : !fp8.consumer_stage<!pipeline>
  %index = fp8.index %stage : !fp8.consumer_stage<!ring>
  // CHECK: %[[END:.*]] = fp8.release %[[STAGE]] : !fp8.consumer_stage<!pipeline>
  %end = fp8.release %stage : !fp8.consumer_stage<!ring>
  // CHECK: fp8.close %[[END]] : !fp8.consumer<!pipeline>
  fp8.close %end : !fp8.consumer<!ring>
  fp8.close %p : !fp8.producer<!ring>
  fp8.close %c1 : !fp8.consumer<!ring>
  return
}

// CHECK-LABEL: func.func @stated_counts
func.func @stated_counts() attributes {fp8.linear} {
  // CHECK: fp8.pipeline {consumer_arrivals = 4 : i64, producer_arrivals = 1 : i64}
  %p, %c = fp8.pipeline {producer_arrivals = 1, consumer_arrivals = 4} : !fp8.producer<!ring>, !fp8.consumer<!ring>
  fp8.close %p : !fp8.producer<!ring>
  fp8.close %c : !fp8.consumer<!ring>
  return
}

// CHECK-LABEL: func.func @scoped
func.func @scoped(%p: !fp8.producer<!ring>, %c: !fp8.consumer<!ring>, %map: !fp8.tensor_map<!tile>, %i: index)
    -> (!fp8.producer<!ring>, !fp8.consumer<!ring>, index) attributes {fp8.linear} {
  // CHECK: fp8.produce(%[[S:.*]] = %{{.*}}) : !fp8.producer<!pipeline> -> !fp8.producer<!pipeline> {
  // CHECK-NEXT: fp8.tma_load %{{.*}}[%{{.*}}, %{{.*}}], %[[S]]["s"] : !fp8.tensor_map<!tile{{.*}}>, !fp8.producer_stage<!pipeline>
  // CHECK-NEXT: }
  %p1 = fp8.produce(%stage = %p) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
    fp8.tma_load %map[%i, %i], %stage["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
  }
  // CHECK: fp8.consume(%{{.*}} = %{{.*}}) : !fp8.consumer<!pipeline> -> (!fp8.consumer<!pipeline>, index) {
  // CHECK: fp8.yield %{{.*}} : index
  %c1, %j = fp8.consume(%stage = %c) : !fp8.consumer<!ring> -> (!fp8.consumer<!ring>, index) {
    fp8.yield %i : index
  }
  return %p1, %c1, %j : !fp8.producer<!ring>, !fp8.consumer<!ring>, index
}
