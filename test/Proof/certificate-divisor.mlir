// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The certificate of a kernel whose roles divide by an argument is accepted.

// RUN: fp8-opt %s --fp8-prove=certificate=%t.json -o /dev/null && fp8-check-proof %t.json | FileCheck %s
// CHECK: accepted: kernel 'more' ends for all launches

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  // Twice the divisor more: the quotient is more by 2.
  gpu.func @more(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %twice = arith.muli %m, %c2 : index
      %sum = arith.addi %n, %twice : index
      %trips = arith.divui %sum, %m : index
      %last = scf.for %j = %c0 to %trips step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %quotient = arith.divui %n, %m : index
      %trips = arith.addi %quotient, %c2 : index
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
