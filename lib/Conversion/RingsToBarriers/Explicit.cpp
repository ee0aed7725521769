// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the halves of acquire and release, and copies that name their barrier.
// arrive is lowered with release, in Pipeline.cpp.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// try_wait: one test of the barrier.
struct LowerTryWait : public RingPattern<TryWaitOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(TryWaitOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    auto end = cast<EndTypeInterface>(op.getEnd().getType());
    rewriter.replaceOp(op,
                       RingCursor(operands.getEnd()).test(builder, end));
    return success();
  }
};

/// wait: the cursor stays where it is.
struct LowerWait : public RingPattern<WaitOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(WaitOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor cursor(operands.getEnd());
    auto end = cast<EndTypeInterface>(op.getEnd().getType());
    if (operands.getDone().empty()) {
      cursor.wait(builder, end, start.waitLimit);
    } else {
      Value one = arith::ConstantOp::create(rewriter, op.getLoc(),
                                            rewriter.getBoolAttr(true));
      Value pending = builder.bitXor(operands.getDone()[0], one);
      builder.ifThen(pending, [&](BarrierBuilder &inner) {
        cursor.wait(inner, end, start.waitLimit);
      });
    }
    rewriter.replaceOpWithMultiple(op, {cursor.pack()});
    return success();
  }
};

/// step: the cursor on the next slot.
struct LowerStep : public RingPattern<StepOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(StepOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    Type ring = cast<EndTypeInterface>(op.getEnd().getType()).getRing();
    RingCursor next = RingCursor(operands.getSignalled()).advance(builder, ring);
    rewriter.replaceOpWithMultiple(op, {next.pack()});
    return success();
  }
};

/// mbarrier: the address of the barrier that the stage's hand-over signals.
struct LowerMbarrier : public RingPattern<MbarrierOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(MbarrierOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    auto stage = cast<StageTypeInterface>(op.getStage().getType());
    bool fills = cast<EndTypeInterface>(stage.getEndType()).isProducer();
    rewriter.replaceOp(
        op, fills ? cursor.getFullBarrier(builder, stage.getRing())
                  : cursor.getEmptyBarrier(builder, stage.getRing()));
    return success();
  }
};

/// tma_copy: tma_load, its addresses at hand.
struct LowerTmaCopy : public RingPattern<TmaCopyOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(TmaCopyOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    auto tile = operands.getTile()[0].getDefiningOp<ViewAtOp>();
    if (!tile)
      return rewriter.notifyMatchFailure(op, "its tile has no address here");
    SmallVector<Value> coordinates = getSingles(operands.getCoordinates());
    bool announced = getPlan<StagePlanAttr>(op).bytesAtAcquire;
    int64_t ctaGroup = getCtaGroup(
        cast<StageTypeInterface>(op.getFilledStage().getType()).getRing());
    BarrierBuilder(rewriter, op.getLoc())
        .ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
          Value barrier = operands.getMbarrier()[0];
          if (!announced)
            leader.make<MbarrierExpectOp>(barrier, op.getBytes());
          // The bytes of both CTAs of a pair count in the leading one.
          if (ctaGroup == 2)
            barrier = leader.add(barrier, start.cluster.toPairLeader);
          leader.make<CopyTileOp>(operands.getMap()[0], coordinates,
                                  tile.getAddress(), barrier, /*mask=*/Value(),
                                  ctaGroup);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::fp8::populateExplicitPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelStart &start) {
  patterns.add<LowerTryWait, LowerWait, LowerStep, LowerMbarrier, LowerTmaCopy>(
      converter, patterns.getContext(), start);
}
