// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes on the way to phase 4, the LLVM and NVVM dialects, and on it.

#ifndef FP8_BACKEND_PASSES_H
#define FP8_BACKEND_PASSES_H

#include "fp8/Backend/Emit.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fp8 {

#define GEN_PASS_DECL
#include "fp8/Backend/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fp8/Backend/Passes.h.inc"

} // namespace mlir::fp8

#endif // FP8_BACKEND_PASSES_H
