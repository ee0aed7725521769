// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of the columns of tensor memory that scales are copied to.

#ifndef FP8_LIB_ANALYSIS_SCALERULES_H
#define FP8_LIB_ANALYSIS_SCALERULES_H

#include "fp8/Analysis/HandleFlow.h"

namespace mlir::fp8 {

/// (A6) The scales of a stage, or those of the products that are added up in a
/// stage: no two products in flight have columns in common. Reports the first
/// MMA that breaks this.
LogicalResult checkScales(unsigned stage, const StageUse &use,
                          const HandleFlow &flow);

} // namespace mlir::fp8

#endif // FP8_LIB_ANALYSIS_SCALERULES_H
