// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop without handles, whose condition lanes may not share.

// RUN: not fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // Each lane finds another number.
  // CHECK-DAG: error: the proof of kernel 'found' is not complete: it is not known whether all lanes of a warp do it; move it out of the branch
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
      %lane = gpu.lane_id
      %found = scf.while (%at = %lane) : (index) -> index {
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

  // So it is where the loop passes on what lanes have of their own.
  // CHECK-DAG: error: the proof of kernel 'carried' is not complete: it is not known whether all lanes of a warp do it; move it out of the branch
  gpu.func @carried(%n: index, %out: memref<32xf32>) kernel attributes {fp8.linear} {
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
      %lane = gpu.lane_id
      %found, %count = scf.while (%mine = %lane, %at = %c1) : (index, index) -> (index, index) {
        %less = arith.cmpi ult, %at, %n : index
        scf.condition(%less) %mine, %at : index, index
      } do {
      ^bb0(%mine: index, %at: index):
        %next = arith.addi %at, %c1 : index
        scf.yield %mine, %next : index, index
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

  // Lanes make different numbers of turns.
  // CHECK-DAG: error: the proof of kernel 'turns' is not complete: it is not known whether all lanes of a warp do it; move it out of the branch
  gpu.func @turns(%n: index, %out: memref<32xf32>) kernel attributes {fp8.linear} {
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
      %lane = gpu.lane_id
      %found = scf.while (%at = %c1) : (index) -> index {
        %less = arith.cmpi ult, %at, %lane : index
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
}
