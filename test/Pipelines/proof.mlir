// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On their way to PTX kernels in phase 2 are proved: a refutation is an error, an incomplete proof a remark, and a proved kernel is not mentioned.

// RUN: not fp8-opt %s --fp8-gemm-to-ptx -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=in_step
// RUN: not fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-verify-protocol))' -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=in_step
// CHECK: remark: the proof of kernel 'nest' is not complete: some roles wait for one another
// CHECK: note: taken for granted: issued copies and products complete;
// CHECK: error: kernel 'tail' does not end: roles wait for one another, with argument 0 = 1
// CHECK: note: role "empty" waits for slot 0 of a ring without tiles, which role "fill" has not filled in lap 0
// CHECK: note: role "fill" has ended; let it take as many slots of this ring as role "empty"
// CHECK: note: taken for granted: issued copies and products complete;

// With require-proof an incomplete proof is an error.
// RUN: not fp8-opt %s --fp8-gemm-to-ptx=require-proof -o /dev/null 2>&1 | FileCheck %s --check-prefix=REQUIRE --implicit-check-not=in_step
// RUN: not fp8-opt %s --fp8-gemm-to-ptx="prove=false require-proof" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REQUIRE
// REQUIRE: error: the proof of kernel 'nest' is not complete
// REQUIRE: error: kernel 'tail' does not end

// Without the proof, and before phase 2, nothing is said.
// RUN: fp8-opt %s --fp8-gemm-to-ptx=prove=false 2>&1 | FileCheck %s --check-prefix=OFF --implicit-check-not=error: --implicit-check-not=remark:
// RUN: fp8-opt %s --fp8-gemm-to-ptx=phase=structured 2>&1 | FileCheck %s --check-prefix=EARLY --implicit-check-not=error: --implicit-check-not=remark:
// OFF: llvm.func @in_step
// OFF: llvm.func @nest
// OFF: llvm.func @tail
// EARLY: gpu.func @tail

// A kernel that comes in phase 3 has no rings to prove anything about.
// RUN: fp8-opt %s --fp8-gemm-to-ptx="prove=false phase=barriers" -o %t.mlir
// RUN: fp8-opt %t.mlir --fp8-gemm-to-ptx -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=SILENT --implicit-check-not=error: --implicit-check-not=remark:
// RUN: not fp8-opt %t.mlir --fp8-gemm-to-ptx=require-proof -o /dev/null 2>&1 | FileCheck %s --check-prefix=LATE
// SILENT-NOT: tail
// LATE: error: kernel 'in_step' cannot be proved: its rings are barriers already; let it enter the pipeline in phase 0, 1 or 2
// RUN: fp8-opt %t.mlir --fp8-prove -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARN
// WARN: warning: kernel 'in_step' is not proved: its rings are barriers already; prove it in phase 0, 1 or 2

!ring = !fp8.pipeline<2>
gpu.module @kernels {
  gpu.func @in_step(%n: index) kernel attributes {fp8.linear} {
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
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  gpu.func @nest(%n: index, %m: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%e0 = %end) -> (!fp8.producer<!ring>) {
        %inner = scf.for %j = %c0 to %m step %c1 iter_args(%e = %e0) -> (!fp8.producer<!ring>) {
          %stage = fp8.acquire %e : !fp8.producer<!ring>
          %next = fp8.release %stage : !fp8.producer_stage<!ring>
          scf.yield %next : !fp8.producer<!ring>
        }
        scf.yield %inner : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
      %all = arith.muli %n, %m : index
      %last = scf.for %i = %c0 to %all step %c1 iter_args(%e = %end) -> (!fp8.consumer<!ring>) {
        %stage = fp8.acquire %e : !fp8.consumer<!ring>
        %next = fp8.release %stage : !fp8.consumer_stage<!ring>
        scf.yield %next : !fp8.consumer<!ring>
      }
      fp8.close %last : !fp8.consumer<!ring>
    }
    gpu.return
  }

  gpu.func @tail(%n: index) kernel attributes {fp8.linear} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "fill" warps(1) (%end = %p) : !fp8.producer<!ring> {
      %last = scf.for %i = %c1 to %n step %c1 iter_args(%e = %end) -> (!fp8.producer<!ring>) {
        %stage = fp8.acquire %e : !fp8.producer<!ring>
        %next = fp8.release %stage : !fp8.producer_stage<!ring>
        scf.yield %next : !fp8.producer<!ring>
      }
      fp8.close %last : !fp8.producer<!ring>
    }
    fp8.role "empty" warps(1) (%end = %c) : !fp8.consumer<!ring> {
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
