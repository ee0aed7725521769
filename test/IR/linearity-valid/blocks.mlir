// Tricky programs that keep the rules: blocks, calls, selects. Each says what is tricky about it.
// RUN: fp8-opt %s --verify-roundtrip -o /dev/null

!t = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<3, s: !t>
!end = !fp8.consumer<!ring>
!stage = !fp8.consumer_stage<!ring>

func.func private @make() -> !end attributes {fp8.linear}
func.func private @pair() -> (!end, !end) attributes {fp8.linear}

// An early exit closes what the normal path hands on.
func.func @early_exit(%x: !end, %c: i1) -> i1 attributes {fp8.linear} {
  %s = fp8.acquire %x : !end
  cf.cond_br %c, ^fail, ^go
^fail:
  %n = fp8.release %s : !stage
  fp8.close %n : !end
  return %c : i1
^go:
  %tile = fp8.tile %s["s"] : !stage
  %m = fp8.release %s : !stage
  fp8.close %m : !end
  return %c : i1
}

// Several early exits share one block, which is given the end.
func.func @shared_exit(%x: !end, %c: i1, %d: i1) attributes {fp8.linear} {
  cf.cond_br %c, ^exit(%x : !end), ^more
^more:
  %s = fp8.acquire %x : !end
  %n = fp8.release %s : !stage
  cf.cond_br %d, ^exit(%n : !end), ^last
^last:
  %s1 = fp8.acquire %n : !end
  %n1 = fp8.release %s1 : !stage
  cf.br ^exit(%n1 : !end)
^exit(%e: !end):
  fp8.close %e : !end
  return
}

// Two branches to one block with the end alive, not passed: it dominates.
func.func @alive_into_join(%x: !end, %c: i1) attributes {fp8.linear} {
  cf.cond_br %c, ^left, ^right
^left:
  cf.br ^meet
^right:
  cf.br ^meet
^meet:
  fp8.close %x : !end
  return
}

// Critical edges: a loop whose header is left from two places.
func.func @critical_edges(%x: !end, %c: i1, %d: i1) -> !end attributes {fp8.linear} {
  cf.br ^head(%x : !end)
^head(%a: !end):
  cf.cond_br %c, ^body, ^exit(%a : !end)
^body:
  %s = fp8.acquire %a : !end
  %n = fp8.release %s : !stage
  cf.cond_br %d, ^head(%n : !end), ^exit(%n : !end)
^exit(%e: !end):
  return %e : !end
}

// Both edges of one branch go to the same block, with the ends swapped.
func.func @same_successor(%x: !end, %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  cf.cond_br %c, ^next(%x, %y : !end, !end), ^next(%y, %x : !end, !end)
^next(%a: !end, %b: !end):
  return %a, %b : !end, !end
}

// Both edges go to the same block, and neither passes the end.
func.func @same_successor_alive(%x: !end, %c: i1) -> !end attributes {fp8.linear} {
  cf.cond_br %c, ^next, ^next
^next:
  return %x : !end
}

// Passed along one edge, alive along the other.
func.func @passed_or_alive(%x: !end, %c: i1) -> !end attributes {fp8.linear} {
  cf.cond_br %c, ^given(%x : !end), ^alive
^given(%a: !end):
  return %a : !end
^alive:
  %s = fp8.acquire %x : !end
  %n = fp8.release %s : !stage
  return %n : !end
}

// A loop of blocks that swaps two arguments on its back edge.
func.func @swap_on_back_edge(%x: !end, %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  cf.br ^head(%x, %y : !end, !end)
^head(%a: !end, %b: !end):
  cf.cond_br %c, ^head(%b, %a : !end, !end), ^exit
^exit:
  return %a, %b : !end, !end
}

// Two loops share a block argument: the inner one hands it to the outer one.
func.func @nested_block_loops(%x: !end, %c: i1, %d: i1) -> !end attributes {fp8.linear} {
  cf.br ^outer(%x : !end)
^outer(%a: !end):
  cf.br ^inner(%a : !end)
^inner(%b: !end):
  %s = fp8.acquire %b : !end
  %n = fp8.release %s : !stage
  cf.cond_br %c, ^inner(%n : !end), ^latch
^latch:
  cf.cond_br %d, ^outer(%n : !end), ^exit
^exit:
  return %n : !end
}

// A loop with two entries.
func.func @irreducible(%x: !end, %c: i1, %d: i1) -> !end attributes {fp8.linear} {
  cf.cond_br %c, ^left(%x : !end), ^right(%x : !end)
^left(%a: !end):
  %s = fp8.acquire %a : !end
  %n = fp8.release %s : !stage
  cf.br ^right(%n : !end)
^right(%b: !end):
  cf.cond_br %d, ^left(%b : !end), ^exit
^exit:
  return %b : !end
}

// The same, with the end alive around both entries and borrowed inside.
func.func @irreducible_borrow(%x: !stage, %c: i1, %d: i1) -> !stage attributes {fp8.linear} {
  cf.cond_br %c, ^left, ^right
^left:
  %tile = fp8.tile %x["s"] : !stage
  cf.br ^right
^right:
  cf.cond_br %d, ^left, ^exit
^exit:
  return %x : !stage
}

// cf.switch: every target consumes, one of them by way of an argument.
func.func @switch(%x: !end, %i: i32) -> !end attributes {fp8.linear} {
  cf.switch %i : i32, [
    default: ^other,
    0: ^given(%x : !end),
    1: ^other
  ]
^given(%a: !end):
  return %a : !end
^other:
  return %x : !end
}

