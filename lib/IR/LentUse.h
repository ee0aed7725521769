// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a value that a borrow lent (L9): an index, a condition, a
// barrier, a view, or what is computed from one.

#ifndef FP8_LIB_IR_LENTUSE_H
#define FP8_LIB_IR_LENTUSE_H

#include "mlir/IR/Operation.h"

namespace mlir::fp8 {

/// True if the use lets the lent value outlive its handle: the op hands it to a
/// block argument, a result of a region op, a caller or a callee, or may write
/// it to memory. What an op may write follows from its side effects and from
/// the types of the memory that they name. An op of unknown effects may write a
/// number wherever it takes an address.
bool letsEscape(OpOperand &use);

/// The values that carry a lent operand on: results of the op that are computed
/// from it, and the variables of a loop. Data that the op reads from memory are
/// not among them.
SmallVector<Value> getDerivedValues(OpOperand &use);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_LENTUSE_H
