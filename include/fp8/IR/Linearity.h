// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole-function check of linear values (L1 to L9).

#ifndef FP8_IR_LINEARITY_H
#define FP8_IR_LINEARITY_H

#include "mlir/IR/Operation.h"

namespace mlir::fp8 {

/// Checks every linear value in the function's body and reports each broken
/// rule at the value, with notes at the causes. Accepts IR that is not verified
/// otherwise, and does not crash on it. For a correct function the cost is
/// linear in the size of the function.
LogicalResult verifyLinearity(Operation *function);

} // namespace mlir::fp8

#endif // FP8_IR_LINEARITY_H
