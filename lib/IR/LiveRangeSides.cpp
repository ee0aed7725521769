// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where control may come at all, and on one side of a select's condition: to
// which regions, blocks and edges.

#include "LiveRange.h"

using namespace mlir;
using namespace mlir::fp8;

/// False if the use is by a select that takes its other operand on this side.
bool LiveRange::isTaken(OpOperand &use) const {
  SelectLikeOpInterface select = getSelect(use);
  if (!side || !select || use.get() != value)
    return true;
  if (select.getTrueValue() != select.getFalseValue())
    return value == (*side ? select.getTrueValue() : select.getFalseValue());
  // Selected on both sides: one operand stands for each.
  OpOperand *first = llvm::find_if(select->getOpOperands(), [&](OpOperand &o) {
    return getSelect(o) != nullptr;
  });
  return (&use == first) == *side;
}

/// Where the block's branch goes on this side, if it is on the condition of a
/// select in the block; null if that is not known.
Block *LiveRange::getKnownSuccessor(Block *block) const {
  auto select = side ? selects.find(block) : selects.end();
  auto branch = dyn_cast_or_null<BranchOpInterface>(getTerminator(block));
  if (select == selects.end() || !branch)
    return nullptr;
  SmallVector<Attribute> known(branch->getNumOperands());
  for (auto [index, operand] : llvm::enumerate(branch->getOperands()))
    if (operand == SelectLikeOpInterface(select->second).getCondition())
      known[index] = BoolAttr::get(branch->getContext(), *side);
  return branch.getSuccessorForOperands(known);
}

/// True if control comes to the block only by a branch that goes elsewhere on
/// this side.
bool LiveRange::isOnOtherSide(Block *block) const {
  return side && llvm::any_of(selects, [&](auto &entry) {
           Block *from = entry.first, *known = getKnownSuccessor(from);
           return known &&
                  llvm::any_of(from->getSuccessors(), [&](Block *other) {
                    return other != known && other->getSinglePredecessor() &&
                           other->getParent() == block->getParent() &&
                           dominance.dominates(other, block);
                  });
         });
}

/// False if a branch hands the value on only to where it does not go on this
/// side.
bool LiveRange::isOnKnownEdge(OpOperand &use) const {
  auto branch = dyn_cast<BranchOpInterface>(use.getOwner());
  Block *known = branch ? getKnownSuccessor(branch->getBlock()) : nullptr;
  if (!known || !isForwarded(use))
    return true;
  for (auto [index, successor] : llvm::enumerate(branch->getSuccessors()))
    if (successor == known &&
        isWithin(use,
                 branch.getSuccessorOperands(index).getForwardedOperands()))
      return true;
  return false;
}

/// The regions that the op may run first; beside a select, on a side of its
/// condition.
void LiveRange::getEntry(RegionBranchOpInterface op,
                         SmallVectorImpl<RegionSuccessor> &successors) const {
  auto select = side ? selects.find(op->getBlock()) : selects.end();
  if (select == selects.end())
    return op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  SmallVector<Attribute> known(op->getNumOperands());
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (operand == SelectLikeOpInterface(select->second).getCondition())
      known[index] = BoolAttr::get(op->getContext(), *side);
  op.getEntrySuccessorRegions(known, successors);
}

bool LiveRange::isOnThisSide(OpOperand *use) const {
  if (!side)
    return true;
  Operation *op = use->getOwner();
  for (; op->getParentRegion() != home; op = op->getParentOp()) {
    if (isOnOtherSide(op->getBlock()))
      return false;
    auto parent = dyn_cast<RegionBranchOpInterface>(op->getParentOp());
    if (!parent || !selects.contains(parent->getBlock()))
      continue;
    SmallVector<RegionSuccessor> successors;
    getEntry(parent, successors);
    // An op that runs another region first may come to this one later.
    if (!parent.hasLoop() &&
        llvm::none_of(successors, [&](RegionSuccessor &successor) {
          return successor.getSuccessor() == op->getParentRegion();
        }))
      return false;
  }
  return !isOnOtherSide(op->getBlock()) && isTaken(*use) && isOnKnownEdge(*use);
}

/// True if control may come to the region from the op around it.
static bool isEntered(Region *region) {
  auto op = dyn_cast<RegionBranchOpInterface>(region->getParentOp());
  if (!op)
    return true;
  SmallVector<RegionSuccessor> worklist;
  op.getSuccessorRegions(RegionBranchPoint::parent(), worklist);
  llvm::SmallDenseSet<Region *> seen;
  while (!worklist.empty()) {
    Region *next = worklist.pop_back_val().getSuccessor();
    if (next == region)
      return true;
    if (next && seen.insert(next).second)
      op.getSuccessorRegions(*next, worklist); // adds to it
  }
  return false;
}

bool LiveRange::isReachable(OpOperand *use) const {
  for (Operation *op = use->getOwner();; op = op->getParentOp()) {
    if (!dominance.isReachableFromEntry(op->getBlock()))
      return false;
    if (op->getParentRegion() == home)
      return isOnThisSide(use);
    if (!isEntered(op->getParentRegion()))
      return false;
  }
}
