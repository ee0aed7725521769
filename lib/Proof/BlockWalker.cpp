// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of a region whose blocks branch to one another.

#include "BlockWalker.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using MBlock = mlir::Block;
using Kind = Statement::Kind;

MBlock *BlockWalker::walkBranch(cf::CondBranchOp branch, Statements &out) {
  MBlock *yes = branch.getTrueDest(), *no = branch.getFalseDest(),
         *join = postDominance.findNearestCommonDominator(yes, no);
  // A branch that leaves the loop around it has no such block inside.
  if (!join || loops.getLoopFor(join) != loops.getLoopFor(branch->getBlock()))
    return obstruct();
  Statement statement{Kind::Branch};
  statement.site = role.getSite(branch);
  statement.condition = role.expressions.get(branch.getCondition());
  assign(branch, yes, branch.getTrueDestOperands(), statement.first);
  walk(yes, join, statement.first);
  assign(branch, no, branch.getFalseDestOperands(), statement.second);
  walk(no, join, statement.second);
  out.push_back(std::move(statement));
  return join;
}

MBlock *BlockWalker::walkLoop(MBlock *head, Statements &out) {
  CFGLoop *loop = loops.getLoopFor(head);
  auto branch = dyn_cast<cf::CondBranchOp>(head->getTerminator());
  if (!branch || loop->getExitingBlock() != head)
    return obstruct();
  bool goesOnIfTrue = loop->contains(branch.getTrueDest());
  unsigned on = goesOnIfTrue ? 0 : 1;
  MBlock *next = branch->getSuccessor(on), *exit = branch->getSuccessor(1 - on);
  Statement statement{Kind::While};
  statement.site = role.getSite(branch);
  role.walk(*head, statement.first);
  role.leadToGuard(statement);
  statement.condition = role.expressions.get(branch.getCondition());
  if (!goesOnIfTrue)
    statement.condition = role.table.get(ExprKind::Not, {statement.condition});
  auto values = [&](unsigned successor) {
    return branch.getSuccessorOperands(successor).getForwardedOperands();
  };
  assign(branch, next, values(on), statement.second);
  walk(next, head, statement.second);
  out.push_back(std::move(statement));
  assign(branch, exit, values(1 - on), out);
  return exit;
}

void BlockWalker::walk(MBlock *block, MBlock *stop, Statements &out) {
  while (block && block != stop) {
    if (!walked.insert(block).second)
      return void(obstruct());
    if (loops.isLoopHeader(block)) {
      block = walkLoop(block, out);
      continue;
    }
    role.walk(*block, out);
    Operation *last = block->getTerminator();
    if (auto branch = dyn_cast<cf::BranchOp>(last)) {
      assign(last, branch.getDest(), branch.getDestOperands(), out);
      block = branch.getDest();
    } else if (auto branch = dyn_cast<cf::CondBranchOp>(last)) {
      block = walkBranch(branch, out);
    } else {
      if (stop || block != &region.back())
        return void(obstruct());
      role.alias(op->getResults(), last->getOperands());
      return;
    }
  }
}

void BlockWalker::walk(Statements &out) {
  for (MBlock &block : llvm::drop_begin(region))
    role.makeVariables(block.getArguments());
  walk(&region.front(), nullptr, out);
}
