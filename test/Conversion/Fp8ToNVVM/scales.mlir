// Scales of blocks: the copies of a slot's scales to its columns of tensor memory, and MMAs that read them there.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<32x128xf8E5M2, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
!d = !fp8.tile<32x32xbf16, swizzle_64b>
!ring = !fp8.pipeline<3, a: !a, b: !b, as: !s, bs: !s>
!acc = !fp8.output_pipeline<1, 128x32xf32, scale_slots = 3>
!frag = !fp8.fragment<128x32xf32, 4>
!queue = !fp8.store_queue<2, !d, 4>

// CHECK: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b>, %sm: !fp8.tensor_map<!s, rank = 4>, %dm: !fp8.tensor_map<!d>, %row: index)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %accp, %accc = fp8.output_pipeline : !acc
    %queue = fp8.store_queue : !queue
    fp8.role "epilogue" warps(4) (%e = %accc, %q = %queue) : !fp8.consumer<!acc>, !queue {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %sums = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %sum = fp8.read %sums : !fp8.tmem<128x32xf32, scale_slots = 3> -> !frag
      %w1 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      %q1 = fp8.store %sum, %dm[%c0, %c0] through %q : !frag, !fp8.tensor_map<!d>, !queue
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
      fp8.close %q1 : !queue
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // 16384 + 4096 + 2 * 512 bytes.
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c21504_i32
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %bm[%c0, %c0], %stage["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %stage["as"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %stage["bs"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %accp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      // 32 columns of sums and three times eight of scales: 64.
      // CHECK: nvvm.tcgen05.alloc %{{.*}}, %c64_i32
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %stage = fp8.acquire %w : !fp8.mma_warp<!acc>
      %is = fp8.acquire %in : !fp8.consumer<!ring>
      %d = fp8.accumulator %stage : !fp8.mma_stage<!acc>
      %a = fp8.tile %is["a"] : !fp8.consumer_stage<!ring>
      %b = fp8.tile %is["b"] : !fp8.consumer_stage<!ring>
      %as = fp8.tile %is["as"] : !fp8.consumer_stage<!ring>
      %bs = fp8.tile %is["bs"] : !fp8.consumer_stage<!ring>
      // The first slot's are behind the 32 columns of the sums; B's scales of 32 rows are in one column, those of `row` at row/32.
      // CHECK: %[[A:.*]] = arith.addi %[[D:.*]], %c32_i32
      // CHECK: %[[B:.*]] = arith.addi %{{.*}}, %c{{4|36}}_i32
      // CHECK: %[[OFFSET:.*]] = arith.shrui %{{.*}}, %c5_i32
      // CHECK: %[[FROM:.*]] = arith.addi %[[B]], %[[OFFSET]]
      // Rows of 16 bytes without a swizzle: 128 bytes from one group of eight to the next.
      // CHECK: %[[AT:.*]] = llvm.inttoptr %[[A]] : i32 to !llvm.ptr<6>
      // CHECK: nvvm.tcgen05.cp %[[AT]], %{{.*}} {multicast = #nvvm.tcgen05_cp_multicast<warpx4>, shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
      // CHECK: nvvm.tcgen05.cp
      // 0x8880400: e4m3 and e5m2, N/8 = 4, UE8M0, M/16 = 8; the byte of the step's scales in bits 4 and 29.
      // CHECK: %[[BT:.*]] = llvm.inttoptr %[[FROM]] : i32 to !llvm.ptr<6>
      // CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, %{{.*}}, %{{.*}}, %c143131648_i32, %false, %[[AT]], %[[BT]] {{.*}}kind = #nvvm.block_scale_kind<mxf8f6f4>
      // CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, %{{.*}}, %{{.*}}, %c680002576_i32, %true
      // CHECK-COUNT-2: nvvm.tcgen05.mma.block_scale %{{.*}}, %true
      fp8.mma %d, %a, %b scaled_by(%as, %bs) from %row : !fp8.tmem<128x32xf32, scale_slots = 3>, !a, !b
      %in1 = fp8.release %is : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      fp8.close %in1 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
