// The hand-off of tensor memory between the MMA warp and the epilogue warps.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!acc = !fp8.output_pipeline<3, 128x64xf32>

// CHECK: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel() kernel attributes {fp8.linear} {
    // full: one commit; empty and deallocation: one arrival for each of four epilogue warps.
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c1_i32
    // CHECK-COUNT-4: nvvm.mbarrier.init %{{.*}}, %c4_i32
    %p, %c = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %c) : !fp8.consumer<!acc> {
      // 4 epilogue warps and the MMA warp meet.
      // CHECK: nvvm.barrier id = %c1_i32 number_of_threads = %c160_i32
      // CHECK-NOT: nvvm.tcgen05.fence
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %warp = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.tcgen05.fence <after>
      %stage = fp8.acquire %warp : !fp8.epilogue_warp<!acc>
      // CHECK: nvvm.tcgen05.fence <before>
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive
      %next = fp8.release %stage : !fp8.epilogue_stage<!acc>
      // CHECK-NOT: nvvm.tcgen05.fence
      // CHECK-NOT: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive
      fp8.release_epilogue_warp %next : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%end = %p) : !fp8.producer<!acc> {
      // 3 stages of 64 columns are allocated as 256.
      // CHECK: nvvm.tcgen05.alloc %{{.*}}, %c256_i32
      // CHECK: nvvm.tcgen05.relinquish_alloc_permit
      // CHECK-NOT: nvvm.tcgen05.fence
      // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%c1_i32, %c160_i32)
      %warp = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.tcgen05.fence <after>
      %stage = fp8.acquire %warp : !fp8.mma_warp<!acc>
      // CHECK: nvvm.tcgen05.commit
      %next = fp8.release %stage : !fp8.mma_stage<!acc>
      // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %c0_i32
      // CHECK-NOT: nvvm.tcgen05.fence
      // CHECK: nvvm.tcgen05.dealloc %{{.*}}, %c256_i32
      fp8.release_mma_warp %next : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}
