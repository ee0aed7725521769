// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arrays that roles write, and why their accesses have an order.

#ifndef FP8_LIB_PROOF_PLAINMEMORY_H
#define FP8_LIB_PROOF_PLAINMEMORY_H

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/Proof/Extract.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::fp8 {

/// What has to hold at an access so that all accesses to its array are ordered.
struct ArrayRule {
  /// The slot during which the access takes place. Its number and the index
  /// have the same remainder modulo `modulus`, which is at least the number of
  /// slots, and the same for all accesses to the array; or 1 where the text
  /// shows it. Null: the index rises from one execution to the next, so that no
  /// element is written twice.
  AcquireOp guard;
  int64_t modulus = 1;
};

/// Who accesses an array in one CTA.
struct ArrayUse {
  SmallVector<Operation *> reads;  ///< of elements or boxes
  SmallVector<Operation *> writes; ///< of elements
  SmallVector<Operation *> stores; ///< of boxes
  SmallVector<Operation *> getAll() const;
};

/// The arrays of a kernel. Accesses to one are ordered if none writes, if one
/// warp makes them all, or if rules hold. Others are undecided.
class PlainMemory {
public:
  PlainMemory(FunctionOpInterface kernel, const KernelPlan &plan,
              const HandleFlow &flow);

  const llvm::DenseMap<Operation *, ArrayRule> &getRules() const {
    return rules;
  }
  ArrayRef<Undecided> getUndecided() const { return undecided; }

private:
  void collect();
  /// The use of an operand of the op.
  void collect(Operation *op, Value operand);
  void decide(unsigned argument, const ArrayUse &use);
  void decideStores(unsigned argument, const ArrayUse &use);
  void decideLaunches();
  void decideCall(Operation *op);
  /// True if the two boxes never have an element in common: along some axis
  /// their places differ by a constant.
  bool lieApart(StoreOp a, StoreOp b) const;
  /// True if that holds of those of different roles.
  bool areApart(ArrayRef<Operation *> stores) const;
  int64_t getNumWarps(Operation *role) const;
  /// True if the index of the only write rises, or may be shown to rise.
  bool addRisingRule(const ArrayUse &use);
  /// True if a ring may guard all accesses.
  bool addGuardRules(const ArrayUse &use);
  /// The slot of the ring that the role holds at the op; null if there is none.
  AcquireOp getGuard(Operation *op, Operation *maker) const;
  bool isGuard(AcquireOp acquire) const;

  FunctionOpInterface kernel;
  const KernelPlan &plan;
  const HandleFlow &flow;
  llvm::MapVector<unsigned, ArrayUse> uses; ///< by argument
  llvm::DenseMap<Operation *, ArrayRule> rules;
  SmallVector<Undecided, 0> undecided;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_PLAINMEMORY_H
