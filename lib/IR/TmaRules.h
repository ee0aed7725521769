// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What TMA asks of the memrefs that it copies.

#ifndef FP8_LIB_IR_TMARULES_H
#define FP8_LIB_IR_TMARULES_H

#include "fp8/IR/Fp8.h"

namespace mlir::fp8 {

/// What lies along an axis of a memref: "rows" or, of a batch, "matrices"; of
/// scales of MXFP8 "tiles" and "rows of tiles".
StringRef getPartName(MemRefType type, int64_t axis);

/// Checks that rows and matrices are a multiple of 16 bytes and less than 2^40
/// apart, where the type says. Errors call the memref `name`, and the rule
/// `label`.
LogicalResult verifyTmaStrides(Operation *op, MemRefType type,
                               const Twine &name, StringRef label);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_TMARULES_H
