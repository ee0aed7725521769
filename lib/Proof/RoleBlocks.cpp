// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of a region whose blocks branch to one another.

#include "BlockWalker.h"
#include "RoleWalker.h"

using namespace mlir;
using namespace mlir::fp8;
using namespace ::fp8::proof;
using Kind = Statement::Kind;
using Statements = ::fp8::proof::Block;

namespace mlir::fp8 {

class RoleBlocks : public BlockWalker<Statements> {
public:
  RoleBlocks(RoleWalker &role, Operation *op, Region &region)
      : BlockWalker(op, region), role(role), op(op) {
    for (mlir::Block &block : llvm::drop_begin(region))
      role.makeVariables(block.getArguments());
  }

private:
  void addOps(mlir::Block &block, Statements &out) override {
    role.walk(block, out);
    if (block.getOps<ReduceScatterOp>().empty())
      return;
    // The branches around it are those of CTAs that meet.
    out.push_back({Kind::Assign});
    out.back().site = role.getSite(block.getTerminator());
    out.back().meets = true;
  }

  /// True if CTAs exchange sums in one of the statements.
  static bool meets(const Statements &statements) {
    return llvm::any_of(
        statements, [](const Statement &statement) { return statement.meets; });
  }

  void assign(Operation *branch, mlir::Block *to, ValueRange values,
              Statements &out) override {
    role.assign(branch, to->getArguments(), values, out);
  }

  void addBranch(cf::CondBranchOp branch, Statements yes, Statements no,
                 Statements &out) override {
    // Threads may part where nothing waits or signals.
    if (yes.empty() && no.empty())
      return;
    Statement statement{Kind::Branch};
    statement.site = role.getSite(branch);
    statement.condition = role.expressions.get(branch.getCondition());
    statement.meets = meets(yes) || meets(no);
    statement.first = std::move(yes);
    statement.second = std::move(no);
    out.push_back(std::move(statement));
  }

  void addLoop(cf::CondBranchOp guard, bool goesOnIfTrue, Statements before,
               Statements turn, Statements &out) override {
    if (before.empty() && turn.empty())
      return;
    Statement statement{Kind::While};
    statement.site = role.getSite(guard);
    statement.meets = meets(before) || meets(turn);
    statement.first = std::move(before);
    role.leadToGuard(statement);
    statement.condition = role.expressions.get(guard.getCondition());
    if (!goesOnIfTrue)
      statement.condition =
          role.table.get(ExprKind::Not, {statement.condition});
    statement.second = std::move(turn);
    out.push_back(std::move(statement));
  }

  void finish(Operation *last, Statements &) override {
    role.alias(op->getResults(), last->getOperands());
  }

  void obstruct() override {
    role.obstruct(op, "its control flow is not structured; let each loop of "
                      "its blocks have one exit, and the blocks end in one "
                      "place");
  }

  RoleWalker &role;
  Operation *op;
};

} // namespace mlir::fp8

void RoleWalker::walkBlocks(Operation *op, Region &region, Statements &out) {
  RoleBlocks(*this, op, region).walk(out);
}
