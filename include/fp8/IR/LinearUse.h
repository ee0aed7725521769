// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op does with a linear value that it uses.

#ifndef FP8_IR_LINEARUSE_H
#define FP8_IR_LINEARUSE_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::fp8 {

/// What an op does with a value that it uses, as to linearity.
enum class UseKind {
  Borrow,  ///< uses the value and leaves it alive
  Consume, ///< ends its life: consumed by the op, or handed on along control
           ///< flow or a call (L5)
  Illegal, ///< neither is declared (L6)
};

/// Classifies one use of a linear value.
UseKind classifyUse(OpOperand &use);

/// True if the use passes its value on: to a block argument, a region argument
/// or result, a caller or a callee.
bool isForwarded(OpOperand &use);

/// The select that chooses between the used value and another value; null if
/// the user is no such select.
SelectLikeOpInterface getSelect(OpOperand &use);

/// True if the op runs its regions in place: on the threads that execute the
/// op, one region at a time. Handles may then be used inside the regions. An op
/// of another dialect declares this by LinearOpInterface.
bool runsRegionsInPlace(Operation *op);

/// Calls `visit` for each edge of the region op that leaves `from`, which is
/// the op itself or the terminator of one of its blocks. The arguments are the
/// operands that the edge passes on and the values that receive them.
void visitRegionEdges(RegionBranchOpInterface op, Operation *from,
                      llvm::function_ref<void(OperandRange, ValueRange)> visit);

/// True if the op may wait for a slot, or take one, at one of the ring ends
/// that it is given. Ops that hand ends on along control flow do neither.
bool mayWaitForSlot(Operation *op);

/// True if a select uses the value.
bool isSelected(Value value);

/// True if the operand is in the range.
bool isWithin(OpOperand &use, OperandRange range);

} // namespace mlir::fp8

#endif // FP8_IR_LINEARUSE_H
