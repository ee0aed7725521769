// What is derived from the whole kernel, and what it refuses.
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

gpu.module @m {
  // expected-error @below {{has no fp8.role; add one, since roles do the work of a kernel}}
  gpu.func @no_role() kernel attributes {fp8.linear} {
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @stated_count() kernel attributes {fp8.linear} {
    // expected-error @below {{'fp8.pipeline' op states 128 consumer arrivals, but its roles make 4; remove the attribute, or fix the roles}}
    %p, %c = fp8.pipeline {consumer_arrivals = 128} : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // expected-note @below {{role "read" arrives once for each of its 4 warps}}
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

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !tile>
gpu.module @m {
  gpu.func @two_loaders(%map: !fp8.tensor_map<!tile>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    // expected-note @below {{role "load" has warps 4 to 5}}
    fp8.role "load" warps(2) (%e = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      // expected-error @below {{'fp8.tma_load' op must be in a role of one warp (R3); move it to a role of its own}}
      fp8.tma_load %map[%c0, %c0], %stage["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @misaligned() kernel attributes {fp8.linear} {
    %p, %c = fp8.output_pipeline : !acc
    fp8.role "mma" warps(1) (%e = %p) : !fp8.producer<!acc> {
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
    }
    // expected-note @below {{role "epilogue" has warps 1 to 4}}
    fp8.role "epilogue" warps(4) (%e = %c) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      // expected-error @below {{must be in a role with a multiple of 4 warps that starts at a multiple of 4 (R2); put such roles first}}
      %w = fp8.create_epilogue_warp %e, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @outside_a_role() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    // expected-error @below {{'fp8.close' op must be in an fp8.role, whose warps execute it}}
    fp8.close %p : !fp8.producer<!ring>
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<15, a: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>>
gpu.module @m {
  // expected-error @below {{needs 246000 bytes of shared memory, but a CTA has at most 232448; use fewer stages or smaller tiles}}
  gpu.func @large() kernel attributes {fp8.linear} {
    // expected-note @below {{245760 bytes for this 'fp8.pipeline'}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<1, s: !fp8.tile<1x128xf32>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @kernel() kernel attributes {fp8.linear} {
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
        fp8.close %e : !fp8.producer<!ring>
      }
      fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
        fp8.close %e : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
  func.func @launch() {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    // expected-error @below {{starts 128 threads, but the roles of its kernel have 160 (5 warps)}}
    gpu.launch_func @m::@kernel blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    return
  }
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @scoped() kernel attributes {fp8.linear} {
    %p, %c = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%e = %c) : !fp8.consumer<!acc> {
      // expected-error @below {{'fp8.epilogue_warp' op is not of phase 2, where kernels are linear and flat; run --fp8-flatten-scopes before}}
      fp8.epilogue_warp(%w = %e) : !fp8.consumer<!acc> {
        fp8.yield %w : !fp8.epilogue_warp<!acc>
      }
    }
    fp8.role "mma" warps(1) (%e = %p) : !fp8.producer<!acc> {
      fp8.close %e : !fp8.producer<!acc>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @tile_loop(%n: index) kernel attributes {fp8.linear} {
    fp8.role "idle" warps(4) {
      // expected-error @below {{'fp8.for_each_tile' op is not of phase 2, where kernels are linear and flat; run --fp8-lower-tile-loops before}}
      fp8.for_each_tile persistent (%i, %j) in (%n, %n) {
      }
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  // expected-error @below {{producer end is an argument of a kernel; the ends of rings are made in the kernel that uses them}}
  gpu.func @end_from_outside(%p: !fp8.producer<!ring>) kernel attributes {fp8.linear} {
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @nobody_reads() kernel attributes {fp8.linear} {
    // expected-error @below {{'fp8.output_pipeline' op has an mma warp but no epilogue warps, so that one side waits forever; make both}}
    %p, %c = fp8.output_pipeline : !acc
    // expected-note @below {{this role closes its end unused}}
    fp8.role "epilogue" warps(4) (%e = %c) : !fp8.consumer<!acc> {
      fp8.close %e : !fp8.consumer<!acc>
    }
    fp8.role "mma" warps(1) (%e = %p) : !fp8.producer<!acc> {
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}

// -----

!acc = !fp8.output_pipeline<1, 128x128xf32>
gpu.module @m {
  gpu.func @crossed_evidence() kernel attributes {fp8.linear} {
    %p, %c = fp8.output_pipeline : !acc
    %p2, %c2 = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%e = %c, %e2 = %c2) : !fp8.consumer<!acc>, !fp8.consumer<!acc> {
      %r = fp8.wait_tmem %e : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      // expected-note @below {{this one waits for another ring}}
      %r2 = fp8.wait_tmem %e2 : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      // expected-error @below {{needs the result of an fp8.wait_tmem on the same end, in the same role}}
      %w = fp8.create_epilogue_warp %e, %r2 : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %w2 = fp8.create_epilogue_warp %e2, %r : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w2 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%e = %p, %e2 = %p2) : !fp8.producer<!acc>, !fp8.producer<!acc> {
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %w2 = fp8.create_mma_warp %e2 : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a>
!sum = !fp8.fragment<64x64xf32, 4, warpgroups>
gpu.module @m {
  gpu.func @selected_product(%am: !fp8.tensor_map<!a>, %condition: i1) kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "multiply" warps(4) (%in = %c) : !fp8.consumer<!ring> {
      %stage = fp8.acquire %in : !fp8.consumer<!ring>
      %a = fp8.tile %stage["a"] : !fp8.consumer_stage<!ring>
      %x = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!sum>
      %y = fp8.warpgroup_mma %a, %a : !a, !a -> !fp8.pending<!sum>
      // expected-error @below {{selects a pending product, whose registers are still being written; wait for both and select the fragments}}
      %u = arith.select %condition, %x, %y : !fp8.pending<!sum>
      %v = arith.select %condition, %y, %x : !fp8.pending<!sum>
      %f = fp8.wait_mma %u : !fp8.pending<!sum>
      %g = fp8.wait_mma %v : !fp8.pending<!sum>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      fp8.close %in : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a>
!product = !fp8.fragment<128x128xf32, 8, warpgroups>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @kernel(%map: !fp8.tensor_map<!a>) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "multiply" warps(8) (%e = %c) : !fp8.consumer<!ring> {
        %s = fp8.acquire %e : !fp8.consumer<!ring>
        %a = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
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
  func.func @launch(%map: !fp8.tensor_map<!a>) {
    %c1 = arith.constant 1 : index
    %c288 = arith.constant 288 : index
    // expected-error @below {{starts 288 threads, but its kernel has 384: its roles have 9 warps, and 3 idle warps complete the last warpgroup, since setmaxnreg applies to whole warpgroups}}
    gpu.launch_func @m::@kernel blocks in (%c1, %c1, %c1) threads in (%c288, %c1, %c1) args(%map : !fp8.tensor_map<!a>)
    return
  }
}

// -----

// Sixteen warpgroups' meetings: barrier 0 is the whole CTA's.
!tile = !fp8.tile<64x64xbf16, swizzle_128b>
!queue = !fp8.store_queue<1, !tile, 32>
gpu.module @kernels {
  gpu.func @too_many_meetings() kernel attributes {fp8.linear} {
    %q0 = fp8.store_queue : !queue
    // expected-error @below {{'fp8.store_queue' op needs a named barrier, but a CTA has 16 (PTX ISA, barrier) and all are in use; use fewer output pipelines or store queues}}
    %q1 = fp8.store_queue : !queue
    fp8.role "store" warps(32) (%a = %q0, %b = %q1) : !queue, !queue {
      fp8.close %a : !queue
      fp8.close %b : !queue
    }
    gpu.return
  }
}

// -----

// Calls that the inliner leaves, and why.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
gpu.module @m {
  func.func @branches(%end: !end, %skip: i1) -> !end attributes {fp8.linear} {
    cf.cond_br %skip, ^exit(%end : !end), ^take
  ^take:
    %stage = fp8.acquire %end : !end
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    cf.br ^exit(%next : !end)
  ^exit(%last: !end):
    return %last : !end
  }
  gpu.func @in_loop(%n: index, %skip: i1) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !end
    fp8.role "read" warps(4) (%first = %c) : !end {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%end = %first) -> (!end) {
        // expected-error @below {{passes handles, tiles or fragments to a function of 3 blocks, which cannot be inlined into an 'scf.for' of one; write its branches as scf.if, or run --convert-scf-to-cf and --inline before}}
        %next = func.call @branches(%end, %skip) : (!end, i1) -> !end
        scf.yield %next : !end
      }
      fp8.close %last : !end
    }
    fp8.role "write" warps(1) (%end = %p) : !fp8.producer<!ring> {
      fp8.close %end : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
gpu.module @m {
  func.func @even(%end: !end) -> !end attributes {fp8.linear} {
    %next = func.call @odd(%end) : (!end) -> !end
    return %next : !end
  }
  func.func @odd(%end: !end) -> !end attributes {fp8.linear} {
    %next = func.call @even(%end) : (!end) -> !end
    return %next : !end
  }
  gpu.func @recursive() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !end
    fp8.role "read" warps(4) (%first = %c) : !end {
      // expected-error @below {{passes handles, tiles or fragments to a function that calls itself, which cannot be inlined; write a loop}}
      %last = func.call @even(%first) : (!end) -> !end
      fp8.close %last : !end
    }
    fp8.role "write" warps(1) (%end = %p) : !fp8.producer<!ring> {
      fp8.close %end : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
gpu.module @m {
  func.func private @elsewhere(!end) -> !end attributes {fp8.linear}
  gpu.func @external() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !end
    fp8.role "read" warps(4) (%first = %c) : !end {
      // expected-error @below {{passes handles, tiles or fragments to a function without a body, which cannot be inlined; give it one}}
      %last = func.call @elsewhere(%first) : (!end) -> !end
      fp8.close %last : !end
    }
    fp8.role "write" warps(1) (%end = %p) : !fp8.producer<!ring> {
      fp8.close %end : !fp8.producer<!ring>
    }
    gpu.return
  }
}
