// Tricky programs that keep the rules: structured loops. Each says what is tricky about it.
// RUN: fp8-opt %s --verify-roundtrip -o /dev/null

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!end = !fp8.consumer<!ring>
!stage = !fp8.consumer_stage<!ring>

func.func private @make() -> !end attributes {fp8.linear}

// The loop swaps what it carries: each result may be either end.
func.func @swap_in_for(%x: !end, %y: !end, %n: index) -> (!end, !end) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (!end, !end) {
    scf.yield %b, %a : !end, !end
  }
  return %r#1, %r#0 : !end, !end
}

// Three carried ends rotate, and one of them works on the way.
func.func @rotate_in_for(%x: !end, %y: !end, %z: !end, %n: index) -> (!end, !end, !end) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z) -> (!end, !end, !end) {
    %s = fp8.acquire %b : !end
    %n1 = fp8.release %s : !stage
    scf.yield %n1, %c, %a : !end, !end, !end
  }
  return %r#0, %r#1, %r#2 : !end, !end, !end
}

// The while loop swaps between its two regions.
func.func @swap_in_while(%x: !end, %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  %r:2 = scf.while (%a = %x, %b = %y) : (!end, !end) -> (!end, !end) {
    scf.condition(%c) %b, %a : !end, !end
  } do {
  ^bb0(%a: !end, %b: !end):
    scf.yield %a, %b : !end, !end
  }
  return %r#0, %r#1 : !end, !end
}

// A stage comes into the loop, an end goes out: the condition's region changes the type.
func.func @while_changes_type(%x: !end, %c: i1) -> !end attributes {fp8.linear} {
  %s0 = fp8.acquire %x : !end
  %r = scf.while (%s = %s0) : (!stage) -> !end {
    %e = fp8.release %s : !stage
    scf.condition(%c) %e : !end
  } do {
  ^bb0(%e: !end):
    %s = fp8.acquire %e : !end
    scf.yield %s : !stage
  }
  return %r : !end
}

// The loop never runs; what it carries is handed through.
func.func @zero_trips(%x: !end) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c0 step %c1 iter_args(%a = %x) -> !end {
    %s = fp8.acquire %a : !end
    %n = fp8.release %s : !stage
    scf.yield %n : !end
  }
  return %r : !end
}

// A loop that never runs borrows a stage from around it.
func.func @zero_trips_borrow(%x: !end) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = fp8.acquire %x : !end
  scf.for %i = %c0 to %c0 step %c1 {
    %tile = fp8.tile %s["s"] : !stage
  }
  %n = fp8.release %s : !stage
  return %n : !end
}

// The loop borrows what it does not carry: it may, since it does not consume it.
func.func @borrowed_in_loop(%x: !end, %n: index) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = fp8.acquire %x : !end
  scf.for %i = %c0 to %n step %c1 {
    %tile = fp8.tile %s["s"] : !stage
  }
  %r = fp8.release %s : !stage
  return %r : !end
}

// The stage stays acquired across the back edge: a loop that prefetches.
func.func @prefetch(%x: !end, %n: index) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = fp8.acquire %x : !end
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> !stage {
    %tile = fp8.tile %s["s"] : !stage
    %e = fp8.release %s : !stage
    %next = fp8.acquire %e : !end
    scf.yield %next : !stage
  }
  %r = fp8.release %last : !stage
  return %r : !end
}

// A while loop in a while loop, both carrying the end.
func.func @nested_whiles(%x: !end, %c: i1, %d: i1) -> !end attributes {fp8.linear} {
  %r = scf.while (%a = %x) : (!end) -> !end {
    %inner = scf.while (%b = %a) : (!end) -> !end {
      scf.condition(%d) %b : !end
    } do {
    ^bb0(%b: !end):
      %s = fp8.acquire %b : !end
      %n = fp8.release %s : !stage
      scf.yield %n : !end
    }
    scf.condition(%c) %inner : !end
  } do {
  ^bb0(%a: !end):
    scf.yield %a : !end
  }
  return %r : !end
}

// A loop of blocks inside a structured loop: the end is carried by both.
func.func @blocks_in_for(%x: !end, %n: index, %c: i1) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> !end {
    %q = scf.execute_region -> !end {
      cf.br ^head(%a : !end)
    ^head(%b: !end):
      %s = fp8.acquire %b : !end
      %e = fp8.release %s : !stage
      cf.cond_br %c, ^head(%e : !end), ^exit(%e : !end)
    ^exit(%d: !end):
      scf.yield %d : !end
    }
    scf.yield %q : !end
  }
  return %r : !end
}

// Made and consumed anew in each iteration.
func.func @made_in_loop(%n: index) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %e = func.call @make() : () -> !end
    %s = fp8.acquire %e : !end
    %q = fp8.release %s : !stage
    fp8.close %q : !end
  }
  return
}

// A carried end is exchanged for a new one: the old is closed in the loop.
func.func @exchanged_in_loop(%x: !end, %n: index) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> !end {
    %e = func.call @make() : () -> !end
    fp8.close %a : !end
    scf.yield %e : !end
  }
  return %r : !end
}

// A lent number bounds a loop: it is read where the loop begins.
func.func @lent_bound(%x: !end) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  %r = scf.for %i = %c0 to %slot step %c1 iter_args(%a = %s) -> !stage {
    scf.yield %a : !stage
  }
  %n = fp8.release %r : !stage
  return %n : !end
}

// A loop counts from a lent number while the stage is alive.
func.func @counted_from_lent(%x: !end, %n: index, %m: memref<?xf32>) -> !end attributes {fp8.linear} {
  %c1 = arith.constant 1 : index
  %s = fp8.acquire %x : !end
  %slot = fp8.index %s : !stage
  scf.for %i = %slot to %n step %c1 {
    %l = memref.load %m[%i] : memref<?xf32>
  }
  %e = fp8.release %s : !stage
  return %e : !end
}
