// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records that waits leave when they give up, and the stamps of profiled
// kernels: what both passes and both conversions know.

#ifndef FP8_LIB_CONVERSION_WAITRECORDS_H
#define FP8_LIB_CONVERSION_WAITRECORDS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fp8 {

/// The variable of a module through which kernels find the records.
inline constexpr llvm::StringLiteral kWaitRecordsName = "fp8_debug_waits";

/// The variable of a module that holds the stamps of its kernel.
inline constexpr llvm::StringLiteral kStampsName = "fp8_profile";

/// Checks that the waits of no kernel are instructions already, which would
/// stay as they are and nobody be told. `what` says what they cannot get,
/// `pass` who gives it.
LogicalResult checkNotLowered(ModuleOp module, llvm::StringRef what,
                              llvm::StringRef pass);

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_WAITRECORDS_H
