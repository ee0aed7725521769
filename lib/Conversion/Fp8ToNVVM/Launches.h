// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of kernels that become instructions.

#ifndef FP8_LIB_CONVERSION_FP8TONVVM_LAUNCHES_H
#define FP8_LIB_CONVERSION_FP8TONVVM_LAUNCHES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {

/// Gives the kernel's launches in the module its dynamic shared memory, its
/// cluster and its kind of launch. Fails with an error at the launch that
/// states something else, or that does not ask about constants that a
/// parameter tells the kernel of (H4).
LogicalResult updateLaunches(ModuleOp module, gpu::GPUFuncOp kernel);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_FP8TONVVM_LAUNCHES_H
