// RUN: fp8-opt %s --fp8-flatten-scopes | FileCheck %s

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>
!acc = !fp8.output_pipeline<2, 128x128xf32>

// CHECK-LABEL: func.func @stages
// CHECK-SAME: (%[[P:.*]]: !fp8.producer<!pipeline>, %[[C:.*]]: !fp8.consumer<!pipeline>
func.func @stages(%p: !fp8.producer<!ring>, %c: !fp8.consumer<!ring>, %map: !fp8.tensor_map<!tile>, %i: index)
    -> (!fp8.producer<!ring>, !fp8.consumer<!ring>, index) attributes {fp8.linear} {
  // CHECK: %[[S:.*]] = fp8.acquire %[[P]]
  // CHECK-NEXT: fp8.tma_load %{{.*}}, %[[S]]["s"]
  // CHECK-NEXT: %[[P1:.*]] = fp8.release %[[S]]
  %p1 = fp8.produce(%stage = %p) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
    fp8.tma_load %map[%i, %i], %stage["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
  }
  // CHECK: %[[T:.*]] = fp8.acquire %[[C]]
  // CHECK-NEXT: %[[X:.*]] = arith.addi
  // CHECK-NEXT: %[[C1:.*]] = fp8.release %[[T]]
  %c1, %x = fp8.consume(%stage = %c) : !fp8.consumer<!ring> -> (!fp8.consumer<!ring>, index) {
    %x = arith.addi %i, %i : index
    fp8.yield %x : index
  }
  // CHECK: return %[[P1]], %[[C1]], %[[X]]
  return %p1, %c1, %x : !fp8.producer<!ring>, !fp8.consumer<!ring>, index
}

// Stages are released in the opposite order.
// CHECK-LABEL: func.func @per_k_stage
func.func @per_k_stage(%w: !fp8.mma_warp<!acc>, %c: !fp8.consumer<!ring>) -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>)
    attributes {fp8.linear} {
  // CHECK: %[[A:.*]] = fp8.acquire %{{.*}} : !fp8.mma_warp
  // CHECK-NEXT: %[[I:.*]] = fp8.acquire %{{.*}} : !fp8.consumer
  // CHECK-NEXT: %[[C1:.*]] = fp8.release %[[I]]
  // CHECK-NEXT: %[[W1:.*]] = fp8.release %[[A]]
  // CHECK-NEXT: return %[[W1]], %[[C1]]
  %w1, %c1 = fp8.per_k_stage(%acc = %w, %in = %c) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
      -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
  }
  return %w1, %c1 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
}

// One accumulator for a whole tile: the MMA warp's stage outlives the input's.
// CHECK-LABEL: func.func @tile
func.func @tile(%w: !fp8.mma_warp<!acc>, %e: !fp8.epilogue_warp<!acc>, %c: !fp8.consumer<!ring>)
    -> (!fp8.mma_warp<!acc>, !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>) attributes {fp8.linear} {
  // CHECK: %[[A:.*]] = fp8.acquire %{{.*}} : !fp8.mma_warp
  // CHECK-NEXT: %[[I:.*]] = fp8.acquire %{{.*}} : !fp8.consumer
  // CHECK-NEXT: %[[C1:.*]] = fp8.release %[[I]]
  // CHECK-NEXT: %[[W1:.*]] = fp8.release %[[A]] : !fp8.mma_stage
  %w1, %c1 = fp8.produce(%acc = %w) : !fp8.mma_warp<!acc> -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
    %c2 = fp8.consume(%in = %c) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
    }
    fp8.yield %c2 : !fp8.consumer<!ring>
  }
  // CHECK-NEXT: %[[B:.*]] = fp8.acquire %{{.*}} : !fp8.epilogue_warp
  // CHECK-NEXT: %[[E1:.*]] = fp8.release %[[B]] : !fp8.epilogue_stage
  %e1 = fp8.consume(%acc = %e) : !fp8.epilogue_warp<!acc> -> !fp8.epilogue_warp<!acc> {
  }
  // CHECK-NEXT: return %[[W1]], %[[E1]], %[[C1]]
  return %w1, %e1, %c1 : !fp8.mma_warp<!acc>, !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>
}

