// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a linear value is alive.
//
// The walk keeps one fact: the program points that control reaches with the
// value alive. A consumption ends a path. When the walk is done, three things
// can be wrong: a path left the value's scope alive (a leak); a point is
// reached alive on one edge and not on another, so that what follows cannot
// know (a conflict: the arms of a branch disagree, or a loop body consumes what
// it does not carry); a use was never reached alive (a use after consumption).

#include "LiveRange.h"

#include "fp8/IR/Fp8.h"

using namespace mlir;
using namespace mlir::fp8;

LiveRange::LiveRange(Value value, ArrayRef<OpOperand *> uses,
                     DominanceInfo &dominance)
    : value(value), home(value.getParentRegion()),
      homeBlock(value.getParentBlock()), dominance(dominance) {
  collect(uses);
  if (capture)
    return;
  Operation *definition = value.getDefiningOp();
  reachedFrom[homeBlock] = {nullptr, definition};
  walk({homeBlock, definition
                       ? definition->getNextNode()
                       : (homeBlock->empty() ? nullptr : &homeBlock->front())});
  findConflict();
}

/// Sorts the uses into the blocks on the way from the value's own block down to
/// them.
void LiveRange::collect(ArrayRef<OpOperand *> uses) {
  llvm::DenseSet<Operation *> seen;
  for (OpOperand *use : uses) {
    usesOf[use->getOwner()].push_back(use);
    for (Operation *op = use->getOwner(); op; op = op->getParentOp()) {
      if (!seen.insert(op).second || !op->getBlock())
        break;
      points[op->getBlock()].push_back(op);
      if (op->getParentRegion() == home)
        break;
      Operation *parent = op->getParentOp();
      auto linear = dyn_cast_or_null<LinearOpInterface>(parent);
      if (!isa_and_nonnull<RegionBranchOpInterface>(parent) ||
          (linear && linear.refusesCapture())) {
        capture = parent;
        return;
      }
    }
  }
  for (auto &[block, ops] : points)
    llvm::sort(ops, [](Operation *a, Operation *b) {
      return a != b && a->isBeforeInBlock(b);
    });
}

void LiveRange::walk(Cursor start) {
  worklist.push_back(start);
  while (!worklist.empty()) {
    Cursor cursor = worklist.pop_back_val();
    bool alive = true;
    auto it = points.find(cursor.block);
    if (cursor.next && it != points.end())
      for (auto point = llvm::lower_bound(it->second, cursor.next,
                                          [](Operation *a, Operation *b) {
                                            return a != b &&
                                                   a->isBeforeInBlock(b);
                                          });
           point != it->second.end(); ++point) {
        if (!visit(*point, cursor.block)) {
          alive = false;
          break;
        }
      }
    if (alive)
      leaveBlock(cursor.block);
  }
}

bool LiveRange::visit(Operation *op, Block *block) {
  if (auto branch = dyn_cast<BranchOpInterface>(op);
      branch && op->getNumSuccessors() > 1) {
    visitBranch(branch, block);
    return false;
  }
  bool consumed = false;
  auto it = usesOf.find(op);
  if (it != usesOf.end())
    for (OpOperand *use : it->second) {
      bool consumes =
          use->get() == value && classifyUse(*use) != UseKind::Borrow;
      // An op that consumes the value twice, or borrows it too, reaches only
      // its first use of it alive. What the value lent it reads before.
      if (consumed && use->get() == value)
        continue;
      reached.insert(use);
      if (consumes) {
        consumptions.push_back(use);
        consumed = true;
      }
    }
  if (consumed)
    return false;
  bool containsUses = llvm::any_of(op->getRegions(), [&](Region &region) {
    return llvm::any_of(region,
                        [&](Block &inner) { return points.contains(&inner); });
  });
  return !containsUses || enterRegions(op, block);
}

void LiveRange::visitBranch(BranchOpInterface branch, Block *block) {
  for (OpOperand *use : usesOf[branch])
    if (use->get() != value)
      reached.insert(use); // a condition that the value lent
  llvm::SmallDenseSet<Block *> consumedTo;
  for (auto [index, successor] : llvm::enumerate(branch->getSuccessors())) {
    OperandRange operands =
        branch.getSuccessorOperands(index).getForwardedOperands();
    bool consumed = false;
    for (OpOperand *use : usesOf[branch]) {
      // Passed on twice to one successor, only the first is reached alive.
      if (use->get() != value || consumed || !isWithin(*use, operands))
        continue;
      reached.insert(use);
      consumptions.push_back(use);
      consumedTo.insert(successor);
      consumed = true;
    }
    if (!consumed)
      leaveAlong(successor, block, branch);
  }
  for (Block *successor : consumedTo)
    if (aliveEdges.contains({block, successor}))
      conflict = Conflict{branch, block, /*isLoop=*/false};
}

/// Sends the value into the regions that the op may run first. What comes after
/// the op is reached from the regions' ends.
bool LiveRange::enterRegions(Operation *op, Block *block) {
  if (!entered.insert({op, false}).second)
    return false;
  SmallVector<RegionSuccessor> successors;
  cast<RegionBranchOpInterface>(op).getSuccessorRegions(
      RegionBranchPoint::parent(), successors);
  for (RegionSuccessor &successor : successors) {
    Region *region = successor.getSuccessor();
    if (!region)
      flowAfter(op);
    else if (!region->empty())
      flowTo(&region->front(), block, op);
  }
  return false;
}

