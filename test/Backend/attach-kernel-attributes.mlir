// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: fp8-opt %s --pass-pipeline='builtin.module(gpu.module(fp8-attach-kernel-attributes))' > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: fp8-opt %t.mlir --pass-pipeline='builtin.module(gpu.module(fp8-attach-kernel-attributes))' | FileCheck %s
// RUN: fp8-opt %t.mlir --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: fp8-opt %s --emit=ptx -o - | FileCheck %s --check-prefix=WITHOUT

// PTX: .extern .shared .align 1024 .b8 dynamic[];
// PTX: .visible .entry kernel(
// PTX-NEXT: .param .u32 kernel_param_0,
// PTX-NEXT: .param .align 128 .b8 kernel_param_1[128]
// PTX-NOT: .local
// PTX: prefetch{{.*}}.tensormap

// What the pass is there to prevent.
// WITHOUT: .param .u64 .ptr .align 1 kernel_param_1

// CHECK: llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK: llvm.mlir.global external @wide() {addr_space = 3 : i32, alignment = 2048 : i64}
// CHECK: llvm.mlir.global internal @static() {addr_space = 3 : i32, alignment = 8 : i64}
// CHECK: llvm.func @kernel(%{{.*}}: i32, %{{.*}}: !llvm.ptr {llvm.align = 128 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
// CHECK: llvm.func internal @plain(%{{[a-z0-9]+}}: !llvm.ptr)

gpu.module @module [#nvvm.target<chip = "sm_100a">] {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global external @wide() {addr_space = 3 : i32, alignment = 2048 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal @static() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<4 x i8>
  llvm.func @kernel(%n: i32, %map: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, fp8.tensor_map_args = array<i32: 1>} {
    nvvm.prefetch tensormap, %map : !llvm.ptr
    %smem = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    llvm.store volatile %n, %smem : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func internal @plain(%p: !llvm.ptr) { llvm.return }
}
