// Tricky programs that keep the rules: roles, scopes, warp handles, queues.
// RUN: fp8-opt %s --verify-roundtrip -o /dev/null

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!end = !fp8.consumer<!ring>
!prod = !fp8.producer<!ring>
!stage = !fp8.consumer_stage<!ring>
!acc = !fp8.output_pipeline<2, 128x128xf32>
!queue = !fp8.store_queue<2, !fp8.tile<32x64xbf16, swizzle_128b>, 4>
!map = !fp8.tensor_map<!t>

// A role closes one end and yields the other.
func.func @closed_and_yielded() attributes {fp8.linear} {
  %p, %c, %d = fp8.pipeline : !prod, !end, !end
  fp8.role "load" warps(1) (%x = %p) : !prod {
    fp8.yield %x : !prod
  }
  fp8.role "read" warps(4) (%x = %c, %y = %d) : !end, !end {
    fp8.close %y : !end
    fp8.yield %x : !end
  }
  return
}

// A role of several blocks, each of which ends it.
func.func @role_of_blocks(%cond: i1) attributes {fp8.linear} {
  %p, %c = fp8.pipeline : !prod, !end
  fp8.role "load" warps(1) (%x = %p) : !prod {
    cf.cond_br %cond, ^left, ^right
  ^left:
    fp8.yield %x : !prod
  ^right:
    fp8.close %x : !prod
    fp8.yield
  }
  fp8.close %c : !end
  return
}

// Loops, branches and scopes nested in a role.
func.func @nested_in_role(%n: index, %cond: i1) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p, %c = fp8.pipeline : !prod, !end
  fp8.close %p : !prod
  fp8.role "read" warps(4) (%x = %c) : !end {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%e = %x) -> !end {
      %q = scf.if %cond -> !end {
        %w = fp8.consume(%s = %e) : !end -> !end {
          %tile = fp8.tile %s["s"] : !stage
        }
        scf.yield %w : !end
      } else {
        scf.yield %e : !end
      }
      scf.yield %q : !end
    }
    fp8.yield %r : !end
  }
  return
}

// A scope in a scope: the outer stage is borrowed in the inner body.
func.func @scope_in_scope(%x: !end, %y: !end, %m: memref<?xf32>) -> (!end, !end) attributes {fp8.linear} {
  %r:2 = fp8.consume(%s = %x) : !end -> (!end, !end) {
    %q = fp8.consume(%u = %y) : !end -> !end {
      %i = fp8.index %s : !stage
      %j = fp8.index %u : !stage
      %k = arith.addi %i, %j : index
      %v = memref.load %m[%k] : memref<?xf32>
    }
    fp8.yield %q : !end
  }
  return %r#0, %r#1 : !end, !end
}

// A scope's stage is lent on both sides of a loop inside.
func.func @loop_in_scope(%x: !end, %n: index) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = fp8.consume(%s = %x) : !end -> !end {
    scf.for %i = %c0 to %n step %c1 {
      %tile = fp8.tile %s["s"] : !stage
    }
    %tile = fp8.tile %s["s"] : !stage
  }
  return %r : !end
}

// A scope over three rings at once, which yields data too.
func.func @scope_of_three(%w: !fp8.mma_warp<!acc>, %x: !end, %y: !end, %m: memref<?xf32>)
    -> (!end, !fp8.mma_warp<!acc>, !end, f32) attributes {fp8.linear} {
  %r:4 = fp8.per_k_stage(%d = %w, %s = %x, %u = %y) : !fp8.mma_warp<!acc>, !end, !end
      -> (!fp8.mma_warp<!acc>, !end, !end, f32) {
    %i = fp8.index %u : !stage
    %v = memref.load %m[%i] : memref<?xf32>
    fp8.yield %v : f32
  }
  return %r#2, %r#0, %r#1, %r#3 : !end, !fp8.mma_warp<!acc>, !end, f32
}

