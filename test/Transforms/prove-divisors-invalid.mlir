// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is no multiple of the divisor stays in a division.

// RUN: not fp8-opt %s --fp8-prove -o /dev/null 2>&1 | FileCheck %s

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // A quotient is more by 3, not the same.
  // CHECK-DAG: error: kernel 'more' does not end: roles wait for one another, with argument 0 = 0, argument 1 = 1{{$}}
  gpu.func @more(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %c3 = arith.constant 3 : index
      %thrice = arith.muli %m, %c3 : index
      %sum = arith.addi %n, %thrice : index
      %trips = arith.divui %sum, %m : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %trips = arith.divui %n, %m : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // What is more by 1 leaves another remainder.
  // CHECK-DAG: error: kernel 'one' does not end: roles wait for one another, with argument 0 = 1, argument 1 = 2{{$}}
  gpu.func @one(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %sum = arith.addi %n, %c1 : index
      %trips = arith.remui %sum, %m : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %trips = arith.remui %n, %m : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // What has a part of the divisor leaves another one.
  // CHECK-DAG: error: kernel 'part' does not end: roles wait for one another, with argument 0 = 1, argument 1 = 1{{$}}
  gpu.func @part(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %divisor = arith.addi %m, %c1 : index
      %sum = arith.addi %n, %m : index
      %trips = arith.remui %sum, %divisor : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %divisor = arith.addi %m, %c1 : index
      %trips = arith.remui %n, %divisor : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
