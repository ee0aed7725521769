// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parameter that says whether arguments are constant in the launch.

// RUN: fp8-opt %s --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx.json

// CHECK: "parameters": [
// CHECK-NEXT: {
// CHECK-NEXT: "arguments": [
// CHECK-NEXT: "b",
// CHECK-NEXT: "arg1"
// CHECK-NEXT: ],
// CHECK-NEXT: "kind": "constant"
// CHECK-NEXT: }
// CHECK: "version": 6
module attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_90a">] {
    llvm.func @kernel(%constant: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%b: memref<?x?xf8E4M3FN> {fp8.name = "b"}, %s: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %constant = fp8.is_constant %b, %s : memref<?x?xf8E4M3FN>, memref<8xf32>
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%constant : i32)
    return
  }
}
