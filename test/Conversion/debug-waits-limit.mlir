// RUN: fp8-opt %s -verify-diagnostics --fp8-debug-waits=limit-ms=0
// RUN: not fp8-opt %s --fp8-debug-waits=limit-ms=3600001 2>&1 | FileCheck %s
// RUN: not fp8-opt %s --fp8-gemm-to-ptx=debug-waits=-1 2>&1 | FileCheck %s --check-prefix=PIPELINE

// CHECK: error: the time limit must be 1 to 3600000 milliseconds, but got 3600001
// PIPELINE: error: the time limit must be 1 to 3600000 milliseconds, but got -1
// expected-error @below {{the time limit must be 1 to 3600000 milliseconds, but got 0}}
module {
}
