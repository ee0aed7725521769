// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes fp8.for_each_tile to scf.for over the CTA's tiles.

#include "fp8/IR/Fp8.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8LOWERTILELOOPS
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// for_each_tile: a strided loop, or the body once.
struct LowerForEachTile : public OpRewritePattern<ForEachTileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ForEachTileOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value cta = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x);
    if (op.getScheduler() == SchedulerKind::OneTile) {
      rewriter.replaceOp(op, inlineBody(op, op, cta, op.getInits(), rewriter));
      return success();
    }
    Value tiles =
        arith::MulIOp::create(rewriter, loc, op.getTilesM(), op.getTilesN());
    Value ctas = gpu::GridDimOp::create(rewriter, loc, gpu::Dimension::x);
    auto loop =
        scf::ForOp::create(rewriter, loc, cta, tiles, ctas, op.getInits());
    Block *target = loop.getBody();
    if (!target->empty())
      rewriter.eraseOp(target->getTerminator());
    rewriter.setInsertionPointToEnd(target);
    auto end = scf::YieldOp::create(rewriter, loc);
    rewriter.setInsertionPoint(end);
    SmallVector<Value> yielded = inlineBody(op, end, loop.getInductionVar(),
                                            loop.getRegionIterArgs(), rewriter);
    rewriter.modifyOpInPlace(end, [&] { end->setOperands(yielded); });
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }

private:
  /// Moves the body in front of `before`, as the computation of tile `tile`.
  /// Returns what it yields.
  static SmallVector<Value> inlineBody(ForEachTileOp op, Operation *before,
                                       Value tile, ValueRange carried,
                                       PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    SmallVector<Value> arguments{
        arith::RemUIOp::create(rewriter, loc, tile, op.getTilesM()),
        arith::DivUIOp::create(rewriter, loc, tile, op.getTilesM())};
    llvm::append_range(arguments, carried);
    Block *body = &op.getBody().front();
    Operation *yield = body->getTerminator();
    rewriter.inlineBlockBefore(body, before, arguments);
    SmallVector<Value> yielded(yield->getOperands());
    rewriter.eraseOp(yield);
    return yielded;
  }
};

struct LowerTileLoopsPass
    : public fp8::impl::Fp8LowerTileLoopsBase<LowerTileLoopsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerForEachTile>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
