// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roles whose body has several blocks, and which go wrong.

// RUN: not fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // CHECK-DAG: error: kernel 'steps' does not end: roles wait for one another, with argument 0 = 1{{$}}
  gpu.func @steps(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %c2 = arith.constant 2 : index
      %half = arith.divui %n, %c2 : index
      cf.br ^guard(%end, %c0 : !fp8.producer<!ring>, index)
    ^guard(%e: !fp8.producer<!ring>, %i: index):
      %more = arith.cmpi ult, %i, %half : index
      cf.cond_br %more, ^turn, ^behind
    ^turn:
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      %i2 = arith.addi %i, %c1 : index
      cf.br ^guard(%next, %i2 : !fp8.producer<!ring>, index)
    ^behind:
      fp8.close %e : !fp8.producer<!ring>
      fp8.yield
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      cf.br ^guard(%end, %c0 : !fp8.consumer<!ring>, index)
    ^guard(%e: !fp8.consumer<!ring>, %i: index):
      %more = arith.cmpi ult, %i, %n : index
      cf.cond_br %more, ^turn, ^behind
    ^turn:
      %stage = fp8.acquire %e : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      %i2 = arith.addi %i, %c1 : index
      cf.br ^guard(%next, %i2 : !fp8.consumer<!ring>, index)
    ^behind:
      fp8.close %e : !fp8.consumer<!ring>
      fp8.yield
    }
    gpu.return
  }

  // Lanes part around a wait.
  // CHECK-DAG: error: kernel 'lanes' does not end: whether its steps take place depends on argument 0 - the lane's number - 1, which differs among the threads of its role{{$}}
  gpu.func @lanes(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %less = arith.cmpi ult, %n, %m : index
      cf.cond_br %less, ^some, ^join(%end : !fp8.producer<!ring>)
    ^some:
      %stage = fp8.acquire %end : !fp8.producer<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      cf.br ^join(%next : !fp8.producer<!ring>)
    ^join(%last: !fp8.producer<!ring>):
      fp8.close %last : !fp8.producer<!ring>
      fp8.yield
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %lane = gpu.lane_id
      %mine = arith.cmpi ult, %lane, %n : index
      cf.cond_br %mine, ^some, ^join(%end : !fp8.consumer<!ring>)
    ^some:
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      cf.br ^join(%next : !fp8.consumer<!ring>)
    ^join(%last: !fp8.consumer<!ring>):
      fp8.close %last : !fp8.consumer<!ring>
      fp8.yield
    }
    gpu.return
  }

  // Lanes may part around a shuffle.
  // CHECK-DAG: error: the proof of kernel 'shuffle' is not complete: it is not known whether all lanes of a warp do it; move it out of the branch
  gpu.func @shuffle(%n: index, %out: memref<32xf32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      cf.br ^guard(%end, %c0 : !fp8.producer<!ring>, index)
    ^guard(%e: !fp8.producer<!ring>, %i: index):
      %more = arith.cmpi ult, %i, %n : index
      cf.cond_br %more, ^turn, ^behind
    ^turn:
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      %i2 = arith.addi %i, %c1 : index
      cf.br ^guard(%next, %i2 : !fp8.producer<!ring>, index)
    ^behind:
      fp8.close %e : !fp8.producer<!ring>
      fp8.yield
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %lane = gpu.lane_id
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0 : i32
      %width = arith.constant 32 : i32
      %one = arith.constant 1.0 : f32
      %mine = arith.cmpi ult, %lane, %c4 : index
      cf.cond_br %mine, ^some, ^turns
    ^some:
      %other, %valid = gpu.shuffle idx %one, %zero, %width : f32
      memref.store %other, %out[%lane] : memref<32xf32>
      cf.br ^turns
    ^turns:
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
      fp8.yield
    }
    gpu.return
  }

  // The first slot is left out.
  // CHECK-DAG: error: kernel 'meeting' does not end: roles wait for one another, with argument 0 = 0, argument 1 = 1{{$}}
  gpu.func @meeting(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      cf.br ^guard(%end, %c0 : !fp8.producer<!ring>, index)
    ^guard(%e: !fp8.producer<!ring>, %i: index):
      %more = arith.cmpi ult, %i, %n : index
      cf.cond_br %more, ^turn, ^behind
    ^turn:
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      %i2 = arith.addi %i, %c1 : index
      cf.br ^guard(%next, %i2 : !fp8.producer<!ring>, index)
    ^behind:
      fp8.close %e : !fp8.producer<!ring>
      fp8.yield
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %some = arith.cmpi ult, %n, %m : index
      cf.cond_br %some, ^first, ^guard(%end, %c0 : !fp8.consumer<!ring>, index)
    ^first:
      %stage0 = fp8.acquire %end : !fp8.consumer<!ring>
      %next0 = fp8.release %stage0 : !fp8.consumer_stage<!ring>
      cf.br ^guard(%next0, %c0 : !fp8.consumer<!ring>, index)
    ^guard(%e: !fp8.consumer<!ring>, %i: index):
      %more = arith.cmpi ult, %i, %n : index
      cf.cond_br %more, ^turn, ^behind
    ^turn:
      %stage = fp8.acquire %e : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      %i2 = arith.addi %i, %c1 : index
      cf.br ^guard(%next, %i2 : !fp8.consumer<!ring>, index)
    ^behind:
      fp8.close %e : !fp8.consumer<!ring>
      fp8.yield
    }
    gpu.return
  }

  // Two ends of a role are not followed.
  // CHECK-DAG: error: the proof of kernel 'ends' is not complete: its control flow is not structured; let each loop of its blocks have one exit, and the blocks end in one place
  gpu.func @ends(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %some = arith.cmpi ult, %m, %n : index
      %last = scf.if %some -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %end : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      } else {
        scf.yield %end : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %some = arith.cmpi ult, %n, %m : index
      cf.cond_br %some, ^one, ^none
    ^one:
      %stage = fp8.acquire %end : !fp8.consumer<!ring>
      %next = fp8.release %stage : !fp8.consumer_stage<!ring>
      fp8.close %next : !fp8.consumer<!ring>
      fp8.yield
    ^none:
      fp8.close %end : !fp8.consumer<!ring>
      fp8.yield
    }
    gpu.return
  }

  // Two exits of a loop are not followed, either.
  // CHECK-DAG: error: the proof of kernel 'exits' is not complete: its control flow is not structured; let each loop of its blocks have one exit, and the blocks end in one place
  gpu.func @exits(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %some = arith.cmpi ult, %m, %n : index
      %last = scf.if %some -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %end : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      } else {
        scf.yield %end : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.execute_region -> !fp8.consumer<!ring> {
        cf.br ^guard(%end, %c0 : !fp8.consumer<!ring>, index)
      ^guard(%e: !fp8.consumer<!ring>, %i: index):
        %more = arith.cmpi ult, %i, %n : index
        cf.cond_br %more, ^turn, ^behind(%e : !fp8.consumer<!ring>)
      ^turn:
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        %i2 = arith.addi %i, %c1 : index
        %enough = arith.cmpi eq, %i2, %m : index
        cf.cond_br %enough, ^behind(%next : !fp8.consumer<!ring>), ^guard(%next, %i2 : !fp8.consumer<!ring>, index)
      ^behind(%l: !fp8.consumer<!ring>):
        scf.yield %l : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
