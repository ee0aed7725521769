// Tensor maps are listed by the numbers that their arguments have when memrefs are descriptors, of 3 + 2 * rank arguments each: a map
// behind a memref would otherwise be a pointer into nowhere.
// RUN: fp8-opt %s --convert-fp8-to-nvvm | FileCheck %s
// RUN: fp8-opt %s --convert-fp8-to-nvvm --convert-gpu-to-nvvm --reconcile-unrealized-casts --fp8-attach-kernel-attributes | FileCheck %s --check-prefix=LLVM

!tile = !fp8.tile<1x128xf32>
!map = !fp8.tensor_map<!tile>

// CHECK: gpu.func @kernel({{.*}}) kernel attributes {{{.*}}fp8.tensor_map_args = array<i32: 0, 8, 15>
// LLVM: llvm.func @kernel(%arg0: !llvm.ptr {{{.*}}llvm.byval = !llvm.array<128 x i8>{{.*}}}, %arg1: !llvm.ptr{{[,:]}}
// LLVM-SAME: %arg8: !llvm.ptr {{{[^}]*}}llvm.byval = !llvm.array<128 x i8>
// LLVM-SAME: %arg15: !llvm.ptr {{{[^}]*}}llvm.byval = !llvm.array<128 x i8>
gpu.module @kernels {
  gpu.func @kernel(%a: !map, %x: memref<?x?xf32>, %b: !map, %y: memref<4xf32>, %n: index, %c: !map) kernel attributes {fp8.linear} {
    fp8.role "none" warps(1) {
    }
    gpu.return
  }
}
