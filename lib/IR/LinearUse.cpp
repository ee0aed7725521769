// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op does with a linear value that it uses.

#include "fp8/IR/LinearUse.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fp8;

bool mlir::fp8::mayAccessBarriers(Operation *op) {
  auto effects = getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](auto &effect) {
    return isa<BarrierResource>(effect.getResource());
  });
}

bool mlir::fp8::mayWaitForSlot(Operation *op) {
  auto linear = dyn_cast<LinearOpInterface>(op);
  return linear && llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
           return getEndOf(operand.get().getType()) && linear.mayWait(operand);
         });
}

bool mlir::fp8::isWithin(OpOperand &use, OperandRange range) {
  unsigned index = use.getOperandNumber();
  return !range.empty() && index >= range.getBeginOperandIndex() &&
         index < range.getBeginOperandIndex() + range.size();
}

bool mlir::fp8::isForwarded(OpOperand &use) {
  Operation *op = use.getOwner();
  auto contains = [&](OperandRange range) { return isWithin(use, range); };
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned successor = 0; successor < op->getNumSuccessors();
         ++successor)
      if (contains(
              branch.getSuccessorOperands(successor).getForwardedOperands()))
        return true;
    return false;
  }
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    return llvm::any_of(successors, [&](RegionSuccessor &successor) {
      return contains(branch.getEntrySuccessorOperands(successor));
    });
  }
  if (auto call = dyn_cast<CallOpInterface>(op))
    return contains(call.getArgOperands());
  if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(op)) {
    // A function's return is one as well; there is no parent to ask for the
    // successors.
    auto parent = dyn_cast_or_null<RegionBranchOpInterface>(op->getParentOp());
    if (!parent)
      return isa_and_nonnull<FunctionOpInterface>(op->getParentOp());
    SmallVector<RegionSuccessor> successors;
    parent.getSuccessorRegions(RegionBranchPoint(terminator), successors);
    return llvm::any_of(successors, [&](RegionSuccessor &successor) {
      return contains(terminator.getSuccessorOperands(successor));
    });
  }
  return op->hasTrait<mlir::OpTrait::ReturnLike>() &&
         isa_and_nonnull<FunctionOpInterface>(op->getParentOp());
}

SelectLikeOpInterface mlir::fp8::getSelect(OpOperand &use) {
  auto select = dyn_cast<SelectLikeOpInterface>(use.getOwner());
  return select && use.get() != select.getCondition() ? select
                                                      : SelectLikeOpInterface();
}

bool mlir::fp8::isSelected(Value value) {
  return llvm::any_of(value.getUses(),
                      [](OpOperand &use) { return getSelect(use) != nullptr; });
}

bool mlir::fp8::runsRegionsInPlace(Operation *op) {
  if (!isa<RegionBranchOpInterface>(op))
    return false;
  if (auto linear = dyn_cast<LinearOpInterface>(op))
    return !linear.refusesCapture();
  // The interface does not say which threads run a region, or when: that of
  // acc.parallel or async.execute runs elsewhere. These dialects say so.
  return llvm::is_contained({"scf", "affine", "memref"},
                            op->getName().getDialectNamespace());
}

void mlir::fp8::visitRegionEdges(
    RegionBranchOpInterface op, Operation *from,
    llvm::function_ref<void(OperandRange, ValueRange)> visit) {
  auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(from);
  if (from != op && !terminator)
    return;
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(from == op ? RegionBranchPoint::parent()
                                    : RegionBranchPoint(terminator),
                         successors);
  for (RegionSuccessor &successor : successors)
    visit(from == op ? op.getEntrySuccessorOperands(successor)
                     : terminator.getSuccessorOperands(successor),
          successor.getSuccessorInputs());
}

/// The op whose regions the op is of: itself, or that of a terminator.
static RegionBranchOpInterface getRegionOp(Operation *op) {
  if (auto region = dyn_cast<RegionBranchOpInterface>(op))
    return region;
  return isa<RegionBranchTerminatorOpInterface>(op)
             ? dyn_cast_or_null<RegionBranchOpInterface>(op->getParentOp())
             : RegionBranchOpInterface();
}

/// True if the operand is handed along edges of the region op, whose regions
/// run in place, to values of its type.
static bool isForwardedByRegions(OpOperand &use,
                                 RegionBranchOpInterface region) {
  if (!runsRegionsInPlace(region))
    return false;
  bool isForwarded = false, keepsType = true;
  visitRegionEdges(
      region, use.getOwner(), [&](OperandRange from, ValueRange to) {
        if (!isWithin(use, from))
          return;
        isForwarded = true;
        unsigned index = use.getOperandNumber() - from.getBeginOperandIndex();
        keepsType &=
            index < to.size() && to[index].getType() == use.get().getType();
      });
  return isForwarded && keepsType;
}

/// True if a return hands the operand to a result of its type.
static bool isReturned(OpOperand &use) {
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(use.getOwner()->getParentOp());
  if (!function)
    return false;
  ArrayRef<Type> results = function.getResultTypes();
  unsigned index = use.getOperandNumber();
  return index < results.size() && results[index] == use.get().getType();
}

UseKind mlir::fp8::classifyUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto linear = dyn_cast<LinearOpInterface>(op))
    return linear.getLinearUse(use) == LinearUse::Borrow ? UseKind::Borrow
                                                         : UseKind::Consume;
  if (getSelect(use))
    return UseKind::Consume;
  bool isConsumed;
  if (RegionBranchOpInterface region = getRegionOp(op))
    isConsumed = isForwardedByRegions(use, region);
  else if (op->hasTrait<mlir::OpTrait::IsTerminator>() &&
           op->getNumSuccessors() == 0)
    isConsumed = isForwarded(use) && isReturned(use);
  else
    // The verifiers of branches and calls compare types.
    isConsumed = isForwarded(use);
  return isConsumed ? UseKind::Consume : UseKind::Illegal;
}
