// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op does with a linear value that it uses.

#include "fp8/IR/Fp8.h"
#include "fp8/IR/Linearity.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::fp8;

bool fp8::isWithin(OpOperand &use, OperandRange range) {
  unsigned index = use.getOperandNumber();
  return !range.empty() && index >= range.getBeginOperandIndex() &&
         index < range.getBeginOperandIndex() + range.size();
}

bool fp8::isForwarded(OpOperand &use) {
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

SelectLikeOpInterface fp8::getSelect(OpOperand &use) {
  auto select = dyn_cast<SelectLikeOpInterface>(use.getOwner());
  return select && use.get() != select.getCondition() ? select
                                                      : SelectLikeOpInterface();
}

SmallVector<Value> fp8::getLoopVariablesFrom(OpOperand &use) {
  auto loop = dyn_cast<LoopLikeOpInterface>(use.getOwner());
  if (!loop)
    return {};
  OpFoldResult value = use.get();
  auto contains = [&](std::optional<SmallVector<OpFoldResult>> bounds) {
    return bounds && llvm::is_contained(*bounds, value);
  };
  std::optional<SmallVector<Value>> variables = loop.getLoopInductionVars();
  if (!variables ||
      !(contains(loop.getLoopLowerBounds()) || contains(loop.getLoopSteps())))
    return {};
  return *variables;
}

bool fp8::isSelected(Value value) {
  return llvm::any_of(value.getUses(),
                      [](OpOperand &use) { return getSelect(use) != nullptr; });
}

UseKind fp8::classifyUse(OpOperand &use) {
  if (auto linear = dyn_cast<LinearOpInterface>(use.getOwner()))
    return linear.getLinearUse(use) == LinearUse::Borrow ? UseKind::Borrow
                                                         : UseKind::Consume;
  return isForwarded(use) || getSelect(use) ? UseKind::Consume
                                            : UseKind::Illegal;
}
