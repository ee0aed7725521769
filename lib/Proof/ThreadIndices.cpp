// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of arrays that tell threads apart.

#include "ThreadIndices.h"

#include "Forwarding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fp8;

static constexpr int64_t kWarpSize = 32;

/// True if the type holds each number of a thread.
static bool isWide(Value index) {
  constexpr unsigned kLeastBits = 32;
  Type type = index.getType();
  return type.isIndex() ||
         (type.isInteger() && type.getIntOrFloatBitWidth() >= kLeastBits);
}

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// What the op casts; null if it is no cast.
static Value getCast(Operation *op) {
  return isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp,
                         arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)
             ? op->getOperand(0)
             : Value();
}

/// The dividend of a remainder by a constant, and the constant; none if the
/// op is none. What it gives is not negative, as the number of a thread is not.
static std::optional<std::pair<Value, int64_t>> getRemainder(Operation *op) {
  if (!isa_and_nonnull<arith::RemUIOp, arith::RemSIOp, arith::AndIOp>(op))
    return std::nullopt;
  std::optional<int64_t> constant = getConstant(op->getOperand(1));
  if (!constant || *constant <= 0)
    return std::nullopt;
  if (!isa<arith::AndIOp>(op))
    return std::pair(op->getOperand(0), *constant);
  if (*constant & (*constant + 1))
    return std::nullopt;
  return std::pair(op->getOperand(0), *constant + 1);
}

/// True if it is the number of a lane or of a thread.
static bool isNumber(Value index) {
  Operation *op = index.getDefiningOp();
  if (!isWide(index))
    return false;
  if (Value from = getCast(op))
    return isNumber(from);
  auto thread = dyn_cast_or_null<gpu::ThreadIdOp>(op);
  return isa_and_nonnull<gpu::LaneIdOp>(op) ||
         (thread && thread.getDimension() == gpu::Dimension::x);
}

bool mlir::fp8::isOfLane(Value index) {
  // What is multiplied by no more does not wrap to the number of another lane.
  constexpr int64_t kMostFactor = 1 << 20;
  Operation *op = index.getDefiningOp();
  if (isNumber(index))
    return true;
  if (!op || !isWide(index) || PoisonedValues().contains(index))
    return false;
  if (Value from = getCast(op))
    return isOfLane(from);
  // The numbers of a warp follow one another.
  if (auto remainder = getRemainder(op))
    return isNumber(remainder->first) && remainder->second >= kWarpSize;
  if (isa<arith::MulIOp, arith::ShLIOp>(op)) {
    std::optional<int64_t> factor = getConstant(op->getOperand(1));
    if (!factor || *factor <= 0)
      return false;
    if (isa<arith::ShLIOp>(op))
      factor = *factor > 20 ? kMostFactor + 1 : int64_t(1) << *factor;
    return *factor <= kMostFactor && isNumber(op->getOperand(0));
  }
  auto sum = dyn_cast<arith::AddIOp>(op);
  return sum &&
         ((isOfLane(sum.getLhs()) && isUniform(sum.getRhs(), Among::Lanes)) ||
          (isOfLane(sum.getRhs()) && isUniform(sum.getLhs(), Among::Lanes)));
}

static bool isMultiple(Value value, int64_t number) {
  auto all = [&](ValueRange values) {
    return llvm::all_of(values,
                        [&](Value its) { return isMultiple(its, number); });
  };
  if (std::optional<int64_t> constant = getConstant(value))
    return *constant % number == 0;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
    return loop && value == loop.getInductionVar() &&
           all({loop.getLowerBound(), loop.getStep()});
  }
  if (Value from = getCast(op))
    return isWide(value) && isWide(from) && isMultiple(from, number);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return all(op->getOperands());
  if (isa<arith::MulIOp>(op))
    return isMultiple(op->getOperand(0), number) ||
           isMultiple(op->getOperand(1), number);
  auto shift = dyn_cast<arith::ShLIOp>(op);
  std::optional<int64_t> by =
      shift ? getConstant(shift.getRhs()) : std::nullopt;
  return by && *by >= 0 && *by < 32 &&
         ((int64_t(1) << *by) % number == 0 ||
          isMultiple(shift.getLhs(), number));
}

bool mlir::fp8::tellsThread(Value index, int64_t numThreads) {
  Operation *op = index.getDefiningOp();
  if (!op || !isWide(index) || PoisonedValues().contains(index))
    return false;
  if (auto thread = dyn_cast<gpu::ThreadIdOp>(op))
    return thread.getDimension() == gpu::Dimension::x;
  if (isa<gpu::LaneIdOp>(op))
    return numThreads == kWarpSize;
  if (Value from = getCast(op))
    return tellsThread(from, numThreads);
  if (auto remainder = getRemainder(op))
    return remainder->second % numThreads == 0 && isNumber(remainder->first) &&
           tellsThread(remainder->first, numThreads);
  auto sum = dyn_cast<arith::AddIOp>(op);
  auto isSum = [&](Value a, Value b) {
    return tellsThread(a, numThreads) && isMultiple(b, numThreads);
  };
  return sum && (isSum(sum.getLhs(), sum.getRhs()) ||
                 isSum(sum.getRhs(), sum.getLhs()));
}
