// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A memref that the kernel takes as MLIR's descriptor becomes its parts; a
// pointer made of its address becomes one parameter.

// RUN: fp8-opt %s --emit=ptx -o %t.ptx
// RUN: %python -c "import json; [print(p) for p in json.load(open(r'%t.ptx.json'))['parameters']]" | FileCheck %s

// CHECK: {'argument': 'arg0', 'kind': 'pointer'}
// CHECK-NEXT: {'argument': 'arg0', 'kind': 'pointer'}
// CHECK-NEXT: {'kind': 'scalar', 'type': 'i64', 'value': 0}
// CHECK-NEXT: {'kind': 'scalar', 'type': 'i64', 'value': {'dim': ['arg0', 0]}}
// CHECK-NEXT: {'kind': 'scalar', 'type': 'i64', 'value': 8}
// CHECK-NEXT: {'kind': 'scalar', 'type': 'i64', 'value': {'stride': ['arg0', 0]}}
// CHECK-NEXT: {'kind': 'scalar', 'type': 'i64', 'value': 1}
// CHECK-NEXT: {'argument': 'arg0', 'kind': 'pointer'}
// An index is as wide as the kernel's lowering made it.
// CHECK-NEXT: {'kind': 'scalar', 'type': 'i32', 'value': {'dim': ['arg0', 0]}}

module attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%allocated: !llvm.ptr, %aligned: !llvm.ptr, %offset: i64, %size0: i64, %size1: i64, %stride0: i64, %stride1: i64,
                      %p: !llvm.ptr, %m: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?x8xf32, strided<[?, 1]>>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?x8xf32, strided<[?, 1]>>
    %address = memref.extract_aligned_pointer_as_index %a : memref<?x8xf32, strided<[?, 1]>> -> index
    %integer = arith.index_cast %address : index to i64
    %p = llvm.inttoptr %integer : i64 to !llvm.ptr
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x8xf32, strided<[?, 1]>>, %p : !llvm.ptr, %m : index)
    return
  }
}
