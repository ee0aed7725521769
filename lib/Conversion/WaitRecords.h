// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records that waits leave when they give up.

#ifndef FP8_LIB_CONVERSION_WAITRECORDS_H
#define FP8_LIB_CONVERSION_WAITRECORDS_H

#include "mlir/Support/LLVM.h"

namespace mlir::fp8 {

/// The variable of a module through which kernels find the records.
inline constexpr llvm::StringLiteral kWaitRecordsName = "fp8_debug_waits";

} // namespace mlir::fp8

#endif // FP8_LIB_CONVERSION_WAITRECORDS_H
