// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the lanes of a warp need not meet, since they meet elsewhere.

#ifndef FP8_LIB_ANALYSIS_MEETINGS_H
#define FP8_LIB_ANALYSIS_MEETINGS_H

#include "fp8/IR/Fp8.h"

namespace mlir::fp8 {

/// The plan of a stage, of which the uses are known.
using GetStagePlan = function_ref<StagePlan(Value)>;

/// StagePlan::converged of an op that acquires a stage or hands one over. It
/// looks at ops of the same block only.
bool isConverged(Operation *op, GetStagePlan getStage);

} // namespace mlir::fp8

#endif // FP8_LIB_ANALYSIS_MEETINGS_H
