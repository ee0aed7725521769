// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of a launch that a manifest cannot express, or that are not what the
// kernel takes.

// RUN: fp8-opt %s --emit=ptx -split-input-file -verify-diagnostics

module @unknown_type attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%x: f32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host() {
    %c1 = arith.constant 1 : index
    %x = arith.constant 1.0 : f32
    // expected-error @below {{'gpu.launch_func' op passes 'f32', which a launch manifest cannot express; memrefs, tensor maps, pointers to memrefs, index, i8, i16, i32 and i64 can be passed}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32)
    return
  }
}

// -----

module @wrong_type attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    // expected-note @below {{the kernel is defined here}}
    llvm.func @kernel(%n: i64) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host() {
    %c1 = arith.constant 1 : index
    %n = arith.constant 1 : i32
    // expected-error @below {{'gpu.launch_func' op passes 'i32' as parameter 0 of kernel 'kernel', which is 'i64'}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : i32)
    return
  }
}

// -----

module @too_many attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    // expected-note @below {{the kernel is defined here}}
    llvm.func @kernel(%n: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host() {
    %c1 = arith.constant 1 : index
    %n = arith.constant 1 : i32
    // expected-error @below {{'gpu.launch_func' op passes 'i32' as parameter 1 of kernel 'kernel', which has only 1}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : i32, %n : i32)
    return
  }
}

// -----

module @too_few attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%n: i32, %k: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host() {
    %c1 = arith.constant 1 : index
    %n = arith.constant 1 : i32
    // expected-error @below {{'gpu.launch_func' op passes 1 parameters to kernel 'kernel', which has 2}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : i32)
    return
  }
}

// -----

module @subview attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'memref.subview' op cannot be expressed in a launch manifest}}
    %part = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
    // expected-note @below {{needed by 'gpu.launch_func'}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%part : memref<4xf32, strided<[1], offset: 4>>)
    return
  }
}

// -----

module @pointer_arithmetic attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %address = memref.extract_aligned_pointer_as_index %a : memref<8xf32> -> index
    %next = arith.addi %address, %c1 : index
    %integer = arith.index_cast %next : index to i64
    %p = llvm.inttoptr %integer : i64 to !llvm.ptr
    // expected-error @below {{'gpu.launch_func' op passes a pointer that is not the address of a memref argument, which a launch manifest cannot express}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !llvm.ptr)
    return
  }
}

// -----

module @part_of_an_expression attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%n: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'fp8.is_constant' op is a parameter of its own in a launch manifest; pass its result to the kernel as it is}}
    %constant = fp8.is_constant %a : memref<8xf32>
    // expected-note @below {{needed by 'arith.addi'}}
    %twice = arith.addi %constant, %constant : i32
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%twice : i32)
    return
  }
}

// -----

module @wrong_type attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    // expected-note @below {{the kernel is defined here}}
    llvm.func @kernel(%n: i64) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %constant = fp8.is_constant %a : memref<8xf32>
    // expected-error @below {{'gpu.launch_func' op passes 'i32' as parameter 0 of kernel 'kernel', which is 'i64'}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%constant : i32)
    return
  }
}
