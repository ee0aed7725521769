// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locations reach the PTX whatever their kind, and ptxas takes what they become:
// fused ones (LLVM keeps the line they share), a file's, an inlined function's,
// those of call sites, whose callee counts, also without a file, and none at all.

// RUN: fp8-opt %s --emit=ptx -o %t.ptx --no-manifest
// RUN: FileCheck %s < %t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_100a %t.ptx -o %t.cubin %}

// CHECK: .visible .entry kernel(
// CHECK: .loc [[GEMM:[0-9]+]] 12 0
// CHECK-NEXT: add
// CHECK: .loc [[GEMM]] 12 7
// CHECK-NEXT: st.volatile
// CHECK: .loc [[GEMM]] 30 3
// CHECK-NEXT: st.volatile
// CHECK: .loc [[GEMM]] 40 2
// CHECK-NEXT: st.volatile
// CHECK: .loc [[GEMM]] 10 1
// CHECK-NEXT: st.volatile
// CHECK: .file [[GEMM]] "{{.*}}gemm.mlir"

gpu.module @module [#nvvm.target<chip = "sm_100a">] {
  llvm.mlir.global internal @global() {addr_space = 3 : i32} : i32 loc(callsite("gemm.mlir":2:1 at "gemm.mlir":3:1))
  llvm.func internal @helper(%p: !llvm.ptr<1>, %v: i32) attributes {always_inline} {
    llvm.store volatile %v, %p : i32, !llvm.ptr<1> loc("gemm.mlir":30:3)
    llvm.return loc("gemm.mlir":31:3)
  } loc("gemm.mlir":29:1)
  llvm.func @kernel(%p: !llvm.ptr<1>, %v: i32) attributes {gpu.kernel, nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32 loc(unknown)
    %w = llvm.add %v, %one : i32 loc(fused["gemm.mlir":12:7, "gemm.mlir":12:9])
    llvm.store volatile %w, %p : i32, !llvm.ptr<1> loc("gemm.mlir":12:7)
    llvm.call @helper(%p, %w) : (!llvm.ptr<1>, i32) -> () loc("gemm.mlir":14:5)
    llvm.call @helper(%p, %one) : (!llvm.ptr<1>, i32) -> () loc(unknown)
    llvm.store volatile %v, %p : i32, !llvm.ptr<1> loc(callsite("gemm.mlir":40:2 at "gemm.mlir":14:5))
    llvm.store volatile %v, %p : i32, !llvm.ptr<1> loc(callsite("nowhere" at "gemm.mlir":14:5))
    llvm.return loc("gemm.mlir":15:5)
  } loc("gemm.mlir":10:1)
} loc(callsite("gemm.mlir":1:1 at "gemm.mlir":3:1))
