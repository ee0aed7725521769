// Where a programmatic kernel waits for the kernels in front if it touches memory by itself.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(convert-fp8-rings-to-barriers,canonicalize,cse))' | FileCheck %s

!tile = !fp8.tile<1x128xf32>
!ring = !fp8.pipeline<2, a: !tile, b: !tile>

// What is read in front of the roles waits there, and so do all roles.
// CHECK-LABEL: gpu.func @reads_before_roles
// CHECK: fp8.sync cta
// CHECK-NEXT: fp8.grid_dependency wait
// CHECK: memref.load
// CHECK-NOT: fp8.grid_dependency
// A role that follows a pointer may touch anything, so that it waits where it begins. The other one loads a constant.
// CHECK-LABEL: gpu.func @follows_pointer
// CHECK: fp8.role "load" warps(1)
// CHECK-NEXT: fp8.role_thread
// CHECK: fp8.grid_dependency wait
// CHECK: llvm.store
gpu.module @others {
  gpu.func @reads_before_roles(%a: !fp8.tensor_map<!tile>, %d: memref<?xf32>) kernel attributes {fp8.linear, fp8.programmatic} {
    %c0 = arith.constant 0 : index
    %pa, %pb, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.producer<!ring>, !fp8.consumer<!ring>
    %x = memref.load %d[%c0] : memref<?xf32>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      memref.store %x, %d[%c0] : memref<?xf32>
      fp8.close %end : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %pa) : !fp8.producer<!ring> {
      fp8.close %end : !fp8.producer<!ring>
    }
    fp8.role "load_b" warps(1) (%end = %pb) : !fp8.producer<!ring> {
      fp8.close %end : !fp8.producer<!ring>
    }
    gpu.return
  }

  gpu.func @follows_pointer(%table: !llvm.ptr, %d: memref<?xf32>) kernel attributes {fp8.linear, fp8.programmatic} {
    %c0 = arith.constant 0 : index
    %pa, %pb, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.producer<!ring>, !fp8.consumer<!ring>
    fp8.role "read" warps(4) (%end = %c) : !fp8.consumer<!ring> {
      fp8.close %end : !fp8.consumer<!ring>
    }
    fp8.role "load" warps(1) (%end = %pa) : !fp8.producer<!ring> {
      %x = arith.constant 1.0 : f32
      llvm.store %x, %table : f32, !llvm.ptr
      fp8.close %end : !fp8.producer<!ring>
    }
    fp8.role "load_b" warps(1) (%end = %pb) : !fp8.producer<!ring> {
      fp8.close %end : !fp8.producer<!ring>
    }
    gpu.return
  }

  // Assembly may touch anything, and an op with a region its operands.
  // CHECK-LABEL: gpu.func @assembly
  // CHECK: fp8.sync cta
  // CHECK-NEXT: fp8.grid_dependency wait
  // CHECK: llvm.inline_asm
  gpu.func @assembly(%address: i64, %d: memref<?xf32>) kernel attributes {fp8.linear, fp8.programmatic} {
    %c0 = arith.constant 0 : index
    %x = llvm.inline_asm has_side_effects "ld.global.f32 $0, [$1];", "=f,l" %address : (i64) -> f32
    fp8.role "alone" warps(4) {
      memref.store %x, %d[%c0] : memref<?xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @atomic
  // CHECK: fp8.sync cta
  // CHECK-NEXT: fp8.grid_dependency wait
  // CHECK: memref.generic_atomic_rmw
  gpu.func @atomic(%d: memref<?xf32>) kernel attributes {fp8.linear, fp8.programmatic} {
    %c0 = arith.constant 0 : index
    %old = memref.generic_atomic_rmw %d[%c0] : memref<?xf32> {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      memref.atomic_yield %y : f32
    }
    fp8.role "alone" warps(4) {
      memref.store %old, %d[%c0] : memref<?xf32>
    }
    gpu.return
  }
}
