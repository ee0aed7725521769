// RUN: fp8-opt %s --verify-roundtrip | FileCheck %s
// The stock passes leave the halves in their order, and as many as there are.
// RUN: fp8-opt %s --cse --loop-invariant-code-motion --canonicalize --inline | FileCheck %s --check-prefix=STOCK

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>
!acc = !fp8.output_pipeline<2, 128x128xf32>

// CHECK-LABEL: func.func @consumer
// CHECK-SAME: (%[[END:.*]]: !fp8.consumer<!pipeline>)
// STOCK-LABEL: func.func @consumer
func.func @consumer(%end: !fp8.consumer<!ring>) -> (!fp8.consumer<!ring>, index) attributes {fp8.linear} {
  %c1 = arith.constant 1 : index
  // CHECK: fp8.index %[[END]] : !fp8.consumer<!pipeline>
  %next_slot = fp8.index %end : !fp8.consumer<!ring>
  // CHECK: %[[DONE:.*]] = fp8.try_wait %[[END]] : !fp8.consumer<!pipeline>
  // STOCK: fp8.try_wait
  %done = fp8.try_wait %end : !fp8.consumer<!ring>
  // CHECK: %[[READY:.*]] = fp8.wait %[[END]] unless %[[DONE]] : !fp8.consumer<!pipeline>
  // STOCK-NEXT: fp8.wait %{{.*}} unless %{{.*}}
  %ready = fp8.wait %end unless %done : !fp8.consumer<!ring>
  // CHECK: fp8.index %[[READY]] : !fp8.ready<!fp8.consumer<!pipeline>>
  %slot = fp8.index %ready : !fp8.ready<!fp8.consumer<!ring>>
  // CHECK: %[[STAGE:.*]] = fp8.acquire %[[READY]] : !fp8.ready<!fp8.consumer<!pipeline>>
  // STOCK-NEXT: fp8.acquire
  %stage = fp8.acquire %ready : !fp8.ready<!fp8.consumer<!ring>>
  // CHECK: fp8.mbarrier %[[STAGE]] : !fp8.consumer_stage<!pipeline>
  %empty = fp8.mbarrier %stage : !fp8.consumer_stage<!ring>
  // CHECK: %[[SIGNALLED:.*]] = fp8.arrive %[[STAGE]] : !fp8.consumer_stage<!pipeline>
  // STOCK-NEXT: fp8.arrive
  %signalled = fp8.arrive %stage : !fp8.consumer_stage<!ring>
  // CHECK: %[[NEXT:.*]] = fp8.step %[[SIGNALLED]] : !fp8.signalled<!fp8.consumer_stage<!pipeline>>
  // STOCK-NEXT: %[[NEXT:.*]] = fp8.step
  %next = fp8.step %signalled : !fp8.signalled<!fp8.consumer_stage<!ring>>
  // CHECK: return %[[NEXT]]
  // STOCK-NEXT: return %[[NEXT]]
  return %next, %c1 : !fp8.consumer<!ring>, index
}

// CHECK-LABEL: func.func @producer
// STOCK-LABEL: func.func @producer
func.func @producer(%end: !fp8.producer<!ring>, %map: !fp8.tensor_map<!tile>, %i: index) -> !fp8.producer<!ring>
    attributes {fp8.linear} {
  // CHECK: fp8.wait %{{.*}} : !fp8.producer<!pipeline>
  %ready = fp8.wait %end : !fp8.producer<!ring>
  %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!ring>>
  // CHECK: %[[TILE:.*]] = fp8.tile
  %tile = fp8.tile %stage["s"] : !fp8.producer_stage<!ring>
  // CHECK: %[[FULL:.*]] = fp8.mbarrier %{{.*}} : !fp8.producer_stage<!pipeline>
  %full = fp8.mbarrier %stage : !fp8.producer_stage<!ring>
  // CHECK: fp8.tma_copy %{{.*}}[%{{.*}}, %{{.*}}], %[[TILE]], %[[FULL]] : !fp8.tensor_map<!tile{{.*}}>, !tile
  // STOCK: fp8.acquire
  // STOCK: fp8.tma_copy
  // STOCK-NEXT: fp8.release
  fp8.tma_copy %map[%i, %i], %tile, %full : !fp8.tensor_map<!tile>, !tile
  %next = fp8.release %stage : !fp8.producer_stage<!ring>
  return %next : !fp8.producer<!ring>
}

