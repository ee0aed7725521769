// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the structured kernel (phase 1) of a blockwise-scaled GEMM.

#ifndef FP8_LIB_TRANSFORMS_GEMM_STRUCTUREDKERNEL_H
#define FP8_LIB_TRANSFORMS_GEMM_STRUCTUREDKERNEL_H

#include "GemmSchedule.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::fp8 {

/// Builds the kernel into `module`. Its arguments are the problem's parameters.
gpu::GPUFuncOp buildStructuredKernel(OpBuilder &builder, Location loc,
                                     gpu::GPUModuleOp module, StringRef name,
                                     const GemmSchedule &schedule);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_STRUCTUREDKERNEL_H
