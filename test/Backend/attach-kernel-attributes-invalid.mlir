// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: fp8-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(fp8-attach-kernel-attributes))'

gpu.module @wrong_attribute {
  // expected-error @below {{'llvm.func' op attribute 'fp8.tensor_map_args' must be an array of i32}}
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel, fp8.tensor_map_args = "0"} { llvm.return }
}

// -----

gpu.module @past_the_last {
  // expected-error @below {{'llvm.func' op fp8.tensor_map_args names argument 1, but the kernel has 1}}
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel, fp8.tensor_map_args = array<i32: 1>} { llvm.return }
}

// -----

gpu.module @negative {
  // expected-error @below {{'llvm.func' op fp8.tensor_map_args names argument -1, but the kernel has 1}}
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel, fp8.tensor_map_args = array<i32: -1>} { llvm.return }
}

// -----

gpu.module @no_pointer {
  // expected-error @below {{'llvm.func' op fp8.tensor_map_args names argument 0, which must be a '!llvm.ptr', but got 'i64'}}
  llvm.func @kernel(%map: i64) attributes {nvvm.kernel, fp8.tensor_map_args = array<i32: 0>} { llvm.return }
}
