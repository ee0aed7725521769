// Ops that a chip cannot run, whether the chip is the pass's or the module's own.
// RUN: fp8-opt %s --fp8-attach-chip=chip=sm_90a -split-input-file -verify-diagnostics

!work = !fp8.work_queue<2>
gpu.module @work {
  gpu.func @kernel() kernel attributes {fp8.linear} {
    // expected-error @below {{'fp8.work_queue' op requires cluster launch control, which sm_90a lacks; use another scheduler, or lower for sm_100a, sm_100f, sm_103a or sm_110a}}
    %p, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.consumer<!work>
    fp8.role "scheduler" warps(1) (%e = %p) : !fp8.producer<!work> {
      %s = fp8.acquire %e : !fp8.producer<!work>
      fp8.request_work %s : !fp8.producer_stage<!work>
      %n = fp8.release %s : !fp8.producer_stage<!work>
      fp8.close %n : !fp8.producer<!work>
    }
    fp8.role "work" warps(1) (%e = %c) : !fp8.consumer<!work> {
      %s = fp8.acquire %e : !fp8.consumer<!work>
      %more, %cta = fp8.next_work %s : !fp8.consumer_stage<!work>
      %n = fp8.release %s : !fp8.consumer_stage<!work>
      fp8.close %n : !fp8.consumer<!work>
    }
    gpu.return
  }
}

// -----

gpu.module @answer {
  gpu.func @kernel(%answer: i128) kernel {
    // expected-error @below {{'nvvm.clusterlaunchcontrol.query.cancel' op requires cluster launch control, which sm_90a lacks; use another scheduler, or lower for sm_100a, sm_100f, sm_103a or sm_110a}}
    %more = nvvm.clusterlaunchcontrol.query.cancel query = is_canceled, %answer : i1
    gpu.return
  }
}

// -----

gpu.module @tensor_memory [#nvvm.target<chip = "sm_90a", verifyTarget = false>] {
  gpu.func @kernel() kernel {
    // expected-error @below {{'nvvm.tcgen05.relinquish_alloc_permit' op requires tensor memory, which sm_90a lacks; lower for sm_100a, sm_100f, sm_103a or sm_110a}}
    nvvm.tcgen05.relinquish_alloc_permit
    gpu.return
  }
}

// -----

// Each of several targets is checked; one that is not in the table is the emission's business.
gpu.module @several [#nvvm.target<chip = "sm_42", verifyTarget = false>, #nvvm.target<chip = "sm_90a", verifyTarget = false>, #nvvm.target<chip = "sm_100a", verifyTarget = false>] {
  gpu.func @kernel() kernel {
    // expected-error @below {{'nvvm.wgmma.fence.aligned' op requires matrix products of warpgroups, which sm_100a lacks; lower for sm_90a}}
    nvvm.wgmma.fence.aligned
    gpu.return
  }
}

// -----

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a>
!product = !fp8.fragment<64x64xf32, 4, warpgroups>
gpu.module @product [#nvvm.target<chip = "sm_100a">] {
  gpu.func @kernel(%map: !fp8.tensor_map<!a>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "multiply" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %a = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
      // expected-error @below {{'fp8.warpgroup_mma' op requires matrix products of warpgroups, which sm_100a lacks; lower for sm_90a}}
      %x = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!product>
      %f = fp8.wait_mma %x : !fp8.pending<!product>
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %map[%c0, %c0], %s["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    gpu.return
  }
}
