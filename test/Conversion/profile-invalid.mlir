// RUN: fp8-opt %s -split-input-file -verify-diagnostics --fp8-profile
// RUN: not fp8-opt %s --fp8-profile=ctas=0 2>&1 | FileCheck %s --check-prefix=CTAS
// RUN: not fp8-opt %s --fp8-profile=stamps=-1 2>&1 | FileCheck %s --check-prefix=NUMBER

// CTAS: error: the number of 'ctas' must be at least 1, but got 0
// NUMBER: error: the number of 'stamps' must be at least 1, but got -1
gpu.module @kernels {
  // expected-error @below {{'gpu.func' op is already lowered, so its waits cannot get stamps; run --fp8-profile before --convert-fp8-rings-to-barriers}}
  gpu.func @kernel() kernel attributes {fp8.barriers, fp8.linear} {
    gpu.return
  }
}
