// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be launched by the runtime is an error at its op.

// RUN: fp8-opt %s --fp8-lower-launches -split-input-file -verify-diagnostics

module @not_lowered attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    // expected-error @below {{'gpu.func' op is not lowered: a kernel to emit must contain only ops of the llvm and nvvm dialects; run a pipeline that lowers it first, such as --fp8-gemm-to-ptx}}
    gpu.func @kernel() kernel { gpu.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @no_chip attributes {gpu.container_module} {
  // expected-error @below {{'gpu.module' op must name one chip to emit code for, as in gpu.module @module [#nvvm.target<chip = "sm_100a">]}}
  gpu.module @module {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @more_than_a_launch attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{'memref.store' op has effects that a launch manifest cannot express; move it to a function that launches no kernel}}
    memref.store %zero, %a[%c1] : memref<8xf32>
    // expected-note @below {{the kernel is launched here}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @returns_the_device attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) -> index {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'fp8.multiprocessor_count' op is removed together with the launch of a kernel, but another op uses its result; return nothing that depends on it}}
    %sms = fp8.multiprocessor_count
    gpu.launch_func @module::@kernel blocks in (%sms, %c1, %c1) threads in (%c1, %c1, %c1)
    // expected-note @below {{used here}}
    return %sms : index
  }
}

// -----

module @other_function attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  // expected-error @below {{'fp8HostLaunch'}}
  llvm.func @fp8HostLaunch(i32)
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @compiled_already attributes {gpu.container_module} {
  gpu.binary @module [#gpu.object<#nvvm.target<chip = "sm_90a">, "cubin">]
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'gpu.launch_func' op launches @module::@kernel, which is already in a gpu.binary; run --fp8-lower-launches before --gpu-module-to-binary}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
