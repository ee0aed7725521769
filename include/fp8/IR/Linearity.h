// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole-function check of linear values (L1 to L9).

#ifndef FP8_IR_LINEARITY_H
#define FP8_IR_LINEARITY_H

#include "mlir/IR/Operation.h"

namespace mlir::fp8 {

/// Checks every linear value in the function's body and reports each broken
/// rule at the value, with notes at the causes. Runs on IR that is otherwise
/// unverified: it reports, or stays silent, but never crashes. Its cost is
/// linear in the size of the function if nothing is wrong.
LogicalResult verifyLinearity(Operation *function);

} // namespace mlir::fp8

#endif // FP8_IR_LINEARITY_H
