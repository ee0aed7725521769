// Where the lanes of a warp need not meet, since they meet elsewhere.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-plan-kernels))' | FileCheck %s
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers))' | FileCheck %s --check-prefix=BARRIERS

!row = !fp8.tile<1x128xf32>
!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!out = !fp8.tile<32x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<2, a: !tile, b: !tile>
!scales = !fp8.pipeline<2, s: !row>
!token = !fp8.pipeline<2>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!queue = !fp8.store_queue<1, !out, 4>
!sum = !fp8.fragment<128x128xf32, 4>

gpu.module @kernels {
  gpu.func @meetings(%a: !fp8.tensor_map<!tile>, %b: !fp8.tensor_map<!tile>, %s: !fp8.tensor_map<!row>, %d: !fp8.tensor_map<!out>,
                     %notes: memref<?xindex>, %n: index, %exists: i1) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b_scale = arith.constant 1.0 : f32
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %sp, %sc = fp8.pipeline : !fp8.producer<!scales>, !fp8.consumer<!scales>
    %tp, %tc = fp8.pipeline : !fp8.producer<!token>, !fp8.consumer<!token>
    %up, %uc = fp8.pipeline : !fp8.producer<!token>, !fp8.consumer<!token>
    %op, %oc = fp8.output_pipeline : !acc
    %queue = fp8.store_queue : !queue

    // CHECK-LABEL: fp8.role "epilogue"
    // BARRIERS-LABEL: fp8.role_thread
    fp8.role "epilogue" warps(4) (%end = %oc, %scale_end = %sc, %tokens = %tc, %others = %uc, %q = %queue)
        : !fp8.consumer<!acc>, !fp8.consumer<!scales>, !fp8.consumer<!token>, !fp8.consumer<!token>, !queue {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %warp = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %zero = fp8.zero : !sum
      %token = fp8.acquire %tokens : !fp8.consumer<!token>
      %tokens1 = fp8.release %token : !fp8.consumer_stage<!token>
      %other = fp8.acquire %others : !fp8.consumer<!token>
      %others1 = fp8.release %other : !fp8.consumer_stage<!token>
      %scale = fp8.acquire %scale_end : !fp8.consumer<!scales>
      %row = fp8.tile %scale["s"] : !fp8.consumer_stage<!scales>
      %stage = fp8.acquire %warp : !fp8.epilogue_warp<!acc>
      %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %sum = fp8.promote %zero, %partial scales(%row, %b_scale) : !sum, !fp8.tmem<128x128xf32>, !row
      %warp1 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      %scale_end1 = fp8.release %scale : !fp8.consumer_stage<!scales>
      fp8.release_epilogue_warp %warp1 : !fp8.epilogue_warp<!acc>
      // No copy has used the queue.
      // CHECK: fp8.store {{.*}}unused>
      %q1 = fp8.store %sum, %d[%c0, %c0] through %q : !sum, !fp8.tensor_map<!out>, !queue
      // CHECK: fp8.store {{.*}}#fp8.ring_plan<payload = {{[0-9]+}}>
      %q2 = fp8.store %sum, %d[%c0, %c0] through %q1 : !sum, !fp8.tensor_map<!out>, !queue
      fp8.close %q2 : !queue
      fp8.close %tokens1 : !fp8.consumer<!token>
      fp8.close %others1 : !fp8.consumer<!token>
      fp8.close %scale_end1 : !fp8.consumer<!scales>
    }

    // CHECK-LABEL: fp8.role "mma"
    // BARRIERS-LABEL: fp8.role_thread
    fp8.role "mma" warps(1) (%end = %op, %tiles = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %warp = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      // The lanes meet behind the second wait, and have fenced by then.
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<used_by_mma, converged>} : !fp8.mma_warp<
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<used_by_mma, overwritten_by_tma>} : !fp8.consumer<
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS-NOT: fp8.sync
      // BARRIERS: fp8.fence_tmem after
      // BARRIERS-NOT: fp8.sync
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS: fp8.sync warp
      // BARRIERS-NOT: fp8.sync
      // BARRIERS: fp8.mma
      %stage = fp8.acquire %warp : !fp8.mma_warp<!acc>
      %into = fp8.accumulator %stage : !fp8.mma_stage<!acc>
      %in = fp8.acquire %tiles : !fp8.consumer<!ring>
      %at = fp8.tile %in["a"] : !fp8.consumer_stage<!ring>
      %bt = fp8.tile %in["b"] : !fp8.consumer_stage<!ring>
      fp8.mma %into, %at, %bt : !fp8.tmem<128x128xf32>, !tile, !tile
      %tiles1 = fp8.release %in : !fp8.consumer_stage<!ring>
      %warp1 = fp8.release %stage : !fp8.mma_stage<!acc>
      // Here something comes in between that lanes do for the warp.
      // CHECK: memref.store
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<used_by_mma>} : !fp8.mma_warp<
      // BARRIERS: memref.store
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS: fp8.fence_tmem after
      // BARRIERS: fp8.sync warp
      // BARRIERS: memref.store
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS: fp8.sync warp
      memref.store %n, %notes[%c0] : memref<?xindex>
      %stage1 = fp8.acquire %warp1 : !fp8.mma_warp<!acc>
      memref.store %n, %notes[%c1] : memref<?xindex>
      %in1 = fp8.acquire %tiles1 : !fp8.consumer<!ring>
      %at1 = fp8.tile %in1["a"] : !fp8.consumer_stage<!ring>
      %bt1 = fp8.tile %in1["b"] : !fp8.consumer_stage<!ring>
      %into1 = fp8.accumulator %stage1 : !fp8.mma_stage<!acc>
      fp8.mma %into1, %at1, %bt1 : !fp8.tmem<128x128xf32>, !tile, !tile
      %tiles2 = fp8.release %in1 : !fp8.consumer_stage<!ring>
      %warp2 = fp8.release %stage1 : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %warp2 : !fp8.mma_warp<!acc>
      fp8.close %tiles2 : !fp8.consumer<!ring>
    }

    // CHECK-LABEL: fp8.role "load"
    // BARRIERS-LABEL: fp8.role_thread
    fp8.role "load" warps(1) (%end = %p, %scale_end = %sp, %tokens = %tp, %others = %up)
        : !fp8.producer<!ring>, !fp8.producer<!scales>, !fp8.producer<!token>, !fp8.producer<!token> {
      // The elected lane announces bytes behind the meeting.
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<bytes = 32768, bytes_at_acquire, overwritten_by_tma>}
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS: fp8.sync warp
      // BARRIERS: fp8.mbarrier_expect arrive
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<bytes = 512, overwritten_by_tma>}
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS: fp8.sync warp
      %scale = fp8.acquire %scale_end : !fp8.producer<!scales>
      scf.if %exists {
        fp8.tma_load %s[%c0, %c0], %scale["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!scales>
      }
      // One lane has filled the slot since they met.
      // CHECK: fp8.release %{{.*}} {fp8.plan = #fp8.stage_plan<bytes = 512, overwritten_by_tma, converged>}
      // BARRIERS: fp8.copy_tile
      // BARRIERS-NOT: fp8.sync
      // BARRIERS: fp8.mbarrier_arrive
      %scale_end1 = fp8.release %scale : !fp8.producer_stage<!scales>
      fp8.tma_load %a[%c0, %c0], %stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      fp8.tma_load %b[%c0, %c0], %stage["b"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      %end1 = fp8.release %stage : !fp8.producer_stage<!ring>
      // A slot without tiles goes as it came.
      // CHECK: fp8.release %{{.*}} {fp8.plan = #fp8.stage_plan<converged>} : !fp8.producer_stage<
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS: fp8.sync warp
      // BARRIERS-NOT: fp8.sync
      // BARRIERS: fp8.mbarrier_arrive
      %token = fp8.acquire %tokens : !fp8.producer<!token>
      %tokens1 = fp8.release %token : !fp8.producer_stage<!token>
      // This one tells that all lanes have stored.
      // CHECK: memref.store
      // CHECK: fp8.release %{{.*}} {fp8.plan = #fp8.stage_plan<>} : !fp8.producer_stage<
      // BARRIERS: fp8.mbarrier_wait
      // BARRIERS: fp8.sync warp
      // BARRIERS: memref.store
      // BARRIERS: fp8.sync warp
      // BARRIERS: fp8.mbarrier_arrive
      %other = fp8.acquire %others : !fp8.producer<!token>
      memref.store %n, %notes[%c1] : memref<?xindex>
      %others1 = fp8.release %other : !fp8.producer_stage<!token>
      fp8.close %end1 : !fp8.producer<!ring>
      fp8.close %scale_end1 : !fp8.producer<!scales>
      fp8.close %tokens1 : !fp8.producer<!token>
      fp8.close %others1 : !fp8.producer<!token>
    }
    gpu.return
  }
}
