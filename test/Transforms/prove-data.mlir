// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one datum are not taken for independent: two kernels are right, and not refuted.

// RUN: not fp8-opt %s --fp8-prove -o /dev/null 2>&1 | FileCheck %s

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // The remainder of one number, twice.
  // CHECK-DAG: remark: the proof of kernel 'remainder' is not complete: some roles wait for one another
  gpu.func @remainder(%in: memref<?xi32>, %other: memref<?xi32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %count = memref.load %in[%c1] : memref<?xi32>
      %c3 = arith.constant 3 : i32
      %rest = arith.andi %count, %c3 : i32
      %trips = arith.index_cast %rest : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %count = memref.load %in[%c1] : memref<?xi32>
      %c4 = arith.constant 4 : i32
      %rest = arith.remui %count, %c4 : i32
      %trips = arith.index_cast %rest : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // The smaller of two numbers, twice.
  // CHECK-DAG: remark: the proof of kernel 'smaller' is not complete: some roles wait for one another
  gpu.func @smaller(%in: memref<?xi32>, %other: memref<?xi32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %count = memref.load %in[%c1] : memref<?xi32>
      %c3 = arith.constant 3 : i32
      %most = arith.minui %count, %c3 : i32
      %trips = arith.index_cast %most : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %count = memref.load %in[%c1] : memref<?xi32>
      %c3 = arith.constant 3 : i32
      %less = arith.cmpi ult, %count, %c3 : i32
      %most = arith.select %less, %count, %c3 : i32
      %trips = arith.index_cast %most : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Of two numbers.
  // CHECK-DAG: error: kernel 'two' does not end: roles wait for one another, where
  gpu.func @two(%in: memref<?xi32>, %other: memref<?xi32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %count = memref.load %in[%c1] : memref<?xi32>
      %c4 = arith.constant 4 : i32
      %rest = arith.remui %count, %c4 : i32
      %trips = arith.index_cast %rest : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %count = memref.load %other[%c1] : memref<?xi32>
      %c4 = arith.constant 4 : i32
      %rest = arith.remui %count, %c4 : i32
      %trips = arith.index_cast %rest : i32 to index
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
