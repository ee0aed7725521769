// CTAs of a kernel without clusters share nothing. So a launch may place some of them together, and the kernel stays as it is.
// RUN: fp8-opt %s --convert-fp8-to-nvvm | FileCheck %s

// CHECK: gpu.func @kernel() kernel attributes
// CHECK-NOT: cluster
// CHECK-LABEL: func.func @together
// CHECK: gpu.launch_func @m::@kernel clusters in (%[[TWO:.*]], %[[ONE:.*]], %[[ONE]]) blocks in

!ring = !fp8.pipeline<1, s: !fp8.tile<1x128xf32>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @kernel() kernel attributes {fp8.linear} {
      %p, %c = fp8.pipeline : !fp8.producer<!ring>, !fp8.consumer<!ring>
      fp8.role "load" warps(1) (%e = %p) : !fp8.producer<!ring> {
        fp8.close %e : !fp8.producer<!ring>
      }
      fp8.role "read" warps(4) (%e = %c) : !fp8.consumer<!ring> {
        fp8.close %e : !fp8.consumer<!ring>
      }
      gpu.return
    }
  }
  func.func @together() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c160 = arith.constant 160 : index
    gpu.launch_func @m::@kernel clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c160, %c1, %c1)
    return
  }
}
