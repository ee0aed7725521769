// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch manifest cannot express is an error at its op.

// RUN: fp8-opt %s --emit=ptx -split-input-file -verify-diagnostics

module @never_launched {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    // expected-error @below {{'llvm.func' op has no gpu.launch_func that calls it, so no launch manifest can be written; add a host function that launches it, or pass --no-manifest}}
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
}

// -----

module @launched_twice attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    // expected-error @below {{'llvm.func' op is launched more than once; a launch manifest describes one launch}}
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    // expected-note @below {{launched here}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    // expected-note @below {{launched here}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @scalar_argument attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel(%n: i32) attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  // expected-error @below {{'func.func' op argument 0 must be a strided memref to be written to a launch manifest, but got 'i32'}}
  func.func @host(%n: i32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : i32)
    return
  }
}

// -----

module @same_name attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  // expected-error @below {{'func.func' op names two arguments 'a'}}
  func.func @host(%a: memref<8xf32> {fp8.name = "a"}, %b: memref<8xf32> {fp8.name = "a"}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @offset attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  // expected-error @below {{'func.func' op argument 0 must start at its element 0, but its layout has the offset 4}}
  func.func @host(%a: memref<8xf32, strided<[1], offset: 4>>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @other_effects attributes {gpu.container_module} {
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

module @conditional_launch attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>, %p: i1) {
    %c1 = arith.constant 1 : index
    scf.if %p {
      // expected-error @below {{'gpu.launch_func' op must be in the only block of a func.func to be written to a launch manifest}}
      gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    }
    return
  }
}

// -----

module @operator attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?xf32>
    // expected-error @below {{'arith.shli' op cannot be expressed in a launch manifest; compute sizes by integer arithmetic from constants, the sizes and strides of memref arguments, and device properties}}
    %n = arith.shli %m, %c1 : index
    // expected-note @below {{needed by 'gpu.launch_func'}}
    gpu.launch_func @module::@kernel blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @bitwise attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?xf32>
    // expected-error @below {{'arith.andi' op cannot be expressed in a launch manifest}}
    %n = arith.andi %m, %c1 : index
    // expected-note @below {{needed by 'gpu.launch_func'}}
    gpu.launch_func @module::@kernel blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @block_size attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?xf32>
    // expected-error @below {{'gpu.launch_func' op must have a constant block size to be written to a launch manifest}}
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%m, %c1, %c1)
    return
  }
}

// -----

module @no_such_size attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'memref.dim' op uses size 1 of 'memref<?xf32>', whose rank is 1}}
    %m = memref.dim %a, %c1 : memref<?xf32>
    gpu.launch_func @module::@kernel blocks in (%m, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @wide_number attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'arith.constant' op cannot be expressed in a launch manifest}}
    %wide = arith.constant 99999999999999999999 : i128
    // expected-note @below {{needed by 'arith.index_cast'}}
    %m = arith.index_cast %wide : i128 to index
    gpu.launch_func @module::@kernel blocks in (%m, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @name_in_no_encoding attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  // expected-error @below {{'func.func' op has a name of an argument that is not UTF-8; a launch manifest must be UTF-8}}
  func.func @host(%a: memref<8xf32> {fp8.name = "\FF"}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @rule_in_no_encoding attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // expected-error @below {{'cf.assert' op has a rule that is not UTF-8; a launch manifest must be UTF-8}}
    cf.assert %true, "\FF"
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @true_is_minus_one attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?xf32>
    %some = arith.cmpi ugt, %m, %c1 : index
    // expected-error @below {{'arith.index_cast' op cannot be expressed in a launch manifest; compute sizes by integer arithmetic}}
    %grid = arith.index_cast %some : i1 to index
    // expected-note @below {{needed by 'gpu.launch_func'}}
    gpu.launch_func @module::@kernel blocks in (%grid, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @negative_dividend attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?xf32>
    %c5 = arith.constant 5 : index
    %rest = arith.subi %m, %c5 : index
    // expected-error @below {{'arith.divsi' op cannot be expressed in a launch manifest; compute sizes by integer arithmetic}}
    %grid = arith.divsi %rest, %c5 : index
    // expected-note @below {{needed by 'gpu.launch_func'}}
    gpu.launch_func @module::@kernel blocks in (%grid, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module @negative_is_large attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_100a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host(%a: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?xf32>
    %large = arith.constant -2 : index
    // expected-error @below {{'arith.minui' op cannot be expressed in a launch manifest; compute sizes by integer arithmetic}}
    %grid = arith.minui %m, %large : index
    // expected-note @below {{needed by 'gpu.launch_func'}}
    gpu.launch_func @module::@kernel blocks in (%grid, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
