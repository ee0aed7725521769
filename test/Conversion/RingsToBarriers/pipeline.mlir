// Each op on a ring becomes what the plan says of it, on addresses and parities.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s
// What comes of it goes on where it stopped, and a second run changes nothing.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers))' -o %t.mlir
// RUN: fp8-opt %t.mlir --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,fp8-plan-kernels,fp8-place-fences,fp8-reuse-registers))' | diff %t.mlir -
// RUN: fp8-opt %t.mlir --convert-fp8-to-nvvm -o %t.late.mlir
// RUN: fp8-opt %s --convert-fp8-to-nvvm | diff %t.late.mlir -

!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!row = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<4, a: !tile, b: !tile>
!scales = !fp8.pipeline<3, s: !row>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!out = !fp8.tile<32x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<2, !out, 4>
!sum = !fp8.fragment<128x128xf32, 4>

// CHECK-LABEL: gpu.func @kernel
// CHECK-SAME: fp8.barriers
// CHECK: %[[SHARED:.*]] = fp8.shared_memory
// CHECK: %[[ID:.*]] = fp8.id warp
// CHECK: scf.if
// CHECK-COUNT-4: fp8.mbarrier_init %{{.*}}, 1
// CHECK: fp8.fence_mbarrier_init
// CHECK: fp8.sync cta
gpu.module @kernels {
  gpu.func @kernel(%a: !fp8.tensor_map<!tile>, %s: !fp8.tensor_map<!row>, %d: !fp8.tensor_map<!out>, %n: index, %scale: f32)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pt, %ct = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %ps, %cs = fp8.pipeline : !fp8.producer<!scales>, !fp8.consumer<!scales>
    %pa, %ca = fp8.output_pipeline : !acc
    %queue = fp8.store_queue : !queue
    // CHECK: fp8.role "epilogue" warps(4)
    // CHECK: %[[L:leader.*]], %{{.*}}, %{{.*}} = fp8.role_thread %[[ID]] promotes
    // CHECK: fp8.named_barrier %{{.*}}, 160
    // CHECK: %[[TMEM:.*]] = fp8.tmem_address
    fp8.role "epilogue" warps(4) (%end = %ca, %scales = %cs, %q = %queue) : !fp8.consumer<!acc>, !fp8.consumer<!scales>, !queue {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %warp = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %zero = fp8.zero : !sum
      // A ring of two counts its slots; one of three wraps.
      // CHECK: scf.for {{.*}} -> (!fp8.fragment<128x128xf32, 4>, i32, i32, i32)
      %sum, %w, %e = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %w = %warp, %e = %scales)
          -> (!sum, !fp8.epilogue_warp<!acc>, !fp8.consumer<!scales>) {
        // CHECK: fp8.mbarrier_wait
        // CHECK: fp8.mbarrier_wait
        // CHECK: fp8.fence_tmem after
        %stage = fp8.acquire %e : !fp8.consumer<!scales>
        %acc = fp8.acquire %w : !fp8.epilogue_warp<!acc>
        // CHECK: fp8.view_at %{{.*}} : !tile1
        // CHECK: fp8.view_at %{{.*}} : !fp8.tmem<128x128xf32>
        %row = fp8.tile %stage["s"] : !fp8.consumer_stage<!scales>
        %view = fp8.accumulator %acc : !fp8.epilogue_stage<!acc>
        // CHECK: fp8.promote
        %next = fp8.promote %sum, %view scales(%row, %scale) : !sum, !fp8.tmem<128x128xf32>, !row
        // CHECK: fp8.fence_tmem before
        // CHECK: fp8.sync warp
        // CHECK: scf.if %[[L]]
        // CHECK: fp8.mbarrier_arrive
        // CHECK: fp8.advance %{{.*}} in 2
        %w1 = fp8.release %acc : !fp8.epilogue_stage<!acc>
        // The lanes have met: one speaks for the warp at once.
        // CHECK-NOT: fp8.sync warp
        // CHECK: fp8.mbarrier_arrive
        // CHECK: fp8.advance %{{.*}} in 3
        %e1 = fp8.release %stage : !fp8.consumer_stage<!scales>
        scf.yield %next, %w1, %e1 : !sum, !fp8.epilogue_warp<!acc>, !fp8.consumer<!scales>
      }
      // CHECK: fp8.store_at %{{.*}} of !store_queue {fp8.plan = #fp8.ring_plan<{{.*}}>}
      // CHECK: fp8.wait_stores
      %q1 = fp8.store %sum, %d[%c0, %c0] through %q : !sum, !fp8.tensor_map<!out>, !queue
      fp8.close %q1 : !queue
      // CHECK: fp8.mbarrier_arrive
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
      fp8.close %e : !fp8.consumer<!scales>
    }
    // CHECK: fp8.role "load" warps(1)
    // CHECK: %[[L:leader.*]], %{{.*}}, %{{.*}} = fp8.role_thread %[[ID]]
    // CHECK-NOT: promotes
    fp8.role "load" warps(1) (%end = %pt, %send = %ps) : !fp8.producer<!ring>, !fp8.producer<!scales> {
      %last, %slast = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end, %f = %send) -> (!fp8.producer<!ring>, !fp8.producer<!scales>) {
        // CHECK: fp8.mbarrier_wait
        // CHECK: fp8.sync warp
        // CHECK: scf.if %[[L]]
        // CHECK: fp8.mbarrier_expect arrive %{{.*}}, 32768
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        // CHECK: fp8.copy_tile %{{.*}} : !fp8.tensor_map
        // CHECK: fp8.copy_tile %{{.*}} : !fp8.tensor_map
        fp8.tma_load %a[%i, %c0], %stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
        fp8.tma_load %a[%i, %c0], %stage["b"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
        // The copies complete the phase: nobody arrives.
        // CHECK-NOT: fp8.mbarrier_arrive
        // CHECK: fp8.mbarrier_wait
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        %row = fp8.acquire %f : !fp8.producer<!scales>
        // CHECK: fp8.mbarrier_expect arrive %{{.*}}, 512
        fp8.tma_load %s[%i, %c0], %row["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!scales>
        %fnext = fp8.release %row : !fp8.producer_stage<!scales>
        scf.yield %next, %fnext : !fp8.producer<!ring>, !fp8.producer<!scales>
      }
      // Slots are waited for before the role ends.
      // CHECK: scf.for %{{.*}} = %c0_i32 to %c4_i32
      // CHECK: fp8.mbarrier_wait
      // CHECK: scf.for %{{.*}} = %c0_i32 to %c3_i32
      // CHECK: fp8.mbarrier_wait
      fp8.close %last : !fp8.producer<!ring>
      fp8.close %slast : !fp8.producer<!scales>
    }
    // CHECK: fp8.role "mma" warps(1)
    // CHECK: %[[L:leader.*]], %{{.*}}, %{{.*}} = fp8.role_thread %[[ID]]
    // CHECK: fp8.tmem_alloc %{{.*}}, 256 last
    // CHECK: fp8.named_barrier arrive %{{.*}}, 160
    fp8.role "mma" warps(1) (%in = %ct, %end = %pa) : !fp8.consumer<!ring>, !fp8.producer<!acc> {
      %warp = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %last, %w = scf.for %i = %c0 to %n step %c1 iter_args(%e = %in, %w = %warp) -> (!fp8.consumer<!ring>, !fp8.mma_warp<!acc>) {
        %acc = fp8.acquire %w : !fp8.mma_warp<!acc>
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %view = fp8.accumulator %acc : !fp8.mma_stage<!acc>
        %at = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
        %bt = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
        // CHECK: fp8.mma
        // CHECK: fp8.mbarrier_commit
        // CHECK: fp8.mbarrier_commit
        fp8.mma %view, %at, %bt : !fp8.tmem<128x128xf32>, !tile, !tile
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %wnext = fp8.release %acc : !fp8.mma_stage<!acc>
        scf.yield %next, %wnext : !fp8.consumer<!ring>, !fp8.mma_warp<!acc>
      }
      fp8.close %last : !fp8.consumer<!ring>
      // CHECK: fp8.mbarrier_wait %{{.*}}, %c0_i32
      // CHECK: fp8.tmem_free %{{.*}}, 256
      fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}
