// A swapped accumulator: the MMA takes B for A, and loads of tensor memory give its transpose.
// RUN: fp8-opt %s --convert-fp8-to-nvvm --canonicalize --cse | FileCheck %s

!a = !fp8.tile<48x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<128x128xf8E5M2, swizzle_128b>
!s = !fp8.tile<1x48xf32>
!d = !fp8.tile<48x32xbf16, swizzle_64b>
!ring = !fp8.pipeline<2, a: !a, b: !b, s: !s>
!acc = !fp8.output_pipeline<2, 48x128xf32, swapped>
!frag = !fp8.fragment<48x128xf32, 4, quarter_columns>
!queue = !fp8.store_queue<1, !d, 4>

// CHECK: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b>, %sm: !fp8.tensor_map<!s>, %dm: !fp8.tensor_map<!d>, %scale: f32)
      kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %ci, %ce = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>, !fp8.consumer<!ring>
    %accp, %accc = fp8.output_pipeline : !acc
    %queue = fp8.store_queue : !queue
    fp8.role "epilogue" warps(4) (%e = %accc, %in = %ce, %q = %queue) : !fp8.consumer<!acc>, !fp8.consumer<!ring>, !queue {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %is = fp8.acquire %in : !fp8.consumer<!ring>
      %zero = fp8.zero : !frag
      %partial = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %as = fp8.tile %is["s"] : !fp8.consumer_stage<!ring>
      // Scales of pairs of rows, one pair for each eight.
      // CHECK-COUNT-6: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
      // Of lanes 0 to 15 three loads of 16 columns, and as many of lanes 16 to 31: 16 << 16 further.
      // CHECK-COUNT-3: nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_16x256b>} : vector<8xi32>
      // CHECK: arith.addi %{{.*}}, %c1048576_i32
      // CHECK-COUNT-3: nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_16x256b>} : vector<8xi32>
      // CHECK-NOT: nvvm.tcgen05.ld
      // CHECK-COUNT-24: llvm.intr.fma({{.*}}) : (vector<2xf32>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
      %sum = fp8.promote %zero, %partial scales(%as, %scale) : !frag, !fp8.tmem<48x128xf32, swapped>, !s
      %in1 = fp8.release %is : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      // A warp's 32 columns of all rows, in matrices that are turned.
      // CHECK-COUNT-6: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<col>
      // CHECK-NOT: nvvm.stmatrix
      %q1 = fp8.store %sum, %dm[%c0, %c0] through %q : !frag, !fp8.tensor_map<!d>, !queue
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
      fp8.close %in1 : !fp8.consumer<!ring>
      fp8.close %q1 : !queue
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %stage["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %bm[%c0, %c0], %stage["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!ring>
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
      // 0x80C0090: f32, e5m2 for A and e4m3 for B, N/8 = 6, M/16 = 8.
      // CHECK-COUNT-4: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %c135004304_i32
      fp8.mma %d, %a, %b : !fp8.tmem<48x128xf32, swapped>, !a, !b
      %in1 = fp8.release %is : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      fp8.close %in1 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
