// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to single bits of integers.

// RUN: fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // CHECK-DAG: kernel 'flags' keeps ownership for all launches
  gpu.func @flags(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %c2 = arith.constant 2 : index
      %twice = arith.muli %n, %c2 : index
      %odd = arith.ori %twice, %c1 : index
      %low = arith.andi %m, %c1 : index
      %other = arith.xori %low, %c1 : index
      %trips = arith.addi %odd, %other : index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c2 = arith.constant 2 : index
      %twice = arith.muli %n, %c2 : index
      %odd = arith.addi %twice, %c1 : index
      %low = arith.remui %m, %c2 : index
      %other = arith.subi %c1, %low : index
      %trips = arith.addi %odd, %other : index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Rounded up to a multiple by a mask.
  // CHECK-DAG: kernel 'mask' keeps ownership for all launches
  gpu.func @mask(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %c7 = arith.constant 7 : index
      %mask = arith.constant -8 : index
      %more = arith.addi %n, %c7 : index
      %trips = arith.andi %more, %mask : index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c8 = arith.constant 8 : index
      %groups = arith.ceildivui %n, %c8 : index
      %trips = arith.muli %groups, %c8 : index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // A cast to 32 bits keeps the number, one to a single bit keeps its last.
  // CHECK-DAG: kernel 'casts' keeps ownership for all launches
  gpu.func @casts(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %wide = arith.index_cast %n : index to i64
      %narrow = arith.trunci %wide : i64 to i32
      %bit = arith.trunci %narrow : i32 to i1
      %odd = arith.extui %bit : i1 to i32
      %sum = arith.addi %narrow, %odd : i32
      %trips = arith.index_cast %sum : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c2 = arith.constant 2 : index
      %odd = arith.remui %n, %c2 : index
      %trips = arith.addi %n, %odd : index
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
