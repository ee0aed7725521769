// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops and branches of a region whose blocks branch to one another.

#ifndef FP8_LIB_PROOF_BLOCKWALKER_H
#define FP8_LIB_PROOF_BLOCKWALKER_H

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Dominance.h"

namespace mlir::fp8 {

/// Makes loops and branches of blocks. A loop is one whose first block decides
/// whether it goes on; nothing else leads out of it. The branches of a
/// condition meet again. Others are an obstacle. `Statements` is what somebody
/// makes of the ops.
template <typename Statements>
class BlockWalker {
public:
  virtual ~BlockWalker() = default;

  void walk(Statements &out) { walk(&region.front(), nullptr, out); }

protected:
  BlockWalker(Operation *op, Region &region)
      : region(region), dominance(op), postDominance(op),
        loops(dominance.getDomTree(&region)) {}

  virtual void addOps(Block &block, Statements &out) = 0;
  /// The arguments of the block that the op branches to get values.
  virtual void assign(Operation *op, Block *to, ValueRange values,
                      Statements &out) = 0;
  virtual void addBranch(cf::CondBranchOp branch, Statements yes, Statements no,
                         Statements &out) = 0;
  /// Adds a loop, which goes on behind `before` with `turn` if the condition is
  /// as said.
  virtual void addLoop(cf::CondBranchOp guard, bool goesOnIfTrue,
                       Statements before, Statements turn, Statements &out) = 0;
  /// The region ends with this op, whose operands are its results.
  virtual void finish(Operation *last, Statements &out) = 0;
  virtual void obstruct() = 0;

private:
  /// Walks from the block to where control comes to `stop`.
  void walk(Block *block, Block *stop, Statements &out);
  /// Walks the loop that begins with the block. Returns the block behind it,
  /// null if the loop has another form.
  Block *walkLoop(Block *head, Statements &out);
  /// The same of a condition, up to where its branches meet.
  Block *walkBranch(cf::CondBranchOp branch, Statements &out);

  Region &region;
  DominanceInfo dominance;
  PostDominanceInfo postDominance;
  CFGLoopInfo loops;
  llvm::DenseSet<Block *> walked;
};

template <typename Statements>
Block *BlockWalker<Statements>::walkBranch(cf::CondBranchOp branch,
                                           Statements &out) {
  Block *yes = branch.getTrueDest(), *no = branch.getFalseDest(),
        *join = postDominance.findNearestCommonDominator(yes, no);
  // A branch that leaves the loop around it has no such block inside. Branches
  // may meet where another loop begins.
  if (!join)
    return nullptr;
  CFGLoop *around = loops.getLoopFor(branch->getBlock()),
          *loop = loops.getLoopFor(join);
  if (loop != around && loops.isLoopHeader(join))
    loop = loop->getParentLoop();
  if (loop != around)
    return nullptr;
  Statements first, second;
  assign(branch, yes, branch.getTrueDestOperands(), first);
  walk(yes, join, first);
  assign(branch, no, branch.getFalseDestOperands(), second);
  walk(no, join, second);
  addBranch(branch, std::move(first), std::move(second), out);
  return join;
}

template <typename Statements>
Block *BlockWalker<Statements>::walkLoop(Block *head, Statements &out) {
  CFGLoop *loop = loops.getLoopFor(head);
  auto branch = dyn_cast<cf::CondBranchOp>(head->getTerminator());
  if (!branch || loop->getExitingBlock() != head)
    return nullptr;
  bool goesOnIfTrue = loop->contains(branch.getTrueDest());
  unsigned on = goesOnIfTrue ? 0 : 1;
  Block *next = branch->getSuccessor(on), *exit = branch->getSuccessor(1 - on);
  auto values = [&](unsigned successor) {
    return branch.getSuccessorOperands(successor).getForwardedOperands();
  };
  Statements before, turn;
  addOps(*head, before);
  assign(branch, next, values(on), turn);
  walk(next, head, turn);
  addLoop(branch, goesOnIfTrue, std::move(before), std::move(turn), out);
  assign(branch, exit, values(1 - on), out);
  return exit;
}

template <typename Statements>
void BlockWalker<Statements>::walk(Block *block, Block *stop, Statements &out) {
  while (block != stop) {
    if (!walked.insert(block).second)
      return obstruct();
    if (loops.isLoopHeader(block)) {
      block = walkLoop(block, out);
      if (!block)
        return obstruct();
      continue;
    }
    addOps(*block, out);
    Operation *last = block->getTerminator();
    if (auto branch = dyn_cast<cf::BranchOp>(last)) {
      assign(last, branch.getDest(), branch.getDestOperands(), out);
      block = branch.getDest();
    } else if (auto branch = dyn_cast<cf::CondBranchOp>(last)) {
      block = walkBranch(branch, out);
      if (!block)
        return obstruct();
    } else {
      if (stop)
        return obstruct();
      return finish(last, out);
    }
  }
}

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_BLOCKWALKER_H
