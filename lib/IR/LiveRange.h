// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a linear value is alive: a walk over the control flow from its
// definition to its consumptions.

#ifndef FP8_LIB_IR_LIVERANGE_H
#define FP8_LIB_IR_LIVERANGE_H

#include "fp8/IR/Linearity.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fp8 {

/// The live range of one linear value. Blocks, and the regions of ops that
/// follow RegionBranchOpInterface, are walked as one control-flow graph; an op
/// is looked at only if it uses the value or contains a use, so the cost is
/// that of the blocks in which the value lives.
class LiveRange {
public:
  /// A point where the value is still alive although control flow leaves its
  /// scope there.
  struct Leak {
    Operation *at; ///< the terminator at which control leaves
    Block *from;   ///< the block in which the value is last alive
  };
  /// A point that control flow reaches both with the value alive and with the
  /// value consumed.
  struct Conflict {
    Operation *join; ///< the region op, or the first op of the block, where the
                     ///< paths meet
    Block *aliveFrom; ///< a block at whose end the value is alive; null if the
                      ///< region op runs none of its regions
    bool isLoop;      ///< the consumption is in a loop that the value does not
                      ///< belong to
  };

  /// `uses` are the direct uses of `value` and the uses of what was lent from
  /// it.
  LiveRange(Value value, ArrayRef<OpOperand *> uses, DominanceInfo &dominance);

  ArrayRef<OpOperand *> getConsumptions() const { return consumptions; }
  const std::optional<Leak> &getLeak() const { return leak; }
  const std::optional<Conflict> &getConflict() const { return conflict; }
  /// An op around a use whose regions the value may not enter, null if there is
  /// none.
  Operation *getCapture() const { return capture; }
  /// True if the value is alive when the use is reached.
  bool isReachedAlive(OpOperand *use) const { return reached.contains(use); }

  /// Adds a note for each decision on the path from the definition to the end
  /// of `block`.
  void describePath(InFlightDiagnostic &diagnostic, Block *block) const;

private:
  /// A point in the control flow at which the value is alive.
  struct Cursor {
    Block *block;
    Operation *next; ///< the first op to look at; null for the end of the block
  };
  /// How a block was first reached alive, for describePath.
  struct Step {
    Block *from;   ///< null at the definition
    Operation *by; ///< the terminator or region op that leads here
  };

  void collect(ArrayRef<OpOperand *> uses);
  void walk(Cursor start);
  /// Looks at an op that uses the value or contains uses. Returns false if the
  /// path ends here.
  bool visit(Operation *op, Block *block);
  /// Follows a branch that hands the value on: alive on some edges, consumed on
  /// others.
  void visitBranch(BranchOpInterface branch, Block *block);
  bool enterRegions(Operation *op, Block *block);
  void leaveBlock(Block *block);
  void leaveAlong(Block *successor, Block *block, Operation *terminator);
  void leaveRegion(Block *block, Operation *terminator);
  void flowTo(Block *target, Block *from, Operation *by);
  void flowAfter(Operation *op);
  void findConflict();
  bool findBlockConflict(Block *block);
  bool findRegionConflict(Operation *op);
  bool isAliveAtEnd(Block *block) const { return aliveAtEnd.contains(block); }

  Value value;
  Region *home;
  Block *homeBlock;
  DominanceInfo &dominance;
  /// For each block, the ops in it that use the value or contain uses, in
  /// order.
  llvm::DenseMap<Block *, SmallVector<Operation *>> points;
  llvm::DenseMap<Operation *, SmallVector<OpOperand *>> usesOf;
  SmallVector<Cursor> worklist;
  llvm::MapVector<Block *, Step> reachedFrom;
  llvm::MapVector<Operation *, bool>
      entered; ///< region ops with uses inside; true once the value is alive
               ///< after them
  llvm::DenseSet<Block *> aliveAtEnd;
  llvm::DenseSet<std::pair<Block *, Block *>> aliveEdges;
  llvm::DenseSet<OpOperand *> reached;
  SmallVector<OpOperand *> consumptions;
  std::optional<Leak> leak;
  std::optional<Conflict> conflict;
  Operation *capture = nullptr;
};

} // namespace mlir::fp8

#endif // FP8_LIB_IR_LIVERANGE_H
