// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that a GEMM op replaces: whether it may, and taking them out.

#ifndef FP8_CONVERSION_LINALGTOFP8_MEMORY_H
#define FP8_CONVERSION_LINALGTOFP8_MEMORY_H

#include "Product.h"

namespace mlir::fp8::fromlinalg {

/// The ops whose work a GEMM op does that stands in the place of `end`.
class Replacement {
public:
  Replacement(const OpSet &ops, Operation *end, Value target,
              AliasAnalysis &aliases);

  /// Fails if others see what the op computes, so that it must stay.
  LogicalResult checkUnseen(Operation *op, Refusal &refusal) const;

  /// Fails unless `reads`, what the GEMM op reads, is there in the place of
  /// `end` as the ops read it, and nobody reads a result before that.
  LogicalResult checkOrder(ArrayRef<Operand> reads, const Operand &residual,
                           Refusal &refusal) const;

  /// Takes out the ops but for those whose results others read, and what was
  /// there for their sake alone. Adds to `erased`.
  void erase(llvm::SmallPtrSetImpl<Operation *> &erased);

private:
  void keepSeen();
  Operation *findObserver(Operation *op) const;
  bool isReplaced(Operation *op) const {
    return ops.contains(op) && !kept.contains(op);
  }
  bool writesTarget(Operation *op) const;
  LogicalResult checkInput(const Element *read, Refusal &refusal) const;
  LogicalResult checkResult(Refusal &refusal) const;

  OpSet ops;
  llvm::SmallPtrSet<Operation *, 4> kept;
  Operation *end;
  Value target;
  AliasAnalysis &aliases;
};

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_MEMORY_H
