// A handle may be selected if each value of the condition consumes it once: what stock passes make of branches that swap handles.
// RUN: fp8-opt %s --canonicalize --verify-roundtrip | FileCheck %s
// RUN: fp8-opt %s --canonicalize --cse --control-flow-sink --sccp --remove-dead-values --loop-invariant-code-motion -o %t
// RUN: fp8-opt %t --canonicalize --cse --control-flow-sink --sccp --remove-dead-values --loop-invariant-code-motion -o /dev/null
// RUN: fp8-opt %s --canonicalize --convert-scf-to-cf -o %t.blocks
// RUN: fp8-opt %t.blocks --canonicalize --cse --sccp -o /dev/null

!end = !fp8.consumer<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>
!stage = !fp8.consumer_stage<!fp8.pipeline<3, s: !fp8.tile<1x128xf32>>>

// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[X:[^:]+]]: {{[^%]+}}%[[Y:[^:]+]]: {{[^%]+}}%[[COND:[^:]+]]: i1
// CHECK: %[[A:.+]] = arith.select %[[COND]], %[[X]], %[[Y]]
// CHECK: %[[B:.+]] = arith.select %[[COND]], %[[Y]], %[[X]]
// CHECK: return %[[A]], %[[B]]
func.func @swap(%x: !end, %y: !end, %cond: i1) -> (!end, !end) attributes {fp8.linear} {
  %a, %b = scf.if %cond -> (!end, !end) {
    scf.yield %x, %y : !end, !end
  } else {
    scf.yield %y, %x : !end, !end
  }
  return %a, %b : !end, !end
}

// CHECK-LABEL: func.func @rotate(
// CHECK-COUNT-3: arith.select
func.func @rotate(%x: !end, %y: !end, %z: !end, %cond: i1) -> (!end, !end, !end) attributes {fp8.linear} {
  %a, %b, %c = scf.if %cond -> (!end, !end, !end) {
    scf.yield %x, %y, %z : !end, !end, !end
  } else {
    scf.yield %y, %z, %x : !end, !end, !end
  }
  return %a, %b, %c : !end, !end, !end
}

// What is not selected is consumed by the same condition's branch.
// CHECK-LABEL: func.func @one_of_two(
// CHECK: arith.select
// CHECK: scf.if
func.func @one_of_two(%x: !end, %y: !end, %cond: i1) -> !end attributes {fp8.linear} {
  %a = scf.if %cond -> !end {
    fp8.close %y : !end
    scf.yield %x : !end
  } else {
    fp8.close %x : !end
    scf.yield %y : !end
  }
  return %a : !end
}

// CHECK-LABEL: func.func @made_and_selected(
// CHECK: arith.select
// CHECK: scf.if
func.func @made_and_selected(%x: !end, %y: !end, %cond: i1) -> (!end, !end) attributes {fp8.linear} {
  %a, %b = scf.if %cond -> (!end, !end) {
    %s = fp8.acquire %y : !end
    %n = fp8.release %s : !stage
    scf.yield %x, %n : !end, !end
  } else {
    %s = fp8.acquire %x : !end
    %n = fp8.release %s : !stage
    scf.yield %y, %n : !end, !end
  }
  return %a, %b : !end, !end
}

// CHECK-LABEL: func.func @blocks(
// CHECK-COUNT-2: arith.select
func.func @blocks(%x: !end, %y: !end, %cond: i1) -> (!end, !end) attributes {fp8.linear} {
  cf.cond_br %cond, ^left, ^right
^left:
  cf.br ^meet(%x, %y : !end, !end)
^right:
  cf.br ^meet(%y, %x : !end, !end)
^meet(%a: !end, %b: !end):
  return %a, %b : !end, !end
}

// Different conditions, each in a block of its own.
// CHECK-LABEL: func.func @in_arms(
// CHECK-COUNT-4: arith.select
func.func @in_arms(%x: !end, %y: !end, %c1: i1, %c2: i1, %c3: i1) -> (!end, !end) attributes {fp8.linear} {
  %r:2 = scf.if %c1 -> (!end, !end) {
    %a, %b = scf.if %c2 -> (!end, !end) {
      scf.yield %x, %y : !end, !end
    } else {
      scf.yield %y, %x : !end, !end
    }
    scf.yield %a, %b : !end, !end
  } else {
    %a, %b = scf.if %c3 -> (!end, !end) {
      scf.yield %x, %y : !end, !end
    } else {
      scf.yield %y, %x : !end, !end
    }
    scf.yield %b, %a : !end, !end
  }
  return %r#0, %r#1 : !end, !end
}

// CHECK-LABEL: func.func @in_a_loop(
// CHECK: scf.for
// CHECK-COUNT-2: arith.select
func.func @in_a_loop(%x: !end, %y: !end, %n: index, %m: memref<?xi1>) -> (!end, !end) attributes {fp8.linear} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (!end, !end) {
    %cond = memref.load %m[%i] : memref<?xi1>
    %a, %b = scf.if %cond -> (!end, !end) {
      scf.yield %p, %q : !end, !end
    } else {
      scf.yield %q, %p : !end, !end
    }
    scf.yield %a, %b : !end, !end
  }
  return %r#0, %r#1 : !end, !end
}

// Borrowed while it is still the one or the other.
// CHECK-LABEL: func.func @borrowed_before(
// CHECK: fp8.index
// CHECK-COUNT-2: arith.select
func.func @borrowed_before(%x: !stage, %y: !stage, %cond: i1, %m: memref<?xf32>) -> (!stage, !stage, f32) attributes {fp8.linear} {
  %slot = fp8.index %x : !stage
  %value = memref.load %m[%slot] : memref<?xf32>
  %a = arith.select %cond, %x, %y : !stage
  %b = arith.select %cond, %y, %x : !stage
  return %a, %b, %value : !stage, !stage, f32
}

// CHECK-LABEL: func.func @same_on_both_sides(
// CHECK-NOT: arith.select
func.func @same_on_both_sides(%x: !end, %cond: i1) -> !end attributes {fp8.linear} {
  %a = arith.select %cond, %x, %x : !end
  return %a : !end
}

// A branch of blocks on the condition consumes what is not selected, and goes on with it.
// CHECK-LABEL: func.func @one_of_two_in_blocks(
func.func @one_of_two_in_blocks(%x: !end, %y: !end, %cond: i1) -> !end attributes {fp8.linear} {
  %a = arith.select %cond, %x, %y : !end
  cf.cond_br %cond, ^left, ^right
^left:
  fp8.close %y : !end
  cf.br ^meet
^right:
  %s = fp8.acquire %x : !end
  %n = fp8.release %s : !stage
  fp8.close %n : !end
  cf.br ^meet
^meet:
  return %a : !end
}

// The branch itself hands on what is not selected.
// CHECK-LABEL: func.func @one_of_two_along_edges(
func.func @one_of_two_along_edges(%x: !end, %y: !end, %cond: i1) -> !end attributes {fp8.linear} {
  %a = arith.select %cond, %x, %y : !end
  cf.cond_br %cond, ^left(%y : !end), ^right(%x : !end)
^left(%p: !end):
  fp8.close %p : !end
  cf.br ^meet
^right(%q: !end):
  %s = fp8.acquire %q : !end
  %n = fp8.release %s : !stage
  fp8.close %n : !end
  cf.br ^meet
^meet:
  return %a : !end
}
