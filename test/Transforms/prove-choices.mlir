// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trip counts that branches without handles choose.

// RUN: fp8-opt %s --fp8-prove=require -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // CHECK-DAG: kernel 'cases' keeps ownership for all launches
  gpu.func @cases(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %c4 = arith.constant 4 : index
      %rest = arith.remui %n, %c4 : index
      %trips = scf.index_switch %rest -> index
      case 0 {
        scf.yield %c4 : index
      }
      case 1 {
        %more = arith.addi %m, %c1 : index
        scf.yield %more : index
      }
      default {
        scf.yield %c1 : index
      }
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %c4 = arith.constant 4 : index
      %rest = arith.remui %n, %c4 : index
      %more = arith.addi %m, %c1 : index
      %is0 = arith.cmpi eq, %rest, %c0 : index
      %is1 = arith.cmpi eq, %rest, %c1 : index
      %other = arith.select %is1, %more, %c1 : index
      %trips = arith.select %is0, %c4, %other : index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  // CHECK-DAG: kernel 'loaded' keeps ownership for all launches
  gpu.func @loaded(%n: index, %m: index, %in: memref<?xi32>) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %less = arith.cmpi ult, %n, %m : index
      %count = scf.if %less -> (i32) {
        %x = memref.load %in[%n] : memref<?xi32>
        scf.yield %x : i32
      } else {
        %zero = arith.constant 0 : i32
        scf.yield %zero : i32
      }
      %trips = arith.index_cast %count : i32 to index
      %last = scf.for %i = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %less = arith.cmpi uge, %n, %m : index
      %count = scf.if %less -> (i32) {
        %zero = arith.constant 0 : i32
        scf.yield %zero : i32
      } else {
        %x = memref.load %in[%n] : memref<?xi32>
        scf.yield %x : i32
      }
      %trips = arith.index_cast %count : i32 to index
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
