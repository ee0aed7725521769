// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of a kernel in front of the conversion: switches, roles with several
// blocks, and what leading CTAs do.

#include "RingLowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

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

/// Has the body use the ends that the role is given.
static void dropInits(RoleOp role) {
  Block &entry = role.getBody().front();
  for (auto [argument, init] : llvm::zip(entry.getArguments(), role.getInits()))
    argument.replaceAllUsesWith(init);
  entry.eraseArguments(0, entry.getNumArguments());
  role.getInitsMutable().clear();
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
  for (RoleOp role : kernel.getFunctionBody().front().getOps<RoleOp>())
    dropInits(role);
}

/// A branch on the CTA's rank.
static void branch(LeadingCtaOp op, const ClusterValues &cluster) {
  OpBuilder builder(op);
  BarrierBuilder atOp(builder, op.getLoc());
  auto result = scf::IfOp::create(builder, op.getLoc(), op.getResultTypes(),
                                  cluster.isLeading(op.getGrouping(), atOp),
                                  /*withElseRegion=*/true);
  Block &body = op.getBody().front(), *then = result.thenBlock();
  // Without results the arms have their yields already.
  for (Block *arm : {then, result.elseBlock()})
    if (arm->mightHaveTerminator())
      arm->getTerminator()->erase();
  for (auto [argument, init] : llvm::zip(body.getArguments(), op.getInits()))
    argument.replaceAllUsesWith(init);
  auto yield = cast<YieldOp>(body.getTerminator());
  builder.setInsertionPoint(yield);
  scf::YieldOp::create(builder, yield.getLoc(), yield.getOperands());
  yield.erase();
  then->getOperations().splice(then->end(), body.getOperations());
  builder.setInsertionPointToEnd(result.elseBlock());
  scf::YieldOp::create(builder, op.getLoc(), op.getInits());
  op->replaceAllUsesWith(result.getResults());
  op->erase();
}

void mlir::fp8::branchOnLeadingCtas(FunctionOpInterface kernel,
                                    const ClusterValues &cluster) {
  SmallVector<LeadingCtaOp> ops;
  kernel.walk([&](LeadingCtaOp op) { ops.push_back(op); });
  for (LeadingCtaOp op : ops)
    branch(op, cluster);
}
