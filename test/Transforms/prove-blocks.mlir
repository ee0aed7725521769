// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roles whose body has several blocks.

// RUN: fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // CHECK-DAG: kernel 'loop' keeps ownership for all launches
  gpu.func @loop(%n: index, %m: index) kernel attributes {fp8.linear} {
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
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // One role counts by twos.
  // CHECK-DAG: kernel 'steps' keeps ownership for all launches
  gpu.func @steps(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %c2 = arith.constant 2 : index
      cf.br ^guard(%end, %c0 : !fp8.producer<!ring>, index)
    ^guard(%e: !fp8.producer<!ring>, %i: index):
      %more = arith.cmpi ult, %i, %n : index
      cf.cond_br %more, ^turn, ^behind
    ^turn:
      %stage = fp8.acquire %e : !fp8.producer<!ring>
      %next = fp8.release %stage : !fp8.producer_stage<!ring>
      %i2 = arith.addi %i, %c2 : index
      cf.br ^guard(%next, %i2 : !fp8.producer<!ring>, index)
    ^behind:
      fp8.close %e : !fp8.producer<!ring>
      fp8.yield
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c2 = arith.constant 2 : index
      %half = arith.ceildivui %n, %c2 : index
      %last = scf.for %i = %c0 to %half step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // CHECK-DAG: kernel 'branch' keeps ownership for all launches
  gpu.func @branch(%n: index, %m: index) kernel attributes {fp8.linear} {
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
      %less = arith.cmpi ult, %n, %m : index
      cf.cond_br %less, ^some, ^join(%end : !fp8.consumer<!ring>)
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

  // Lanes may part where nothing waits or signals.
  // CHECK-DAG: kernel 'lanes' keeps ownership for all launches
  gpu.func @lanes(%n: index, %out: memref<32xf32>) kernel attributes {fp8.linear} {
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
      %one = arith.constant 1.0 : f32
      %mine = arith.cmpi ult, %lane, %c4 : index
      cf.cond_br %mine, ^store, ^turns
    ^store:
      memref.store %one, %out[%lane] : memref<32xf32>
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

  // The branches of a condition meet where a loop begins.
  // CHECK-DAG: kernel 'meeting' keeps ownership for all launches
  gpu.func @meeting(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %some = arith.cmpi ult, %n, %m : index
      cf.cond_br %some, ^first, ^guard(%end, %c0 : !fp8.producer<!ring>, index)
    ^first:
      %stage0 = fp8.acquire %end : !fp8.producer<!ring>
      %next0 = fp8.release %stage0 : !fp8.producer_stage<!ring>
      cf.br ^guard(%next0, %c0 : !fp8.producer<!ring>, index)
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
      %more = arith.addi %n, %c1 : index
      %trips = arith.select %some, %more, %n : index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
