// The halves of acquire and release are the instructions that the whole ones are made of.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: fp8-opt %s --convert-fp8-to-nvvm | FileCheck %s --check-prefix=RAW

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>
!pair_a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!pair = !fp8.pipeline<2, s: !tile, a: !pair_a, cta_group = 2>
!pair_acc = !fp8.output_pipeline<2, 128x128xf32, cta_group = 2>
!acc = !fp8.output_pipeline<2, 128x128xf32>

// CHECK-LABEL: gpu.func @halves
gpu.module @kernels {
  gpu.func @halves(%map: !fp8.tensor_map<!tile>, %table: memref<?xindex>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // CHECK: %[[LEADER:.*]] = nvvm.elect.sync -> i1
    // CHECK: scf.for %{{.*}} iter_args(%[[I:.*]] = %c0_i32, %[[P:.*]] = %c0_i32) -> (i32, i32)
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.consumer<!ring> {
        // The number of the slot that comes next.
        // CHECK: %[[SLOT:.*]] = arith.index_castui %[[I]] : i32 to index
        %slot = fp8.index %e : !fp8.consumer<!ring>
        // CHECK: memref.store %{{.*}}, %{{.*}}[%[[SLOT]]]
        memref.store %i, %table[%slot] : memref<?xindex>
        // One test of the full barrier, and all lanes agree.
        // CHECK: %[[LANE:.*]] = nvvm.mbarrier.test.wait %{{.*}}, %[[P]]
        // CHECK-NEXT: %[[DONE:.*]] = nvvm.vote.sync all %c-1_i32, %[[LANE]] -> i1
        %done = fp8.try_wait %e : !fp8.consumer<!ring>
        // The wait, unless the test was true.
        // CHECK-NEXT: %[[PENDING:.*]] = arith.xori %[[DONE]], %true
        // CHECK-NEXT: scf.if %[[PENDING]] {
        // CHECK: scf.while
        // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P]], %{{.*}}
        %ready = fp8.wait %e unless %done : !fp8.consumer<!ring>
        // Of a ready end, too, and acquiring it waits no more.
        // CHECK: memref.store %{{.*}}, %{{.*}}[%[[SLOT]]]
        // CHECK-NOT: nvvm.mbarrier
        %again = fp8.index %ready : !fp8.ready<!fp8.consumer<!ring>>
        memref.store %i, %table[%again] : memref<?xindex>
        %stage = fp8.acquire %ready : !fp8.ready<!fp8.consumer<!ring>>
        // What a release signals, an arrive does.
        // CHECK: nvvm.bar.warp.sync
        // CHECK-NEXT: scf.if %[[LEADER]]
        // CHECK: arith.addi %{{.*}}, %c24_i32
        // CHECK: nvvm.mbarrier.arrive
        %signalled = fp8.arrive %stage : !fp8.consumer_stage<!ring>
        // CHECK: memref.store %c1
        memref.store %c1, %table[%c0] : memref<?xindex>
        // A step computes the next slot, and signals nobody.
        // CHECK-NOT: nvvm.
        // CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1_i32
        // CHECK-NEXT: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %c3_i32
        // CHECK-NEXT: %[[FLIPPED:.*]] = arith.xori %[[P]], %c1_i32
        // CHECK-NEXT: %[[I1:.*]] = arith.select %[[WRAPS]], %c0_i32, %[[NEXT]]
        // CHECK-NEXT: %[[P1:.*]] = arith.select %[[WRAPS]], %[[FLIPPED]], %[[P]]
        // CHECK-NEXT: scf.yield %[[I1]], %[[P1]]
        %next = fp8.step %signalled : !fp8.signalled<!fp8.consumer_stage<!ring>>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    // CHECK: %[[LEADER:.*]] = nvvm.elect.sync -> i1
    // CHECK: scf.for %{{.*}} iter_args(%[[I:.*]] = %c0_i32, %[[P:.*]] = %c1_i32) -> (i32, i32)
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !fp8.producer<!ring> {
        // A producer waits on the empty barrier.
        // CHECK: arith.addi %{{.*}}, %c24_i32
        // CHECK: scf.while
        // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[P]], %{{.*}}
        %ready = fp8.wait %e : !fp8.producer<!ring>
        // Acquiring announces the bytes of the copies that name the barrier.
        // CHECK: scf.if %[[LEADER]]
        // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c512_i32
        %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!ring>>
        // CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %c512_i32
        // CHECK: %[[TILE:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
        %tile = fp8.tile %stage["s"] : !fp8.producer_stage<!ring>
        // Of a producer stage the full barrier.
        // CHECK-NOT: %c24_i32
        %full = fp8.mbarrier %stage : !fp8.producer_stage<!ring>
        // CHECK: scf.if %[[LEADER]]
        // CHECK: %[[TO:.*]] = llvm.inttoptr %[[TILE]]
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO]], %{{.*}}, %{{.*}}, box[%c0_i32, %{{.*}}]
        fp8.tma_copy %map[%i, %c0], %tile, %full : !fp8.tensor_map<!tile>, !tile
        // The bytes complete the phase: neither an arrival, nor more bytes.
        // CHECK-NOT: nvvm.mbarrier
        // CHECK: scf.yield
        %signalled = fp8.arrive %stage : !fp8.producer_stage<!ring>
        %next = fp8.step %signalled : !fp8.signalled<!fp8.producer_stage<!ring>>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// A copy elsewhere than in the block of acquire and arrive announces its own bytes, and the arrive arrives.
// CHECK-LABEL: gpu.func @conditional
gpu.module @conditional_kernels {
  gpu.func @conditional(%map: !fp8.tensor_map<!tile, rank = 3>, %cond: i1) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.mbarrier.arrive
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK-NOT: nvvm.mbarrier.arrive.expect_tx
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      scf.if %cond {
        // CHECK: nvvm.mbarrier.expect_tx %{{.*}}, %c512_i32
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%c0_i32, %c0_i32, %c0_i32]
        %tile = fp8.tile %stage["s"] : !fp8.producer_stage<!ring>
        %full = fp8.mbarrier %stage : !fp8.producer_stage<!ring>
        fp8.tma_copy %map[%c0, %c0, %c0], %tile, %full : !fp8.tensor_map<!tile, rank = 3>, !tile
      }
      // CHECK-NOT: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive
      %signalled = fp8.arrive %stage : !fp8.producer_stage<!ring>
      %next = fp8.step %signalled : !fp8.signalled<!fp8.producer_stage<!ring>>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// Accumulators: an arrive is a commit on the one side, a fence and an arrival on the other; the fence after the wait is acquire's.
// CHECK-LABEL: gpu.func @accumulators
gpu.module @accumulator_kernels {
  gpu.func @accumulators() kernel attributes {fp8.linear} {
    %p, %c = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %c) : !fp8.consumer<!acc> {
      %evidence = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %evidence : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.tcgen05.fence <after>
      %ready = fp8.wait %w : !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %ready : !fp8.ready<!fp8.epilogue_warp<!acc>>
      // CHECK-NEXT: nvvm.tcgen05.fence <before>
      // CHECK-NEXT: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive
      %signalled = fp8.arrive %stage : !fp8.epilogue_stage<!acc>
      %next = fp8.step %signalled : !fp8.signalled<!fp8.epilogue_stage<!acc>>
      fp8.release_epilogue_warp %next : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%end = %p) : !fp8.producer<!acc> {
      // CHECK: nvvm.tcgen05.alloc
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.tcgen05.fence <after>
      %ready = fp8.wait %w : !fp8.mma_warp<!acc>
      %stage = fp8.acquire %ready : !fp8.ready<!fp8.mma_warp<!acc>>
      // CHECK: nvvm.tcgen05.commit
      %signalled = fp8.arrive %stage : !fp8.mma_stage<!acc>
      %next = fp8.step %signalled : !fp8.signalled<!fp8.mma_stage<!acc>>
      fp8.release_mma_warp %next : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}

// In the ring of a pair a copy counts in the leading CTA, as that of tma_load does.
// CHECK-LABEL: gpu.func @pair
gpu.module @pair_kernels {
  gpu.func @pair(%map: !fp8.tensor_map<!tile>, %a: !fp8.tensor_map<!pair_a>) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!pair>, !fp8.consumer<!pair>
    %mp, %mc = fp8.output_pipeline : !pair_acc
    // CHECK: nvvm.mapa
    // CHECK-NEXT: %[[LEADER:.*]] = llvm.ptrtoint
    // CHECK-NEXT: %[[DISTANCE:.*]] = arith.subi %[[LEADER]]
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!pair_acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!pair_acc> -> !fp8.tmem_ready<!pair_acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!pair_acc>, !fp8.tmem_ready<!pair_acc> -> !fp8.epilogue_warp<!pair_acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!pair_acc>
      %next = fp8.release %stage : !fp8.epilogue_stage<!pair_acc>
      fp8.release_epilogue_warp %next : !fp8.epilogue_warp<!pair_acc>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!pair> {
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c17408_i32
      %ready = fp8.wait %end : !fp8.producer<!pair>
      %stage = fp8.acquire %ready : !fp8.ready<!fp8.producer<!pair>>
      %to = fp8.tile %stage["s"] : !fp8.producer_stage<!pair>
      %full = fp8.mbarrier %stage : !fp8.producer_stage<!pair>
      // CHECK: %[[THERE:.*]] = arith.addi %{{.*}}, %[[DISTANCE]] : i32
      // CHECK: %[[BARRIER:.*]] = llvm.inttoptr %[[THERE]]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %[[BARRIER]], {{.*}} {group = #nvvm.cta_group<cta_2>}
      fp8.tma_copy %map[%c0, %c0], %to, %full : !fp8.tensor_map<!tile>, !tile
      fp8.tma_load %a[%c0, %c0], %stage["a"] : !fp8.tensor_map<!pair_a>, !fp8.producer_stage<!pair>
      %signalled = fp8.arrive %stage : !fp8.producer_stage<!pair>
      %next = fp8.step %signalled : !fp8.signalled<!fp8.producer_stage<!pair>>
      fp8.close %next : !fp8.producer<!pair>
    }
    fp8.role "mma" warps(1) (%end = %mp, %in = %c) : !fp8.producer<!pair_acc>, !fp8.consumer<!pair> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!pair_acc> -> !fp8.mma_warp<!pair_acc>
      %r:2 = fp8.leading_cta of pair (%lw = %w, %li = %in) : !fp8.mma_warp<!pair_acc>, !fp8.consumer<!pair>
          -> (!fp8.mma_warp<!pair_acc>, !fp8.consumer<!pair>) {
        %d = fp8.acquire %lw : !fp8.mma_warp<!pair_acc>
        %s = fp8.acquire %li : !fp8.consumer<!pair>
        %acc = fp8.accumulator %d : !fp8.mma_stage<!pair_acc>
        %ta = fp8.tile %s["a"] : !fp8.consumer_stage<!pair>
        fp8.mma %acc, %ta, %ta : !fp8.tmem<128x128xf32, cta_group = 2>, !pair_a, !pair_a
        %li2 = fp8.release %s : !fp8.consumer_stage<!pair>
        %lw2 = fp8.release %d : !fp8.mma_stage<!pair_acc>
        fp8.yield %lw2, %li2 : !fp8.mma_warp<!pair_acc>, !fp8.consumer<!pair>
      }
      fp8.release_mma_warp %r#0 : !fp8.mma_warp<!pair_acc>
      fp8.close %r#1 : !fp8.consumer<!pair>
    }
    gpu.return
  }
}

// An end may be looked at before a role takes it.
// CHECK-LABEL: gpu.func @looked_at
gpu.module @looking_kernels {
  gpu.func @looked_at(%table: memref<?xindex>) kernel attributes {fp8.linear} {
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // CHECK: memref.store %c1, %{{.*}}[%c0]
    %slot = fp8.index %p : !fp8.producer<!ring>
    memref.store %c1, %table[%slot] : memref<?xindex>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      fp8.close %end : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      fp8.close %end : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// A consumer stage's barrier is the empty one. Nothing in the dialect uses it, so it shows only before it is cleaned away.
// RAW-LABEL: gpu.func @empty_barrier
gpu.module @empty_kernels {
  gpu.func @empty_barrier() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      // RAW: scf.while
      // RAW: scf.yield
      // RAW: arith.muli %{{.*}}, %c8_i32
      // RAW-NEXT: %[[FULL:.*]] = arith.addi
      // RAW-NEXT: %[[BYTES:.*]] = arith.constant 24 : i32
      // RAW-NEXT: arith.addi %[[FULL]], %[[BYTES]]
      // RAW-NEXT: arith.constant -1
      // RAW-NEXT: nvvm.bar.warp.sync
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %empty = fp8.mbarrier %stage : !fp8.consumer_stage<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}
