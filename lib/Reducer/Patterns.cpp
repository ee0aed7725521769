// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reduction patterns of the dialect.
//
// The reducer applies all patterns to all ops at once, and goes on only from
// what is still interesting (LLVM 22, ReductionTreePass): so each change is
// tried on a copy of the module first. It takes the ops of a region one after
// the other, so a change erases its own op, ops in front of it or ops in
// regions, but none behind it.

#include "fp8/Reducer/Patterns.h"
#include "fp8/IR/Fp8.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fp8;

/// Makes the op smaller; failure if it is not one that the change is for.
using Change = LogicalResult (*)(Operation *op, RewriterBase &rewriter);

//===----------------------------------------------------------------------===//
// Parts of a GEMM op
//===----------------------------------------------------------------------===//

template <MutableOperandRange (BlockwiseGemmOp::*getPart)()>
static LogicalResult dropOperand(Operation *op, RewriterBase &rewriter) {
  auto gemm = dyn_cast<BlockwiseGemmOp>(op);
  if (!gemm || (gemm.*getPart)().empty())
    return failure();
  rewriter.modifyOpInPlace(op, [&] { (gemm.*getPart)().clear(); });
  return success();
}

static LogicalResult dropConfig(Operation *op, RewriterBase &rewriter) {
  auto gemm = dyn_cast<BlockwiseGemmOp>(op);
  if (!gemm || !gemm.getConfigAttr())
    return failure();
  rewriter.modifyOpInPlace(op, [&] { gemm.removeConfigAttr(); });
  return success();
}

static LogicalResult dropMap(Operation *op, RewriterBase &rewriter) {
  auto gemm = dyn_cast<BlockwiseGemmOp>(op);
  if (!gemm || gemm.getBody().empty())
    return failure();
  rewriter.eraseBlock(&gemm.getBody().front());
  return success();
}

//===----------------------------------------------------------------------===//
// Work of a role
//===----------------------------------------------------------------------===//

/// A loop, a branch, a scope or a store goes with all that it holds: what it
/// took, operands and captures, stands for what it gave back of the same types,
/// and ends that it kept are closed.
static LogicalResult dropScope(Operation *op, RewriterBase &rewriter) {
  if (!isa<RegionBranchOpInterface, StoreOp>(op) || isa<RoleOp, MapOp>(op))
    return failure();
  llvm::SetVector<Value> taken;
  for (Value operand : op->getOperands())
    taken.insert(operand);
  getUsedValuesDefinedAbove(op->getRegions(), taken);

  SmallVector<Value> given;
  for (Value result : op->getResults()) {
    auto *same = llvm::find_if(taken, [&](Value value) {
      return value.getType() == result.getType();
    });
    if (same != taken.end()) {
      given.push_back(*same);
      if (isLinear(result.getType()))
        taken.erase(same);
    } else if (!isa<FragmentType>(result.getType())) {
      return failure();
    } else {
      given.push_back(ZeroOp::create(rewriter, op->getLoc(), result.getType()));
    }
  }
  for (Value left : taken)
    if (isa<ProducerType, ConsumerType, StoreQueueType, ExchangeType>(
            left.getType()))
      CloseOp::create(rewriter, op->getLoc(), left);
  rewriter.replaceOp(op, given);
  return success();
}

/// An acquired stage goes with its release and whatever uses it between them.
static LogicalResult dropStage(Operation *released, RewriterBase &rewriter) {
  auto op = dyn_cast<ReleaseOp>(released);
  if (!op)
    return failure();
  auto acquire = op.getStage().getDefiningOp<AcquireOp>();
  if (!acquire || acquire->getBlock() != op->getBlock() ||
      acquire.getEnd().getType() != op->getResult(0).getType())
    return failure();
  llvm::SetVector<Operation *> users;
  users.insert(acquire);
  for (unsigned i = 0; i != users.size(); i++)
    for (Operation *user : users[i]->getUsers()) {
      Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
      if (!ancestor || (ancestor != op && !ancestor->isBeforeInBlock(op)))
        return failure();
      if (ancestor != op)
        users.insert(ancestor);
    }
  rewriter.replaceOp(op, acquire.getEnd());
  SmallVector<Operation *> lastFirst = users.takeVector();
  llvm::sort(lastFirst, [](Operation *a, Operation *b) {
    return b != a && b->isBeforeInBlock(a);
  });
  for (Operation *user : lastFirst)
    rewriter.eraseOp(user);
  return success();
}

//===----------------------------------------------------------------------===//
// Roles and rings
//===----------------------------------------------------------------------===//

