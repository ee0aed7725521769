// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves computations to where an fp8.compute_here asks for them.
//
// ptxas starts so much of a function of a whole fragment at once that it
// spills; next to the stores, each result frees its registers.

#include "Lowering.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fp8;

/// Adds the ops that a map made for the value, operands first: all without
/// effects up to those that take an element out of a pair.
static void collectOfMap(Value value, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !isMemoryEffectFree(op) || ops.contains(op))
    return;
  bool takesElement =
      !isa<VectorType>(value.getType()) &&
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>);
  if (!takesElement)
    for (Value operand : op->getOperands())
      collectOfMap(operand, ops);
  ops.insert(op);
}

static void place(ComputeHereOp here) {
  llvm::SetVector<Operation *> ops;
  for (Value value : here.getValues())
    collectOfMap(value, ops);
  // What another op needs before stays.
  llvm::SmallPtrSet<Operation *, 16> moved;
  auto isBehind = [&](Operation *user) {
    Operation *inBlock = here->getBlock()->findAncestorOpInBlock(*user);
    return moved.contains(user) || user == here ||
           (inBlock && here->isBeforeInBlock(inBlock));
  };
  for (Operation *op : llvm::reverse(ops))
    if (llvm::all_of(op->getUsers(), isBehind))
      moved.insert(op);
  for (Operation *op : ops)
    if (moved.contains(op))
      op->moveBefore(here);
}

void mlir::fp8::placeComputations(FunctionOpInterface kernel) {
  SmallVector<ComputeHereOp> all;
  kernel->walk([&](ComputeHereOp here) { all.push_back(here); });
  for (ComputeHereOp here : all) {
    place(here);
    here.erase();
  }
}
