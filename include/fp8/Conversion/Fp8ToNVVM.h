// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of linear kernels (phase 2 to 3), for those who bring patterns
// of their own.

#ifndef FP8_CONVERSION_FP8TONVVM_H
#define FP8_CONVERSION_FP8TONVVM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fp8 {

/// Adds patterns to those that lower a kernel's ops. One with a benefit above 1
/// goes before ours.
using PopulatePatternsFn =
    llvm::function_ref<void(const TypeConverter &, RewritePatternSet &)>;

/// Does what --convert-fp8-to-nvvm does, with more patterns.
LogicalResult convertFp8ToNVVM(ModuleOp module,
                               PopulatePatternsFn populateMore = nullptr);

} // namespace mlir::fp8

#endif // FP8_CONVERSION_FP8TONVVM_H
