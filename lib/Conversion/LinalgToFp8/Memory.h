// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that a GEMM op replaces: whether it may, and taking them out.

#ifndef FP8_CONVERSION_LINALGTOFP8_MEMORY_H
#define FP8_CONVERSION_LINALGTOFP8_MEMORY_H

#include "Product.h"

namespace mlir::fp8::fromlinalg {

/// The ops whose work a GEMM op does that stands in the place of `end`, reads
/// the operands and writes the memref `target`.
class Replacement {
public:
  Replacement(const OpSet &ops, ArrayRef<Operand> operands, Operation *end,
              Value target, AliasAnalysis &aliases);

  /// Fails if others see what the op computes, so that it must stay.
  LogicalResult checkUnseen(Operation *op, Refusal &refusal) const;

  /// Fails unless the operands are there in the place of `end` as the ops read
  /// them, and nobody reads a result before that. The target may be the
  /// residual.
  LogicalResult checkOrder(const Element *residual, Refusal &refusal) const;

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
  const Element *findReader(Operation *op) const;
  LogicalResult checkMemref(const Element *read, Refusal &refusal) const;
  LogicalResult checkTensor(const Element *read, Refusal &refusal) const;
  LogicalResult checkOverlap(const Operand &operand, const Element *residual,
                             Refusal &refusal) const;
  LogicalResult checkResult(Refusal &refusal) const;

  OpSet ops;
  SmallVector<Operand> operands;
  llvm::SmallPtrSet<Operation *, 4> kept;
  Operation *end;
  Value target;
  AliasAnalysis &aliases;
};

} // namespace mlir::fp8::fromlinalg

#endif // FP8_CONVERSION_LINALGTOFP8_MEMORY_H
