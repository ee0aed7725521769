// Ends of two rings that control flow exchanges, where one hand-over cannot serve both (C6), or that it may not exchange.
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!tile = !fp8.tile<16x128xf8E4M3FN, swizzle_128b>
!share = !fp8.tile<8x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, s: !tile>
!p = !fp8.producer<!ring>
!c = !fp8.consumer<!ring>
gpu.module @m {
  gpu.func @one_is_multicast(%whole: !fp8.tensor_map<!tile>, %share: !fp8.tensor_map<!share>, %cond: i1)
      kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %c0 = arith.constant 0 : index
    // expected-note @below {{one ring}}
    %p1, %c1 = fp8.pipeline : !p, !c
    // expected-note @below {{the other ring}}
    %p2, %c2 = fp8.pipeline : !p, !c
    fp8.role "shared" warps(1) (%e = %p1) : !p {
      %s = fp8.acquire %e : !p
      fp8.tma_load %share[%c0, %c0], %s["s"] multicast along m : !fp8.tensor_map<!share>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !p
    }
    fp8.role "own" warps(1) (%e = %p2) : !p {
      %s = fp8.acquire %e : !p
      fp8.tma_load %whole[%c0, %c0], %s["s"] : !fp8.tensor_map<!tile>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !p
    }
    fp8.role "read" warps(1) (%e1 = %c1, %e2 = %c2) : !c, !c {
      %x, %y = scf.if %cond -> (!c, !c) {
        scf.yield %e1, %e2 : !c, !c
      } else {
        scf.yield %e2, %e1 : !c, !c
      }
      // expected-error @below {{'fp8.acquire' op takes slots of two rings that are handed over differently (C6): multicast copies fill one of them and not the other; fill both alike, or give each ring an acquire of its own}}
      %s1 = fp8.acquire %x : !c
      %n1 = fp8.release %s1 : !fp8.consumer_stage<!ring>
      %s2 = fp8.acquire %y : !c
      %n2 = fp8.release %s2 : !fp8.consumer_stage<!ring>
      fp8.close %n1 : !c
      fp8.close %n2 : !c
    }
    gpu.return
  }
}

// -----

