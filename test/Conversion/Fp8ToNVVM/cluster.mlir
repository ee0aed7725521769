// What a pair and a multicast become: ranks, masks, remote barriers, counts, the cluster barriers.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!a_share = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, b: !b, cta_group = 2>
!acc = !fp8.output_pipeline<2, 256x128xf32, cta_group = 2>

gpu.module @m {
  // Four CTAs, 2 x 2: A's rows are shared along N, B's belong to one CTA each. A slot is handed back by the pairs of its row of the
  // cluster, two; an accumulator by four warps in each CTA of its pair.
  // CHECK-LABEL: gpu.func @kernel
  // CHECK-SAME: known_cluster_size = array<i32: 4, 1, 1>
  gpu.func @kernel(%a: !fp8.tensor_map<!a_share, rank = 3>, %b: !fp8.tensor_map<!b>) kernel
      attributes {fp8.linear, fp8.cluster = array<i64: 2, 2>} {
    %c0 = arith.constant 0 : index
    // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
    // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 49152 : i32
    // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
    // CHECK: %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
    // CHECK: %[[RANK:.*]] = arith.remui %[[CTA]], %[[FOUR]]
    // CHECK: nvvm.mapa
    // CHECK: nvvm.mapa
    // Full 1 and empty 2 of the input ring, two stages each; then full 1 and empty 8, and the barrier that guards deallocation.
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %[[TWO]]
    // CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
    // CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]]
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: nvvm.cluster.arrive.relaxed {aligned}
    // CHECK: nvvm.cluster.wait {aligned}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      // The accumulator goes back to the leading CTA.
      // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
      %w2 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      // The columns are freed by both.
      // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
      // CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
      fp8.release_epilogue_warp %w2 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%end = %p) : !fp8.producer<!ring> {
      // The bytes of both CTAs, 2 * (16384 + 8192), announced in the leading one.
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      // The share moves the row, next to the last coordinate, and not the matrix.
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%c0_i32, %{{[0-9]+}}, %c0_i32] multicast_mask = %{{.*}} {group = #nvvm.cta_group<cta_2>}
      fp8.tma_load %a[%c0, %c0, %c0], %stage["a"] multicast along n : !fp8.tensor_map<!a_share, rank = 3>, !fp8.producer_stage<!ring>
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      // CHECK-NOT: multicast_mask
      // CHECK-SAME: {group = #nvvm.cta_group<cta_2>}
      fp8.tma_load %b[%c0, %c0], %stage["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%end = %mp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      // CHECK: nvvm.tcgen05.alloc {{.*}} {group = #nvvm.cta_group<cta_2>}
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      // CHECK: %[[HALF:.*]] = arith.andi %[[RANK]], %[[ONE]]
      // CHECK: %[[LEADS:.*]] = arith.cmpi eq, %[[HALF]]
      // CHECK: scf.if %[[LEADS]]
      %r:2 = fp8.leading_cta of pair (%lw = %w, %li = %in) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
        %d = fp8.acquire %lw : !fp8.mma_warp<!acc>
        %s = fp8.acquire %li : !fp8.consumer<!ring>
        %acc = fp8.accumulator %d : !fp8.mma_stage<!acc>
        %ta = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
        %tb = fp8.tile %s["b"] : !fp8.consumer_stage<!ring>
        // CHECK: nvvm.tcgen05.mma {{.*}}cta_2
        fp8.mma %acc, %ta, %tb : !fp8.tmem<256x128xf32, cta_group = 2>, !a, !b
        // CHECK: nvvm.tcgen05.commit %{{.*}}, multicast_mask = %{{.*}} {group = #nvvm.cta_group<cta_2>}
        %li2 = fp8.release %s : !fp8.consumer_stage<!ring>
        // CHECK: nvvm.tcgen05.commit %{{.*}}, multicast_mask = %{{.*}} {group = #nvvm.cta_group<cta_2>}
        %lw2 = fp8.release %d : !fp8.mma_stage<!acc>
        fp8.yield %lw2, %li2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
      }
      // CHECK: nvvm.tcgen05.dealloc {{.*}} {group = #nvvm.cta_group<cta_2>}
      fp8.release_mma_warp %r#0 : !fp8.mma_warp<!acc>
      fp8.close %r#1 : !fp8.consumer<!ring>
    }
    // Nobody leaves while another may reach it.
    // CHECK: nvvm.cluster.arrive
    // CHECK-NEXT: nvvm.cluster.wait
    // CHECK-NEXT: gpu.return
    gpu.return
  }
}
