// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which integers of a kernel or of a host function are never negative.

#include "fp8/Analysis/NonNegative.h"

#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
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
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (isa<arith::ArithDialect>(op->getDialect()))
    return decideArith(op);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](scf::ForOp loop) {
        return contains(loop.getInitArgs()[number]) &&
               contains(loop.getYieldedValues()[number]);
      })
      .Case([&](scf::WhileOp loop) {
        return contains(loop.getConditionOp().getArgs()[number]);
      })
      .Case([&](scf::IfOp branch) {
        return contains(branch.thenYield().getOperand(number)) &&
               contains(branch.elseYield().getOperand(number));
      })
      .Case<memref::DimOp, memref::ExtractStridedMetadataOp>(
          [](auto) { return true; })
      .Default([](Operation *op) {
        // Numbers of slots, CTAs, lanes; addresses.
        return isa<Fp8Dialect>(op->getDialect()) ||
               (isa<gpu::GPUDialect>(op->getDialect()) &&
                !op->getNumOperands());
      });
}

bool NonNegative::decideArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (isa<FunctionOpInterface>(owner) || isa<Fp8Dialect>(owner->getDialect()))
    return true;
  unsigned number = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(owner))
    return number == 0 ? contains(loop.getLowerBound())
                       : contains(loop.getInitArgs()[number - 1]) &&
                             contains(loop.getYieldedValues()[number - 1]);
  if (auto loop = dyn_cast<scf::WhileOp>(owner))
    return argument.getOwner() == loop.getAfterBody()
               ? contains(loop.getConditionOp().getArgs()[number])
               : contains(loop.getInits()[number]) &&
                     contains(loop.getYieldOp().getOperand(number));
  return false;
}

bool NonNegative::decideArith(Operation *op) {
  // 1 as a signed number of one bit is -1.
  if (op->getNumResults() != 1 || op->getResult(0).getType().isInteger(1))
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::DivSIOp,
            arith::FloorDivSIOp, arith::CeilDivUIOp, arith::CeilDivSIOp,
            arith::RemUIOp, arith::MinUIOp, arith::MinSIOp, arith::MaxUIOp,
            arith::ShLIOp, arith::ShRUIOp, arith::OrIOp, arith::XOrIOp>(
          [&](Operation *op) { return containsAll(op->getOperands()); })
      .Case<arith::SubIOp>([&](auto) { return asUnsigned; })
      .Case<arith::RemSIOp, arith::ShRSIOp>(
          [&](Operation *op) { return contains(op->getOperand(0)); })
      .Case<arith::MaxSIOp, arith::AndIOp>([&](Operation *op) {
        return contains(op->getOperand(0)) || contains(op->getOperand(1));
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
