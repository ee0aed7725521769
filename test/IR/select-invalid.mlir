// Selects that lose a handle, or take it twice.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @half(
    // expected-error @below {{consumer end is selected when the condition is true, but nothing consumes it when that is false (L4); select it on both sides, in one block}}
    %x: !end,
    // expected-error @below {{consumer end is selected when the condition is false, but nothing consumes it when that is true (L4); select it on both sides, in one block}}
    %y: !end, %c: i1) -> !end attributes {fp8.linear} {
  // expected-note @below {{selected here}}
  %a = arith.select %c, %x, %y : !end
  // expected-note @below {{still alive here}}
  return %a : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @two_conditions(
    // expected-error @below {{consumer end is selected on two conditions in one block (L4); select it on one, or branch}}
    %x: !end,
    // expected-error @below {{consumer end is selected on two conditions in one block (L4); select it on one, or branch}}
    %y: !end, %c: i1, %d: i1) -> (!end, !end) attributes {fp8.linear} {
  // expected-note @below {{selected here}}
  %a = arith.select %c, %x, %y : !end
  // expected-note @below {{and here}}
  %b = arith.select %d, %y, %x : !end
  return %a, %b : !end, !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @same_side_twice(
    // expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
    %x: !end,
    // expected-error @below {{consumer end is selected when the condition is false, but nothing consumes it when that is true (L4); select it on both sides, in one block}}
    %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  // expected-note @below {{selected here}}
  %a = arith.select %c, %x, %y : !end
  // expected-note @below {{consumed again here}}
  %b = arith.select %c, %x, %y : !end
  // expected-note @below {{still alive here}}
  return %a, %b : !end, !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
func.func @selected_then_closed(%x: !end, %y: !end, %c: i1) -> (!end, !end) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %a = arith.select %c, %x, %y : !end
  %b = arith.select %c, %y, %x : !end
  // expected-note @below {{consumed again here}}
  fp8.close %x : !end
  return %a, %b : !end, !end
}

// -----

!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// expected-error @below {{consumer stage is used after it was consumed (L2); use it before}}
func.func @borrowed_between(%x: !stage, %y: !stage, %c: i1) -> (!stage, !stage) attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %a = arith.select %c, %x, %y : !stage
  // expected-note @below {{used here}}
  %t = fp8.tile %x["s"] : !stage
  %b = arith.select %c, %y, %x : !stage
  return %a, %b : !stage, !stage
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @closed_in_the_wrong_arm(
    // expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
    %x: !end,
    // expected-error @below {{consumer end is selected when the condition is false, but nothing consumes it when that is true (L4); select it on both sides, in one block}}
    %y: !end, %c: i1) -> !end attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  // expected-note @below {{selected here}}
  %a = arith.select %c, %x, %y : !end
  scf.if %c {
    // expected-note @below {{consumed again here}}
    fp8.close %x : !end
  } else {
    fp8.close %y : !end
  }
  // expected-note @below {{still alive here}}
  return %a : !end
}

// -----

// The condition of a loop's next iteration is another one.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @selected_in_a_loop(
    // expected-error @below {{consumer end is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument}}
    %x: !end,
    // expected-error @below {{consumer end is consumed inside a loop that may run again, or not at all (L3); carry it as a loop argument}}
    %y: !end, %n: index, %m: memref<?xi1>) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{the loop}}
  scf.for %i = %c0 to %n step %c1 {
    %c = memref.load %m[%i] : memref<?xi1>
    // expected-note @below {{consumed here}}
    %a = arith.select %c, %x, %y : !end
    // expected-note @below {{consumed here}}
    %b = arith.select %c, %y, %x : !end
    fp8.close %a : !end
    fp8.close %b : !end
  }
  return
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// What the branch on the condition should consume leaks on its side.
// expected-error @below {{consumer end leaks: it is never consumed (L1); consume it with 'fp8.close'}}
func.func @forgotten_in_blocks(%x: !end, %y: !end, %cond: i1) -> !end attributes {fp8.linear} {
  %a = arith.select %cond, %x, %y : !end
  // expected-note @below {{on the path that takes successor #1 of this 'cf.cond_br'}}
  cf.cond_br %cond, ^left, ^right
^left:
  fp8.close %y : !end
  cf.br ^meet
^right:
  cf.br ^meet
^meet:
  // expected-note @below {{still alive where control leaves its region}}
  return %a : !end
}

// -----

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
// The wrong one of two is consumed on each side.
// expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
// expected-error @below {{consumer end leaks: it is never consumed (L1); consume it with 'fp8.close'}}
func.func @wrong_one_in_blocks(%x: !end, %y: !end, %cond: i1) -> !end attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %a = arith.select %cond, %x, %y : !end
  // expected-note @below {{on the path that takes successor #0 of this 'cf.cond_br'}}
  cf.cond_br %cond, ^left, ^right
^left:
  // expected-note @below {{consumed again here}}
  fp8.close %x : !end
  cf.br ^meet
^right:
  fp8.close %y : !end
  cf.br ^meet
^meet:
  // expected-note @below {{still alive where control leaves its region}}
  return %a : !end
}

// -----

// The branch hands on what is selected, not the other.
!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
func.func @selected_along_edges(
    // expected-error @below {{consumer end is consumed twice (L1); keep one, or go on with the handle that the first gives back}}
    %x: !end,
    // expected-error @below {{consumer end leaks: it is never consumed (L1); consume it with 'fp8.close'}}
    %y: !end, %cond: i1) -> !end attributes {fp8.linear} {
  // expected-note @below {{consumed here}}
  %a = arith.select %cond, %x, %y : !end
  // expected-note @below {{consumed again here}}
  // expected-note @below {{on the path that takes successor #0 of this 'cf.cond_br'}}
  cf.cond_br %cond, ^left(%x : !end), ^right(%y : !end)
^left(%p: !end):
  fp8.close %p : !end
  cf.br ^meet
^right(%q: !end):
  fp8.close %q : !end
  cf.br ^meet
^meet:
  // expected-note @below {{still alive where control leaves its region}}
  return %a : !end
}
