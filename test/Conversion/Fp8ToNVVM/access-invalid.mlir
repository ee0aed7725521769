// RUN: fp8-opt %s --convert-fp8-to-nvvm -verify-diagnostics

// A kernel may not write what it may only read: by single elements, behind a cast,
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @fill(%out: memref<?xf32>) kernel attributes {fp8.linear} {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      fp8.role "fill" warps(1) {
        memref.store %one, %out[%c0] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func @launch(%out: memref<8xf32> {fp8.name = "out", fp8.access = "constant"}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %any = memref.cast %out : memref<8xf32> to memref<?xf32>
    // expected-error @below {{passes argument 0, whose 'fp8.access' is "constant", as parameter 0 of kernel 'fill', which writes to it; state "write" or "readwrite" (H5)}}
    gpu.launch_func @m::@fill blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%any : memref<?xf32>)
    return
  }
}

// and through a map.
// RUN: fp8-opt %fp8_source/examples/tutorial/gemm.mlir --fp8-gemm-to-ptx=chip=sm_90a -o /dev/null
// RUN: sed '/fp8.name = "d"/s/fp8.access = "write"/fp8.access = "read"/' %fp8_source/examples/tutorial/gemm.mlir > %t.mlir
// RUN: not fp8-opt %t.mlir --fp8-gemm-to-ptx=chip=sm_90a -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: 'gpu.launch_func' op passes argument 2, whose 'fp8.access' is "read", as parameter 2 of kernel '{{.*}}', which writes to it; state "write" or "readwrite" (H5)
