// The rules that a kernel keeps as a whole beside its counts (K2 to K7, M5).
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @sometimes_allocated(%cond: i1) kernel attributes {fp8.linear} {
    %p, %c = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %c) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%end = %p) : !fp8.producer<!acc> {
      // expected-note @below {{it may not run here}}
      scf.if %cond {
        // expected-error @below {{'fp8.create_mma_warp' op must be in the body of its role (K2): the other side of the output pipeline waits for it}}
        %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
        fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
      } else {
        fp8.close %end : !fp8.producer<!acc>
      }
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a>
!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @bytes_under_way(%map: !fp8.tensor_map<!a>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "both" warps(1) (%end = %mp, %in = %p) : !fp8.producer<!acc>, !fp8.producer<!ring> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %d = fp8.acquire %w : !fp8.mma_warp<!acc>
      %s = fp8.acquire %in : !fp8.producer<!ring>
      fp8.tma_load %map[%c0, %c0], %s["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      %acc = fp8.accumulator %d : !fp8.mma_stage<!acc>
      // expected-note @below {{this value is not}}
      %t = fp8.tile %s["a"] : !fp8.producer_stage<!ring>
      // expected-error @below {{'fp8.mma' op A must be lent by a consumer stage (K3)}}
      fp8.mma %acc, %t, %t : !fp8.tmem<128x128xf32>, !a, !a
      %in2 = fp8.release %s : !fp8.producer_stage<!ring>
      %w2 = fp8.release %d : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
      fp8.close %in2 : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @never_filled() kernel attributes {fp8.linear} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    // expected-note @below {{this role closes its end unused}}
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      // expected-error @below {{'fp8.acquire' op takes slots of a ring, but another end of the ring takes none (K4), so that this one waits forever; take slots there too}}
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a>
!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @overwritten(%map: !fp8.tensor_map<!a>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %s = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %w2 = fp8.release %s : !fp8.epilogue_stage<!acc>
      fp8.release_epilogue_warp %w2 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %map[%c0, %c0], %s["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%end = %mp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %d = fp8.acquire %w : !fp8.mma_warp<!acc>
      %s = fp8.acquire %in : !fp8.consumer<!ring>
      %acc = fp8.accumulator %d : !fp8.mma_stage<!acc>
      %t = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
      // expected-note @below {{computed here}}
      fp8.mma %acc, %t, %t : !fp8.tmem<128x128xf32>, !a, !a
      // expected-error @below {{'fp8.mma' op overwrites what an MMA has computed in the same accumulator (K5); add 'accumulate'}}
      fp8.mma %acc, %t, %t : !fp8.tmem<128x128xf32>, !a, !a
      %in2 = fp8.release %s : !fp8.consumer_stage<!ring>
      %w2 = fp8.release %d : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
      fp8.close %in2 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, s: !t, u: !t>
gpu.module @m {
  gpu.func @never_copied(%map: !fp8.tensor_map<!t>, %x: f32) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    // expected-note @below {{the ring}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      %zero = fp8.zero : !fp8.fragment<128x128xf32, 4>
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %u = fp8.tile %s["u"] : !fp8.consumer_stage<!ring>
      // expected-error @below {{'fp8.add_row' op reads tile 'u', into which nobody copies (K6); copy it, or leave it out of the ring}}
      %sum = fp8.add_row %zero, %u : !fp8.fragment<128x128xf32, 4>, !t
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %map[%c0, %c0], %s["s"] : !fp8.tensor_map<!t>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @never_computed() kernel attributes {fp8.linear} {
    // expected-note @below {{the ring}}
    %p, %c = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %c) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      %s = fp8.acquire %w : !fp8.epilogue_warp<!acc>
      %partial = fp8.accumulator %s : !fp8.epilogue_stage<!acc>
      // expected-error @below {{'fp8.read' op reads an accumulator that no MMA writes (K6); add an MMA to the MMA stage}}
      %f = fp8.read %partial : !fp8.tmem<128x128xf32> -> !fp8.fragment<128x128xf32, 4>
      %w2 = fp8.release %s : !fp8.epilogue_stage<!acc>
      fp8.release_epilogue_warp %w2 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%end = %p) : !fp8.producer<!acc> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %d = fp8.acquire %w : !fp8.mma_warp<!acc>
      %w2 = fp8.release %d : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @one_more(%n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "give" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %e2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %e) -> (!fp8.producer<!ring>) {
        // expected-note @below {{from the bound of this loop around the other end}}
        %s = fp8.acquire %x : !fp8.producer<!ring>
        %y = fp8.release %s : !fp8.producer_stage<!ring>
        scf.yield %y : !fp8.producer<!ring>
      }
      fp8.close %e2 : !fp8.producer<!ring>
    }
    fp8.role "take" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      %more = arith.addi %n, %c1 : index
      // expected-note @below {{this loop's bound differs}}
      %e2 = scf.for %i = %c0 to %more step %c1 iter_args(%x = %e) -> (!fp8.consumer<!ring>) {
        // expected-error @below {{'fp8.acquire' op takes 1 slot more than another end of its ring (K7), so that one of them waits forever; make the loops agree}}
        %s = fp8.acquire %x : !fp8.consumer<!ring>
        %y = fp8.release %s : !fp8.consumer_stage<!ring>
        scf.yield %y : !fp8.consumer<!ring>
      }
      fp8.close %e2 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

// The same in blocks.
!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @sometimes_allocated_in_blocks(%cond: i1) kernel attributes {fp8.linear} {
    %p, %c = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %c) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    // expected-note @below {{it may not run here}}
    fp8.role "mma" warps(1) (%end = %p) : !fp8.producer<!acc> {
      cf.cond_br %cond, ^make(%end : !fp8.producer<!acc>), ^leave(%end : !fp8.producer<!acc>)
    ^make(%e: !fp8.producer<!acc>):
      // expected-error @below {{'fp8.create_mma_warp' op must be in the body of its role (K2): the other side of the output pipeline waits for it}}
      %w = fp8.create_mma_warp %e : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      fp8.release_mma_warp %w : !fp8.mma_warp<!acc>
      cf.br ^end
    ^leave(%l: !fp8.producer<!acc>):
      fp8.close %l : !fp8.producer<!acc>
      cf.br ^end
    ^end:
      fp8.yield
    }
    gpu.return
  }
}

// -----

// The memory of a loop's argument is not known.
!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, s: !tile>
gpu.module @m {
  gpu.func @carried(%scales: memref<?xf32>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%end = %p, %its = %scales) : !fp8.producer<!ring>, memref<?xf32> {
      %last, %s = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end, %from = %its) -> (!fp8.producer<!ring>, memref<?xf32>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        fp8.load_element %its[%i], %stage["s", 1] : memref<?xf32>, !fp8.producer_stage<!ring>
        // expected-error @below {{'fp8.load_element' op copies from a memref that is not an argument of the kernel (M5); pass one, since arguments are in global memory}}
        fp8.load_element %from[%i], %stage["s", 0] : memref<?xf32>, !fp8.producer_stage<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next, %its : !fp8.producer<!ring>, memref<?xf32>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

// Nor is that of a block's argument, whichever memory the role begins with.
!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, s: !tile>
gpu.module @m {
  gpu.func @of_a_block(%scales: memref<?xf32>, %n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%end = %p, %its = %scales) : !fp8.producer<!ring>, memref<?xf32> {
      cf.br ^next(%end, %its, %c0 : !fp8.producer<!ring>, memref<?xf32>, index)
    ^next(%e: !fp8.producer<!ring>, %from: memref<?xf32>, %i: index):
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      // expected-error @below {{'fp8.load_element' op copies from a memref that is not an argument of the kernel (M5); pass one, since arguments are in global memory}}
      fp8.load_element %from[%i], %stage["s", 0] : memref<?xf32>, !fp8.producer_stage<!ring>
      %last = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %last : !fp8.producer<!ring>
      fp8.yield
    }
    fp8.role "read" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