/// A role that does nothing: it gives the ends that it took back.
static LogicalResult emptyRole(Operation *role, RewriterBase &rewriter) {
  auto op = dyn_cast<RoleOp>(role);
  if (!op || isa<YieldOp>(op.getBody().front().front()))
    return failure();
  Block &entry = op.getBody().front();
  auto idle = RoleOp::create(rewriter, op->getLoc(), op.getNameAttr(),
                             op.getWarpsAttr(), op.getInits());
  Block *body = rewriter.createBlock(&idle.getBody());
  for (BlockArgument argument : entry.getArguments())
    body->addArgument(argument.getType(), argument.getLoc());
  YieldOp::create(rewriter, op->getLoc(), body->getArguments());
  rewriter.eraseOp(op);
  return success();
}

/// True if the use is by a role that only gives the end back.
static bool isIdle(OpOperand &use) {
  auto role = dyn_cast<RoleOp>(use.getOwner());
  if (!role)
    return false;
  BlockArgument argument = role.getBody().getArgument(use.getOperandNumber());
  return argument.hasOneUse() && isa<YieldOp>(*argument.user_begin());
}

/// Takes an end from such a role.
static void takeOut(OpOperand &use) {
  unsigned index = use.getOperandNumber();
  auto role = cast<RoleOp>(use.getOwner());
  BlockArgument argument = role.getBody().getArgument(index);
  OpOperand &yielded = *argument.use_begin();
  yielded.getOwner()->eraseOperand(yielded.getOperandNumber());
  role.getBody().eraseArgument(index);
  role->eraseOperand(index);
}

/// A ring or queue whose ends no role works on goes, and roles do without it.
static LogicalResult dropRing(Operation *op, RewriterBase &rewriter) {
  if (!isa<PipelineOp, OutputPipelineOp, WorkQueueOp, StoreQueueOp, ExchangeOp>(
          op))
    return failure();
  for (OpOperand &use : op->getUses())
    if (!isIdle(use))
      return failure();
  while (!op->use_empty()) {
    OpOperand &use = *op->use_begin();
    rewriter.modifyOpInPlace(use.getOwner(), [&] { takeOut(use); });
  }
  rewriter.eraseOp(op);
  return success();
}

/// A role that does nothing and takes nothing goes.
static LogicalResult dropRole(Operation *role, RewriterBase &rewriter) {
  auto op = dyn_cast<RoleOp>(role);
  if (!op || !op.getInits().empty() ||
      !isa<YieldOp>(op.getBody().front().front()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// The patterns
//===----------------------------------------------------------------------===//

namespace {

/// A change that is made if the module stays valid and interesting.
struct TestedChange : public RewritePattern {
  TestedChange(MLIRContext *context, Change change, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        change(change), tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    return success(isWelcome(op) && succeeded(change(op, rewriter)));
  }

private:
  bool isWelcome(Operation *op) const {
    if (!isa_and_nonnull<Fp8Dialect>(op->getDialect()) &&
        !isa<RegionBranchOpInterface>(op))
      return false;
    Operation *root = op;
    while (Operation *parent = root->getParentOp())
      root = parent;
    if (root == op || !isa<ModuleOp>(root))
      return false;
    IRMapping mapping;
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(root->clone(mapping));
    IRRewriter rewriter(op->getContext());
    Operation *twin = mapping.lookup(op);
    rewriter.setInsertionPoint(twin);
    if (failed(change(twin, rewriter)))
      return false;
    ScopedDiagnosticHandler silent(op->getContext(),
                                   [](Diagnostic &) { return success(); });
    return succeeded(verify(*copy)) &&
           tester.isInteresting(*copy).first == Tester::Interestingness::True;
  }

  Change change;
  const Tester &tester;
};

struct Fp8ReductionInterface : public DialectReductionPatternInterface {
  explicit Fp8ReductionInterface(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const final {}

  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const final {
    const Change changes[] = {dropConfig,
                              dropMap,
                              dropOperand<&BlockwiseGemmOp::getBetaMutable>,
                              dropOperand<&BlockwiseGemmOp::getCMutable>,
                              dropOperand<&BlockwiseGemmOp::getBiasMutable>,
                              dropOperand<&BlockwiseGemmOp::getDScaleMutable>,
                              dropScope,
                              dropStage,
                              emptyRole,
                              dropRing,
                              dropRole};
    for (Change change : changes)
      patterns.add<TestedChange>(patterns.getContext(), change, tester);
  }
};

} // namespace

void mlir::fp8::registerReductionPatterns(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, Fp8Dialect *dialect) {
    dialect->addInterfaces<Fp8ReductionInterface>();
  });
}
