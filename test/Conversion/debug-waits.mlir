// The limit is the module's, so that kernels that a GEMM becomes later have it.
// RUN: fp8-opt %s -split-input-file -verify-diagnostics --fp8-debug-waits | FileCheck %s
// RUN: fp8-opt %s -split-input-file -verify-diagnostics --fp8-debug-waits=limit-ms=40 | FileCheck %s --check-prefix=SHORT

// CHECK: module attributes {fp8.debug_waits = 2000 : i64}
// SHORT: module attributes {fp8.debug_waits = 40 : i64}
module {
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op is already lowered, so its waits cannot get a time limit; run --fp8-debug-waits before --convert-fp8-rings-to-barriers}}
  gpu.func @kernel() kernel attributes {fp8.shared_memory_bytes = 1584 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op is already lowered, so its waits cannot get a time limit}}
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear} {
    gpu.return
  }
}
