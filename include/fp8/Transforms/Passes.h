// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from phase 0 to phase 2.

#ifndef FP8_TRANSFORMS_PASSES_H
#define FP8_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::fp8 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fp8/Transforms/Passes.h.inc"

/// Adds the passes that copy loops or their bodies, the last passes of phase 2.
void addLoopCopyPasses(OpPassManager &passes);

} // namespace mlir::fp8

#endif // FP8_TRANSFORMS_PASSES_H
