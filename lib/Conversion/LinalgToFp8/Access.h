// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops do to the contents of a memref.

#ifndef FP8_CONVERSION_LINALGTOFP8_ACCESS_H
#define FP8_CONVERSION_LINALGTOFP8_ACCESS_H

#include "mlir/Analysis/AliasAnalysis.h"

namespace mlir::fp8::fromlinalg {

/// Whether the op may read or write the memref, which is no view. Looks into
/// linalg ops, of which `AliasAnalysis` says that they may do anything.
ModRefResult getAccess(Operation *op, Value memref, AliasAnalysis &aliases);

/// True if the op may free it.
bool frees(Operation *op, Value memref, AliasAnalysis &aliases);

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_ACCESS_H
