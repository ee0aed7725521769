// One broken rule in each section, with the whole diagnostic.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @dropped_release(%end: !fp8.consumer<!ring>) attributes {fp8.linear} {
  // expected-error @below {{consumer stage leaks: it is never consumed (L1); consume it with 'fp8.release'}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @double_release(%end: !fp8.consumer<!ring>) -> (!fp8.consumer<!ring>, !fp8.consumer<!ring>) attributes {fp8.linear} {
  // expected-error @below {{consumer stage is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{consumed here}}
  %a = fp8.release %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{consumed again here}}
  %b = fp8.release %stage : !fp8.consumer_stage<!ring>
  return %a, %b : !fp8.consumer<!ring>, !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @use_after_release(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{consumer stage is used after it was consumed (L2); use it before}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{consumed here}}
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  // expected-note @below {{used here}}
  %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @one_branch_only(%end: !fp8.consumer<!ring>, %cond: i1) attributes {fp8.linear} {
  // expected-error @below {{consumer stage is consumed on one path but not on another (L4); consume it on both, or after they meet}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{still alive when this 'scf.if' runs none of its regions}}
  scf.if %cond {
    // expected-note @below {{consumed here}}
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    fp8.close %next : !fp8.consumer<!ring>
  }
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @one_arm_only(%end: !fp8.consumer<!ring>, %cond: i1) attributes {fp8.linear} {
  // expected-error @below {{consumer stage is consumed on one path but not on another (L4); consume it on both, or after they meet}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{still alive at the end of region #1 of this 'scf.if'}}
  scf.if %cond {
    // expected-note @below {{consumed here}}
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    fp8.close %next : !fp8.consumer<!ring>
  } else {
    %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
  }
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @leak_on_a_block_path(%end: !fp8.consumer<!ring>, %cond: i1) attributes {fp8.linear} {
  // expected-error @below {{consumer stage leaks: it is not consumed on every path (L1); consume it with 'fp8.release' on this one too}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{on the path that takes successor #1 of this 'cf.cond_br'}}
  cf.cond_br %cond, ^left, ^right
^left:
  // expected-note @below {{consumed here}}
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  fp8.close %next : !fp8.consumer<!ring>
  return
^right:
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @paths_meet(%end: !fp8.consumer<!ring>, %cond: i1) attributes {fp8.linear} {
  // expected-error @below {{consumer stage is consumed on one path but not on another (L4); consume it on both, or after they meet}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  cf.cond_br %cond, ^left, ^meet
^left:
  // expected-note @below {{consumed here}}
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  fp8.close %next : !fp8.consumer<!ring>
  cf.br ^meet
^meet:
  // expected-note @below {{the paths meet here, one of them with the value still alive}}
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @consumed_in_a_loop(%end: !fp8.consumer<!ring>, %n: index) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{consumer stage is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  // expected-note @below {{the loop}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @below {{consumed here}}
    %next = fp8.release %stage : !fp8.consumer_stage<!ring>
    fp8.close %next : !fp8.consumer<!ring>
  }
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @consumed_in_a_block_loop(%end: !fp8.consumer<!ring>, %cond: i1) attributes {fp8.linear} {
  // expected-error @below {{consumer stage is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument}}
  %stage = fp8.acquire %end : !fp8.consumer<!ring>
  cf.br ^body
^body:
  // expected-note @below {{consumed here}}
  %next = fp8.release %stage : !fp8.consumer_stage<!ring>
  fp8.close %next : !fp8.consumer<!ring>
  // expected-note @below {{the loop begins again here}}
  cf.cond_br %cond, ^body, ^exit
^exit:
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func private @make() -> !fp8.consumer<!ring> attributes {fp8.linear}
func.func @leak_in_a_loop(%n: index) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{still alive where control leaves its region}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{consumer end leaks: it is never consumed (L1); consume it with 'fp8.close'}}
    %end = func.call @make() : () -> !fp8.consumer<!ring>
  }
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
// expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @yielded_twice(%end: !fp8.consumer<!ring>) -> (!fp8.consumer<!ring>, !fp8.consumer<!ring>) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  // expected-note @below {{consumed again here}}
  return %end, %end : !fp8.consumer<!ring>, !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @leak_on_a_back_edge(%cond: i1) attributes {fp8.linear} {
  cf.br ^body
^body:
  // expected-error @below {{consumer end leaks: it is not consumed on every path (L1); consume it with 'fp8.close' on this one too}}
  %end = func.call @make() : () -> !fp8.consumer<!ring>
  // expected-note @below {{still alive where control leaves its region}}
  cf.cond_br %cond, ^body, ^exit
^exit:
  // expected-note @below {{consumed here}}
  fp8.close %end : !fp8.consumer<!ring>
  return
}
func.func private @make() -> !fp8.consumer<!ring> attributes {fp8.linear}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
// expected-error @below {{consumer stage leaks: it is never consumed (L1); consume it with 'fp8.release'}}
func.func @leaked_argument(%stage: !fp8.consumer_stage<!ring>) attributes {fp8.linear} {
  // expected-note @below {{still alive where control leaves its region}}
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
// expected-error @below {{consumer end is passed to 'builtin.unrealized_conversion_cast', which does not declare what it does with it (L6); only branches, calls and ops with LinearOpInterface may take it}}
func.func @cast_away(%a: !fp8.consumer<!ring>) attributes {fp8.linear} {
  // expected-note @below {{used here}}
  %i = builtin.unrealized_conversion_cast %a : !fp8.consumer<!ring> to i64
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @captured() attributes {fp8.linear} {
  // expected-error @below {{consumer end is captured by 'fp8.role' (L6); pass it as an operand}}
  %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
  // expected-note @below {{captured here}}
  fp8.role "read" warps(4) {
    fp8.close %c : !fp8.consumer<!ring>
  }
  fp8.close %p : !fp8.producer<!ring>
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @released_in_a_scope(%end: !fp8.consumer<!ring>) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{consumer stage is released by its scope (L1); the body may only borrow it}}
  // expected-note @below {{released at the end of this 'fp8.consume'}}
  %next = fp8.consume(%stage = %end) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
    // expected-note @below {{consumed here}}
    %n = fp8.release %stage : !fp8.consumer_stage<!ring>
    fp8.close %n : !fp8.consumer<!ring>
  }
  return %next : !fp8.consumer<!ring>
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
// expected-note @below {{the callee}}
func.func private @unchecked(!fp8.consumer<!ring>)
func.func @call(%end: !fp8.consumer<!ring>) attributes {fp8.linear} {
  // expected-error @below {{passes linear values to a function without 'fp8.linear' (L5); add the attribute, so that the callee is checked}}
  func.call @unchecked(%end) : (!fp8.consumer<!ring>) -> ()
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @unmarked(%end: !fp8.consumer<!ring>) {
  // expected-error @below {{'fp8.close' op handles linear values in a function without 'fp8.linear' (L6); add the attribute, so that the verifier checks the function}}
  fp8.close %end : !fp8.consumer<!ring>
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
// expected-error @below {{consumer end leaks: it is not consumed on every path (L1); consume it with 'fp8.close' on this one too}}
func.func @dropped_by_one_successor(%x: !fp8.consumer<!ring>, %c: i1) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  // expected-note @below {{on the path that takes successor #1 of this 'cf.cond_br'}}
  cf.cond_br %c, ^left(%x : !fp8.consumer<!ring>), ^right
^left(%p: !fp8.consumer<!ring>):
  return %p : !fp8.consumer<!ring>
^right:
  %y = func.call @make() : () -> !fp8.consumer<!ring>
  // expected-note @below {{still alive where control leaves its region}}
  return %y : !fp8.consumer<!ring>
}
func.func private @make() -> !fp8.consumer<!ring> attributes {fp8.linear}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
// expected-error @below {{consumer end is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument}}
func.func @consumed_before_each_iteration(%e: !fp8.consumer<!ring>, %k: i1) attributes {fp8.linear} {
  // expected-note @below {{the loop}}
  scf.while : () -> () {
    // expected-note @below {{consumed here}}
    fp8.close %e : !fp8.consumer<!ring>
    scf.condition(%k)
  } do {
    scf.yield
  }
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
// expected-error @below {{consumer end is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument}}
func.func @consumed_in_parallel(%e: !fp8.consumer<!ring>, %n: index) attributes {fp8.linear} {
  // expected-note @below {{the loop}}
  scf.forall (%i) in (%n) {
    // expected-note @below {{consumed here}}
    fp8.close %e : !fp8.consumer<!ring>
  }
  return
}

// -----

!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @scope_stage_captured(%c: !fp8.consumer<!ring>, %n: index) -> !fp8.consumer<!ring> attributes {fp8.linear} {
  // expected-error @below {{consumer stage is captured by 'gpu.launch' (L6); pass it as an operand}}
  %next = fp8.consume(%stage = %c) : !fp8.consumer<!ring> -> !fp8.consumer<!ring> {
    // expected-note @below {{captured here}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
      %tile = fp8.tile %stage["s"] : !fp8.consumer_stage<!ring>
      gpu.terminator
    }
  }
  return %next : !fp8.consumer<!ring>
}

// -----

// Where order does not matter to MLIR (it knows nothing of this region), it matters to the check.
!ring = !fp8.pipeline<3, s: !fp8.tile<1x128xf32>>
func.func @used_before_it_is_made() attributes {fp8.linear} {
  // expected-note @below {{made here}}
  "foreign.with"() ({
  // expected-error @below {{consumer end is made by 'foreign.with', which does not declare what it does with linear values (L6); it must implement LinearOpInterface}}
  ^bb0(%x: !fp8.consumer<!ring>):
    // expected-note @below {{consumed again here}}
    fp8.close %n : !fp8.consumer<!ring>
    %s = fp8.acquire %x : !fp8.consumer<!ring>
    // expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
    %n = fp8.release %s : !fp8.consumer_stage<!ring>
    // expected-note @below {{consumed here}}
    fp8.close %n : !fp8.consumer<!ring>
    "foreign.end"() : () -> ()
  }) : () -> ()
  return
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @yielded_three_times(%end: !end) -> (!end, !end, !end) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  // expected-note @below {{consumed again here}}
  return %end, %end, %end : !end, !end, !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @passed_three_times(%end: !end) -> (!end, !end, !end) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  // expected-note @below {{consumed again here}}
  cf.br ^next(%end, %end, %end : !end, !end, !end)
^next(%a: !end, %b: !end, %c: !end):
  return %a, %b, %c : !end, !end, !end
}

// -----

// What stands behind a region that never ends is checked, though it is never reached.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func private @make() -> !end attributes {fp8.linear}
func.func @leak_behind_endless() attributes {fp8.linear} {
  scf.execute_region {
    cf.br ^head
  ^head:
    cf.br ^head
  }
  // expected-error @below {{consumer end leaks: it is never consumed (L1); consume it with 'fp8.close'}}
  %e = func.call @make() : () -> !end
  // expected-note @below {{still alive where control leaves its region}}
  return
}
