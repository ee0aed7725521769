// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes scoped ops to acquire and release (phase 1 to 2).

#include "fp8/IR/Fp8.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8FLATTENSCOPES
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// Moves the scope's body in front of it. Returns what the body yields.
SmallVector<Value> inlineBody(Operation *scope, ValueRange arguments,
                              PatternRewriter &rewriter) {
  Block *body = &scope->getRegion(0).front();
  Operation *yield = body->getTerminator();
  rewriter.inlineBlockBefore(body, scope, arguments);
  SmallVector<Value> yielded(yield->getOperands());
  rewriter.eraseOp(yield);
  return yielded;
}

/// A scope's stages, and what its body yields.
struct OpenScope {
  SmallVector<Value> stages, yielded;
};

/// Acquires a stage of each end, and puts the body in front of the scope. What
/// is built next stands behind the body.
template <typename ScopeOp>
OpenScope open(ScopeOp op, PatternRewriter &rewriter) {
  OpenScope scope;
  for (Value end : op.getInits())
    scope.stages.push_back(AcquireOp::create(rewriter, op.getLoc(), end));
  scope.yielded = inlineBody(op, scope.stages, rewriter);
  rewriter.setInsertionPoint(op);
  return scope;
}

/// produce, consume, per_k_stage: acquire, body, release in the opposite order.
template <typename ScopeOp>
struct FlattenStageScope : public OpRewritePattern<ScopeOp> {
  using OpRewritePattern<ScopeOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ScopeOp op,
                                PatternRewriter &rewriter) const override {
    OpenScope scope = open(op, rewriter);
    SmallVector<Value> results(scope.stages.size());
    for (size_t i = results.size(); i-- > 0;)
      results[i] = ReleaseOp::create(rewriter, op.getLoc(), scope.stages[i]);
    results.append(scope.yielded);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// consume_explicit: acquire, body, which signals, and advance in the opposite
/// order.
struct FlattenConsumeExplicit : public OpRewritePattern<ConsumeExplicitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConsumeExplicitOp op,
                                PatternRewriter &rewriter) const override {
    OpenScope scope = open(op, rewriter);
    SmallVector<Value> results = std::move(scope.yielded);
    for (size_t i = scope.stages.size(); i-- > 0;)
      results[i] = StepOp::create(rewriter, op.getLoc(), results[i]);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// mma_warp: create, body, release.
struct FlattenMmaWarp : public OpRewritePattern<MmaWarpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MmaWarpOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getBody().getArgument(0).getType();
    Value warp =
        CreateMmaWarpOp::create(rewriter, op.getLoc(), type, op.getInits()[0]);
    SmallVector<Value> yielded = inlineBody(op, warp, rewriter);
    rewriter.setInsertionPoint(op);
    ReleaseMmaWarpOp::create(rewriter, op.getLoc(), yielded[0]);
    rewriter.replaceOp(op, ArrayRef(yielded).drop_front());
    return success();
  }
};

/// epilogue_warp: wait for the tensor memory, create, body, release.
struct FlattenEpilogueWarp : public OpRewritePattern<EpilogueWarpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(EpilogueWarpOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value end = op.getInits()[0];
    auto type = cast<EpilogueWarpType>(op.getBody().getArgument(0).getType());
    Value ready = WaitTmemOp::create(
        rewriter, loc, TmemReadyType::get(getContext(), type.getRing()), end);
    Value warp = CreateEpilogueWarpOp::create(rewriter, loc, type, end, ready);
    SmallVector<Value> yielded = inlineBody(op, warp, rewriter);
    rewriter.setInsertionPoint(op);
    ReleaseEpilogueWarpOp::create(rewriter, loc, yielded[0]);
    rewriter.replaceOp(op, ArrayRef(yielded).drop_front());
    return success();
  }
};

/// A role's yield: close what it gives back.
struct FlattenRoleYield : public OpRewritePattern<YieldOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(YieldOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<RoleOp>(op->getParentOp()) || op.getOperands().empty())
      return rewriter.notifyMatchFailure(op, "not a role's yield of ends");
    for (Value end : op.getOperands())
      CloseOp::create(rewriter, op.getLoc(), end);
    rewriter.replaceOpWithNewOp<YieldOp>(op);
    return success();
  }
};

struct FlattenScopesPass
    : public mlir::fp8::impl::Fp8FlattenScopesBase<FlattenScopesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FlattenStageScope<ProduceOp>, FlattenStageScope<ConsumeOp>,
                 FlattenStageScope<PerKStageOp>, FlattenConsumeExplicit,
                 FlattenMmaWarp, FlattenEpilogueWarp, FlattenRoleYield>(
        &getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
