// What the lowering refuses of the halves of acquire and release.
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>
gpu.module @m {
  gpu.func @two_copiers(%map: !fp8.tensor_map<!tile>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    // expected-note @below {{role "load" has warps 4 to 5}}
    fp8.role "load" warps(2) (%e = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      %to = fp8.tile %stage["s"] : !fp8.producer_stage<!ring>
      %full = fp8.mbarrier %stage : !fp8.producer_stage<!ring>
      // expected-error @below {{'fp8.tma_copy' op must be in a role of one warp (R3); move it to a role of its own}}
      fp8.tma_copy %map[%c0, %c0], %to, %full : !fp8.tensor_map<!tile>, !tile
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @outside_a_role() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // expected-error @below {{'fp8.try_wait' op must be in an fp8.role, whose warps execute it}}
    %done = fp8.try_wait %c : !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @not_flat() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      // expected-error @below {{'fp8.consume_explicit' op is not of phase 2, where kernels are linear and flat; run --fp8-flatten-scopes before}}
      %next = fp8.consume_explicit(%stage = %e) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
        %signalled = fp8.arrive %stage : !fp8.consumer_stage<!ring>
        fp8.yield %signalled : !fp8.signalled<!fp8.consumer_stage<!ring>>
      }
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

// An end that is only looked at is still taken by no role.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @looked_at() kernel attributes {fp8.linear} {
    // expected-error @below {{producer end leaks: it is never consumed (L1); consume it with 'fp8.close'}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %slot = fp8.index %p : !fp8.producer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    // expected-note @below {{still alive where control leaves its region}}
    gpu.return
  }
}

// -----

// Waiting is bound to the CTA that acquiring is.
!acc = !fp8.output_pipeline<2, 256x128xf32, cta_group = 2>
gpu.module @m {
  gpu.func @wait_in_both() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%end = %mp) : !fp8.producer<!acc> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      // expected-error @below {{'fp8.wait' op takes an accumulator of a CTA pair, so it must be in an 'fp8.leading_cta of pair' (C2)}}
      %ready = fp8.wait %w : !fp8.mma_warp<!acc>
      %d = fp8.acquire %ready : !fp8.ready<!fp8.mma_warp<!acc>>
      %w2 = fp8.release %d : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}
