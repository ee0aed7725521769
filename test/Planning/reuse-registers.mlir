// What has taken registers keeps them when the pass runs again, and nobody else takes them.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-plan-kernels,fp8-reuse-registers,fp8-reuse-registers))' | FileCheck %s

!half = !fp8.tile<64x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<2, a: !half, b: !half>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>

gpu.module @kernels {
  gpu.func @products(%a: !fp8.tensor_map<!half>, %b: !fp8.tensor_map<!half>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "multiply" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %at = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %bt = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      // Two in flight take registers of their own, the third those of the first, the fourth its own.
      // CHECK: %[[P0:.*]] = fp8.warpgroup_mma %{{[^ ]*}}, %{{[^ ]*}} : !
      // CHECK: %[[P1:.*]] = fp8.warpgroup_mma %{{[^ ]*}}, %{{[^ ]*}} : !
      // CHECK: %[[F0:.*]] = fp8.wait_mma %[[P0]]
      // CHECK: %[[P2:.*]] = fp8.warpgroup_mma %{{[^ ]*}}, %{{[^ ]*}} into(%[[F0]] : !fp8.fragment<64x64xf32, 4, warpgroups>)
      %p0 = fp8.warpgroup_mma %at, %bt : !half, !half -> !fp8.pending<!sum>
      %p1 = fp8.warpgroup_mma %at, %bt : !half, !half -> !fp8.pending<!sum>
      %f0 = fp8.wait_mma %p0 : !fp8.pending<!sum>
      %p2 = fp8.warpgroup_mma %at, %bt : !half, !half -> !fp8.pending<!sum>
      // CHECK: fp8.warpgroup_mma %{{[^ ]*}}, %{{[^ ]*}} : !
      %p4 = fp8.warpgroup_mma %at, %bt : !half, !half -> !fp8.pending<!sum>
      // One that adds to a fragment stays in its registers.
      // CHECK: %[[F1:.*]] = fp8.wait_mma %[[P1]]
      // CHECK: fp8.warpgroup_mma {{.*}} accumulate(%[[F1]] :
      %f1 = fp8.wait_mma %p1 : !fp8.pending<!sum>
      %p3 = fp8.warpgroup_mma %at, %bt accumulate(%f1 : !sum) : !half, !half -> !fp8.pending<!sum>
      %f2 = fp8.wait_mma %p2 : !fp8.pending<!sum>
      %f3 = fp8.wait_mma %p3 : !fp8.pending<!sum>
      %f4 = fp8.wait_mma %p4 : !fp8.pending<!sum>
      %end2 = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %end2 : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      fp8.tma_load %a[%c0, %c0], %stage["a"] : !fp8.tensor_map<!half>, !fp8.producer_stage<!ring>
      fp8.tma_load %b[%c0, %c0], %stage["b"] : !fp8.tensor_map<!half>, !fp8.producer_stage<!ring>
      %end2 = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %end2 : !fp8.producer<!ring>
    }
    gpu.return
  }
}
