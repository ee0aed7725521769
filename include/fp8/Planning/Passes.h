// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes that write what is derived from a linear kernel (within phase 2).

#ifndef FP8_PLANNING_PASSES_H
#define FP8_PLANNING_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::fp8 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fp8/Planning/Passes.h.inc"

} // namespace mlir::fp8

#endif // FP8_PLANNING_PASSES_H
