// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops do to the contents of a memref, and which memrefs share contents.

#ifndef FP8_CONVERSION_LINALGTOFP8_ACCESS_H
#define FP8_CONVERSION_LINALGTOFP8_ACCESS_H

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fp8::fromlinalg {

/// True if the body has no effects, such as stores or assertions, that would be
/// lost with the op.
bool onlyComputes(linalg::LinalgOp op);

/// Whether the op may read or write the memref, which is no view. Looks into
/// linalg ops, of which `AliasAnalysis` says that they may do anything.
ModRefResult getAccess(Operation *op, Value memref, AliasAnalysis &aliases);

/// True if the op may free it.
bool frees(Operation *op, Value memref, AliasAnalysis &aliases);

/// What the value is a view of, all of it or a part: a memref of a memref or
/// tensor, a tensor of a tensor or of the memref that it lies in.
Value getViewed(Value view);

/// True if both are views of one value, and not of parts of it that are known
/// to be disjoint. Nothing is said of memory that is reached in other ways.
bool overlap(Value left, Value right);

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_ACCESS_H
