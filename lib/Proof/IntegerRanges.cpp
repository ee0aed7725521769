// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges of integers, by MLIR's data flow analysis.

#include "IntegerRanges.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"

using namespace mlir;
using namespace mlir::fp8;

bool IntegerRanges::isBelow(Value value, int64_t limit) {
  if (!solver) {
    solver = std::make_unique<DataFlowSolver>();
    dataflow::loadBaselineAnalyses(*solver);
    solver->load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver->initializeAndRun(kernel)))
      solver = std::make_unique<DataFlowSolver>(); // which knows nothing
  }
  auto *state = solver->lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!state || state->getValue().isUninitialized())
    return false;
  const ConstantIntRanges &range = state->getValue().getValue();
  return range.smin().isNonNegative() &&
         range.smax().getSignificantBits() <= 64 &&
         range.smax().getSExtValue() < limit;
}
