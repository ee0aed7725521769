// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that write elements of their own.

// RUN: fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // Each of 128 threads has elements of its own.
  // CHECK-DAG: kernel 'own' keeps ownership for all launches
  gpu.func @own(%n: index, %out: memref<4096xf32>) kernel attributes {fp8.linear} {
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
        %c128 = arith.constant 128 : index
        %first = arith.muli %i, %c128 : index
        %at = arith.addi %thread, %first : index
        memref.store %one, %out[%at] : memref<4096xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // A loop by 128, and the remainder of the number of a thread.
  // CHECK-DAG: kernel 'steps' keeps ownership for all launches
  gpu.func @steps(%n: index, %out: memref<4096xf32>) kernel attributes {fp8.linear} {
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
      %c128 = arith.constant 128 : index
      %thread = gpu.thread_id x
      %mine = arith.remui %thread, %c128 : index
      %one = arith.constant 1.0 : f32
      scf.for %first = %c0 to %n step %c128 {
        %at = arith.addi %mine, %first : index
        %x = memref.load %out[%at] : memref<4096xf32>
        %y = arith.addf %x, %one : f32
        memref.store %y, %out[%at] : memref<4096xf32>
      }
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // Lanes of a warp, by fours.
  // CHECK-DAG: kernel 'lanes' keeps ownership for all launches
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
      %one = arith.constant 1.0 : f32
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %lane = gpu.lane_id
        %c4 = arith.constant 4 : index
        %first = arith.muli %lane, %c4 : index
        %at = arith.addi %first, %i : index
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

  // A number that a role has from outside.
  // CHECK-DAG: kernel 'inits' keeps ownership for all launches
  gpu.func @inits(%n: index, %out: memref<4096xf32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %two = arith.constant 2.0 : f32
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c, %place = %n, %value = %two) : !fp8.consumer<!ring>, index, f32 {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        memref.store %value, %out[%place] : memref<4096xf32>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }
}
