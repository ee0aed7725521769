// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop without handles, whose condition all lanes of a warp have.

// RUN: fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // CHECK-DAG: kernel 'found' keeps ownership for all launches
  gpu.func @found(%n: index, %out: memref<32xf32>) kernel attributes {fp8.linear} {
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
      %found = scf.while (%at = %c1) : (index) -> index {
        %less = arith.cmpi ult, %at, %n : index
        scf.condition(%less) %at : index
      } do {
      ^bb0(%at: index):
        %twice = arith.addi %at, %at : index
        scf.yield %twice : index
      }
      %zero = arith.constant 0 : i32
      %width = arith.constant 32 : i32
      %one = arith.constant 1.0 : f32
      %id = gpu.lane_id
      %some = arith.cmpi ugt, %found, %c1 : index
      scf.if %some {
        %other, %valid = gpu.shuffle idx %one, %zero, %width : f32
        memref.store %other, %out[%id] : memref<32xf32>
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

  // The lanes of one warp find the same.
  // CHECK-DAG: kernel 'written' keeps ownership for all launches
  gpu.func @written(%n: index, %out: memref<1xf32>) kernel attributes {fp8.linear} {
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
      %found = scf.while (%at = %c1) : (index) -> index {
        %less = arith.cmpi ult, %at, %n : index
        scf.condition(%less) %at : index
      } do {
      ^bb0(%at: index):
        %twice = arith.addi %at, %at : index
        scf.yield %twice : index
      }
      %number = arith.index_cast %found : index to i32
      %value = arith.sitofp %number : i32 to f32
      memref.store %value, %out[%c0] : memref<1xf32>
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // All lanes make as many turns.
  // CHECK-DAG: kernel 'inside' keeps ownership for all launches
  gpu.func @inside(%n: index, %out: memref<32xf32>) kernel attributes {fp8.linear} {
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
      %zero = arith.constant 0 : i32
      %width = arith.constant 32 : i32
      %one = arith.constant 1.0 : f32
      %id = gpu.lane_id
      %found = scf.while (%at = %c1) : (index) -> index {
        %less = arith.cmpi ult, %at, %n : index
        scf.condition(%less) %at : index
      } do {
      ^bb0(%at: index):
        %twice = arith.addi %at, %at : index
        %other, %valid = gpu.shuffle idx %one, %zero, %width : f32
        memref.store %other, %out[%id] : memref<32xf32>
        scf.yield %twice : index
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
}
