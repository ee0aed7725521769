// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which results of arith ops may be poison.

#include "Poison.h"

#include "Expressions.h"
#include "Forwarding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fp8;

unsigned mlir::fp8::getWidth(Type type) {
  constexpr unsigned kIndexBits = 32;
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? kIndexBits : element.getIntOrFloatBitWidth();
}

bool mlir::fp8::isNarrow(Type type) {
  constexpr unsigned kLeast = 32;
  return getWidth(type) < kLeast;
}

/// True if it is not known that the integer type of the result has the number.
static bool mayOverflow(Operation *conversion) {
  FloatAttr number;
  if (!matchPattern(getOutside(conversion->getOperand(0)), m_Constant(&number)))
    return true;
  llvm::APSInt converted(getWidth(conversion->getResult(0).getType()),
                         /*isUnsigned=*/isa<arith::FPToUIOp>(conversion));
  bool isExact;
  return number.getValue().convertToInteger(converted, APFloat::rmTowardZero,
                                            &isExact) == APFloat::opInvalidOp;
}

/// True if the op promises something of its operands that is not looked at: no
/// remainder, no NaN or no infinity.
static bool promises(Operation *op) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    return bitEnumContainsAny(fast.getFastMathFlagsAttr().getValue(),
                              arith::FastMathFlags::nnan |
                                  arith::FastMathFlags::ninf);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [](auto exact) { return exact.getIsExact(); })
      .Default(false);
}

/// True if the op promises not to overflow, and nothing says that it does not:
/// data may be any numbers, and few bits may be less than what is counted.
static bool promisesToFit(Operation *op) {
  auto flagged = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  if (!flagged ||
      flagged.getOverflowAttr().getValue() == arith::IntegerOverflowFlags::none)
    return false;
  return isNarrow(op->getResult(0).getType()) ||
         !llvm::all_of(op->getOperands(),
                       [](Value operand) { return isFreeOfData(operand); });
}

bool mlir::fp8::mayBePoison(Operation *op) {
  if (promises(op) || promisesToFit(op))
    return true;
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return mayOverflow(op);
  if (!isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, arith::DivSIOp,
           arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
           arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return false;
  APInt second;
  bool isConstant = matchPattern(op->getOperand(1), m_ConstantInt(&second));
  if (!isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op))
    return isConstant && second.isZero();
  return !isConstant || second.uge(getWidth(op->getResult(0).getType()));
}
