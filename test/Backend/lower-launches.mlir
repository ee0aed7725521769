// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches become calls of the runtime; kernels and manifests, constants.

// RUN: fp8-opt %s --fp8-lower-launches | FileCheck %s
// RUN: fp8-opt %s --fp8-lower-launches --fp8-lower-launches -o %t.twice.mlir
// RUN: fp8-opt %s --fp8-lower-launches | cmp - %t.twice.mlir
// RUN: mlir-opt %t.twice.mlir --symbol-dce --expand-strided-metadata --convert-scf-to-cf --convert-to-llvm --reconcile-unrealized-casts -o %t.llvm.mlir
// RUN: mlir-opt %t.twice.mlir --inline | FileCheck %s --check-prefix=INLINE
// RUN: sed '/gpu.module/,/^  }/d' %t.llvm.mlir | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=LLVM

// What is not launched stays, and with it the module's attribute.
// CHECK: module @program attributes {gpu.container_module}
module @program attributes {gpu.container_module, fp8.debug_waits = 100 : i64} {
  // CHECK: llvm.func @fp8HostLaunch(!llvm.ptr, !llvm.ptr, i64)
  // CHECK-NOT: gpu.module @kernels
  gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
    llvm.func @negate(%x: !llvm.ptr, %n: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
    llvm.func @copy(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  // CHECK: gpu.module @others
  gpu.module @others [#nvvm.target<chip = "sm_90a">] {
    llvm.func @negate(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }

  // CHECK-LABEL: func.func @negate(
  // CHECK-SAME: %[[X:.*]]: memref<?x8xbf16, strided<[?, 1], offset: ?>>) {
  // CHECK-NOT: {{cf|fp8|gpu}}.
  // CHECK: %[[STACK:.*]] = llvm.intr.stacksave
  // CHECK: %[[COUNT:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK: %[[ARGUMENTS:.*]] = llvm.alloca %[[COUNT]] x !llvm.struct<(ptr, i64, i64, ptr, ptr)>
  // CHECK: %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
  // CHECK: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
  // CHECK: %[[BYTES:.*]] = arith.constant 2 : index
  // CHECK: %[[SKIPPED:.*]] = arith.muli %[[OFFSET]], %[[BYTES]]
  // CHECK: %[[FIRST:.*]] = arith.addi %[[POINTER]], %[[SKIPPED]]
  // CHECK: %[[TYPE:.*]] = llvm.mlir.addressof @fp8_type_bf16
  // CHECK: %[[ADDRESS:.*]] = arith.index_cast %[[FIRST]] : index to i64
  // CHECK: %[[RANK:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK: %[[SHAPE:.*]] = llvm.alloca %{{.*}} x i64
  // CHECK: %[[SHAPE0:.*]] = llvm.getelementptr %[[SHAPE]][0]
  // CHECK: %[[SIZE0:.*]] = arith.index_cast %[[SIZES]]#0
  // CHECK: llvm.store %[[SIZE0]], %[[SHAPE0]]
  // CHECK: %[[SHAPE1:.*]] = llvm.getelementptr %[[SHAPE]][1]
  // CHECK: %[[SIZE1:.*]] = arith.index_cast %[[SIZES]]#1
  // CHECK: llvm.store %[[SIZE1]], %[[SHAPE1]]
  // CHECK: %[[APART:.*]] = llvm.alloca %{{.*}} x i64
  // CHECK: %[[APART0:.*]] = llvm.getelementptr %[[APART]][0]
  // CHECK: %[[STRIDE0:.*]] = arith.index_cast %[[STRIDES]]#0
  // CHECK: llvm.store %[[STRIDE0]], %[[APART0]]
  // CHECK: %[[U:.*]] = llvm.mlir.undef
  // CHECK: %[[V:.*]] = llvm.insertvalue %[[TYPE]], %[[U]][0]
  // CHECK: %[[W:.*]] = llvm.insertvalue %[[ADDRESS]], %[[V]][1]
  // CHECK: %[[Y:.*]] = llvm.insertvalue %[[RANK]], %[[W]][2]
  // CHECK: %[[Z:.*]] = llvm.insertvalue %[[SHAPE]], %[[Y]][3]
  // CHECK: %[[ARGUMENT:.*]] = llvm.insertvalue %[[APART]], %[[Z]][4]
  // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[ARGUMENTS]][0]
  // CHECK: llvm.store %[[ARGUMENT]], %[[PLACE]]
  // CHECK: %[[KERNEL:.*]] = llvm.mlir.addressof @[[NEGATE:negate.*]] :
  // CHECK-NEXT: llvm.call @fp8HostLaunch(%[[KERNEL]], %[[ARGUMENTS]], %[[COUNT]])
  // CHECK-NEXT: llvm.intr.stackrestore %[[STACK]]
  // CHECK-NEXT: return
  // CHECK-NEXT: }
  func.func @negate(%x: memref<?x8xbf16, strided<[?, 1], offset: ?>> {fp8.name = "x", fp8.access = "readwrite"})
      attributes {fp8.problem = "negate"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : i32
    %sms = fp8.multiprocessor_count
    %rows = memref.dim %x, %c0 : memref<?x8xbf16, strided<[?, 1], offset: ?>>
    %some = arith.cmpi ne, %rows, %c0 : index
    cf.assert %some, "x must have rows"
    %token = gpu.wait async
    %end = gpu.launch_func async [%token] @kernels::@negate blocks in (%sms, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%x : memref<?x8xbf16, strided<[?, 1], offset: ?>>, %c32 : i32)
    gpu.wait [%end]
    return
  }

  // Two functions launch the same kernel: one image, a manifest each. What a function returns stays.
  // CHECK-LABEL: func.func @copy(
  // CHECK: llvm.mlir.addressof @[[COPY:copy.*]] :
  // CHECK-NEXT: llvm.call @fp8HostLaunch
  // CHECK-NOT: fp8HostLaunch
  // CHECK: return %{{.*}} : index
  func.func @copy(%x: memref<64xf32>, %y: memref<64xf32>) -> index {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%x : memref<64xf32>, %y : memref<64xf32>)
    return %c1 : index
  }
  // CHECK-LABEL: func.func @copy_back(
  // CHECK: llvm.mlir.addressof @[[BACK:copy.*]] :
  // CHECK-NEXT: llvm.call @fp8HostLaunch
  func.func @copy_back(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%y : memref<64xf32>, %x : memref<64xf32>)
    return
  }

  // CHECK-LABEL: func.func @caller(
  // CHECK: scf.for
  // CHECK-NEXT: func.call @copy_back
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  // Inlined, a launch leaves the loop's stack as it was.
  // INLINE-LABEL: func.func @caller(
  // INLINE: scf.for
  // INLINE: %[[STACK:.*]] = llvm.intr.stacksave
  // INLINE-COUNT-5: llvm.alloca
  // INLINE: llvm.call @fp8HostLaunch
  // INLINE-NEXT: llvm.intr.stackrestore %[[STACK]]
  // INLINE-NEXT: }
  // INLINE-NEXT: return
  func.func @caller(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      func.call @copy_back(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
    }
    return
  }
}

// CHECK: llvm.mlir.global internal constant @[[NEGATE_IMAGE:negate_image.*]]("{{.*}}.target sm_90a{{.*}}.visible .entry negate(
// CHECK: llvm.mlir.global internal constant @[[COPY_IMAGE:copy_image.*]]("{{.*}}.visible .entry copy(
// CHECK: llvm.mlir.global internal constant @[[NEGATE_MANIFEST:negate_manifest.*]]("{{.*}}\22rule\22: \22x must have rows\22{{.*}}\00")
// CHECK: llvm.mlir.global internal @[[NEGATE]]()
// CHECK: %[[ZERO:.*]] = llvm.mlir.zero : !llvm.struct<(ptr, i64, ptr, ptr)>
// CHECK: %[[IMAGE:.*]] = llvm.mlir.addressof @[[NEGATE_IMAGE]]
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant({{[0-9]+}} : i64)
// CHECK: %[[MANIFEST:.*]] = llvm.mlir.addressof @[[NEGATE_MANIFEST]]
// CHECK: llvm.insertvalue %[[IMAGE]], %[[ZERO]][0]
// CHECK: llvm.insertvalue %[[BYTES]], %{{.*}}[1]
// CHECK: llvm.insertvalue %[[MANIFEST]], %{{.*}}[2]
// CHECK: llvm.mlir.global internal constant @fp8_type_bf16("bf16\00")
// CHECK: llvm.mlir.global internal @[[COPY]]()
// CHECK: llvm.mlir.addressof @[[COPY_IMAGE]]
// CHECK: llvm.mlir.global internal constant @fp8_type_f32("f32\00")
// CHECK: llvm.mlir.global internal @[[BACK]]()
// CHECK: llvm.mlir.addressof @[[COPY_IMAGE]]
// CHECK-NOT: @fp8_type_

// LLVM-DAG: @fp8_type_bf16 = internal constant [5 x i8] c"bf16\00"
// LLVM-DAG: @[[COPY:copy.*]] = internal global { ptr, i64, ptr, ptr } { ptr @[[IMAGE:copy_image.*]], i64 {{[0-9]+}}, ptr @{{copy_manifest.*}}, ptr null }
// LLVM-DAG: @[[IMAGE]] = internal constant
// LLVM: call void @fp8HostLaunch(ptr @[[COPY]], ptr %{{.*}}, i64 2)
