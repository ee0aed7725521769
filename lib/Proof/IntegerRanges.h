// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges of integers that the text of a kernel bounds.

#ifndef FP8_LIB_PROOF_INTEGERRANGES_H
#define FP8_LIB_PROOF_INTEGERRANGES_H

#include "mlir/Analysis/DataFlowFramework.h"

namespace mlir::fp8 {

/// What MLIR's analysis of integer ranges finds in a kernel. It runs when it is
/// first asked.
class IntegerRanges {
public:
  explicit IntegerRanges(Operation *kernel) : kernel(kernel) {}

  /// True if the value is at least 0 and below `limit` whenever it is computed.
  bool isBelow(Value value, int64_t limit);

private:
  /// The largest number of a value that is not negative, by the analysis.
  std::optional<int64_t> getMost(Value value);
  /// True if that holds where an index has 32 bits.
  bool holdsInKernel(Value value);

  Operation *kernel;
  std::unique_ptr<DataFlowSolver> solver; ///< null before the first question
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_INTEGERRANGES_H
