// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of rings (within phase 3), for those who bring patterns of their
// own.

#ifndef FP8_CONVERSION_RINGSTOBARRIERS_H
#define FP8_CONVERSION_RINGSTOBARRIERS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fp8 {

/// Adds patterns to those that lower a kernel's ops. One with a benefit above 1
/// goes before ours.
using PopulatePatternsFn =
    llvm::function_ref<void(const TypeConverter &, RewritePatternSet &)>;

/// Does to a linear kernel what --convert-fp8-rings-to-barriers does, with more
/// patterns. An end, a stage or a warp handle is four i32 for them, a store
/// queue or an exchange two.
LogicalResult convertRingsToBarriers(FunctionOpInterface kernel,
                                     PopulatePatternsFn populateMore = nullptr);

} // namespace mlir::fp8

#endif // FP8_CONVERSION_RINGSTOBARRIERS_H