// consume_explicit: the body has signalled, so what is left is to step.
// CHECK-LABEL: func.func @consume_explicit
func.func @consume_explicit(%w: !fp8.epilogue_warp<!acc>, %c: !fp8.consumer<!ring>, %i: index)
    -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, index) attributes {fp8.linear} {
  // CHECK: %[[S:.*]] = fp8.acquire %{{.*}} : !fp8.epilogue_warp
  // CHECK-NEXT: %[[T:.*]] = fp8.acquire %{{.*}} : !fp8.consumer
  // CHECK-NEXT: %[[T1:.*]] = fp8.arrive %[[T]]
  // CHECK-NEXT: %[[X:.*]] = arith.addi
  // CHECK-NEXT: %[[S1:.*]] = fp8.arrive %[[S]]
  // CHECK-NEXT: %[[C1:.*]] = fp8.step %[[T1]]
  // CHECK-NEXT: %[[W1:.*]] = fp8.step %[[S1]]
  // CHECK-NEXT: return %[[W1]], %[[C1]], %[[X]]
  %w1, %c1, %x = fp8.consume_explicit(%s = %w, %t = %c) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>
      -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, index) {
    %t1 = fp8.arrive %t : !fp8.consumer_stage<!ring>
    %x = arith.addi %i, %i : index
    %s1 = fp8.arrive %s : !fp8.epilogue_stage<!acc>
    fp8.yield %s1, %t1, %x : !fp8.signalled<!fp8.epilogue_stage<!acc>>, !fp8.signalled<!fp8.consumer_stage<!ring>>, index
  }
  return %w1, %c1, %x : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, index
}

// A scope of a ready end acquires it, without another wait.
// CHECK-LABEL: func.func @ready
func.func @ready(%c: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // CHECK: %[[R:.*]] = fp8.wait
  // CHECK-NEXT: %[[S:.*]] = fp8.acquire %[[R]] : !fp8.ready<!fp8.consumer<!pipeline>>
  // CHECK-NEXT: fp8.release %[[S]]
  %ready = fp8.wait %c : !fp8.consumer<!ring>
  %c1 = fp8.consume(%stage = %ready) : !fp8.ready<!fp8.consumer<!ring>> -> !fp8.consumer<!ring> {
  }
  return %c1 : !fp8.consumer<!ring>
}

// CHECK-LABEL: func.func @warps
func.func @warps() attributes {fp8.linear} {
  %p, %c = fp8.output_pipeline : !acc
  %sp, %sc = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
  // CHECK: fp8.role "epilogue" warps(4) (%[[E:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
  // CHECK-NEXT: %[[READY:.*]] = fp8.wait_tmem %[[E]]
  // CHECK-NEXT: %[[W:.*]] = fp8.create_epilogue_warp %[[E]], %[[READY]]
  // CHECK-NEXT: fp8.release_epilogue_warp %[[W]]
  // CHECK-NEXT: fp8.close %[[S]]
  // CHECK-NEXT: }
  fp8.role "epilogue" warps(4) (%e = %c, %s = %sc) : !fp8.consumer<!acc>, !fp8.consumer<!ring> {
    fp8.epilogue_warp(%w = %e) : !fp8.consumer<!acc> {
      fp8.yield %w : !fp8.epilogue_warp<!acc>
    }
    fp8.yield %s : !fp8.consumer<!ring>
  }
  // CHECK: fp8.role "mma" warps(1) (%[[E:.*]] = %{{.*}})
  // CHECK-NEXT: %[[W:.*]] = fp8.create_mma_warp %[[E]]
  // CHECK-NEXT: fp8.release_mma_warp %[[W]]
  // CHECK-NEXT: }
  fp8.role "mma" warps(1) (%e = %p) : !fp8.producer<!acc> {
    fp8.mma_warp(%w = %e) : !fp8.producer<!acc> {
      fp8.yield %w : !fp8.mma_warp<!acc>
    }
  }
  fp8.close %sp : !fp8.producer<!ring>
  return
}
