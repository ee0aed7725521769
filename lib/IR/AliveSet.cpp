// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which linear values are alive, for all values of a function at once.
//
// Blocks and the regions of ops that follow RegionBranchOpInterface make one
// graph, as in LiveRange. Each op is looked at once. The way to a point decides
// what is alive there; that all other ways agree is known from the sums, at
// each edge into a point that was visited before.

#include "AliveSet.h"

#include "LentUse.h"
#include "LiveRange.h"
#include "fp8/IR/Fp8.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/SipHash.h"

#include <random>

using namespace mlir;
using namespace mlir::fp8;

namespace {
/// The key of this process's sums. Nobody who writes a program knows it, so
/// nobody can choose handles of which two sets have one sum.
struct Key {
  Key() {
    std::random_device random;
    for (uint8_t &byte : bytes)
      byte = uint8_t(random());
  }
  uint8_t bytes[16];
};
} // namespace

/// What a handle adds to the sum.
static uint64_t getSummand(uint32_t handle) {
  static const Key key;
  uint8_t number[sizeof(handle)], hash[8];
  llvm::support::endian::write32le(number, handle);
  llvm::getSipHash_2_4_64(number, key.bytes, hash);
  return llvm::support::endian::read64le(hash);
}

/// The number of ops that control may reach as far as each region tells.
static size_t countReachable(Operation *function, DominanceInfo &dominance) {
  size_t count = 0;
  function->walk<WalkOrder::PreOrder>([&](Block *block) {
    if (!dominance.isReachableFromEntry(block))
      return WalkResult::skip();
    count += block->getOperations().size();
    return WalkResult::advance();
  });
  return count;
}

AliveSet::AliveSet(Operation *function, DominanceInfo &dominance)
    : dominance(dominance) {
  // What the walk did not come to, it does not know.
  isProof = walk(function) && numVisited == countReachable(function, dominance);
}

bool AliveSet::walk(Operation *function) {
  for (Region &region : function->getRegions())
    if (!region.empty()) {
      scopes[&region] = Scope();
      worklist.push_back({&region.front(), 0, {}});
    }
  while (!worklist.empty()) {
    Edge edge = worklist.pop_back_val();
    rollBack(edge.mark);
    for (unsigned handle : edge.consumed)
      toggle(handle);
    auto [known, isNew] = sumAt.insert({edge.target, aliveSum});
    if (known->second != aliveSum || (isNew && !walkFrom(edge.target)))
      return false;
  }
  return true;
}

/// Follows a block from the point on, until control leaves it or enters
/// regions.
bool AliveSet::walkFrom(Point point) {
  Block *block = dyn_cast<Block *>(point);
  Operation *next = nullptr;
  if (block) {
    define(block->getArguments());
    next = block->empty() ? nullptr : &block->front();
  } else {
    auto *op = cast<Operation *>(point);
    define(op->getResults());
    block = op->getBlock();
    next = op->getNextNode();
  }
  for (; next; next = next->getNextNode()) {
    if (!visit(next))
      return false;
    enterRegions(next);
    if (next->getNumRegions() && isa<RegionBranchOpInterface>(next))
      return true;
    define(next->getResults());
  }
  return leaveBlock(block);
}

/// Takes account of what the op does with its operands.
bool AliveSet::visit(Operation *op) {
  ++numVisited;
  Uses uses;
  for (OpOperand &use : op->getOpOperands())
    if (!useOperand(use, uses))
      return false;
  if (!uses.derived.empty() && !lend(uses))
    return false;
  for (unsigned handle : uses.consumed) {
    if (!handles[handle].isAlive)
      return false; // twice by this op
    toggle(handle);
  }
  return true;
}

/// Adds what the op does with the operand to `uses`. Returns false if that
/// breaks a rule, or if its result is not for this walk to follow.
bool AliveSet::useOperand(OpOperand &use, Uses &uses) {
  Operation *op = use.getOwner();
  auto isUsableHere = [&](unsigned handle) { return isUsable(handle, op); };
  auto lent = lenders.find(use.get());
  if (lent != lenders.end()) {
    llvm::append_range(uses.borrowed, lent->second);
    if (!llvm::all_of(lent->second, isUsableHere) || !addDerived(use, uses))
      return false;
  }
  if (!isLinear(use.get().getType()))
    return true;
  // A linear value that is lent is consumed while its lenders live.
  if (lent != lenders.end() && letsEscape(use))
    return false;
  UseKind kind = classifyUse(use);
  auto it = ids.find(use.get());
  if (it == ids.end()) // selected, or used before it is defined
    return kind != UseKind::Illegal && selected.contains(use.get());
  if (kind == UseKind::Illegal || !isUsable(it->second, op))
    return false;
  if (kind == UseKind::Borrow) {
    uses.borrowed.push_back(it->second);
    return addDerived(use, uses);
  }
  if (handles[it->second].isManaged)
    return false;
  if (!isa<BranchOpInterface>(op)) // hands on along each edge on its own
    uses.consumed.push_back(it->second);
  return true;
}