// An unreachable block uses an end after it was closed: no path leads there.
func.func @unreachable_use(%x: !end) attributes {fp8.linear} {
  fp8.close %x : !end
  return
^dead:
  fp8.close %x : !end
  return
}

// An unreachable block makes an end and drops it.
func.func @unreachable_leak() attributes {fp8.linear} {
  return
^dead:
  %e = func.call @make() : () -> !end
  return
}

// A region in an unreachable block is unreachable too.
func.func @unreachable_region(%c: i1) attributes {fp8.linear} {
  return
^dead:
  scf.if %c {
    %e = func.call @make() : () -> !end
  }
  return
}

// An unreachable block branches into a reachable one without consuming.
func.func @unreachable_predecessor(%x: !end) attributes {fp8.linear} {
  cf.br ^next
^dead:
  cf.br ^next
^next:
  fp8.close %x : !end
  return
}

// A loop that never ends: nothing leaves it, so nothing leaks.
func.func @endless(%x: !end) attributes {fp8.linear} {
  cf.br ^head(%x : !end)
^head(%a: !end):
  %s = fp8.acquire %a : !end
  %n = fp8.release %s : !stage
  cf.br ^head(%n : !end)
}

// It never ends, and borrows one that is alive throughout.
func.func @endless_borrow(%x: !stage) attributes {fp8.linear} {
  cf.br ^head
^head:
  %tile = fp8.tile %x["s"] : !stage
  cf.br ^head
}

// The loop ends in one way only, and there the end is consumed.
func.func @one_way_out(%x: !end, %c: i1, %d: i1) attributes {fp8.linear} {
  cf.br ^head
^head:
  cf.cond_br %c, ^body, ^head
^body:
  cf.cond_br %d, ^exit, ^head
^exit:
  fp8.close %x : !end
  return
}

// What follows a loop without end is never reached.
func.func @behind_endless(%x: !stage) -> !stage attributes {fp8.linear} {
  scf.execute_region {
    cf.br ^head
  ^head:
    %tile = fp8.tile %x["s"] : !stage
    cf.br ^head
  }
  return %x : !stage
}

// A callee takes an end and gives it back; another takes two and gives them back crossed.
func.func @calls(%x: !end, %y: !end) -> (!end, !end) attributes {fp8.linear} {
  %a = func.call @pass(%x) : (!end) -> !end
  %b:2 = func.call @cross(%a, %y) : (!end, !end) -> (!end, !end)
  return %b#0, %b#1 : !end, !end
}
func.func private @pass(%x: !end) -> !end attributes {fp8.linear} {
  return %x : !end
}
func.func private @cross(%x: !end, %y: !end) -> (!end, !end) attributes {fp8.linear} {
  return %y, %x : !end, !end
}

// A function that calls itself with what it was given.
func.func @recursive(%x: !end, %c: i1) -> !end attributes {fp8.linear} {
  cf.cond_br %c, ^again, ^done
^again:
  %s = fp8.acquire %x : !end
  %n = fp8.release %s : !stage
  %r = func.call @recursive(%n, %c) : (!end, i1) -> !end
  return %r : !end
^done:
  return %x : !end
}

// A call that consumes in one arm stands for a close in the other.
func.func @call_in_arm(%x: !end, %c: i1) attributes {fp8.linear} {
  scf.if %c {
    func.call @sink(%x) : (!end) -> ()
  } else {
    fp8.close %x : !end
  }
  return
}
func.func private @sink(!end) attributes {fp8.linear}

// Of two results of one call, each goes its own way.
func.func @two_results(%c: i1) attributes {fp8.linear} {
  %p:2 = func.call @pair() : () -> (!end, !end)
  cf.cond_br %c, ^left(%p#1 : !end), ^right
^left(%a: !end):
  fp8.close %a : !end
  fp8.close %p#0 : !end
  return
^right:
  fp8.close %p#0 : !end
  fp8.close %p#1 : !end
  return
}

// Every handle is selected once on each side of the condition.
func.func @selected(%x: !end, %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  %a = arith.select %c, %x, %y : !end
  %b = arith.select %c, %y, %x : !end
  return %a, %b : !end, !end
}

// Selected, and selected back.
func.func @selected_twice(%x: !end, %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  %a = arith.select %c, %x, %y : !end
  %b = arith.select %c, %y, %x : !end
  %p = arith.select %c, %a, %b : !end
  %q = arith.select %c, %b, %a : !end
  return %p, %q : !end, !end
}

// A branch on the same condition consumes what the select leaves.
func.func @selected_and_closed(%x: !end, %y: !end, %c: i1) -> !end attributes {fp8.linear} {
  scf.if %c {
    fp8.close %y : !end
  } else {
    fp8.close %x : !end
  }
  %a = arith.select %c, %x, %y : !end
  return %a : !end
}

// A borrow may stand on the side where the handle is still there.
func.func @selected_and_borrowed(%x: !stage, %y: !stage, %c: i1) -> (!stage, !stage) attributes {fp8.linear} {
  %a = arith.select %c, %x, %y : !stage
  scf.if %c {
    %tile = fp8.tile %y["s"] : !stage
  }
  %b = arith.select %c, %y, %x : !stage
  return %a, %b : !stage, !stage
}
