// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of a region whose blocks branch to one another.

#ifndef FP8_LIB_PROOF_BLOCKWALKER_H
#define FP8_LIB_PROOF_BLOCKWALKER_H

#include "RoleWalker.h"

#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Dominance.h"

namespace mlir::fp8 {

/// Makes loops and branches of blocks. A loop is one whose first block decides
/// whether it goes on; nothing else leads out of it. The branches of a
/// condition meet again. Others are an obstacle.
class BlockWalker {
public:
  BlockWalker(RoleWalker &role, Operation *op, Region &region)
      : role(role), op(op), region(region), dominance(op), postDominance(op),
        loops(dominance.getDomTree(&region)) {}

  void walk(::fp8::proof::Block &out);

private:
  using Statements = ::fp8::proof::Block;

  /// Walks from the block to where control comes to `stop`.
  void walk(Block *block, Block *stop, Statements &out);
  /// Walks the loop that begins with the block. Returns the block behind it,
  /// null if the loop has another form.
  Block *walkLoop(Block *head, Statements &out);
  /// The same of a condition, up to where its branches meet.
  Block *walkBranch(cf::CondBranchOp branch, Statements &out);
  void assign(Operation *branch, Block *to, ValueRange values,
              Statements &out) {
    role.assign(branch, to->getArguments(), values, out);
  }
  Block *obstruct() {
    role.obstruct(op, "its control flow is not structured");
    return nullptr;
  }

  RoleWalker &role;
  Operation *op;
  Region &region;
  DominanceInfo dominance;
  PostDominanceInfo postDominance;
  CFGLoopInfo loops;
  llvm::DenseSet<Block *> walked;
};

} // namespace mlir::fp8

#endif // FP8_LIB_PROOF_BLOCKWALKER_H
