// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of linear kernels (phase 2 to the end of 3), for those who bring
// patterns of their own.

#ifndef FP8_CONVERSION_FP8TONVVM_H
#define FP8_CONVERSION_FP8TONVVM_H

#include "fp8/Conversion/RingsToBarriers.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {

/// Puts the ops of a kernel in the order in which their patterns are applied.
/// The order changes nothing.
using OrderOpsFn = llvm::function_ref<void(MutableArrayRef<Operation *>)>;

/// Does what --convert-fp8-to-nvvm does, with more patterns, which
/// convertRingsToBarriers gets, too. `order` is for tests.
LogicalResult convertFp8ToNVVM(ModuleOp module,
                               PopulatePatternsFn populateMore = nullptr,
                               OrderOpsFn order = nullptr);

} // namespace mlir::fp8

#endif // FP8_CONVERSION_FP8TONVVM_H
