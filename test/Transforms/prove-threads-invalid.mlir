// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that may write one element.

// RUN: not fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // Warps may be in different turns: an element may be of two threads.
  // CHECK-DAG: error: the proof of the ownership of kernel 'turns' is not complete: the number of the slot that is held must decide the element, which could not be shown
  gpu.func @turns(%n: index, %out: memref<4096xf32>) kernel attributes {fp8.linear} {
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
    fp8.role "empty" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %one = arith.constant 1.0 : f32
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %thread = gpu.thread_id x
        %at = arith.addi %thread, %i : index
        memref.store %one, %out[%at] : memref<4096xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Four threads have one remainder.
  // CHECK-DAG: error: kernel 'remainder' breaks ownership: role "empty" writes element 0 of argument 1, which another of its warps writes, too
  gpu.func @remainder(%n: index, %out: memref<4096xf32>) kernel attributes {fp8.linear} {
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
    fp8.role "empty" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %thread = gpu.thread_id x
        %c32 = arith.constant 32 : index
        %at = arith.remui %thread, %c32 : index
        %number = arith.index_cast %thread : index to i32
        %value = arith.sitofp %number : i32 to f32
        memref.store %value, %out[%at] : memref<4096xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Lanes have one element for two.
  // CHECK-DAG: error: kernel 'lanes' breaks ownership: role "empty" writes element 0 of argument 1, with another value in each of several lanes
  gpu.func @lanes(%n: index, %out: memref<4096xf32>) kernel attributes {fp8.linear} {
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
        %lane = gpu.lane_id
        %c16 = arith.constant 16 : index
        %at = arith.remui %lane, %c16 : index
        %number = arith.index_cast %lane : index to i32
        %value = arith.sitofp %number : i32 to f32
        memref.store %value, %out[%at] : memref<4096xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