void LiveRange::leaveBlock(Block *block) {
  aliveAtEnd.insert(block);
  Operation *terminator =
      block->mightHaveTerminator() ? block->getTerminator() : nullptr;
  if (!terminator || terminator->getNumSuccessors() == 0)
    return leaveRegion(block, terminator);
  for (Block *successor : terminator->getSuccessors())
    leaveAlong(successor, block, terminator);
}

void LiveRange::leaveAlong(Block *successor, Block *block,
                           Operation *terminator) {
  // Where the definition does not dominate, the value cannot be used any more;
  // its own block would define it anew.
  if (block->getParent() == home &&
      (successor == homeBlock || !dominance.dominates(homeBlock, successor))) {
    if (!leak)
      leak = Leak{terminator, block};
    return;
  }
  aliveEdges.insert({block, successor});
  flowTo(successor, block, terminator);
}

/// Where control may go from the end of a region's block. A terminator that
/// does not say so (that of scf.forall) may go wherever the op itself may
/// begin.
static SmallVector<RegionSuccessor> getSuccessors(RegionBranchOpInterface op,
                                                  Operation *terminator) {
  SmallVector<RegionSuccessor> successors;
  auto branch = dyn_cast_or_null<RegionBranchTerminatorOpInterface>(terminator);
  op.getSuccessorRegions(branch ? RegionBranchPoint(branch)
                                : RegionBranchPoint::parent(),
                         successors);
  return successors;
}

/// True if control may leave the region from this block.
static bool isRegionExit(Block *block) {
  return block->getNumSuccessors() == 0;
}

static Operation *getTerminator(Block *block) {
  return block->mightHaveTerminator() ? block->getTerminator() : nullptr;
}

void LiveRange::leaveRegion(Block *block, Operation *terminator) {
  if (block->getParent() == home) {
    if (!leak)
      leak = Leak{terminator ? terminator : home->getParentOp(), block};
    return;
  }
  auto parent = cast<RegionBranchOpInterface>(block->getParentOp());
  for (RegionSuccessor &successor : getSuccessors(parent, terminator)) {
    Region *region = successor.getSuccessor();
    if (!region)
      flowAfter(parent);
    else if (!region->empty())
      flowTo(&region->front(), block, terminator ? terminator : parent);
  }
}

void LiveRange::flowTo(Block *target, Block *from, Operation *by) {
  if (!reachedFrom.insert({target, {from, by}}).second)
    return;
  worklist.push_back({target, target->empty() ? nullptr : &target->front()});
}

void LiveRange::flowAfter(Operation *op) {
  bool &aliveAfter = entered[op];
  if (aliveAfter)
    return;
  aliveAfter = true;
  worklist.push_back({op->getBlock(), op->getNextNode()});
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

void LiveRange::findConflict() {
  if (conflict)
    return;
  for (auto &[block, step] : reachedFrom)
    if (block != homeBlock && findBlockConflict(block))
      return;
  for (auto &[op, aliveAfter] : entered)
    if (findRegionConflict(op))
      return;
}

bool LiveRange::findBlockConflict(Block *block) {
  for (Block *predecessor : block->getPredecessors()) {
    if (aliveEdges.contains({predecessor, block}) ||
        !dominance.isReachableFromEntry(predecessor))
      continue;
    Operation *join = block->empty() ? nullptr : &block->front();
    conflict = Conflict{join, reachedFrom[block].from,
                        dominance.dominates(block, predecessor)};
    return true;
  }
  return false;
}

bool LiveRange::findRegionConflict(Operation *op) {
  auto branch = cast<RegionBranchOpInterface>(op);
  // For each place that control can go to (a region, or null for after the op):
  // a block from which it comes with the value alive, and whether it may come
  // with the value consumed. Regions that are only entered after a consumption
  // hand that on.
  llvm::SmallDenseMap<Region *, Block *> alive;
  llvm::SmallDenseSet<Region *> consumed;
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (RegionSuccessor &successor : successors)
    alive.insert({successor.getSuccessor(), nullptr});
  for (bool changed = true; changed;) {
    size_t before = consumed.size();
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        bool entered = reachedFrom.contains(&region.front());
        if ((!entered && !consumed.contains(&region)) ||
            !isRegionExit(&block) || !dominance.isReachableFromEntry(&block))
          continue;
        for (RegionSuccessor &successor :
             getSuccessors(branch, getTerminator(&block))) {
          if (isAliveAtEnd(&block))
            alive.insert({successor.getSuccessor(), &block});
          else
            consumed.insert(successor.getSuccessor());
        }
      }
    changed = consumed.size() != before;
  }
  for (auto [target, from] : alive)
    if (consumed.contains(target)) {
      bool isLoop = branch.hasLoop() || isa<LoopLikeOpInterface>(op);
      conflict = Conflict{op, from, isLoop};
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

void LiveRange::describePath(InFlightDiagnostic &diagnostic,
                             Block *block) const {
  SmallVector<std::pair<Block *, Operation *>> decisions;
  for (Block *at = block; at;) {
    auto it = reachedFrom.find(at);
    if (it == reachedFrom.end() || !it->second.from)
      break;
    decisions.push_back({at, it->second.by});
    at = it->second.from;
  }
  for (auto [target, by] : llvm::reverse(decisions)) {
    if (by->getNumSuccessors() > 1)
      for (auto [index, successor] : llvm::enumerate(by->getSuccessors())) {
        if (successor != target)
          continue;
        diagnostic.attachNote(by->getLoc())
            << "on the path that takes successor #" << index << " of this '"
            << by->getName() << "'";
        break;
      }
    else if (by->getNumRegions() > 1)
      diagnostic.attachNote(by->getLoc())
          << "on the path through region #"
          << target->getParent()->getRegionNumber() << " of this '"
          << by->getName() << "'";
  }
}
