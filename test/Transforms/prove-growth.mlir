// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose turns multiply a number.

// RUN: fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // One product in both roles.
  // CHECK-DAG: kernel 'products' keeps ownership for all launches
  gpu.func @products(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %grown, %last = scf.while (%i = %c1, %e = %end) : (index, !fp8.producer<!ring>) -> (index, !fp8.producer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.producer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.producer<!ring>):
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %grown, %last = scf.while (%i = %c1, %e = %end) : (index, !fp8.consumer<!ring>) -> (index, !fp8.consumer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.consumer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.consumer<!ring>):
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // A shift, and a sum.
  // CHECK-DAG: kernel 'alike' keeps ownership for all launches
  gpu.func @alike(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %grown, %last = scf.while (%i = %c1, %e = %end) : (index, !fp8.producer<!ring>) -> (index, !fp8.producer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.producer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.producer<!ring>):
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        %more = arith.shli %i, %c1 : index
        scf.yield %more, %next : index, !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %grown, %last = scf.while (%i = %c1, %e = %end) : (index, !fp8.consumer<!ring>) -> (index, !fp8.consumer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.consumer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.consumer<!ring>):
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %more = arith.addi %i, %i : index
        scf.yield %more, %next : index, !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Behind the loop: how far beyond n the last number is.
  // CHECK-DAG: kernel 'behind' keeps ownership for all launches
  gpu.func @behind(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %grown, %mid = scf.while (%i = %c1, %e = %end) : (index, !fp8.producer<!ring>) -> (index, !fp8.producer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.producer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.producer<!ring>):
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.producer<!ring>
      }
      %trips = arith.subi %grown, %n : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %mid) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %grown, %mid = scf.while (%i = %c1, %e = %end) : (index, !fp8.consumer<!ring>) -> (index, !fp8.consumer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.consumer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.consumer<!ring>):
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.consumer<!ring>
      }
      %trips = arith.subi %grown, %n : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %mid) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // One role begins two turns later. The slots of the ring take what the other one is ahead.
  // CHECK-DAG: kernel 'ahead' keeps ownership for all launches
  gpu.func @ahead(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %grown, %last = scf.while (%i = %c1, %e = %end) : (index, !fp8.producer<!ring>) -> (index, !fp8.producer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.producer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.producer<!ring>):
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c4 = arith.constant 4 : index
      %grown, %last = scf.while (%i = %c4, %e = %end) : (index, !fp8.consumer<!ring>) -> (index, !fp8.consumer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.consumer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.consumer<!ring>):
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // A loop of as many turns, in a loop.
  // CHECK-DAG: kernel 'nested' keeps ownership for all launches
  gpu.func @nested(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %grown, %last = scf.for %k = %c0 to %n step %c1 iter_args(%i = %c1, %outer = %end) -> (index, !fp8.producer<!ring>) {
        %inner = scf.for %j = %c0 to %i step %c1 iter_args(%e = %outer) -> (!fp8.producer<!ring>) {
          %stage = fp8.acquire %e : !fp8.producer<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        }
        %more = arith.shli %i, %c1 : index
        scf.yield %more, %inner : index, !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %grown, %last = scf.for %k = %c0 to %n step %c1 iter_args(%i = %c1, %outer = %end) -> (index, !fp8.consumer<!ring>) {
        %inner = scf.for %j = %c0 to %i step %c1 iter_args(%e = %outer) -> (!fp8.consumer<!ring>) {
          %stage = fp8.acquire %e : !fp8.consumer<!ring>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          scf.yield %next : !fp8.consumer<!ring>
        }
        %more = arith.shli %i, %c1 : index
        scf.yield %more, %inner : index, !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // A number that guards a step.
  // CHECK-DAG: kernel 'guarded' keeps ownership for all launches
  gpu.func @guarded(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %grown, %last = scf.for %k = %c0 to %n step %c1 iter_args(%i = %c1, %outer = %end) -> (index, !fp8.producer<!ring>) {
        %some = arith.cmpi ult, %i, %m : index
        %inner = scf.if %some -> (!fp8.producer<!ring>) {
          %stage = fp8.acquire %outer : !fp8.producer<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        } else {
          scf.yield %outer : !fp8.producer<!ring>
        }
        %more = arith.addi %i, %i : index
        scf.yield %more, %inner : index, !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %grown, %last = scf.for %k = %c0 to %n step %c1 iter_args(%i = %c1, %outer = %end) -> (index, !fp8.consumer<!ring>) {
        %some = arith.cmpi ult, %i, %m : index
        %inner = scf.if %some -> (!fp8.consumer<!ring>) {
          %stage = fp8.acquire %outer : !fp8.consumer<!ring>
          %next = fp8.release %stage : !fp8.consumer_stage<!ring>
          scf.yield %next : !fp8.consumer<!ring>
        } else {
          scf.yield %outer : !fp8.consumer<!ring>
        }
        %more = arith.addi %i, %i : index
        scf.yield %more, %inner : index, !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // From an argument on.
  // CHECK-DAG: kernel 'argument' keeps ownership for all launches
  gpu.func @argument(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %first = arith.addi %m, %c1 : index
      %grown, %last = scf.while (%i = %first, %e = %end) : (index, !fp8.producer<!ring>) -> (index, !fp8.producer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.producer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.producer<!ring>):
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %first = arith.addi %m, %c1 : index
      %grown, %last = scf.while (%i = %first, %e = %end) : (index, !fp8.consumer<!ring>) -> (index, !fp8.consumer<!ring>) {
        %goes = arith.cmpi ult, %i, %n : index
        scf.condition(%goes) %i, %e : index, !fp8.consumer<!ring>
      } do {
      ^bb0(%i: index, %e: !fp8.consumer<!ring>):
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %more = arith.muli %i, %c2 : index
        scf.yield %more, %next : index, !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
