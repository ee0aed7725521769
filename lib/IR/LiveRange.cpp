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
                     DominanceInfo &dominance, std::optional<bool> side)
    : value(value), home(value.getParentRegion()),
      homeBlock(value.getParentBlock()), dominance(dominance), side(side) {
  collect(uses);
  if (capture || halfSelect)
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
    if (SelectLikeOpInterface select = getSelect(*use);
        select && use->get() == value) {
      SelectLikeOpInterface first =
          selects.insert({select->getBlock(), select}).first->second;
      if (first.getCondition() != select.getCondition())
        halfSelect = HalfSelect{first, select, nullptr};
    }
    for (Operation *op = use->getOwner(); op; op = op->getParentOp()) {
      if (!seen.insert(op).second || !op->getBlock())
        break;
      points[op->getBlock()].push_back(op);
      if (op->getParentRegion() == home)
        break;
      Operation *parent = op->getParentOp();
      if (!parent || !runsRegionsInPlace(parent)) {
        capture = Capture{parent, use};
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
  auto isConsumption = [&](OpOperand *use) {
    return use->get() == value && classifyUse(*use) != UseKind::Borrow;
  };
  bool consumed = false;
  if (auto it = usesOf.find(op); it != usesOf.end()) {
    // An op reads its operands before it consumes any, and only the first
    // consumption is reached alive.
    for (OpOperand *use : it->second)
      if (!isConsumption(use))
        reached.insert(use);
    for (OpOperand *use : it->second) {
      if (consumed || !isConsumption(use) || !isTaken(*use))
        continue;
      reached.insert(use);
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
  Block *known = getKnownSuccessor(block);
  for (auto [index, successor] : llvm::enumerate(branch->getSuccessors())) {
    if (known && successor != known)
      continue;
    OperandRange operands =
        branch.getSuccessorOperands(index).getForwardedOperands();
    bool consumed = false;
    for (OpOperand *use : usesOf[branch]) {
      if (use->get() != value)
        reached.insert(use);
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
      conflict = Conflict{branch, block, /*isBlock=*/true, /*isLoop=*/false};
}

/// Sends the value into the regions that the op may run first. What comes after
/// the op is reached from the regions' ends.
bool LiveRange::enterRegions(Operation *op, Block *block) {
  if (!entered.insert({op, false}).second)
    return false;
  SmallVector<RegionSuccessor> successors;
  getEntry(cast<RegionBranchOpInterface>(op), successors);
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
  Operation *terminator = getTerminator(block);
  // The condition is known to be the same within the block, and where a branch
  // on it goes.
  if (auto select = selects.find(block); select != selects.end()) {
    Block *known = getKnownSuccessor(block);
    if (!known) {
      halfSelect = HalfSelect{select->second, nullptr, terminator};
      return;
    }
    aliveAtEnd.insert(block);
    return leaveAlong(known, block, terminator);
  }
  aliveAtEnd.insert(block);
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

SmallVector<RegionSuccessor>
mlir::fp8::getSuccessors(RegionBranchOpInterface op, Operation *terminator) {
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

Operation *mlir::fp8::getTerminator(Block *block) {
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

/// Chooses the innermost conflict: those around it follow from it.
void LiveRange::findConflict() {
  if (conflict)
    return;
  auto consider = [&](std::optional<Conflict> found) {
    if (found && (!conflict || conflict->join->isProperAncestor(found->join)))
      conflict = found;
  };
  for (auto &[op, aliveAfter] : entered)
    consider(findRegionConflict(op));
  for (auto &[block, step] : reachedFrom)
    if (block != homeBlock)
      consider(findBlockConflict(block));
}

std::optional<LiveRange::Conflict> LiveRange::findBlockConflict(Block *block) {
  for (Block *predecessor : block->getPredecessors()) {
    Block *known = getKnownSuccessor(predecessor);
    if (aliveEdges.contains({predecessor, block}) ||
        !dominance.isReachableFromEntry(predecessor) ||
        (known && known != block) || isOnOtherSide(predecessor))
      continue;
    bool isLoop = dominance.dominates(block, predecessor);
    return Conflict{isLoop ? &predecessor->back() : &block->front(),
                    reachedFrom[block].from, /*isBlock=*/true, isLoop};
  }
  return std::nullopt;
}

std::optional<LiveRange::Conflict>
LiveRange::findRegionConflict(Operation *op) {
  auto branch = cast<RegionBranchOpInterface>(op);
  // For each place that control can go to (a region, or null for after the op):
  // a block from which it comes with the value alive, and whether it may come
  // with the value consumed. Regions that are only entered after a consumption
  // hand that on.
  llvm::SmallMapVector<Region *, Block *, 4> alive;
  llvm::SmallDenseSet<Region *> consumed;
  SmallVector<RegionSuccessor> successors;
  getEntry(branch, successors);
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
      return Conflict{op, from, /*isBlock=*/false, isLoop};
    }
  return std::nullopt;
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
