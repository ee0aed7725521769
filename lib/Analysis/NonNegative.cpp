// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which integers of a kernel or of a host function are never negative.

#include "fp8/Analysis/NonNegative.h"

#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;

bool mlir::fp8::isUnsigned(Operation *op) {
  using P = arith::CmpIPredicate;
  if (auto compared = dyn_cast<arith::CmpIOp>(op))
    return llvm::is_contained({P::ult, P::ule, P::ugt, P::uge},
                              compared.getPredicate());
  return isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, arith::MinUIOp,
             arith::MaxUIOp, arith::ShRUIOp, arith::ExtUIOp,
             arith::IndexCastUIOp>(op);
}

bool mlir::fp8::tellsOfLaunch(Operation *op) {
  return isa_and_present<Fp8Dialect>(op->getDialect()) ||
         isa<memref::DimOp, memref::ExtractStridedMetadataOp>(op) ||
         (isa_and_present<gpu::GPUDialect>(op->getDialect()) &&
          !op->getNumOperands());
}

bool NonNegative::contains(Value value) {
  if (known.contains(value) || assumed.contains(value))
    return true;
  if (unknown.contains(value))
    return false;
  assumed.insert(value);
  bool holds = decide(value);
  assumed.erase(value);
  (holds ? known : unknown).insert(value);
  // What was concluded from the wrong assumption goes.
  if (!holds)
    known.clear();
  return holds;
}

/// What the predecessors of a block hand to its argument; nothing if one of
/// them does not tell.
static std::optional<SmallVector<Value>> getFromBlocks(BlockArgument argument) {
  SmallVector<Value> incoming;
  Block *block = argument.getOwner();
  for (auto it = block->pred_begin(), end = block->pred_end(); it != end;
       ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    Value value = branch ? branch.getSuccessorOperands(
                               it.getSuccessorIndex())[argument.getArgNumber()]
                         : Value();
    if (!value)
      return std::nullopt;
    incoming.push_back(value);
  }
  return incoming;
}

/// What control flow hands to a result of an op with regions, or to an argument
/// of a block; nothing if it is no such value.
static std::optional<SmallVector<Value>> getIncoming(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && !argument.getOwner()->isEntryBlock())
    return getFromBlocks(argument);
  auto op = dyn_cast_or_null<RegionBranchOpInterface>(
      argument ? argument.getOwner()->getParentOp() : value.getDefiningOp());
  if (!op)
    return std::nullopt;
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (Region &region : op->getRegions())
    op.getSuccessorRegions(region, successors);
  for (const RegionSuccessor &successor : successors) {
    ValueRange inputs = successor.getSuccessorInputs();
    auto it = llvm::find(inputs, value);
    if (it == inputs.end())
      continue;
    SmallVector<Value> incoming;
    op.getPredecessorValues(successor, std::distance(inputs.begin(), it),
                            incoming);
    return incoming;
  }
  return std::nullopt;
}

bool NonNegative::containsAll(ValueRange values) {
  return llvm::all_of(values, [&](Value value) { return contains(value); });
}

bool NonNegative::decide(Value value) {
  if (!value.getType().isIntOrIndex())
    return false;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return decideArgument(argument);
  Operation *op = value.getDefiningOp();
  if (isa<arith::ArithDialect>(op->getDialect()))
    return decideArith(op);
  if (std::optional<SmallVector<Value>> incoming = getIncoming(value))
    return !incoming->empty() && containsAll(*incoming);
  return tellsOfLaunch(op);
}

bool NonNegative::decideArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  bool isOfEntry = argument.getOwner()->isEntryBlock();
  if (auto role = dyn_cast<RoleOp>(owner); role && isOfEntry)
    return contains(role.getInits()[argument.getArgNumber()]);
  if (std::optional<SmallVector<Value>> incoming = getIncoming(argument))
    return !incoming->empty() && containsAll(*incoming);
  if (!isOfEntry)
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(owner);
      loop && argument == loop.getInductionVar())
    return contains(loop.getLowerBound());
  return isa<FunctionOpInterface>(owner) ||
         isa<Fp8Dialect>(owner->getDialect());
}

bool NonNegative::decideArith(Operation *op) {
  // 1 as a signed number of one bit is -1.
  if (op->getNumResults() != 1 || op->getResult(0).getType().isInteger(1))
    return false;
  NonNegative &strict = ofSigned ? *ofSigned : *this;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::SubIOp>([&](Operation *op) {
        return ofSigned && containsAll(op->getOperands());
      })
      .Case<arith::AddIOp, arith::MulIOp, arith::ShLIOp, arith::DivUIOp,
            arith::CeilDivUIOp, arith::RemUIOp, arith::MinUIOp, arith::MaxUIOp,
            arith::ShRUIOp>(
          [&](Operation *op) { return containsAll(op->getOperands()); })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
            arith::MinSIOp, arith::OrIOp, arith::XOrIOp>(
          [&](Operation *op) { return strict.containsAll(op->getOperands()); })
      .Case<arith::RemSIOp, arith::ShRSIOp>(
          [&](Operation *op) { return strict.contains(op->getOperand(0)); })
      .Case<arith::MaxSIOp, arith::AndIOp>([&](Operation *op) {
        return strict.contains(op->getOperand(0)) ||
               strict.contains(op->getOperand(1));
      })
      .Case([&](arith::SelectOp select) {
        return contains(select.getTrueValue()) &&
               contains(select.getFalseValue());
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](Operation *op) {
        return op->getOperand(0).getType().isInteger(1) ||
               contains(op->getOperand(0));
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>([&](Operation *op) {
        return !op->getOperand(0).getType().isInteger(1) &&
               contains(op->getOperand(0));
      })
      .Default(false);
}
