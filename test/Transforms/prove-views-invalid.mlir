// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of arrays that hide nothing.

// RUN: not fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // Another element of the array.
  // CHECK-DAG: error: kernel 'trips' does not end: roles wait for one another, where
  gpu.func @trips(%in: memref<?xi32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %view = memref.subview %in[4] [8] [1] : memref<?xi32> to memref<8xi32, strided<[1], offset: 4>>
      %count = memref.load %view[%c1] : memref<8xi32, strided<[1], offset: 4>>
      %trips = arith.index_castui %count : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c4 = arith.constant 4 : index
      %count = memref.load %in[%c4] : memref<?xi32>
      %trips = arith.index_castui %count : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // One role writes by a view what the other one reads, before they agree.
  // CHECK-DAG: error: kernel 'written' breaks ownership: role "empty" reads element 0 of argument 2, which role "fill" writes, and nothing orders the two
  gpu.func @written(%n: index, %m: index, %in: memref<?xf32>, %out: memref<?xf32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %one = arith.constant 1.0 : f32
      %view = memref.subview %in[%m] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        memref.store %one, %view[%c0] : memref<?xf32, strided<[1], offset: ?>>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %x = memref.load %in[%m] : memref<?xf32>
        memref.store %x, %out[%i] : memref<?xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
