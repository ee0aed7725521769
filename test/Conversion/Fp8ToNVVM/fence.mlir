// Before a slot that threads have read is handed back to TMA, they fence their reads: in front of the wait for the product that follows the
// last read, if there is one, where that takes less time; else with the hand-over.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x64xf32>
!row = !fp8.tile<1x16xf32>
!ring = !fp8.pipeline<2, a: !a, b: !b, s: !s, row: !row>
!sum = !fp8.fragment<64x16xf32, 4, warpgroups>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @behind_a_product
  gpu.func @behind_a_product(%am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b>, %sm: !fp8.tensor_map<!s>, %rm: !fp8.tensor_map<!row>, %scale: f32)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "multiply" warps(4) (%in = %c) : !fp8.consumer<!ring> {
      %zero = fp8.zero : !sum
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %stage["b"] : !fp8.consumer_stage<!ring>
      %s = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      // The scale is loaded where its tile is taken.
      // CHECK: llvm.load
      // CHECK: wgmma.mma_async
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK-NEXT: wgmma.wait_group
      // CHECK-NOT: nvvm.fence.proxy
      // CHECK: nvvm.mbarrier.arrive
      %product = fp8.warpgroup_mma %a, %b : !a, !b -> !fp8.pending<!sum>
      %done = fp8.wait_mma %product : !fp8.pending<!sum>
      %sums = fp8.promote %zero, %done scales(%s, %scale) : !sum, !sum, !s
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      // Here behind the wait: the fence goes in front of the meeting of the lanes.
      // CHECK: wgmma.wait_group
      // CHECK: llvm.load
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK-NEXT: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive
      %stage1 = fp8.acquire %next : !fp8.consumer<!ring>
      %a1 = fp8.tile %stage1["a"] : !fp8.consumer_stage<!ring>
      %b1 = fp8.tile %stage1["b"] : !fp8.consumer_stage<!ring>
      %product1 = fp8.warpgroup_mma %a1, %b1 : !a, !b -> !fp8.pending<!sum>
      %done1 = fp8.wait_mma %product1 : !fp8.pending<!sum>
      %s1 = fp8.tile %stage1["s"] : !fp8.consumer_stage<!ring>
      %sums1 = fp8.promote %sums, %done1 scales(%s1, %scale) : !sum, !sum, !s
      %next1 = fp8.release %stage1 : !fp8.consumer_stage<!ring>
      // Nor is it enough that it was loaded in front of the wait if a row is read behind it.
      // CHECK: wgmma.wait_group
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK-NEXT: nvvm.bar.warp.sync
      // CHECK: nvvm.mbarrier.arrive
      %stage2 = fp8.acquire %next1 : !fp8.consumer<!ring>
      %a2 = fp8.tile %stage2["a"] : !fp8.consumer_stage<!ring>
      %b2 = fp8.tile %stage2["b"] : !fp8.consumer_stage<!ring>
      %s2 = fp8.tile %stage2["s"] : !fp8.consumer_stage<!ring>
      %row2 = fp8.tile %stage2["row"] : !fp8.consumer_stage<!ring>
      %product2 = fp8.warpgroup_mma %a2, %b2 : !a, !b -> !fp8.pending<!sum>
      %done2 = fp8.wait_mma %product2 : !fp8.pending<!sum>
      %sums2 = fp8.promote %sums1, %done2 scales(%s2, %scale) : !sum, !sum, !s
      %sums3 = fp8.add_row %sums2, %row2 : !sum, !row
      %next2 = fp8.release %stage2 : !fp8.consumer_stage<!ring>
      // Slots that only products read need none.
      // CHECK: wgmma.wait_group
      // CHECK-NOT: nvvm.fence.proxy
      // CHECK: nvvm.mbarrier.arrive
      %stage3 = fp8.acquire %next2 : !fp8.consumer<!ring>
      %a3 = fp8.tile %stage3["a"] : !fp8.consumer_stage<!ring>
      %b3 = fp8.tile %stage3["b"] : !fp8.consumer_stage<!ring>
      %product3 = fp8.warpgroup_mma %a3, %b3 : !a, !b -> !fp8.pending<!sum>
      %done3 = fp8.wait_mma %product3 : !fp8.pending<!sum>
      %next3 = fp8.release %stage3 : !fp8.consumer_stage<!ring>
      fp8.close %next3 : !fp8.consumer<!ring>
      fp8.yield
    }
    fp8.role "load" warps(1) (%out = %p) : !fp8.producer<!ring> {
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%at = %out) -> (!fp8.producer<!ring>) {
        %slot = fp8.acquire %at : !fp8.producer<!ring>
        fp8.tma_load %am[%c0, %c0], %slot["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
        fp8.tma_load %bm[%c0, %c0], %slot["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!ring>
        fp8.tma_load %sm[%c0, %c0], %slot["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!ring>
        fp8.tma_load %rm[%c0, %c0], %slot["row"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
        %more = fp8.release %slot : !fp8.producer_stage<!ring>
        scf.yield %more : !fp8.producer<!ring>
      }
      fp8.close %end : !fp8.producer<!ring>
      fp8.yield
    }
    gpu.return
  }
}
