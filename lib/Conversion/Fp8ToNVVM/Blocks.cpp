// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of a kernel before the conversion: switches, and roles with several
// blocks.

#include "Blocks.h"

#include "fp8/IR/Fp8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

/// One comparison for each case, in the order of the cases.
static void expand(cf::SwitchOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  if (std::optional<DenseIntElementsAttr> values = op.getCaseValues())
    for (auto [index, value] : llvm::enumerate(values->getValues<APInt>())) {
      Value number = arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(op.getFlag().getType(), value));
      Value isCase = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, op.getFlag(), number);
      Block *block = builder.getInsertionBlock();
      Block *next = builder.createBlock(block->getParent(),
                                        std::next(block->getIterator()));
      builder.setInsertionPointToEnd(block);
      cf::CondBranchOp::create(builder, loc, isCase,
                               op.getCaseDestinations()[index],
                               op.getCaseOperands(index), next, ValueRange());
      op->moveBefore(next, next->end());
      builder.setInsertionPoint(op);
    }
  cf::BranchOp::create(builder, loc, op.getDefaultDestination(),
                       op.getDefaultOperands());
  op.erase();
}

/// Puts the blocks of a role, or of what a leading CTA does, into one op, so
/// that the role can become a branch.
static void wrapBlocks(Operation *op) {
  Region &body = op->getRegion(0);
  if (body.hasOneBlock())
    return;
  OpBuilder builder(op->getContext());
  Block &first = body.front();
  Block *entry = new Block();
  body.push_front(entry);
  for (BlockArgument argument : first.getArguments())
    argument.replaceAllUsesWith(
        entry->addArgument(argument.getType(), argument.getLoc()));
  first.eraseArguments(0, first.getNumArguments());
  builder.setInsertionPointToStart(entry);
  auto wrapper =
      scf::ExecuteRegionOp::create(builder, op->getLoc(), op->getResultTypes());
  YieldOp::create(builder, op->getLoc(), wrapper.getResults());
  Region &target = wrapper.getRegion();
  target.getBlocks().splice(target.end(), body.getBlocks(),
                            std::next(body.begin()), body.end());
  for (Block &block : target)
    if (auto yield = dyn_cast<YieldOp>(block.getTerminator())) {
      builder.setInsertionPoint(yield);
      scf::YieldOp::create(builder, yield.getLoc(), yield.getOperands());
      yield.erase();
    }
}

void mlir::fp8::prepareBlocks(FunctionOpInterface kernel) {
  SmallVector<cf::SwitchOp> switches;
  kernel.walk([&](cf::SwitchOp op) { switches.push_back(op); });
  for (cf::SwitchOp op : switches)
    expand(op);
  kernel.walk([](Operation *op) {
    if (isa<RoleOp, LeadingCtaOp>(op))
      wrapBlocks(op);
  });
}
