// What hazards 3, 29, 30 and 35 of docs/evidence/Hazards.md leave to agreement, and the lowering derives.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<8x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x4xf32>
!turn = !fp8.pipeline<2>
!acc = !fp8.output_pipeline<2, 128x64xf32>

// 3: whoever releases, signals: two threads' hand-overs by an arrival, an accumulator by a commit, its return by an arrival.
// CHECK-LABEL: gpu.func @each_release_signals
gpu.module @signals {
  gpu.func @each_release_signals() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!turn>, !fp8.consumer<!turn>
    %mp, %mc = fp8.output_pipeline : !acc
    // CHECK: nvvm.elect.sync
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      // CHECK: nvvm.mbarrier.try_wait
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      // CHECK: nvvm.mbarrier.arrive
      %w2 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      // CHECK: nvvm.mbarrier.arrive
      fp8.release_epilogue_warp %w2 : !fp8.epilogue_warp<!acc>
    }
    // CHECK: nvvm.elect.sync
    fp8.role "give" warps(1) (%end = %p) : !fp8.producer<!turn> {
      // CHECK: nvvm.mbarrier.try_wait
      %stage = fp8.acquire %end : !fp8.producer<!turn>
      // CHECK: nvvm.mbarrier.arrive
      %next = fp8.release %stage : !fp8.producer_stage<!turn>
      // Closing waits for nothing, since the slots have no tiles.
      // CHECK-NOT: scf.for
      fp8.close %next : !fp8.producer<!turn>
    }
    // CHECK: nvvm.elect.sync
    fp8.role "mma" warps(1) (%end = %mp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!turn> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      // CHECK: nvvm.mbarrier.try_wait
      %stage = fp8.acquire %w : !fp8.mma_warp<!acc>
      // CHECK: nvvm.mbarrier.try_wait
      %turn = fp8.acquire %in : !fp8.consumer<!turn>
      // CHECK: nvvm.mbarrier.arrive
      %in2 = fp8.release %turn : !fp8.consumer_stage<!turn>
      // CHECK: nvvm.tcgen05.commit
      // CHECK-NOT: nvvm.tcgen05.commit
      %w2 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
      fp8.close %in2 : !fp8.consumer<!turn>
    }
    gpu.return
  }
}

// 29: a swizzled tile begins at a multiple of its pattern, 1024 bytes, though 16 bytes a slot are laid out before it: past the two
// slots of "s", 128 bytes each.
// CHECK-LABEL: gpu.func @aligned
!mixed = !fp8.pipeline<2, s: !s, a: !a>
gpu.module @alignment {
  gpu.func @aligned(%am: !fp8.tensor_map<!a>, %sm: !fp8.tensor_map<!s>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!mixed>, !fp8.consumer<!mixed>
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!mixed> {
      %stage = fp8.acquire %end : !fp8.producer<!mixed>
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c1040_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      fp8.tma_load %sm[%c0, %c0], %stage["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!mixed>
      // CHECK: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %c1024_i32
      // CHECK: %[[TILE:.*]] = llvm.inttoptr %[[ADDRESS]]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TILE]]
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!mixed>
      %next = fp8.release %stage : !fp8.producer_stage<!mixed>
      // Closing waits for both slots.
      // CHECK: scf.for
      // CHECK: nvvm.mbarrier.try_wait
      fp8.close %next : !fp8.producer<!mixed>
    }
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!mixed> {
      %stage = fp8.acquire %end : !fp8.consumer<!mixed>
      %next = fp8.release %stage : !fp8.consumer_stage<!mixed>
      fp8.close %next : !fp8.consumer<!mixed>
    }
    gpu.return
  }
}

// 30: the queue's depth decides how many copies may be under way, and where its slots wrap.
// CHECK-LABEL: gpu.func @three_slots
!d = !fp8.tile<32x32xbf16, swizzle_64b>
!queue = !fp8.store_queue<3, !d, 4>
!frag = !fp8.fragment<128x64xf32, 4>
gpu.module @staging {
  gpu.func @three_slots(%dm: !fp8.tensor_map<!d>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %queue = fp8.store_queue : !queue
    fp8.role "store" warps(4) (%q = %queue) : !queue {
      %zero = fp8.zero : !frag
      // The first store finds its two slots unused.
      // CHECK-NOT: {read}
      // CHECK-COUNT-2: nvvm.cp.async.bulk.wait_group 2 {read}
      // CHECK-NOT: {read}
      // CHECK: nvvm.cp.async.bulk.wait_group 0{{$}}
      %q2 = fp8.store %zero, %dm[%c0, %c0] through %q : !frag, !fp8.tensor_map<!d>, !queue
      %c128 = arith.constant 128 : index
      %q3 = fp8.store %zero, %dm[%c128, %c0] through %q2 : !frag, !fp8.tensor_map<!d>, !queue
      fp8.close %q3 : !queue
    }
    gpu.return
  }
}
