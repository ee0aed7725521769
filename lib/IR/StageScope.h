// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the scoped stage ops (produce, consume, per_k_stage, consume_explicit)
// share: bound stages, results that start with the advanced ends.

#ifndef FP8_LIB_IR_STAGESCOPE_H
#define FP8_LIB_IR_STAGESCOPE_H

#include "BindingRegion.h"

namespace mlir::fp8 {

/// The stage that acquiring an end of that type, ready or not, yields; null if
/// it is not an end.
Type getStageTypeOf(Type end);

/// Checks that slots of the end can be waited for and acquired.
LogicalResult verifyIsUsable(Operation *op, Type end, StringRef what);

/// Parses and prints `(%stage = %end, ...) : end types -> result types { ...
/// }`.
ParseResult parseStageScope(OpAsmParser &parser, OperationState &result);
void printStageScope(OpAsmPrinter &printer, Operation *op, ValueRange ends,
                     Region &body);

/// Checks bindings, and that the results are the ends, then what the body
/// yields.
LogicalResult verifyStageScope(Operation *op, ValueRange ends, Region &body);

/// The single region runs once; the yielded values become the results that
/// follow the first `numLeadingResults`.
void getOnceRegionSuccessors(Operation *op, Region &body,
                             RegionBranchPoint point,
                             unsigned numLeadingResults,
                             SmallVectorImpl<RegionSuccessor> &successors);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_STAGESCOPE_H
