// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of arrays, and vectors of their elements.

// RUN: fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // CHECK-DAG: kernel 'read' keeps ownership for all launches
  gpu.func @read(%n: index, %m: index, %in: memref<?xf32>, %out: memref<?xf32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %view = memref.subview %in[%m] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %x = memref.load %view[%i] : memref<?xf32, strided<[1], offset: ?>>
        memref.store %x, %out[%i] : memref<?xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // An element of a view is one of the array.
  // CHECK-DAG: kernel 'trips' keeps ownership for all launches
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
      %c5 = arith.constant 5 : index
      %count = memref.load %in[%c5] : memref<?xi32>
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

  // What a vector is loaded from is only read.
  // CHECK-DAG: kernel 'vectors' keeps ownership for all launches
  gpu.func @vectors(%n: index, %m: index, %in: memref<?xf32>, %out: memref<?xf32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %four = vector.load %in[%i] : memref<?xf32>, vector<4xf32>
        %x = vector.extract %four[1] : f32 from vector<4xf32>
        memref.store %x, %out[%i] : memref<?xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