// Every kind of end and of stage.
// CHECK-LABEL: func.func @kinds
func.func @kinds(%mma: !fp8.mma_warp<!acc>, %epilogue: !fp8.epilogue_warp<!acc>)
    -> (!fp8.mma_warp<!acc>, !fp8.epilogue_warp<!acc>) attributes {fp8.linear} {
  // CHECK: fp8.try_wait %{{.*}} : !fp8.mma_warp<!output_pipeline>
  %done = fp8.try_wait %mma : !fp8.mma_warp<!acc>
  // CHECK: fp8.wait %{{.*}} unless %{{.*}} : !fp8.mma_warp<!output_pipeline>
  %mma_ready = fp8.wait %mma unless %done : !fp8.mma_warp<!acc>
  // CHECK: fp8.acquire %{{.*}} : !fp8.ready<!fp8.mma_warp<!output_pipeline>>
  %mma_stage = fp8.acquire %mma_ready : !fp8.ready<!fp8.mma_warp<!acc>>
  // CHECK: fp8.arrive %{{.*}} : !fp8.mma_stage<!output_pipeline>
  %mma_signalled = fp8.arrive %mma_stage : !fp8.mma_stage<!acc>
  // CHECK: fp8.step %{{.*}} : !fp8.signalled<!fp8.mma_stage<!output_pipeline>>
  %mma_next = fp8.step %mma_signalled : !fp8.signalled<!fp8.mma_stage<!acc>>
  // CHECK: fp8.wait %{{.*}} : !fp8.epilogue_warp<!output_pipeline>
  %ready = fp8.wait %epilogue : !fp8.epilogue_warp<!acc>
  %stage = fp8.acquire %ready : !fp8.ready<!fp8.epilogue_warp<!acc>>
  // CHECK: fp8.arrive %{{.*}} : !fp8.epilogue_stage<!output_pipeline>
  %signalled = fp8.arrive %stage : !fp8.epilogue_stage<!acc>
  %next = fp8.step %signalled : !fp8.signalled<!fp8.epilogue_stage<!acc>>
  return %mma_next, %next : !fp8.mma_warp<!acc>, !fp8.epilogue_warp<!acc>
}

// Exactly one arrival on every path; what the body yields besides goes on to the results.
// CHECK-LABEL: func.func @scoped
func.func @scoped(%a: !fp8.epilogue_warp<!acc>, %b: !fp8.consumer<!ring>, %cond: i1, %i: index)
    -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, index) attributes {fp8.linear} {
  // CHECK: %[[R:.*]]:3 = fp8.consume_explicit(%[[S:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) : !fp8.epilogue_warp<!output_pipeline>, !fp8.consumer<!pipeline> -> (!fp8.epilogue_warp<!output_pipeline>, !fp8.consumer<!pipeline>, index) {
  %a1, %b1, %j = fp8.consume_explicit(%s = %a, %t = %b) : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>
      -> (!fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, index) {
    // CHECK: scf.if
    %t1 = scf.if %cond -> !fp8.signalled<!fp8.consumer_stage<!ring>> {
      %early = fp8.arrive %t : !fp8.consumer_stage<!ring>
      scf.yield %early : !fp8.signalled<!fp8.consumer_stage<!ring>>
    } else {
      %tile = fp8.tile %t["s"] : !fp8.consumer_stage<!ring>
      %late = fp8.arrive %t : !fp8.consumer_stage<!ring>
      scf.yield %late : !fp8.signalled<!fp8.consumer_stage<!ring>>
    }
    %s1 = fp8.arrive %s : !fp8.epilogue_stage<!acc>
    // CHECK: fp8.yield %{{.*}}, %{{.*}}, %{{.*}} : !fp8.signalled<!fp8.epilogue_stage<!output_pipeline>>, !fp8.signalled<!fp8.consumer_stage<!pipeline>>, index
    fp8.yield %s1, %t1, %i : !fp8.signalled<!fp8.epilogue_stage<!acc>>, !fp8.signalled<!fp8.consumer_stage<!ring>>, index
  }
  // CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
  return %a1, %b1, %j : !fp8.epilogue_warp<!acc>, !fp8.consumer<!ring>, index
}

