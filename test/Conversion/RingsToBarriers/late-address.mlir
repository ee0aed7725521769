// A scale is loaded behind the view of its tile, also where the address of the tile is known before the wait.
// RUN: fp8-opt %s --convert-fp8-to-nvvm | FileCheck %s

!row = !fp8.tile<1x128xf32>
!sum = !fp8.fragment<128x64xf32, 4>

// CHECK-LABEL: gpu.func @kernel
gpu.module @kernels {
  gpu.func @kernel(%address: i32, %tmem: i32, %scale: f32, %out: memref<?xf32>) kernel
      attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 4, shared_memory = 1024, registers = 255>} {
    %id = fp8.id warp
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %slot = arith.addi %address, %c512 : i32
    fp8.role "read" warps(4) attributes {fp8.plan = #fp8.role_plan<>} {
      %leader, %warp, %lane = fp8.role_thread %id
      %zero = fp8.zero : !sum
      // CHECK: nvvm.elect.sync
      // CHECK-NOT: llvm.load
      // CHECK: nvvm.mbarrier.try_wait
      fp8.mbarrier_wait %address, %c0
      // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
      %row = fp8.view_at %slot : !row
      %acc = fp8.view_at %tmem : !fp8.tmem<128x64xf32>
      %sum = fp8.promote %zero, %acc scales(%row, %scale) : !sum, !fp8.tmem<128x64xf32>, !row
    }
    gpu.return
  }
}
