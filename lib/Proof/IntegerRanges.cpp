// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges of integers, by MLIR's data flow analysis.

#include "IntegerRanges.h"

#include "Forwarding.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fp8;

/// The largest number of an index in a kernel, which has 32 bits.
static constexpr int64_t kMost = INT32_MAX;

std::optional<int64_t> IntegerRanges::getMost(Value value) {
  if (!solver) {
    solver = std::make_unique<DataFlowSolver>();
    dataflow::loadBaselineAnalyses(*solver);
    solver->load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver->initializeAndRun(kernel)))
      solver = std::make_unique<DataFlowSolver>(); // which knows nothing
  }
  auto *state = solver->lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return std::nullopt;
  const ConstantIntRanges &range = state->getValue().getValue();
  constexpr unsigned kMostBits = 32;
  if (range.smin().isNegative() ||
      range.smax().getSignificantBits() > kMostBits)
    return std::nullopt;
  return range.smax().getSExtValue();
}

/// The analysis counts an index in 64 bits. What it finds holds in 32 if no
/// part of the value can be larger, or if the op takes any number for a small
/// one.
bool IntegerRanges::holdsInKernel(Value value) {
  std::optional<int64_t> most = getMost(value);
  if (!most || *most > kMost)
    return false;
  auto hold = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value one) { return holdsInKernel(one); });
  };
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
    return loop && value == loop.getInductionVar() &&
           hold({loop.getLowerBound(), loop.getUpperBound()});
  }
  if (matchPattern(value, m_Constant()))
    return true;
  if (isa<arith::RemUIOp>(op))
    return hold(op->getOperand(1));
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return hold(op->getOperand(0)) || hold(op->getOperand(1));
  return isa<arith::AddIOp, arith::MulIOp, arith::SelectOp, arith::ExtUIOp,
             arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getType().isInteger(1) || holdsInKernel(operand);
         });
}

bool IntegerRanges::isBelow(Value value, int64_t limit) {
  return !PoisonedValues().contains(value) && holdsInKernel(value) &&
         *getMost(value) < limit;
}