/// Adds what the op computes from the operand. What reaches arguments of
/// regions, such as a loop's variable, is left to the walk of each handle.
bool AliveSet::addDerived(OpOperand &use, Uses &uses) {
  for (Value value : getDerivedValues(use)) {
    if (!isa<OpResult>(value))
      return false;
    uses.derived.push_back(value);
  }
  return true;
}

bool AliveSet::isUsable(unsigned handle, Operation *op) const {
  return handles[handle].isAlive &&
         scopes.lookup(handles[handle].home).depth >=
             scopes.lookup(op->getParentRegion()).barrier;
}

/// What a borrow lends, and what is computed from that alone, belongs to the
/// handles (L9).
bool AliveSet::lend(Uses &uses) {
  llvm::sort(uses.borrowed);
  uses.borrowed.erase(llvm::unique(uses.borrowed), uses.borrowed.end());
  // What is made of many handles is cheaper to follow from each.
  if (uses.borrowed.size() > 8)
    return false;
  for (Value value : uses.derived)
    lenders[value].assign(uses.borrowed.begin(), uses.borrowed.end());
  return true;
}

bool AliveSet::leaveBlock(Block *block) {
  Operation *terminator = getTerminator(block);
  if (auto branch = dyn_cast_or_null<BranchOpInterface>(terminator))
    return leaveAlong(branch);
  if (terminator && terminator->getNumSuccessors()) {
    for (Block *successor : terminator->getSuccessors())
      worklist.push_back({successor, trail.size(), {}});
    return true;
  }
  if (scopes[block->getParent()].numAlive != 0)
    return false;
  Operation *parent = block->getParentOp();
  auto branch = dyn_cast<RegionBranchOpInterface>(parent);
  if (branch && scopes[block->getParent()].depth > 0)
    follow(parent, getSuccessors(branch, terminator));
  return true;
}

bool AliveSet::leaveAlong(BranchOpInterface branch) {
  for (auto [index, successor] : llvm::enumerate(branch->getSuccessors())) {
    Edge edge{successor, trail.size(), {}};
    for (Value operand :
         branch.getSuccessorOperands(index).getForwardedOperands())
      if (auto it = ids.find(operand); it != ids.end()) {
        if (llvm::is_contained(edge.consumed, it->second))
          return false;
        edge.consumed.push_back(it->second);
      }
    worklist.push_back(std::move(edge));
  }
  return true;
}

void AliveSet::enterRegions(Operation *op) {
  if (op->getNumRegions() == 0)
    return;
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  bool captures = !runsRegionsInPlace(op);
  Scope outer = scopes.lookup(op->getParentRegion());
  for (Region &region : op->getRegions()) {
    Scope &scope = scopes[&region];
    scope.depth = outer.depth + 1;
    scope.barrier = captures ? scope.depth : outer.barrier;
    if (!branch && !region.empty())
      worklist.push_back({&region.front(), trail.size(), {}});
  }
  if (!branch)
    return;
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  follow(op, successors);
}

void AliveSet::follow(Operation *op, ArrayRef<RegionSuccessor> successors) {
  for (RegionSuccessor successor : successors) {
    Region *region = successor.getSuccessor();
    if (!region)
      worklist.push_back({op, trail.size(), {}});
    else if (!region->empty())
      worklist.push_back({&region->front(), trail.size(), {}});
  }
}

void AliveSet::define(ValueRange values) {
  for (Value value : values) {
    if (!isLinear(value.getType()))
      continue;
    if (isSelected(value)) {
      selected.insert(value);
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    auto owner =
        argument
            ? dyn_cast<LinearOpInterface>(value.getParentBlock()->getParentOp())
            : LinearOpInterface();
    bool isManaged = owner && owner.managesArgument(argument);
    unsigned handle = handles.size();
    ids[value] = handle;
    handles.push_back(
        {value.getParentRegion(), getSummand(handle), isManaged, isManaged});
    if (!isManaged)
      toggle(handle);
  }
}

void AliveSet::toggle(unsigned handle) {
  trail.push_back(handle);
  Handle &which = handles[handle];
  unsigned &numAlive = scopes[which.home].numAlive;
  which.isAlive = !which.isAlive;
  numAlive = which.isAlive ? numAlive + 1 : numAlive - 1;
  aliveSum += which.isAlive ? which.summand : -which.summand;
}

void AliveSet::rollBack(size_t mark) {
  while (trail.size() > mark) {
    toggle(trail.back());
    trail.resize(trail.size() - 2);
  }
}
