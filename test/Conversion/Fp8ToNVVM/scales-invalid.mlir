// Scales whose columns of tensor memory would be those of others (A6).
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
!ring = !fp8.pipeline<2, a: !a, as: !s, bs: !s>
!acc = !fp8.output_pipeline<1, 128x128xf32, scale_slots = 2>
!frag = !fp8.fragment<128x128xf32, 4>

gpu.module @kernels {
  gpu.func @two_rings(%am: !fp8.tensor_map<!a>, %sm: !fp8.tensor_map<!s, rank = 4>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p0, %c0r = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // expected-note @below {{a ring of scales}}
    %p1, %c1r = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %accp, %accc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%e = %accc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %sums = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %sum = fp8.read %sums : !fp8.tmem<128x128xf32, scale_slots = 2> -> !frag
      %w1 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%e0 = %p0, %e1 = %p1) : !fp8.producer<!ring>, !fp8.producer<!ring> {
      %s0 = fp8.acquire %e0 : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %s0["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s0["as"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s0["bs"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      %n0 = fp8.release %s0 : !fp8.producer_stage<!ring>
      %s1 = fp8.acquire %e1 : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %s1["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s1["as"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s1["bs"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      %n1 = fp8.release %s1 : !fp8.producer_stage<!ring>
      fp8.close %n0 : !fp8.producer<!ring>
      fp8.close %n1 : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %accp, %in0 = %c0r, %in1 = %c1r) : !fp8.producer<!acc>, !fp8.consumer<!ring>, !fp8.consumer<!ring> {
      %true = arith.constant true
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %stage = fp8.acquire %w : !fp8.mma_warp<!acc>
      %d = fp8.accumulator %stage : !fp8.mma_stage<!acc>
      %s0 = fp8.acquire %in0 : !fp8.consumer<!ring>
      %a0 = fp8.tile %s0["a"] : !fp8.consumer_stage<!ring>
      %as0 = fp8.tile %s0["as"] : !fp8.consumer_stage<!ring>
      %bs0 = fp8.tile %s0["bs"] : !fp8.consumer_stage<!ring>
      // expected-note @below {{the other MMA}}
      fp8.mma %d, %a0, %a0 scaled_by(%as0, %bs0) : !fp8.tmem<128x128xf32, scale_slots = 2>, !a, !a
      %n0 = fp8.release %s0 : !fp8.consumer_stage<!ring>
      %s1 = fp8.acquire %in1 : !fp8.consumer<!ring>
      %a1 = fp8.tile %s1["a"] : !fp8.consumer_stage<!ring>
      %as1 = fp8.tile %s1["as"] : !fp8.consumer_stage<!ring>
      %bs1 = fp8.tile %s1["bs"] : !fp8.consumer_stage<!ring>
      // expected-error @below {{takes scales of another ring than an MMA into the same accumulator (A6), and slots of two rings would share columns of tensor memory; put the scales into one ring}}
      fp8.mma %d, %a1, %a1 scaled_by(%as1, %bs1) accumulate(%true) : !fp8.tmem<128x128xf32, scale_slots = 2>, !a, !a
      %n1 = fp8.release %s1 : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      fp8.close %n0 : !fp8.consumer<!ring>
      fp8.close %n1 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

// The columns of two accumulators are their own, so that products into both take the scales of one slot; in each turn of a loop, too, that
// acquires the accumulator anew.

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
!ring = !fp8.pipeline<2, a: !a, as: !s, bs: !s>
!acc = !fp8.output_pipeline<1, 128x128xf32, scale_slots = 2>
!frag = !fp8.fragment<128x128xf32, 4>

gpu.module @kernels {
  gpu.func @two_accumulators(%am: !fp8.tensor_map<!a>, %sm: !fp8.tensor_map<!s, rank = 4>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %accp0, %accc0 = fp8.output_pipeline : !acc
    %accp1, %accc1 = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%e0 = %accc0, %e1 = %accc1) : !fp8.consumer<!acc>, !fp8.consumer<!acc> {
      %ready0 = fp8.wait_tmem %e0 : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w0 = fp8.create_epilogue_warp %e0, %ready0 : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %ready1 = fp8.wait_tmem %e1 : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w1 = fp8.create_epilogue_warp %e1, %ready1 : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %s0 = fp8.acquire %w0 : !fp8.epilogue_warp<!acc>
      %sums0 = fp8.accumulator %s0 : !fp8.epilogue_stage<!acc>
      %sum0 = fp8.read %sums0 : !fp8.tmem<128x128xf32, scale_slots = 2> -> !frag
      %n0 = fp8.release %s0 : !fp8.epilogue_stage<!acc>
      %n1 = scf.for %i = %c0 to %n step %c1 iter_args(%w = %w1) -> (!fp8.epilogue_warp<!acc>) {
        %s1 = fp8.acquire %w : !fp8.epilogue_warp<!acc>
        %sums1 = fp8.accumulator %s1 : !fp8.epilogue_stage<!acc>
        %sum1 = fp8.read %sums1 : !fp8.tmem<128x128xf32, scale_slots = 2> -> !frag
        %w2 = fp8.release %s1 : !fp8.epilogue_stage<!acc>
        scf.yield %w2 : !fp8.epilogue_warp<!acc>
      }
      fp8.release_epilogue_warp %n0 : !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %n1 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s0 = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %am[%c0, %c0], %s0["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s0["as"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s0["bs"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
      %n0 = fp8.release %s0 : !fp8.producer_stage<!ring>
      fp8.close %n0 : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e0 = %accp0, %e1 = %accp1, %in = %c) : !fp8.producer<!acc>, !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w0 = fp8.create_mma_warp %e0 : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %w1 = fp8.create_mma_warp %e1 : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %slot = fp8.acquire %in : !fp8.consumer<!ring>
      %a = fp8.tile %slot["a"] : !fp8.consumer_stage<!ring>
      %as = fp8.tile %slot["as"] : !fp8.consumer_stage<!ring>
      %bs = fp8.tile %slot["bs"] : !fp8.consumer_stage<!ring>
      %s0 = fp8.acquire %w0 : !fp8.mma_warp<!acc>
      %d0 = fp8.accumulator %s0 : !fp8.mma_stage<!acc>
      fp8.mma %d0, %a, %a scaled_by(%as, %bs) : !fp8.tmem<128x128xf32, scale_slots = 2>, !a, !a
      %n0 = fp8.release %s0 : !fp8.mma_stage<!acc>
      %n1 = scf.for %i = %c0 to %n step %c1 iter_args(%w = %w1) -> (!fp8.mma_warp<!acc>) {
        %s1 = fp8.acquire %w : !fp8.mma_warp<!acc>
        %d1 = fp8.accumulator %s1 : !fp8.mma_stage<!acc>
        fp8.mma %d1, %a, %a scaled_by(%as, %bs) : !fp8.tmem<128x128xf32, scale_slots = 2>, !a, !a
        %w2 = fp8.release %s1 : !fp8.mma_stage<!acc>
        scf.yield %w2 : !fp8.mma_warp<!acc>
      }
      %next = fp8.release %slot : !fp8.consumer_stage<!ring>
      fp8.release_mma_warp %n0 : !fp8.mma_warp<!acc>
      fp8.release_mma_warp %n1 : !fp8.mma_warp<!acc>
      fp8.close %next : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

// A stage that goes round the loop is handed over in each turn, and so between the product in the loop and the one behind it.

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!s = !fp8.tile<32x16xf8E8M0FNU>
!ring = !fp8.pipeline<2, a: !a, as: !s, bs: !s>
!acc = !fp8.output_pipeline<1, 128x128xf32, scale_slots = 2>
!frag = !fp8.fragment<128x128xf32, 4>

gpu.module @kernels {
  gpu.func @carried_stage(%am: !fp8.tensor_map<!a>, %sm: !fp8.tensor_map<!s, rank = 4>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %accp, %accc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%e = %accc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %stage = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %sums = fp8.accumulator %stage : !fp8.epilogue_stage<!acc>
      %sum = fp8.read %sums : !fp8.tmem<128x128xf32, scale_slots = 2> -> !frag
      %w1 = fp8.release %stage : !fp8.epilogue_stage<!acc>
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %end = scf.for %i = %c0 to %n step %c1 iter_args(%pi = %e) -> (!fp8.producer<!ring>) {
        %s0 = fp8.acquire %pi : !fp8.producer<!ring>
        fp8.tma_load %am[%c0, %c0], %s0["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
        fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s0["as"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
        fp8.tma_load %sm[%c0, %c0, %c0, %c0], %s0["bs"] : !fp8.tensor_map<!s, rank = 4>, !fp8.producer_stage<!ring>
        %next = fp8.release %s0 : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %end : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %accp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %stage = fp8.acquire %w : !fp8.mma_warp<!acc>
      %d = fp8.accumulator %stage : !fp8.mma_stage<!acc>
      %first = fp8.acquire %in : !fp8.consumer<!ring>
      %last = scf.for %i = %c1 to %n step %c1 iter_args(%slot = %first) -> (!fp8.consumer_stage<!ring>) {
        %more = arith.cmpi ne, %i, %c1 : index
        %a0 = fp8.tile %slot["a"] : !fp8.consumer_stage<!ring>
        %as0 = fp8.tile %slot["as"] : !fp8.consumer_stage<!ring>
        %bs0 = fp8.tile %slot["bs"] : !fp8.consumer_stage<!ring>
        fp8.mma %d, %a0, %a0 scaled_by(%as0, %bs0) accumulate(%more) : !fp8.tmem<128x128xf32, scale_slots = 2>, !a, !a
        %end = fp8.release %slot : !fp8.consumer_stage<!ring>
        %next = fp8.acquire %end : !fp8.consumer<!ring>
        scf.yield %next : !fp8.consumer_stage<!ring>
      }
      %any = arith.cmpi ne, %n, %c1 : index
      %a = fp8.tile %last["a"] : !fp8.consumer_stage<!ring>
      %as = fp8.tile %last["as"] : !fp8.consumer_stage<!ring>
      %bs = fp8.tile %last["bs"] : !fp8.consumer_stage<!ring>
      fp8.mma %d, %a, %a scaled_by(%as, %bs) accumulate(%any) : !fp8.tmem<128x128xf32, scale_slots = 2>, !a, !a
      %rest = fp8.release %last : !fp8.consumer_stage<!ring>
      %w1 = fp8.release %stage : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      fp8.close %rest : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
