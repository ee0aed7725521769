// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops of other dialects by which the lanes of a warp work together.

#ifndef FP8_ANALYSIS_WARPOPS_H
#define FP8_ANALYSIS_WARPOPS_H

#include "mlir/Support/LLVM.h"

namespace mlir::fp8 {

/// True if the op of that name, "nvvm.shfl.sync", exchanges values among the
/// lanes of a warp, or makes them meet, and reaches no other warp. All lanes
/// must execute it together (PTX ISA, .sync and .aligned).
bool isAmongLanes(StringRef name);

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_WARPOPS_H