// Another handle is consumed and made in a scope's body.
func.func @other_in_scope(%x: !end, %y: !end) -> (!end, !end) attributes {fp8.linear} {
  %r:2 = fp8.consume(%s = %x) : !end -> (!end, !end) {
    %u = fp8.acquire %y : !end
    %n = fp8.release %u : !stage
    fp8.yield %n : !end
  }
  return %r#0, %r#1 : !end, !end
}

// The producer end is filled under a condition: the end goes through both arms.
func.func @produce_if(%x: !prod, %c: i1, %map: !map, %i: index) -> !prod attributes {fp8.linear} {
  %r = scf.if %c -> !prod {
    %n = fp8.produce(%s = %x) : !prod -> !prod {
      fp8.tma_load %map[%i, %i], %s["s"] : !map, !fp8.producer_stage<!ring>
    }
    scf.yield %n : !prod
  } else {
    scf.yield %x : !prod
  }
  return %r : !prod
}

// The tile loop carries an end and a queue.
func.func @tile_loop(%x: !end, %q: !queue, %m: index, %n: index) -> (!end, !queue) attributes {fp8.linear} {
  %r:2 = fp8.for_each_tile persistent (%i, %j) in (%m, %n) iter_args(%e = %x, %u = %q) -> (!end, !queue) {
    %s = fp8.acquire %e : !end
    %e1 = fp8.release %s : !stage
    fp8.yield %e1, %u : !end, !queue
  }
  return %r#0, %r#1 : !end, !queue
}

// Evidence waits in one arm or the other, and is used behind both.
func.func @evidence(%x: !fp8.consumer<!acc>, %c: i1) -> !fp8.epilogue_warp<!acc> attributes {fp8.linear} {
  %ready = scf.if %c -> !fp8.tmem_ready<!acc> {
    %r = fp8.wait_tmem %x : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
    scf.yield %r : !fp8.tmem_ready<!acc>
  } else {
    %r = fp8.wait_tmem %x : !fp8.consumer<!acc> -> !fp8.tmem_ready<!acc>
    scf.yield %r : !fp8.tmem_ready<!acc>
  }
  %w = fp8.create_epilogue_warp %x, %ready : !fp8.consumer<!acc>, !fp8.tmem_ready<!acc> -> !fp8.epilogue_warp<!acc>
  return %w : !fp8.epilogue_warp<!acc>
}

// An MMA stage and an epilogue stage are in flight together, each of its own handle.
func.func @both_sides(%a: !fp8.mma_warp<!acc>, %b: !fp8.epilogue_warp<!acc>) attributes {fp8.linear} {
  %s = fp8.acquire %a : !fp8.mma_warp<!acc>
  %u = fp8.acquire %b : !fp8.epilogue_warp<!acc>
  %d = fp8.accumulator %s : !fp8.mma_stage<!acc>
  %a1 = fp8.release %s : !fp8.mma_stage<!acc>
  %e = fp8.accumulator %u : !fp8.epilogue_stage<!acc>
  %b1 = fp8.release %u : !fp8.epilogue_stage<!acc>
  fp8.release_epilogue_warp %b1 : !fp8.epilogue_warp<!acc>
  fp8.release_mma_warp %a1 : !fp8.mma_warp<!acc>
  return
}

// The warp handle of a scope goes round a loop before it is yielded.
func.func @warp_scope(%x: !fp8.producer<!acc>, %n: index) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  fp8.mma_warp(%w = %x) : !fp8.producer<!acc> {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %w) -> !fp8.mma_warp<!acc> {
      %s = fp8.acquire %v : !fp8.mma_warp<!acc>
      %v1 = fp8.release %s : !fp8.mma_stage<!acc>
      scf.yield %v1 : !fp8.mma_warp<!acc>
    }
    fp8.yield %r : !fp8.mma_warp<!acc>
  }
  return
}

// A queue is closed on one path, and handed back on the other.
func.func @queue_paths(%q: !queue, %c: i1) attributes {fp8.linear} {
  cf.cond_br %c, ^close, ^hand
^close:
  fp8.close %q : !queue
  return
^hand:
  func.call @take_queue(%q) : (!queue) -> ()
  return
}
func.func private @take_queue(!queue) attributes {fp8.linear}
