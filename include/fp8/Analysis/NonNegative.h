// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which integers of a kernel, or of the host function that launches it, are
// never negative.

#ifndef FP8_ANALYSIS_NONNEGATIVE_H
#define FP8_ANALYSIS_NONNEGATIVE_H

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>

namespace mlir::fp8 {

/// Knows which integers are at least 0 as signed numbers, in each turn of each
/// loop. It takes for granted what the proof of a kernel does: arguments are
/// not negative, steps of loops are positive, and arithmetic does not wrap.
class NonNegative {
public:
  /// `asUnsigned`: the numbers are operands of unsigned ops, so that a
  /// difference below 0 of numbers that are not would have wrapped.
  explicit NonNegative(bool asUnsigned)
      : ofSigned(asUnsigned ? std::make_unique<NonNegative>(false) : nullptr) {}

  /// False if it is not known.
  bool contains(Value value);

private:
  bool decide(Value value);
  bool decideArgument(BlockArgument argument);
  bool decideArith(Operation *op);
  bool containsAll(ValueRange values);

  /// Of what signed ops take; null if this is that. A difference that they take
  /// may be negative without having wrapped.
  std::unique_ptr<NonNegative> ofSigned;
  /// Those of `known` rest on what is being decided, and is assumed meanwhile.
  DenseSet<Value> known, assumed, unknown;
};

/// True if the op says a number of the launch: of slots, CTAs or lanes, an
/// address, an extent.
bool tellsOfLaunch(Operation *op);

/// True for an op of the arith dialect to which negative operands are large
/// ones.
bool isUnsigned(Operation *op);

} // namespace mlir::fp8

#endif // FP8_ANALYSIS_NONNEGATIVE_H
