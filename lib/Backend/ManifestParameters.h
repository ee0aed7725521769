// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel's parameters as manifest entries (not public).

#ifndef FP8_LIB_TARGET_MANIFESTPARAMETERS_H
#define FP8_LIB_TARGET_MANIFESTPARAMETERS_H

#include "ManifestExpressions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::fp8 {

/// One entry for each parameter of `kernel`, in order. An operand of the launch
/// makes one: a tensor map, a pointer, a scalar; a memref makes one (the bare
/// pointer) or MLIR's descriptor, whichever the kernel's type has.
FailureOr<llvm::json::Array> emitParameters(gpu::LaunchFuncOp launch,
                                            FunctionOpInterface kernel,
                                            ManifestExpressions &expressions);

} // namespace mlir::fp8

#endif // FP8_LIB_TARGET_MANIFESTPARAMETERS_H
