// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a linear value is alive: a walk over the control flow from its
// definition to its consumptions.

#ifndef FP8_LIB_IR_LIVERANGE_H
#define FP8_LIB_IR_LIVERANGE_H

#include "fp8/IR/LinearUse.h"

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
                     ///< paths meet; for a loop of blocks, the branch back
    Block *aliveFrom; ///< a block at whose end the value is alive; null if the
                      ///< region op runs none of its regions
    bool isBlock;     ///< the paths meet at a block
    bool isLoop;      ///< the consumption is in a loop that the value does not
                      ///< belong to
  };
  /// Selects that take the value at one value of their condition only.
  struct HalfSelect {
    Operation *select; ///< one that uses the value
    Operation *other;  ///< one on another condition in the same block, or null
    Operation *end;    ///< the terminator that is reached with the value alive
  };

  /// A use inside an op whose regions the value may not enter.
  struct Capture {
    Operation *by;
    OpOperand *use; ///< of the value, or of what it lent
  };

  /// `uses` are the direct uses of `value` and the uses of what was lent from
  /// it. A value that is selected has two live ranges: that in which the
  /// conditions are true (`side`), and the other.
  LiveRange(Value value, ArrayRef<OpOperand *> uses, DominanceInfo &dominance,
            std::optional<bool> side = std::nullopt);

  ArrayRef<OpOperand *> getConsumptions() const { return consumptions; }
  const std::optional<Leak> &getLeak() const { return leak; }
  const std::optional<Conflict> &getConflict() const { return conflict; }
  const std::optional<HalfSelect> &getHalfSelect() const { return halfSelect; }
  /// The first capture that was found; the others are not looked for.
  const std::optional<Capture> &getCapture() const { return capture; }
  /// True if the value is alive when the use is reached.
  bool isReachedAlive(OpOperand *use) const { return reached.contains(use); }
  /// True if control may come to the use, on this side of the conditions.
  bool isReachable(OpOperand *use) const;

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
  bool isTaken(OpOperand &use) const;
  bool isOnThisSide(OpOperand *use) const;
  Block *getKnownSuccessor(Block *block) const;
  bool isOnOtherSide(Block *block) const;
  bool isOnKnownEdge(OpOperand &use) const;
  void getEntry(RegionBranchOpInterface op,
                SmallVectorImpl<RegionSuccessor> &successors) const;
  bool enterRegions(Operation *op, Block *block);
  void leaveBlock(Block *block);
  void leaveAlong(Block *successor, Block *block, Operation *terminator);
  void leaveRegion(Block *block, Operation *terminator);
  void flowTo(Block *target, Block *from, Operation *by);
  void flowAfter(Operation *op);
  void findConflict();
  std::optional<Conflict> findBlockConflict(Block *block);
  std::optional<Conflict> findRegionConflict(Operation *op);
  bool isAliveAtEnd(Block *block) const { return aliveAtEnd.contains(block); }

  Value value;
  Region *home;
  Block *homeBlock;
  DominanceInfo &dominance;
  std::optional<bool> side;
  /// The first select of the value in a block.
  llvm::DenseMap<Block *, SelectLikeOpInterface> selects;
  std::optional<HalfSelect> halfSelect;
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
  std::optional<Capture> capture;
};

/// Where control may go from the end of a region's block. A terminator that
/// does not say so (that of scf.forall) may go wherever the op itself may
/// begin.
SmallVector<RegionSuccessor> getSuccessors(RegionBranchOpInterface op,
                                           Operation *terminator);

/// The block's terminator, null if it has none.
Operation *getTerminator(Block *block);

} // namespace mlir::fp8

#endif // FP8_LIB_IR_LIVERANGE_H
