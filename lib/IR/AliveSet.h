// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which linear values are alive, for all values of a function at once: proves a
// function right in one walk.

#ifndef FP8_LIB_IR_ALIVESET_H
#define FP8_LIB_IR_ALIVESET_H

#include "fp8/IR/LinearUse.h"

#include "mlir/IR/Dominance.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerUnion.h"

namespace mlir::fp8 {

/// Walks the control flow of a function once, depth first, with the set of the
/// values that are alive, which it rolls back to take another way. Where ways
/// meet, their sets must be equal. The answer is that all is well, or that this
/// is not known: LiveRange then finds what is wrong, one value at a time.
class AliveSet {
public:
  AliveSet(Operation *function, DominanceInfo &dominance);

  /// True if the value is known to keep the rules of control flow (L1 to L4,
  /// L9, captures). Values that are selected are not looked at.
  bool proves(Value value) const { return isProof && ids.contains(value); }

private:
  /// The beginning of a block, or the point behind an op with regions.
  using Point = llvm::PointerUnion<Block *, Operation *>;
  struct Handle {
    Region *home;
    uint64_t summand; ///< what it adds to the sum while it is alive
    bool isManaged;   ///< consumed by the op around its region
    bool isAlive = false;
  };
  struct Scope {
    unsigned depth = 0;
    unsigned barrier = 0;  ///< handles of regions above this depth are captured
    unsigned numAlive = 0; ///< the region's own handles
  };
  /// What one op does with handles.
  struct Uses {
    SmallVector<unsigned> borrowed; ///< by itself, or through what they lent
    SmallVector<unsigned> consumed;
    SmallVector<Value> derived; ///< the results that come from the borrowed
  };
  struct Edge {
    Point target;
    size_t mark; ///< the trail's length where the edge leaves
    SmallVector<unsigned> consumed; ///< the handles that it hands on
  };

  bool walk(Operation *function);
  bool walkFrom(Point point);
  bool visit(Operation *op);
  bool useOperand(OpOperand &use, Uses &uses);
  bool addDerived(OpOperand &use, Uses &uses);
  bool isUsable(unsigned handle, Operation *op) const;
  bool lend(Uses &uses);
  bool leaveBlock(Block *block);
  bool leaveAlong(BranchOpInterface branch);
  void enterRegions(Operation *op);
  void follow(Operation *op, ArrayRef<RegionSuccessor> successors);
  void define(ValueRange values);
  void toggle(unsigned handle);
  void rollBack(size_t mark);

  DominanceInfo &dominance;
  bool isProof = false;
  llvm::DenseMap<Value, unsigned> ids;
  SmallVector<Handle> handles;
  llvm::DenseSet<Value> selected;
  /// The handles that a value was lent from.
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> lenders;
  llvm::DenseMap<Region *, Scope> scopes;
  SmallVector<Edge> worklist;
  /// The handles that came alive or were consumed on the way to here.
  SmallVector<unsigned> trail;
  /// Stands for the set of handles alive: the sum of a number for each, drawn
  /// by a key of the process. Two sets with the same sum are equal but for one
  /// chance in 2^64, whatever the program.
  uint64_t aliveSum = 0;
  llvm::DenseMap<Point, uint64_t> sumAt;
  size_t numVisited = 0;
};

} // namespace mlir::fp8

#endif // FP8_LIB_IR_ALIVESET_H
