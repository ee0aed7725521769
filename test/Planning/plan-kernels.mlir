// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-plan-kernels))' --split-input-file | FileCheck %s

!row = !fp8.tile<1x128xf32>
!tile = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<4, a: !tile, b: !tile>
!scales = !fp8.pipeline<2, s: !row>
!acc = !fp8.output_pipeline<2, 128x128xf32>

// A kernel with tensor memory: two rings, accumulators, three roles.
// CHECK-LABEL: gpu.func @tensor_memory
// CHECK-SAME: fp8.plan = #fp8.cta_plan<warps = 6,
gpu.module @kernels {
  gpu.func @tensor_memory(%a: !fp8.tensor_map<!tile>, %b: !fp8.tensor_map<!tile>, %s: !fp8.tensor_map<!row>, %out: memref<?xf32>) kernel
      attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %b_scale = arith.constant 1.0 : f32
    // The bytes of both tiles; one MMA warp hands back.
    // CHECK: fp8.pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 1, bytes = 32768, barriers = {{[0-9]+}}, mma_ends = 2>}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // Four warps hand back.
    // CHECK: fp8.pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, bytes = 512, barriers = {{[0-9]+}}, payload = 131072>}
    %sp, %sc = fp8.pipeline : !fp8.producer<!scales>, !fp8.consumer<!scales>
    // CHECK: fp8.output_pipeline {fp8.plan = #fp8.ring_plan<full_arrivals = 1, empty_arrivals = 4, barriers = {{[0-9]+}}, dealloc_arrivals = 4, named_barrier = 1, handoff_threads = 160, columns = 256, allocates_alone>}
    %op, %oc = fp8.output_pipeline : !acc
    // CHECK: fp8.role "epilogue" warps(4) {{.*}} attributes {fp8.plan = #fp8.role_plan<>}
    fp8.role "epilogue" warps(4) (%end = %oc, %scale_end = %sc) : !fp8.consumer<!acc>, !fp8.consumer<!scales> {
      // CHECK: fp8.wait_tmem {{.*}}handoff_threads = 160
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %warp = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %zero = fp8.zero : !fp8.fragment<128x128xf32, 4>
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<used_by_threads, loaded_by_threads, overwritten_by_tma>} : !fp8.consumer<
      %scale = fp8.acquire %scale_end : !fp8.consumer<!scales>
      %row = fp8.tile %scale["s"] : !fp8.consumer_stage<!scales>
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<used_by_threads, loaded_by_threads>} : !fp8.epilogue_warp<
      %stage = fp8.acquire %warp : !fp8.epilogue_warp<!acc>
      %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %sum = fp8.promote %zero, %partial scales(%row, %b_scale) : !fp8.fragment<128x128xf32, 4>, !fp8.tmem<128x128xf32>, !row
      %x = fp8.read_element %row[0] : !row
      memref.store %x, %out[%c0] : memref<?xf32>
      %warp2 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      // The lanes have met in the release in front of it.
      // CHECK: fp8.release %{{.*}} {fp8.plan = #fp8.stage_plan<used_by_threads, loaded_by_threads, overwritten_by_tma, converged>}
      %scale_end2 = fp8.release %scale : !fp8.consumer_stage<!scales>
      fp8.release_epilogue_warp %warp2 : !fp8.epilogue_warp<!acc>
      fp8.close %scale_end2 : !fp8.consumer<!scales>
    }
    // CHECK: fp8.role "mma" warps(1) {{.*}} attributes {fp8.plan = #fp8.role_plan<first_warp = 4>}
    fp8.role "mma" warps(1) (%end = %op, %tiles = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %warp = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %stage = fp8.acquire %warp : !fp8.mma_warp<!acc>
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<used_by_mma, overwritten_by_tma>} : !fp8.consumer<
      %in = fp8.acquire %tiles : !fp8.consumer<!ring>
      %at = fp8.tile %in["a"] : !fp8.consumer_stage<!ring>
      %bt = fp8.tile %in["b"] : !fp8.consumer_stage<!ring>
      %d = fp8.accumulator %stage : !fp8.mma_stage<!acc>
      fp8.mma %d, %at, %bt : !fp8.tmem<128x128xf32>, !tile, !tile
      %tiles2 = fp8.release %in : !fp8.consumer_stage<!ring>
      %warp2 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %warp2 : !fp8.mma_warp<!acc>
      fp8.close %tiles2 : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p, %scale_end = %sp) : !fp8.producer<!ring>, !fp8.producer<!scales> {
      // CHECK: fp8.acquire %{{.*}} {fp8.plan = #fp8.stage_plan<bytes = 32768, bytes_at_acquire, overwritten_by_tma>}
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      // CHECK: fp8.tma_load {{.*}} {fp8.plan = #fp8.stage_plan<bytes = 32768, bytes_at_acquire, overwritten_by_tma>}
      fp8.tma_load %a[%c0, %c0], %stage["a"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      fp8.tma_load %b[%c0, %c0], %stage["b"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      %end2 = fp8.release %stage : !fp8.producer_stage<!ring>
      %scale = fp8.acquire %scale_end : !fp8.producer<!scales>
      fp8.tma_load %s[%c0, %c0], %scale["s"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!scales>
      %scale_end2 = fp8.release %scale : !fp8.producer_stage<!scales>
      fp8.close %end2 : !fp8.producer<!ring>
      fp8.close %scale_end2 : !fp8.producer<!scales>
    }
    gpu.return
  }

  // Planned again, a kernel gets the same plan; what is no linear kernel gets none.
  // CHECK-LABEL: gpu.func @other
  // CHECK-NOT: fp8.plan
  gpu.func @other() kernel {
    gpu.return
  }
}

// -----

!half = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<2, a: !half, b: !half>
!sum = !fp8.fragment<128x64xf32, 8, warpgroups>
!tall = !fp8.tile<128x64xbf16, swizzle_128b>
!rings = !fp8.pipeline<2, a: !tall, b: !half>

// Two warpgroups that multiply take registers; the warp that loads gives its own up, with three idle ones.
// CHECK-LABEL: gpu.func @warpgroups
// CHECK-SAME: fp8.plan = #fp8.cta_plan<warps = 12, idle_warps = 3, shared_memory = {{[0-9]+}}, registers = 168, idle_registers = 40>
gpu.module @kernels {
  gpu.func @warpgroups(%a: !fp8.tensor_map<!tall>, %b: !fp8.tensor_map<!half>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!rings>, !fp8.consumer<!rings>
    // CHECK: fp8.role "multiply" warps(8) {{.*}} attributes {fp8.plan = #fp8.role_plan<registers = {{2[0-9]+}}, takes>}
    fp8.role "multiply" warps(8) (%end = %c) : !fp8.consumer<!rings> {
      %stage = fp8.acquire %end : !fp8.consumer<!rings>
      %at = fp8.tile %stage["a"] : !fp8.consumer_stage<!rings>
      %bt = fp8.tile %stage["b"] : !fp8.consumer_stage<!rings>
      %first = fp8.warpgroup_mma %at, %bt : !tall, !half -> !fp8.pending<!sum>
      %second = fp8.warpgroup_mma %at, %bt : !tall, !half -> !fp8.pending<!sum>
      // CHECK: fp8.wait_mma %{{.*}} {fp8.plan = #fp8.wait_plan<behind = 1>}
      %early = fp8.wait_mma %first : !fp8.pending<!sum>
      // CHECK: fp8.wait_mma %{{.*}} {fp8.plan = #fp8.wait_plan<>}
      %late = fp8.wait_mma %second : !fp8.pending<!sum>
      %end2 = fp8.release %stage : !fp8.consumer_stage<!rings>
      fp8.close %end2 : !fp8.consumer<!rings>
    }
    // CHECK: fp8.role "load" warps(1) {{.*}} attributes {fp8.plan = #fp8.role_plan<first_warp = 8, registers = 40>}
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!rings> {
      %stage = fp8.acquire %end : !fp8.producer<!rings>
      fp8.tma_load %a[%c0, %c0], %stage["a"] : !fp8.tensor_map<!tall>, !fp8.producer_stage<!rings>
      fp8.tma_load %b[%c0, %c0], %stage["b"] : !fp8.tensor_map<!half>, !fp8.producer_stage<!rings>
      %end2 = fp8.release %stage : !fp8.producer_stage<!rings>
      fp8.close %end2 : !fp8.producer<!rings>
    }
    gpu.return
  }
}
