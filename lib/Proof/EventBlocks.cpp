// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The events of a region whose blocks branch to one another.

#include "BlockWalker.h"
#include "EventWalker.h"

using namespace mlir;
using namespace mlir::fp8;
using ::fp8::proof::EventBlock;
using Node = ::fp8::proof::EventNode;

namespace mlir::fp8 {

/// Conditions are left open. Of values, ends that may change places are
/// followed.
class EventBlocks : public BlockWalker<EventBlock> {
public:
  EventBlocks(EventWalker &role, Operation *op, Region &region)
      : BlockWalker(op, region), role(role), op(op) {}

private:
  void addOps(Block &block, EventBlock &out) override {
    for (Operation &inner : block.without_terminator())
      role.walk(&inner, out);
  }

  void assign(Operation *branch, Block *to, ValueRange values,
              EventBlock &out) override {
    role.addMoves(branch, values, to->getArguments(), out);
  }

  void addBranch(cf::CondBranchOp branch, EventBlock yes, EventBlock no,
                 EventBlock &out) override {
    if (yes.empty() && no.empty())
      return;
    Node node{Node::Kind::Choice, getSite(role.kernel, branch)};
    node.arms = {std::move(yes), std::move(no)};
    out.push_back(std::move(node));
  }

  void addLoop(cf::CondBranchOp guard, bool, EventBlock before, EventBlock turn,
               EventBlock &out) override {
    role.addLoop(guard, std::move(before), std::move(turn), out);
  }

  void finish(Operation *last, EventBlock &out) override {
    role.forward(last, out);
  }

  void obstruct() override {
    role.obstruct(op, "its control flow is not structured");
  }

  EventWalker &role;
  Operation *op;
};

} // namespace mlir::fp8

void EventWalker::walkBlocks(Operation *op, Region &region, Block &out) {
  EventBlocks(*this, op, region).walk(out);
}
