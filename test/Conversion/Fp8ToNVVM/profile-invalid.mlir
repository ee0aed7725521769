// What stamps need of their kernel.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics --convert-fp8-to-nvvm

gpu.module @kernels {
  gpu.func @kernel(%cursor: memref<10xi32>) kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 1, shared_memory = 16, registers = 255>} {
    %id = fp8.id warp
    fp8.role "one" warps(1) attributes {fp8.plan = #fp8.role_plan<>} {
      %leader, %warp, %lane = fp8.role_thread %id
      // expected-error @below {{'fp8.stamp_write' op needs the kernel's profile table in a kernel whose rings are barriers}}
      fp8.stamp_write %cursor : memref<10xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op has 1 roles, of which 4096 stamps each in 1000000 CTAs take more than 268435456 bytes; profile fewer CTAs, or write fewer stamps}}
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear, fp8.plan = #fp8.cta_plan<warps = 1, shared_memory = 16, registers = 255>, fp8.profile_table = {ctas = 1000000, stamps = 4096, roles = [{}]}} {
    gpu.return
  }
}
