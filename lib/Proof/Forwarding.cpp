// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values in structured control flow.

#include "Forwarding.h"

#include "Poison.h"
#include "fp8/Analysis/NonNegative.h"
#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

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
  if (argument && isa<RoleOp>(op))
    return {at(op->getOperands(), number)};
  if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, LeadingCtaOp>(
          op)) {
    if (argument)
      return {at(op->getOperands(), number)};
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.getNumSuccessors())
          values.push_back(at(block.getTerminator()->getOperands(), number));
    if (isa<LeadingCtaOp>(op))
      values.push_back(at(op->getOperands(), number));
  }
  return values;
}

/// What branches between the region's blocks decide by; none if one of them
/// decides in another way.
static std::optional<SmallVector<Value>> getConditions(Region &region) {
  SmallVector<Value> conditions;
  for (Block &block : region) {
    Operation *last = block.getTerminator();
    if (block.getNumSuccessors() < 2)
      continue;
    if (!isa<cf::CondBranchOp, cf::SwitchOp>(last))
      return std::nullopt;
    conditions.push_back(last->getOperand(0));
  }
  return conditions;
}

/// What decides which ways threads take in the op's regions; none if they may
/// take different ones.
static std::optional<SmallVector<Value>> getConditions(Operation *op,
                                                       Among among) {
  using Conditions = std::optional<SmallVector<Value>>;
  if (llvm::any_of(op->getResultTypes(), isLinear))
    return SmallVector<Value>();
  return llvm::TypeSwitch<Operation *, Conditions>(op)
      .Case([](scf::ForOp loop) {
        return SmallVector<Value>{loop.getLowerBound(), loop.getUpperBound(),
                                  loop.getStep()};
      })
      .Case([](scf::IfOp branch) {
        return SmallVector<Value>{branch.getCondition()};
      })
      .Case([](scf::IndexSwitchOp branch) {
        return SmallVector<Value>{branch.getArg()};
      })
      // Warps come to such a loop at different times, and may see other data.
      .Case([&](scf::WhileOp loop) -> Conditions {
        if (among == Among::Warps)
          return std::nullopt;
        return SmallVector<Value>{loop.getConditionOp().getCondition()};
      })
      .Case<scf::ExecuteRegionOp, LeadingCtaOp, RoleOp>(
          [&](Operation *op) -> Conditions {
            Region &region = op->getRegion(0);
            if (among == Among::Warps && !region.hasOneBlock())
              return std::nullopt;
            return getConditions(region);
          })
      .Default([](Operation *) { return std::nullopt; });
}

static bool isLoad(Operation *op) {
  return isa<memref::LoadOp>(op) ||
         op->getName().getStringRef() == "vector.load";
}

/// True if the op computes its result from its operands alone. One that has a
/// position in a vector may give poison.
static bool isArithmetic(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "arith" || dialect == "math" ||
         (dialect == "vector" && isMemoryEffectFree(op) &&
          llvm::none_of(op->getOperandTypes(),
                        [](Type type) { return type.isIndex(); }));
}

/// True if the op gives all threads the same value, where they have the same
/// operands.
static bool isSameForAll(Operation *op, Among among) {
  return op->hasTrait<::mlir::OpTrait::ConstantLike>() ||
         (among == Among::Lanes && isa<gpu::SubgroupIdOp>(op)) ||
         isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, gpu::ClusterIdOp,
             gpu::ClusterDimOp, gpu::ClusterBlockIdOp, gpu::ClusterDimBlocksOp,
             gpu::NumSubgroupsOp, gpu::SubgroupSizeOp, memref::DimOp,
             NextWorkOp, ReadElementOp, IndexOp>(op) ||
         isLoad(op) || (isArithmetic(op) && !mayBePoison(op));
}

using OpTest = llvm::function_ref<bool(Operation *)>;

/// What the value is computed from; none if an op without regions that fails
/// the test computes it, or if threads may come to it on different ways.
static std::optional<SmallVector<Value>> getOrigins(Value value, Among among,
                                                    OpTest test) {
  Operation *op = value.getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *owner = argument ? argument.getOwner()->getParentOp() : op;
  bool isOfEntry = argument && argument.getOwner()->isEntryBlock();
  if (isOfEntry && isa<FunctionOpInterface>(owner))
    return SmallVector<Value>();
  if (isOfEntry && isa<RoleOp>(owner))
    return getForwarded(value);
  if (argument || op->getNumRegions()) {
    std::optional<SmallVector<Value>> origins = getConditions(owner, among);
    if (origins)
      llvm::append_range(*origins, getForwarded(value));
    return origins;
  }
  if (!test(op))
    return std::nullopt;
  if (isLoad(op) || isArithmetic(op))
    return SmallVector<Value>(op->getOperands());
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return SmallVector<Value>{dim.getIndex()};
  return SmallVector<Value>();
}

/// Adds to `reached` what the values are computed from. Returns whether all ops
/// that do so pass the test. What loops carry round does in each turn if it
/// does in the first one.
static bool reach(llvm::SetVector<Value> &reached, ArrayRef<Value> values,
                  Among among, OpTest test) {
  unsigned next = reached.size();
  reached.insert_range(values);
  for (; next < reached.size(); ++next) {
    std::optional<SmallVector<Value>> origins =
        getOrigins(reached[next], among, test);
    if (!origins)
      return false;
    for (Value origin : *origins)
      if (origin)
        reached.insert(origin);
  }
  return true;
}

/// True if all ops that the values are computed by pass the test.
static bool areComputedBy(ArrayRef<Value> values, Among among, OpTest test) {
  llvm::SetVector<Value> reached;
  return reach(reached, values, among, test);
}

/// True if threads see the same of all values.
static bool areUniform(ArrayRef<Value> values, Among among) {
  return areComputedBy(values, among, [among](Operation *op) {
    return isSameForAll(op, among);
  });
}

bool PoisonedValues::contains(Value value) {
  size_t numKnown = others.size();
  if (reach(others, value, Among::Lanes,
            [](Operation *op) { return !mayBePoison(op); }))
    return false;
  while (others.size() > numKnown)
    others.pop_back();
  return true;
}

bool mlir::fp8::isFreeOfData(Value value) {
  auto isIndex = [](Type type) { return type.isIntOrIndex(); };
  return areComputedBy(value, Among::Lanes, [&](Operation *op) {
    return !isLoad(op) && llvm::all_of(op->getResultTypes(), isIndex) &&
           (tellsOfLaunch(op) ||
            (isArithmetic(op) && llvm::all_of(op->getOperandTypes(), isIndex)));
  });
}

bool mlir::fp8::isUniform(Value value, Among among) {
  return areUniform(value, among);
}

bool mlir::fp8::isUniform(Region &region, Among among) {
  std::optional<SmallVector<Value>> conditions = getConditions(region);
  return conditions && areUniform(*conditions, among);
}

bool mlir::fp8::isUniform(Operation *op, Among among) {
  std::optional<SmallVector<Value>> conditions = getConditions(op, among);
  return conditions && areUniform(*conditions, among);
}
