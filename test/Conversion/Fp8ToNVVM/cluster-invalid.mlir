// The rules of clusters (C1 to C5, C7) and of the work queue (W2, W3), which are seen on the whole kernel.
// RUN: fp8-opt %s --convert-fp8-to-nvvm -split-input-file -verify-diagnostics

!ring = !fp8.pipeline<2, a: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>, cta_group = 2>
gpu.module @m {
  gpu.func @alone() kernel attributes {fp8.linear} {
    // expected-error @below {{'fp8.pipeline' op needs pairs of CTAs, but clusters have 1 CTAs along M; set an even number in 'fp8.cluster' (C1)}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, a: !fp8.tile<128x128xf8E4M3FN, swizzle_128b>, cta_group = 2>
gpu.module @m {
  gpu.func @both_wait() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      // expected-error @below {{'fp8.acquire' op takes a slot of a CTA pair that no MMA reads (C4), but only the commit of an MMA hands it back to both CTAs; put what threads read into a pipeline of its own}}
      %s = fp8.acquire %e : !fp8.consumer<!ring>
      %n = fp8.release %s : !fp8.consumer_stage<!ring>
      fp8.close %n : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, b: !b>
!acc = !fp8.output_pipeline<2, 256x128xf32, cta_group = 2>
gpu.module @m {
  gpu.func @mma_in_both() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      fp8.close %e : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%end = %mp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %d = fp8.acquire %w : !fp8.mma_warp<!acc>
      %s = fp8.acquire %in : !fp8.consumer<!ring>
      %acc = fp8.accumulator %d : !fp8.mma_stage<!acc>
      %ta = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
      %tb = fp8.tile %s["b"] : !fp8.consumer_stage<!ring>
      // expected-error @below {{'fp8.mma' op works on the accumulator of a CTA pair, so it must be in an 'fp8.leading_cta of pair' (C2)}}
      fp8.mma %acc, %ta, %tb : !fp8.tmem<256x128xf32, cta_group = 2>, !a, !b
      %in2 = fp8.release %s : !fp8.consumer_stage<!ring>
      %w2 = fp8.release %d : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
      fp8.close %in2 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!acc = !fp8.output_pipeline<2, 256x128xf32, cta_group = 2>
gpu.module @m {
  gpu.func @acquire_in_both() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "mma" warps(1) (%end = %mp) : !fp8.producer<!acc> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      // expected-error @below {{'fp8.acquire' op takes an accumulator of a CTA pair, so it must be in an 'fp8.leading_cta of pair' (C2)}}
      %d = fp8.acquire %w : !fp8.mma_warp<!acc>
      %w2 = fp8.release %d : !fp8.mma_stage<!acc>
      fp8.release_mma_warp %w2 : !fp8.mma_warp<!acc>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, cta_group = 2>
gpu.module @m {
  gpu.func @one_loads(%map: !fp8.tensor_map<!a>) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %r = fp8.leading_cta of pair (%l = %e) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
        // expected-error @below {{'fp8.acquire' op must not be in an 'fp8.leading_cta' (C3), since both CTAs of the pair do this work; move it out}}
        %s = fp8.acquire %l : !fp8.producer<!ring>
        fp8.tma_load %map[%c0, %c0], %s["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
        %n = fp8.release %s : !fp8.producer_stage<!ring>
        fp8.yield %n : !fp8.producer<!ring>
      }
      fp8.close %r : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, cta_group = 2>
gpu.module @m {
  gpu.func @sometimes(%map: !fp8.tensor_map<!a>, %cond: i1) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %c0 = arith.constant 0 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      scf.if %cond {
        // expected-error @below {{'fp8.tma_load' op copies into a slot that CTAs share, so it must be in the block of the slot's acquire (C4), which announces its bytes before those of another CTA arrive}}
        fp8.tma_load %map[%c0, %c0], %s["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      }
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!ring = !fp8.pipeline<2, s: !fp8.tile<1x128xf32>>
gpu.module @m {
  gpu.func @one_side() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      // expected-note @below {{the other side}}
      %s = fp8.acquire %e : !fp8.producer<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
      %r = fp8.leading_cta of cluster (%l = %e) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
        // expected-error @below {{'fp8.acquire' op runs in the leading CTA of the cluster, but the other side of its ring runs in all CTAs (C5), so that one of them waits forever; run both in the same CTAs}}
        %s = fp8.acquire %l : !fp8.consumer<!ring>
        %n = fp8.release %s : !fp8.consumer_stage<!ring>
        fp8.yield %n : !fp8.consumer<!ring>
      }
      fp8.close %r : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!share = !fp8.tile<32x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a>
!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @stated(%map: !fp8.tensor_map<!share>) kernel attributes {fp8.linear, fp8.cluster = array<i64: 1, 4>} {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'fp8.pipeline' op states 1 consumer arrivals, but its roles make 4; remove the attribute, or fix the roles}}
    %p, %c = fp8.pipeline {consumer_arrivals = 1} : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %map[%c0, %c0], %s["a"] multicast along n : !fp8.tensor_map<!share>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    // expected-note @below {{role "mma" arrives once for each of its 1 warps, in each of 4 CTAs that use the slot}}
    fp8.role "mma" warps(1) (%e = %c) : !fp8.consumer<!ring> {
      fp8.close %e : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!work = !fp8.work_queue<2>
gpu.module @m {
  gpu.func @everyone_asks() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %p, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.consumer<!work>
    fp8.role "scheduler" warps(1) (%e = %p) : !fp8.producer<!work> {
      // expected-error @below {{'fp8.acquire' op takes a slot of a work queue to fill it, so it must be in an 'fp8.leading_cta of cluster' (W3)}}
      %s = fp8.acquire %e : !fp8.producer<!work>
      fp8.request_work %s : !fp8.producer_stage<!work>
      %n = fp8.release %s : !fp8.producer_stage<!work>
      fp8.close %n : !fp8.producer<!work>
    }
    fp8.role "load" warps(1) (%e = %c) : !fp8.consumer<!work> {
      fp8.close %e : !fp8.consumer<!work>
    }
    gpu.return
  }
}

// -----

!work = !fp8.work_queue<2>
gpu.module @m {
  gpu.func @asked_twice() kernel attributes {fp8.linear} {
    %p, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.consumer<!work>
    fp8.role "scheduler" warps(1) (%e = %p) : !fp8.producer<!work> {
      // expected-error @below {{'fp8.acquire' op needs exactly one 'fp8.request_work' in its block (W2), since it takes a slot of a work queue, but has 2}}
      %s = fp8.acquire %e : !fp8.producer<!work>
      // expected-note @below {{requested here}}
      fp8.request_work %s : !fp8.producer_stage<!work>
      // expected-note @below {{requested here}}
      fp8.request_work %s : !fp8.producer_stage<!work>
      %n = fp8.release %s : !fp8.producer_stage<!work>
      fp8.close %n : !fp8.producer<!work>
    }
    fp8.role "load" warps(1) (%e = %c) : !fp8.consumer<!work> {
      fp8.close %e : !fp8.consumer<!work>
    }
    gpu.return
  }
}

// -----

!work = !fp8.work_queue<2>
gpu.module @m {
  gpu.func @one_reads() kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %p, %c = fp8.work_queue : !fp8.producer<!work>, !fp8.consumer<!work>
    fp8.role "scheduler" warps(1) (%e = %p) : !fp8.producer<!work> {
      fp8.close %e : !fp8.producer<!work>
    }
    fp8.role "load" warps(1) (%e = %c) : !fp8.consumer<!work> {
      %r = fp8.leading_cta of cluster (%l = %e) : !fp8.consumer<!work> -> !fp8.consumer<!work> {
        // expected-error @below {{'fp8.acquire' op reads an answer that every CTA of the cluster gets, so it must not be in an 'fp8.leading_cta' (W3)}}
        %s = fp8.acquire %l : !fp8.consumer<!work>
        %more, %cluster = fp8.next_work %s : !fp8.consumer_stage<!work>
        %n = fp8.release %s : !fp8.consumer_stage<!work>
        fp8.yield %n : !fp8.consumer<!work>
      }
      fp8.close %r : !fp8.consumer<!work>
    }
    gpu.return
  }
}

// -----

// Every CTA has its share to copy.
!ring = !fp8.pipeline<2, a: !fp8.tile<64x128xf8E4M3FN, swizzle_128b>>
gpu.module @kernels {
  gpu.func @shared_by_the_leader(%am: !fp8.tensor_map<!fp8.tile<32x128xf8E4M3FN, swizzle_128b>>, %i: index) kernel
      attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%in = %c) : !fp8.consumer<!ring> {
      %end = fp8.leading_cta of cluster (%l = %in) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
        // expected-error @below {{takes a slot that several CTAs fill, so it must not be in an 'fp8.leading_cta' (C4); move it out, since every CTA copies its share and hands the slot back}}
        %stage = fp8.acquire %l : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        fp8.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %end : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%in = %p) : !fp8.producer<!ring> {
      %stage = fp8.acquire %in : !fp8.producer<!ring>
      fp8.tma_load %am[%i, %i], %stage["a"] multicast along m : !fp8.tensor_map<!fp8.tile<32x128xf8E4M3FN, swizzle_128b>>, !fp8.producer_stage<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      fp8.close %next : !fp8.producer<!ring>
    }
    gpu.return
  }
}

// -----

// Both sides of the ring run in the leading CTA, so that they agree. The other CTA has no tiles.

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!b = !fp8.tile<64x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, b: !b>
!acc = !fp8.output_pipeline<2, 256x128xf32, cta_group = 2>
gpu.module @m {
  gpu.func @one_fills(%am: !fp8.tensor_map<!a>, %bm: !fp8.tensor_map<!b>) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %c0 = arith.constant 0 : index
    // expected-note @below {{the pipeline of its operands}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %r = fp8.leading_cta of pair (%l = %e) : !fp8.producer<!ring> -> !fp8.producer<!ring> {
        %s = fp8.acquire %l : !fp8.producer<!ring>
        fp8.tma_load %am[%c0, %c0], %s["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
        fp8.tma_load %bm[%c0, %c0], %s["b"] : !fp8.tensor_map<!b>, !fp8.producer_stage<!ring>
        %n = fp8.release %s : !fp8.producer_stage<!ring>
        fp8.yield %n : !fp8.producer<!ring>
      }
      fp8.close %r : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%end = %mp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %w3, %in3 = fp8.leading_cta of pair (%wl = %w, %inl = %in) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
        %d = fp8.acquire %wl : !fp8.mma_warp<!acc>
        %s = fp8.acquire %inl : !fp8.consumer<!ring>
        %acc = fp8.accumulator %d : !fp8.mma_stage<!acc>
        %ta = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
        %tb = fp8.tile %s["b"] : !fp8.consumer_stage<!ring>
        // expected-error @below {{'fp8.mma' op of a CTA pair reads the tiles of both CTAs, but its operands' pipeline waits for those of one (C7); give the pipeline 'cta_group = 2'}}
        fp8.mma %acc, %ta, %tb : !fp8.tmem<256x128xf32, cta_group = 2>, !a, !b
        %in2 = fp8.release %s : !fp8.consumer_stage<!ring>
        %w2 = fp8.release %d : !fp8.mma_stage<!acc>
        fp8.yield %w2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
      }
      fp8.release_mma_warp %w3 : !fp8.mma_warp<!acc>
      fp8.close %in3 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}

// -----

!a = !fp8.tile<128x128xf8E4M3FN, swizzle_128b>
!ring = !fp8.pipeline<2, a: !a, b: !a, cta_group = 2>
!acc = !fp8.output_pipeline<2, 128x128xf32>
gpu.module @m {
  gpu.func @one_multiplies(%map: !fp8.tensor_map<!a>) kernel attributes {fp8.linear, fp8.cluster = array<i64: 2, 1>} {
    %c0 = arith.constant 0 : index
    // expected-note @below {{the pipeline of its operands}}
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    %mp, %mc = fp8.output_pipeline : !acc
    fp8.role "epilogue" warps(4) (%end = %mc) : !fp8.consumer<!acc> {
      %ready = fp8.wait_tmem %end : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
      %w = fp8.create_epilogue_warp %end, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
      fp8.release_epilogue_warp %w : !fp8.epilogue_warp<!acc>
    }
    fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
      %s = fp8.acquire %e : !fp8.producer<!ring>
      fp8.tma_load %map[%c0, %c0], %s["a"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      fp8.tma_load %map[%c0, %c0], %s["b"] : !fp8.tensor_map<!a>, !fp8.producer_stage<!ring>
      %n = fp8.release %s : !fp8.producer_stage<!ring>
      fp8.close %n : !fp8.producer<!ring>
    }
    fp8.role "mma" warps(1) (%end = %mp, %in = %c) : !fp8.producer<!acc>, !fp8.consumer<!ring> {
      %w = fp8.create_mma_warp %end : !fp8.producer<!acc> -> !fp8.mma_warp<!acc>
      %w3, %in3 = fp8.leading_cta of pair (%wl = %w, %inl = %in) : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
          -> (!fp8.mma_warp<!acc>, !fp8.consumer<!ring>) {
        %d = fp8.acquire %wl : !fp8.mma_warp<!acc>
        %s = fp8.acquire %inl : !fp8.consumer<!ring>
        %acc = fp8.accumulator %d : !fp8.mma_stage<!acc>
        %ta = fp8.tile %s["a"] : !fp8.consumer_stage<!ring>
        %tb = fp8.tile %s["b"] : !fp8.consumer_stage<!ring>
        // expected-error @below {{'fp8.mma' op of one CTA reads the tiles of a CTA pair's pipeline (C7), which only an MMA of the pair hands back to both CTAs; give its accumulator 'cta_group = 2', or the pipeline none}}
        fp8.mma %acc, %ta, %tb : !fp8.tmem<128x128xf32>, !a, !a
        %in2 = fp8.release %s : !fp8.consumer_stage<!ring>
        %w2 = fp8.release %d : !fp8.mma_stage<!acc>
        fp8.yield %w2, %in2 : !fp8.mma_warp<!acc>, !fp8.consumer<!ring>
      }
      fp8.release_mma_warp %w3 : !fp8.mma_warp<!acc>
      fp8.close %in3 : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
