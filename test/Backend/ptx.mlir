// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lowered kernel as PTX: directives, locations, the wait that is tied to the
// registers it completes, 32-bit shared addresses.

// RUN: fp8-opt %s --emit=ptx -o - | FileCheck %s
// RUN: fp8-opt %s --emit=ptx -o - | FileCheck %s --check-prefix=LOC
// RUN: fp8-opt %s --emit=llvm -o - | FileCheck %s --check-prefix=LLVM

// CHECK: .version 8.8
// CHECK: .target sm_100a
// CHECK: .extern .shared .align 1024 .b8 smem[];
// CHECK: .visible .entry kernel(
// CHECK: .maxntid 192, 1, 1
// A shared address needs no 64-bit register.
// CHECK: mov.b32 %r{{[0-9]+}}, smem;
// Whatever reads a loaded register comes after the wait.
// CHECK: tcgen05.ld.sync.aligned.32x32b.x2.b32
// CHECK-NOT: add.
// CHECK: tcgen05.wait::ld.sync.aligned;
// CHECK: add.

// LOC: .loc [[FILE:[0-9]+]] {{[0-9]+}} {{[0-9]+}}
// LOC: .file [[FILE]] "{{.*}}ptx.mlir"
// LOC-NOT: .section .debug_info

// LLVM: target datalayout = {{.*}}p3:32:32
// LLVM: target triple = "nvptx64-nvidia-cuda"
// LLVM: define ptx_kernel void @kernel
// LLVM: emissionKind: DebugDirectivesOnly

gpu.module @module [#nvvm.target<chip = "sm_100a">] {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 192, 1, 1>} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %tmem = llvm.load %smem : !llvm.ptr<3> -> !llvm.ptr<6>
    %loaded = nvvm.tcgen05.ld %tmem {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<2xi32>
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %l0 = llvm.extractelement %loaded[%i0 : i32] : vector<2xi32>
    %l1 = llvm.extractelement %loaded[%i1 : i32] : vector<2xi32>
    %done = llvm.inline_asm has_side_effects asm_dialect = att "tcgen05.wait::ld.sync.aligned;", "=r,=r,0,1,~{memory}" %l0, %l1
        : (i32, i32) -> !llvm.struct<(i32, i32)>
    %d0 = llvm.extractvalue %done[0] : !llvm.struct<(i32, i32)>
    %d1 = llvm.extractvalue %done[1] : !llvm.struct<(i32, i32)>
    %sum = llvm.add %d0, %d1 : i32
    llvm.store volatile %sum, %out : i32, !llvm.ptr<1>
    %address = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
    llvm.store volatile %address, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
