// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a sum of products runs through all of K.

#ifndef FP8_CONVERSION_LINALGTOFP8_DEPTH_H
#define FP8_CONVERSION_LINALGTOFP8_DEPTH_H

#include "Product.h"

namespace mlir::fp8::fromlinalg {

/// Checks that the reductions of `op`, through `depth` elements or a dynamic
/// number of them, are all of K: reads at (k floordiv 4, k mod 4) may end
/// before. `scales` are read in blocks.
LogicalResult checkDepth(const Product &product, linalg::LinalgOp op,
                         int64_t depth, ArrayRef<const Element *> scales,
                         Refusal &refusal);

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_DEPTH_H
