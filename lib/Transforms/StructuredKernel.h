// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the structured kernel (phase 1) of a blockwise-scaled GEMM.

#ifndef FP8_LIB_TRANSFORMS_STRUCTUREDKERNEL_H
#define FP8_LIB_TRANSFORMS_STRUCTUREDKERNEL_H

#include "GemmPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::fp8 {

/// Builds the kernel into `module`. Its arguments: the tensor maps of A, A's
/// scales, B and D, the B scales as a memref, the tile grid's rows and columns,
/// and the number of K blocks.
gpu::GPUFuncOp buildStructuredKernel(OpBuilder &builder, Location loc,
                                     gpu::GPUModuleOp module, StringRef name,
                                     const GemmPlan &plan,
                                     MemRefType bScaleType);

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_STRUCTUREDKERNEL_H
