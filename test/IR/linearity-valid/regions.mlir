// Tricky programs that keep the rules: branches, regions and straight lines. Each says what is tricky about it.
// RUN: fp8-opt %s --verify-roundtrip -o /dev/null

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!end = !fp8.consumer<!ring>
!stage = !fp8.consumer_stage<!ring>
!prod = !fp8.producer<!ring>

// Both arms release, by different ops: one hands the stage to a callee.
func.func @released_by_different_ops(%end: !end, %c: i1) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %end : !end
  %e = scf.if %c -> !end {
    %n = fp8.release %s : !stage
    scf.yield %n : !end
  } else {
    %n = func.call @release(%s) : (!stage) -> !end
    scf.yield %n : !end
  }
  return %e : !end
}
func.func private @release(%s: !stage) -> !end attributes {fp8.linear} {
  %n = fp8.release %s : !stage
  return %n : !end
}

// Acquired in one order, released in another: two stages are in flight.
func.func @out_of_order(%x: !end, %y: !prod) -> (!end, !prod) attributes {fp8.linear} {
  %a = fp8.acquire %x : !end
  %b = fp8.acquire %y : !prod
  %n = fp8.release %a : !stage
  %m = fp8.release %b : !fp8.producer_stage<!ring>
  return %n, %m : !end, !prod
}

// Two stages of one ring in flight at once is one end twice over: here they are of two ends.
func.func @interleaved(%x: !end, %y: !end) -> (!end, !end) attributes {fp8.linear} {
  %a = fp8.acquire %x : !end
  %b = fp8.acquire %y : !end
  %x1 = fp8.release %a : !stage
  %a1 = fp8.acquire %x1 : !end
  %y1 = fp8.release %b : !stage
  %x2 = fp8.release %a1 : !stage
  return %y1, %x2 : !end, !end
}

// Every case consumes, by different ops; one hands the end on as it is.
func.func @switch_cases(%x: !end, %i: index) -> !end attributes {fp8.linear} {
  %r = scf.index_switch %i -> !end
  case 0 {
    scf.yield %x : !end
  }
  case 7 {
    %s = fp8.acquire %x : !end
    %n = fp8.release %s : !stage
    scf.yield %n : !end
  }
  default {
    fp8.close %x : !end
    %m = func.call @make() : () -> !end
    scf.yield %m : !end
  }
  return %r : !end
}
func.func private @make() -> !end attributes {fp8.linear}

// All cases consume and none yields.
func.func @switch_closes(%x: !end, %i: index) attributes {fp8.linear} {
  scf.index_switch %i
  case 3 {
    fp8.close %x : !end
    scf.yield
  }
  default {
    fp8.close %x : !end
  }
  return
}

// The end goes out through two regions.
func.func @yielded_through_two(%x: !end, %c: i1, %d: i1) -> !end attributes {fp8.linear} {
  %r = scf.if %c -> !end {
    %q = scf.if %d -> !end {
      %s = fp8.acquire %x : !end
      %n = fp8.release %s : !stage
      scf.yield %n : !end
    } else {
      scf.yield %x : !end
    }
    scf.yield %q : !end
  } else {
    scf.yield %x : !end
  }
  return %r : !end
}

// Consumed two regions deep in one arm, at once in the other.
func.func @consumed_at_two_depths(%x: !end, %c: i1, %d: i1) attributes {fp8.linear} {
  scf.if %c {
    scf.if %d {
      fp8.close %x : !end
    } else {
      fp8.close %x : !end
    }
  } else {
    fp8.close %x : !end
  }
  return
}

// A result threaded through execute_region.
func.func @execute_region(%x: !end) -> !end attributes {fp8.linear} {
  %r = scf.execute_region -> !end {
    %s = fp8.acquire %x : !end
    %n = fp8.release %s : !stage
    scf.yield %n : !end
  }
  return %r : !end
}

// execute_region with blocks of its own, which leave it at two places.
func.func @execute_region_two_exits(%x: !end, %c: i1) -> !end attributes {fp8.linear} {
  %r = scf.execute_region -> !end {
    cf.cond_br %c, ^work, ^skip
  ^work:
    %s = fp8.acquire %x : !end
    %n = fp8.release %s : !stage
    scf.yield %n : !end
  ^skip:
    scf.yield %x : !end
  }
  return %r : !end
}

// What is lent is used in an arm, and the release comes behind both.
func.func @lent_into_arm(%x: !end, %c: i1, %m: memref<?xf32>) -> (!end, f32) attributes {fp8.linear} {
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  %zero = arith.constant 0.0 : f32
  %v = scf.if %c -> f32 {
    %l = memref.load %m[%slot] : memref<?xf32>
    scf.yield %l : f32
  } else {
    scf.yield %zero : f32
  }
  %n = fp8.release %s : !stage
  return %n, %v : !end, f32
}

// What was loaded by means of a lent number lives on: it is data.
func.func @loaded_outlives(%x: !end, %m: memref<?xf32>) -> (!end, f32) attributes {fp8.linear} {
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  %c1 = arith.constant 1 : index
  %next = arith.addi %slot, %c1 : index
  %l = memref.load %m[%next] : memref<?xf32>
  %n = fp8.release %s : !stage
  %sum = arith.addf %l, %l : f32
  return %n, %sum : !end, f32
}

// A lent number is printed: that keeps nothing.
func.func @lent_is_printed(%x: !end) -> !end attributes {fp8.linear} {
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  gpu.printf "slot %d\n", %slot : index
  %n = fp8.release %s : !stage
  return %n : !end
}

// Lent from two stages and used together, before either is released.
func.func @lent_from_two(%x: !end, %y: !end, %m: memref<?xf32>) -> (!end, !end, f32) attributes {fp8.linear} {
  %a = fp8.acquire %x : !end
  %b = fp8.acquire %y : !end
  %i = fp8.index %a : !stage
  %j = fp8.index %b : !stage
  %sum = arith.addi %i, %j : index
  %l = memref.load %m[%sum] : memref<?xf32>
  %e = fp8.release %b : !stage
  %f = fp8.release %a : !stage
  return %f, %e, %l : !end, !end, f32
}

// One tile of the two is chosen; both stages outlive the choice.
func.func @lent_is_selected(%x: !stage, %y: !stage, %c: i1, %m: memref<?xf32>) -> (!stage, !stage, f32) attributes {fp8.linear} {
  %i = fp8.index %x : !stage
  %j = fp8.index %y : !stage
  %k = arith.select %c, %i, %j : index
  %l = memref.load %m[%k] : memref<?xf32>
  return %x, %y, %l : !stage, !stage, f32
}

// An if without results and without an else that only borrows.
func.func @borrowed_in_if(%x: !stage, %c: i1) -> !stage attributes {fp8.linear} {
  scf.if %c {
    %tile = fp8.tile %x["s"] : !stage
  }
  return %x : !stage
}

// A conditional swap, and one handle of the two is used in each arm.
func.func @swap_in_if(%x: !end, %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  %a, %b = scf.if %c -> (!end, !end) {
    %s = fp8.acquire %x : !end
    %n = fp8.release %s : !stage
    scf.yield %y, %n : !end, !end
  } else {
    scf.yield %x, %y : !end, !end
  }
  return %a, %b : !end, !end
}
