// MMAs, promotion and store.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<1x128xf32>
!d = !fp8.tile<32x64xbf16, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, b: !b, s: !s>
!acc = !fp8.output_pipeline<2, 128x64xf32>
!frag = !fp8.fragment<128x64xf32, 4>
!queue = !fp8.store_queue<2, !d, 4>

// CHECK: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b, rank = 3>, %sm: !fp8.tensor_map<!s>, %dm: !fp8.tensor_map<!d, rank = 3>, %scale: f32)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %p, %ci, %ce = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>
    %accp, %accc = fp8.output_pipeline : !acc
    %queue = fp8.store_queue : !queue
    // CHECK: %[[LEADER:.*]] = nvvm.elect.sync -> i1
    fp8.role "epilogue" warps(4) (%e = %accc, %in = %ce, %q = %queue) : !fp8.consumer<!acc>, !fp8.consumer<!ring>, !queue {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %is = fp8.acquire %in : !fp8.consumer<!ring>
      %zero = fp8.zero : !frag
      %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %as = fp8.tile %is["s"] : !fp8.consumer_stage<!ring>
      // Both loads are under way before the wait, which takes and returns the registers that it waits for.
      // CHECK: %[[AS:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      // CHECK: arith.mulf %[[AS]], %{{.*}} : f32
      // CHECK-COUNT-2: nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<32xi32>
      // CHECK: llvm.inline_asm has_side_effects "tcgen05.wait::ld.sync.aligned;", "=r,{{.*}}=r,0,1,{{.*}}63,~{memory}"
      // CHECK-NOT: tcgen05.wait
      // CHECK-COUNT-32: llvm.intr.fma({{.*}}) : (vector<2xf32>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
      %sum = fp8.promote %zero, %partial scales(%as, %scale) : !frag, !fp8.tmem<128x64xf32>, !s
      // CHECK: nvvm.tcgen05.fence <before>
      // CHECK: nvvm.mbarrier.arrive
      %in1 = fp8.release %is : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      // A lane's row: 128 bytes in eight chunks. No copy reads the queue's first slots.
      // CHECK-NOT: nvvm.cp.async.bulk.wait_group
      // CHECK-COUNT-32: llvm.fptrunc %{{.*}} : vector<2xf32> to vector<2xbf16>
      // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK: nvvm.bar.warp.sync
      // CHECK: scf.if %[[LEADER]]
      // The batch is the outermost coordinate, innermost first the last.
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%{{[0-9]+}}, %{{[0-9]+}}, %c7_i32]
      // CHECK: nvvm.cp.async.bulk.commit.group
      %q1 = fp8.store %sum, %dm[%c7, %c0, %c0] through %q : !frag, !fp8.tensor_map<!d, rank = 3>, !queue
      // Those of the next store, copies may read.
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK: nvvm.bar.warp.sync
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
      %q2 = fp8.store %sum, %dm[%c7, %c0, %c0] through %q1 : !frag, !fp8.tensor_map<!d, rank = 3>, !queue
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
      fp8.close %in1 : !fp8.consumer<!ring>
      // CHECK: nvvm.cp.async.bulk.wait_group 0{{$}}
      fp8.close %q2 : !queue
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // 16384 + 8192 + 512 bytes.
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c25088_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%c0_i32, %c0_i32]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%c0_i32, %c0_i32, %c7_i32]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%c0_i32, %c0_i32]
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %bm[%c7, %c0, %c0], %stage["b"] : !fp8.tensor_map<!b, rank = 3>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0], %stage["s"] : !fp8.tensor_map<!s>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %accp, %in = %ci) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %stage = fp8.acquire %w : !fp8.mma_warp<!acc>
      %is = fp8.acquire %in : !fp8.consumer<!ring>
      %d = fp8.accumulator %stage : !fp8.mma_stage<!acc>
      %a = fp8.tile %is["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %is["b"] : !fp8.consumer_stage<!ring>
      // Four steps of 32 bytes, the first of which overwrites. 0x8100010: f32, N/8 = 8, M/16 = 8.
      // CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %c135266320_i32, %false {{.*}}kind = #nvvm.tcgen05_mma_kind<f8f6f4>
      // CHECK-COUNT-3: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %c135266320_i32, %true
      fp8.mma %d, %a, %b : !fp8.tmem<128x64xf32>, !a, !b
      // What the MMAs read and wrote is handed over by commits.
      // CHECK-COUNT-2: nvvm.tcgen05.commit
      %in1 = fp8.release %is : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      fp8.close %in1 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
