// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values in structured control flow.

#include "Forwarding.h"

#include "Poison.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fp8;

/// What branches pass on to the argument of a block.
static SmallVector<Value> getFromBranches(BlockArgument argument) {
  SmallVector<Value> values;
  for (auto it = argument.getOwner()->pred_begin(),
            end = argument.getOwner()->pred_end();
       it != end; ++it)
    if (auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator()))
      values.push_back(branch.getSuccessorOperands(
          it.getSuccessorIndex())[argument.getArgNumber()]);
  return values;
}

SmallVector<Value> mlir::fp8::getForwarded(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op =
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  auto at = [](ValueRange values, unsigned number) {
    return number < values.size() ? values[number] : Value();
  };
  unsigned number = argument ? argument.getArgNumber()
                             : cast<OpResult>(value).getResultNumber();
  if (argument && !argument.getOwner()->isEntryBlock())
    return getFromBranches(argument);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (argument && number == 0)
      return {};
    number -= argument ? 1 : 0;
    return {at(loop.getInitArgs(), number), at(loop.getYieldedValues(), number),
            at(loop.getRegionIterArgs(), number)};
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    if (argument && argument.getOwner() == loop.getBeforeBody())
      return {at(loop.getInits(), number),
              at(loop.getYieldOp().getResults(), number)};
    return {at(loop.getConditionOp().getArgs(), number)};
  }
  SmallVector<Value> values;
  if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, LeadingCtaOp>(
          op)) {
    if (argument)
      return {at(op->getOperands(), number)};
    for (Region &region : op->getRegions())
      if (!region.empty())
        values.push_back(
            at(region.back().getTerminator()->getOperands(), number));
    if (isa<LeadingCtaOp>(op))
      values.push_back(at(op->getOperands(), number));
  }
  return values;
}

bool mlir::fp8::isUniform(Operation *op) {
  if (llvm::any_of(op->getResultTypes(), isLinear))
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isUniform(loop.getLowerBound()) && isUniform(loop.getUpperBound()) &&
           isUniform(loop.getStep());
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isUniform(branch.getCondition());
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    return isUniform(branch.getArg());
  // Of branches between blocks it is not followed who takes them.
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op))
    return region.getRegion().hasOneBlock();
  return isa<LeadingCtaOp>(op);
}

/// True if the op gives all threads the same value, where they have the same
/// operands.
static bool isSameForAll(Operation *op) {
  return op->hasTrait<::mlir::OpTrait::ConstantLike>() ||
         isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, gpu::ClusterIdOp,
             gpu::ClusterDimOp, gpu::ClusterBlockIdOp, gpu::ClusterDimBlocksOp,
             gpu::NumSubgroupsOp, gpu::SubgroupSizeOp, memref::DimOp,
             memref::LoadOp, NextWorkOp, ReadElementOp, IndexOp>(op) ||
         (op->getName().getDialectNamespace() == "arith" && !mayBePoison(op));
}

bool mlir::fp8::isUniform(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (unsigned next = 0; next < reached.size(); ++next) {
    Value its = reached[next];
    Operation *op = its.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(its);
    Operation *owner = argument ? argument.getOwner()->getParentOp() : op;
    SmallVector<Value> from;
    if (argument && isa<FunctionOpInterface>(owner))
      continue;
    if (!argument && !op->getNumRegions()) {
      if (!isSameForAll(op))
        return false;
      if (isa<memref::LoadOp>(op) ||
          op->getName().getDialectNamespace() == "arith")
        from = op->getOperands();
    } else {
      if (!isUniform(owner))
        return false;
      from = getForwarded(its);
    }
    for (Value source : from)
      if (source)
        reached.insert(source);
  }
  return true;
}
