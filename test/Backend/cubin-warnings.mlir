// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ptxas warns of is a warning at the kernel, and with --ptxas-strict an error. In its place stands a program that warns.

// RUN: echo '#!/bin/sh' > %t.ptxas
// RUN: echo 'echo "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized"' >> %t.ptxas
// RUN: echo 'while [ "$1" != -o ]; do shift; done; echo cubin > "$2"' >> %t.ptxas
// RUN: chmod +x %t.ptxas
// RUN: fp8-opt %s --emit=cubin --ptxas=%t.ptxas -o %t.cubin 2>&1 | FileCheck %s
// RUN: fp8-opt %s --fp8-lower-launches="emit=cubin ptxas=%t.ptxas" 2>&1 | FileCheck %s
// RUN: not fp8-opt %s --emit=cubin --ptxas=%t.ptxas --ptxas-strict -o %t.cubin 2>&1 | FileCheck %s --check-prefix=STRICT

// CHECK-NOT: C7510
// CHECK: cubin-warnings.mlir:[[# @LINE + 7]]:{{.*}}: warning: ptxas warns about kernel 'kernel':
// CHECK-NEXT: (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
// CHECK-NOT: C7510
// STRICT: cubin-warnings.mlir:[[# @LINE + 4]]:{{.*}}: error: ptxas warns about kernel 'kernel':
// STRICT-NEXT: (C7510)
module attributes {gpu.container_module} {
  gpu.module @module [#nvvm.target<chip = "sm_90a">] {
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  func.func @host() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @module::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