// The other scopes take ends that are ready, too.
// CHECK-LABEL: func.func @ready_scopes
func.func @ready_scopes(%p: !fp8.producer<!ring>, %c: !fp8.consumer<!ring>, %d: !fp8.consumer<!ring>, %w: !fp8.mma_warp<!acc>)
    -> (!fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>, !fp8.mma_warp<!acc>) attributes {fp8.linear} {
  %pr = fp8.wait %p : !fp8.producer<!ring>
  // CHECK: fp8.produce(%{{.*}} = %{{.*}}) : !fp8.ready<!fp8.producer<!pipeline>> -> !fp8.producer<!pipeline> {
  %p1 = fp8.produce(%stage = %pr) : !fp8.ready<!fp8.producer<!ring>> -> !fp8.producer<!ring> {
  }
  %cr = fp8.wait %c : !fp8.consumer<!ring>
  // CHECK: fp8.consume(%{{.*}} = %{{.*}}) : !fp8.ready<!fp8.consumer<!pipeline>> -> !fp8.consumer<!pipeline> {
  %c1 = fp8.consume(%stage = %cr) : !fp8.ready<!fp8.consumer<!ring>> -> !fp8.consumer<!ring> {
  }
  %wr = fp8.wait %w : !fp8.mma_warp<!acc>
  // CHECK: fp8.per_k_stage(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : !fp8.ready<!fp8.mma_warp<!output_pipeline>>, !fp8.consumer<!pipeline>
  %w1, %d1 = fp8.per_k_stage(%stage = %wr, %in = %d) : !fp8.ready<!fp8.mma_warp<!acc>>, !fp8.consumer<!ring>
      -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
  }
  return %p1, %c1, %d1, %w1 : !fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>, !fp8.mma_warp<!acc>
}

// Tests are made again each time: neither merged, nor dropped, nor taken out of loops.
// STOCK-LABEL: func.func @poll
func.func @poll(%end: !fp8.consumer<!ring>) -> (!fp8.consumer<!ring>, i1) attributes {fp8.linear} {
  %true = arith.constant true
  // STOCK: fp8.try_wait
  %unused = fp8.try_wait %end : !fp8.consumer<!ring>
  // STOCK: scf.while
  // STOCK-NEXT: fp8.try_wait
  scf.while : () -> () {
    %done = fp8.try_wait %end : !fp8.consumer<!ring>
    %busy = arith.xori %done, %true : i1
    scf.condition(%busy)
  } do {
    scf.yield
  }
  return %end, %true : !fp8.consumer<!ring>, i1
}

// Where the answer is known from the branch, canonicalisation drops the condition, not the wait.
// STOCK-LABEL: func.func @known
func.func @known(%end: !fp8.consumer<!ring>) -> !fp8.ready<!fp8.consumer<!ring>> attributes {fp8.linear} {
  // STOCK: %[[DONE:.*]] = fp8.try_wait
  %done = fp8.try_wait %end : !fp8.consumer<!ring>
  // STOCK: scf.if %[[DONE]]
  %ready = scf.if %done -> !fp8.ready<!fp8.consumer<!ring>> {
    // STOCK: fp8.wait %{{.*}} : !fp8.consumer
    %r = fp8.wait %end unless %done : !fp8.consumer<!ring>
    scf.yield %r : !fp8.ready<!fp8.consumer<!ring>>
  } else {
    // STOCK: fp8.wait %{{.*}} : !fp8.consumer
    %r = fp8.wait %end unless %done : !fp8.consumer<!ring>
    scf.yield %r : !fp8.ready<!fp8.consumer<!ring>>
  }
  return %ready : !fp8.ready<!fp8.consumer<!ring>>
}

// The answer decides a branch that takes the end along.
// CHECK-LABEL: func.func @branch
func.func @branch(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  %done = fp8.try_wait %end : !fp8.consumer<!ring>
  cf.cond_br %done, ^now(%end : !fp8.consumer<!ring>), ^later(%end : !fp8.consumer<!ring>)
^now(%e: !fp8.consumer<!ring>):
  %stage = fp8.acquire %e : !fp8.consumer<!ring>
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  cf.br ^later(%next : !fp8.consumer<!ring>)
^later(%f: !fp8.consumer<!ring>):
  return %f : !fp8.consumer<!ring>
}
