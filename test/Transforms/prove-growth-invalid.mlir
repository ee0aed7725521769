// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose turns multiply a number, and roles that do not agree on it.

// RUN: not fp8-opt %s --fp8-prove -o /dev/null 2>&1 | FileCheck %s

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // Less, or at most.
  // CHECK-DAG: error: kernel 'guards' does not end: roles wait for one another, with argument 0 = 1{{$}}
  gpu.func @guards(%n: index, %m: index) kernel attributes {fp8.linear} {
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
        %goes = arith.cmpi ule, %i, %n : index
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

  // As often as n can be halved, or n times.
  // CHECK-DAG: error: kernel 'linear' does not end: roles wait for one another, with argument 0 = 1{{$}}
  gpu.func @linear(%n: index, %m: index) kernel attributes {fp8.linear} {
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
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Behind the loop one role takes a step more for each number beyond n.
  // CHECK-DAG: error: kernel 'behind' does not end: roles wait for one another, with argument 0 = 5{{$}}
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

  // A loop of as many turns, or of one more.
  // CHECK-DAG: error: kernel 'nested' does not end: roles wait for one another, with argument 0 = 1{{$}}
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
        %one_more = arith.addi %i, %c1 : index
        %inner = scf.for %j = %c0 to %one_more step %c1 iter_args(%e = %outer) -> (!fp8.consumer<!ring>) {
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

  // What is 0 is 0 when it is doubled: the loop may not end.
  // CHECK-DAG: remark: the proof of kernel 'endless' is not complete
  gpu.func @endless(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %grown, %last = scf.while (%i = %m, %e = %end) : (index, !fp8.producer<!ring>) -> (index, !fp8.producer<!ring>) {
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
      %grown, %last = scf.while (%i = %m, %e = %end) : (index, !fp8.consumer<!ring>) -> (index, !fp8.consumer<!ring>) {
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

  // Twice the number, less 3, gets negative.
  // CHECK-DAG: error: kernel 'shrinks' does not end: roles wait for one another, with argument 0 = 0{{$}}
  gpu.func @shrinks(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %c8 = arith.constant 8 : index
      %many = arith.addi %n, %c8 : index
      %first = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %grown, %mid = scf.for %k = %c0 to %many step %c1 iter_args(%i = %first, %e = %end) -> (index, !fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        %twice = arith.muli %i, %c2 : index
        %more = arith.subi %twice, %c3 : index
        scf.yield %more, %next : index, !fp8.producer<!ring>
      }
      %some = arith.cmpi sge, %grown, %c1 : index
      %trips = arith.select %some, %c1, %c0 : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %mid) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c8 = arith.constant 8 : index
      %many = arith.addi %n, %c8 : index
      %first = arith.constant 2 : index
      %grown, %mid = scf.for %k = %c0 to %many step %c1 iter_args(%i = %first, %e = %end) -> (index, !fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %more = arith.addi %i, %c1 : index
        scf.yield %more, %next : index, !fp8.consumer<!ring>
      }
      %some = arith.cmpi sge, %grown, %c1 : index
      %trips = arith.select %some, %c1, %c0 : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %mid) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Each lane has another number, which decides in late turns.
  // CHECK-DAG: remark: the proof of kernel 'lanes' is not complete
  gpu.func @lanes(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %lane = gpu.lane_id
      %first = arith.addi %lane, %c1 : index
      %c20 = arith.constant 20 : index
      %grown, %last = scf.for %k = %c0 to %n step %c1 iter_args(%i = %first, %outer = %end) -> (index, !fp8.producer<!ring>) {
        %late = arith.cmpi ugt, %k, %c20 : index
        %small = arith.cmpi ult, %i, %m : index
        %some = arith.andi %late, %small : i1
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
      %lane = gpu.lane_id
      %first = arith.addi %lane, %c1 : index
      %c20 = arith.constant 20 : index
      %grown, %last = scf.for %k = %c0 to %n step %c1 iter_args(%i = %first, %outer = %end) -> (index, !fp8.consumer<!ring>) {
        %late = arith.cmpi ugt, %k, %c20 : index
        %small = arith.cmpi ult, %i, %m : index
        %some = arith.andi %late, %small : i1
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
}