!row = !fp8.tile<1x4xf32>
!ring = !fp8.pipeline<2, r: !row>
!p = !fp8.producer<!ring>
!c = !fp8.consumer<!ring>
gpu.module @m {
  gpu.func @one_has_elements(%row: !fp8.tensor_map<!row>, %element: memref<1x1xf32>, %cond: i1) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    // expected-note @below {{one ring}}
    %p1, %p3, %c1 = fp8.pipeline : !p, !p, !c
    // expected-note @below {{the other ring}}
    %p2, %c2 = fp8.pipeline : !p, !c
    fp8.role "elements" warps(1) (%e = %p3) : !p {
      %s = fp8.acquire %e : !p
      fp8.load_element %element[%c0, %c0], %s["r", 0] : memref<1x1xf32>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !p
    }
    fp8.role "rows" warps(1) (%e1 = %p1, %e2 = %p2) : !p, !p {
      %x = arith.select %cond, %e1, %e2 : !p
      %y = arith.select %cond, %e2, %e1 : !p
      // expected-error @below {{'fp8.acquire' op takes slots of two rings that are handed over differently (C6): elements are copied into one of them and not the other; fill both alike, or give each ring an acquire of its own}}
      %s1 = fp8.acquire %x : !p
      fp8.tma_load %row[%c0, %c0], %s1["r"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      %n1 = fp8.release %s1 : !fp8.producer_stage<!ring>
      %s2 = fp8.acquire %y : !p
      fp8.tma_load %row[%c0, %c0], %s2["r"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
      %n2 = fp8.release %s2 : !fp8.producer_stage<!ring>
      fp8.close %n1 : !p
      fp8.close %n2 : !p
    }
    fp8.role "read" warps(1) (%e1 = %c1, %e2 = %c2) : !c, !c {
      fp8.close %e1 : !c
      fp8.close %e2 : !c
    }
    gpu.return
  }
}

// -----

!acc = !fp8.output_pipeline<1, 128x64xf32>
!p = !fp8.producer<!acc>
!c = !fp8.consumer<!acc>
!w = !fp8.mma_warp<!acc>
gpu.module @m {
  gpu.func @roles_differ(%cond: i1) kernel attributes {fp8.linear} {
    // expected-note @below {{one pipeline}}
    %p1, %c1 = fp8.output_pipeline : !acc
    // expected-note @below {{the other pipeline}}
    %p2, %c2 = fp8.output_pipeline : !acc
    fp8.role "four" warps(4) (%e = %c1) : !c {
      %ready = fp8.wait_tmem %e : !c -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !c, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "eight" warps(8) (%e = %c2) : !c {
      %ready = fp8.wait_tmem %e : !c -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %e, %ready : !c, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%e1 = %p1, %e2 = %p2) : !p, !p {
      %x = arith.select %cond, %e1, %e2 : !p
      %y = arith.select %cond, %e2, %e1 : !p
      // expected-error @below {{'fp8.create_mma_warp' op hands over the tensor memory of one of two output pipelines, whose roles have 160 and 288 threads (C6); hand it over before control flow exchanges their ends}}
      %w1 = fp8.create_mma_warp %x : !p -> !w
      %w2 = fp8.create_mma_warp %y : !p -> !w
      fp8.release_mma_warp %w1 : !w
      fp8.release_mma_warp %w2 : !w
    }
    gpu.return
  }
}

// -----

// One side exchanges the ends on every trip, the other takes a slot of each: equally many, which the trips do not tell (K7).
!row = !fp8.tile<1x4xf32>
!ring = !fp8.pipeline<2, r: !row>
!p = !fp8.producer<!ring>
!c = !fp8.consumer<!ring>
gpu.module @m {
  gpu.func @one_side_exchanges(%row: !fp8.tensor_map<!row>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    %c80 = arith.constant 80 : index
    %p1, %e1 = fp8.pipeline : !p, !c
    %p2, %e2 = fp8.pipeline : !p, !c
    fp8.role "load" warps(1) (%x = %p1, %y = %p2) : !p, !p {
      %l1, %l2 = scf.for %i = %c0 to %c80 step %c1 iter_args(%end = %x, %other = %y) -> (!p, !p) {
        %s = fp8.acquire %end : !p
        fp8.tma_load %row[%c0, %c0], %s["r"] : !fp8.tensor_map<!row>, !fp8.producer_stage<!ring>
        %n = fp8.release %s : !fp8.producer_stage<!ring>
        scf.yield %other, %n : !p, !p
      }
      fp8.close %l1 : !p
      fp8.close %l2 : !p
    }
    fp8.role "read" warps(1) (%x = %e1, %y = %e2) : !c, !c {
      %l1, %l2 = scf.for %i = %c0 to %c40 step %c1 iter_args(%one = %x, %two = %y) -> (!c, !c) {
        %s1 = fp8.acquire %one : !c
        %n1 = fp8.release %s1 : !fp8.consumer_stage<!ring>
        %s2 = fp8.acquire %two : !c
        %n2 = fp8.release %s2 : !fp8.consumer_stage<!ring>
        scf.yield %n1, %n2 : !c, !c
      }
      fp8.close %l1 : !c
      fp8.close %l2 : !c
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x4xf32>>
!p = !fp8.producer<!ring>
!c = !fp8.consumer<!ring>
gpu.module @m {
  gpu.func @exchanged_outside_roles(%cond: i1) kernel attributes {fp8.linear} {
    // expected-error @below {{consumer end is passed to no role; pass it to one unchanged}}
    %p1, %c1 = fp8.pipeline : !p, !c
    %p2, %c2 = fp8.pipeline : !p, !c
    %x = arith.select %cond, %c1, %c2 : !c
    // expected-note @below {{'arith.select' takes it; move that op into a role}}
    %y = arith.select %cond, %c2, %c1 : !c
    fp8.role "read" warps(1) (%e1 = %x, %e2 = %y) : !c, !c {
      fp8.close %e1 : !c
      fp8.close %e2 : !c
    }
    fp8.role "load" warps(1) (%e1 = %p1, %e2 = %p2) : !p, !p {
      fp8.close %e1 : !p
      fp8.close %e2 : !p
    }
    gpu.return
  }
}

// -----

!acc = !fp8.output_pipeline<1, 128x128xf32>
!e = !fp8.consumer<!acc>
!ready = !fp8.tmem_ready<!acc>
gpu.module @m {
  gpu.func @exchanged_evidence(%cond: i1) kernel attributes {fp8.linear} {
    %p1, %c1 = fp8.output_pipeline : !acc
    %p2, %c2 = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%e1 = %c1, %e2 = %c2) : !e, !e {
      %r1 = fp8.wait_tmem %e1 : !e -> !ready
      %r2 = fp8.wait_tmem %e2 : !e -> !ready
      // expected-note @below {{this one comes from 'arith.select'; pass the result of the fp8.wait_tmem directly}}
      %x = arith.select %cond, %r1, %r2 : !ready
      %y = arith.select %cond, %r2, %r1 : !ready
      // expected-error @below {{needs the result of an fp8.wait_tmem on the same end, in the same role}}
      %w1 = fp8.create_epilogue_warp %e1, %x : !e, !ready -> !fp8.epilogue_warp<!acc>
      %w2 = fp8.create_epilogue_warp %e2, %y : !e, !ready -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w1 : !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w2 : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%e1 = %p1, %e2 = %p2) : !fp8.producer<!acc>, !fp8.producer<!acc> {
      %w1 = fp8.create_mma_warp %e1 : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %w2 = fp8.create_mma_warp %e2 : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      fp8.release_mma_warp %w1 : !fp8.mma_warp<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}
