// Programs that keep the rules, however control flows: they verify, also after the stock passes.
// RUN: fp8-opt %s | FileCheck %s
// RUN: fp8-opt %s --cse --loop-invariant-code-motion --canonicalize | FileCheck %s --check-prefix=STOCK
// RUN: fp8-opt %s --inline --cse --canonicalize | FileCheck %s --check-prefix=INLINE

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
!end = !fp8.consumer<!ring>
!stage = !fp8.consumer_stage<!ring>

// CHECK-LABEL: func.func @both_arms
// STOCK-LABEL: func.func @both_arms
// STOCK-COUNT-2: fp8.release
func.func @both_arms(%end: !end, %cond: i1) -> !end attributes {fp8.linear} {
  %stage = fp8.acquire %end : !end
  %next = scf.if %cond -> !end {
    %tile = fp8.tile %stage["s"] : !stage
    %n = fp8.release %stage : !stage
    scf.yield %n : !end
  } else {
    %n = fp8.release %stage : !stage
    scf.yield %n : !end
  }
  return %next : !end
}

// CHECK-LABEL: func.func @carried
func.func @carried(%end: !end, %n: index) -> !end attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> !end {
    %stage = fp8.acquire %e : !end
    %next = fp8.release %stage : !stage
    scf.yield %next : !end
  }
  return %last : !end
}

// A loop that swaps two carried handles.
// CHECK-LABEL: func.func @swapped
func.func @swapped(%a: !end, %b: !end, %n: index) -> (!end, !end) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!end, !end) {
    scf.yield %y, %x : !end, !end
  }
  return %r#0, %r#1 : !end, !end
}

// CHECK-LABEL: func.func @while_loop
func.func @while_loop(%end: !end, %cond: i1) -> !end attributes {fp8.linear} {
  %last = scf.while (%e = %end) : (!end) -> !end {
    scf.condition(%cond) %e : !end
  } do {
  ^bb0(%e: !end):
    %stage = fp8.acquire %e : !end
    %next = fp8.release %stage : !stage
    scf.yield %next : !end
  }
  return %last : !end
}

// Two uses on exclusive paths.
// CHECK-LABEL: func.func @exclusive_blocks
func.func @exclusive_blocks(%end: !end, %cond: i1) attributes {fp8.linear} {
  cf.cond_br %cond, ^left, ^right
^left:
  fp8.close %end : !end
  cf.br ^exit
^right:
  fp8.close %end : !end
  cf.br ^exit
^exit:
  return
}

// CHECK-LABEL: func.func @switch
func.func @switch(%end: !end, %i: index) -> !end attributes {fp8.linear} {
  %r = scf.index_switch %i -> !end
  case 0 {
    %stage = fp8.acquire %end : !end
    %next = fp8.release %stage : !stage
    scf.yield %next : !end
  }
  default {
    scf.yield %end : !end
  }
  return %r : !end
}

// CHECK-LABEL: func.func @block_loop
func.func @block_loop(%end: !end, %cond: i1) -> !end attributes {fp8.linear} {
  cf.br ^head(%end : !end)
^head(%e: !end):
  cf.cond_br %cond, ^body, ^exit
^body:
  %stage = fp8.acquire %e : !end
  %next = fp8.release %stage : !stage
  cf.br ^head(%next : !end)
^exit:
  return %e : !end
}

// CHECK-LABEL: func.func private @callee
func.func private @callee(%end: !end) -> !end attributes {fp8.linear} {
  %stage = fp8.acquire %end : !end
  %next = fp8.release %stage : !stage
  return %next : !end
}

// CHECK-LABEL: func.func @call
// INLINE-LABEL: func.func @call
// INLINE-NEXT: fp8.acquire
// INLINE-NEXT: fp8.release
// INLINE-NEXT: return
func.func @call(%end: !end) -> !end attributes {fp8.linear} {
  %next = func.call @callee(%end) : (!end) -> !end
  return %next : !end
}

// One branch that hands the value to either successor.
// CHECK-LABEL: func.func @either_successor
func.func @either_successor(%x: !end, %c: i1) -> !end attributes {fp8.linear} {
  cf.cond_br %c, ^left(%x : !end), ^right(%x : !end)
^left(%p: !end):
  return %p : !end
^right(%q: !end):
  return %q : !end
}

// One that hands it to one successor and leaves it alive in the other.
// CHECK-LABEL: func.func @one_successor
func.func @one_successor(%x: !end, %c: i1) -> !end attributes {fp8.linear} {
  cf.cond_br %c, ^left(%x : !end), ^right
^left(%p: !end):
  return %p : !end
^right:
  %stage = fp8.acquire %x : !end
  %next = fp8.release %stage : !stage
  return %next : !end
}
