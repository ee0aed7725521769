// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the halves of acquire and release, and copies that name their barrier.
// arrive is lowered with release, in Pipeline.cpp.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// try_wait: one test of the barrier.
struct LowerTryWait : public KernelPattern<TryWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(TryWaitOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    auto end = cast<EndTypeInterface>(op.getEnd().getType());
    rewriter.replaceOp(op,
                       RingCursor(operands.getEnd()).test(instructions, end));
    return success();
  }
};

/// wait: the cursor stays where it is.
struct LowerWait : public KernelPattern<WaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(WaitOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor cursor(operands.getEnd());
    auto end = cast<EndTypeInterface>(op.getEnd().getType());
    if (operands.getDone().empty()) {
      cursor.wait(instructions, end, lowering.waitLimit);
    } else {
      Value one = arith::ConstantOp::create(rewriter, op.getLoc(),
                                            rewriter.getBoolAttr(true));
      Value pending = instructions.bitXor(operands.getDone()[0], one);
      instructions.ifThen(pending, [&](Instructions &inner) {
        cursor.wait(inner, end, lowering.waitLimit);
      });
    }
    rewriter.replaceOpWithMultiple(op, {cursor.pack()});
    return success();
  }
};

/// fence_async_proxy: the instruction.
struct LowerFenceAsyncProxy : public KernelPattern<FenceAsyncProxyOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(FenceAsyncProxyOp op, Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions(rewriter, op.getLoc()).fenceAsyncProxy();
    rewriter.eraseOp(op);
    return success();
  }
};

/// step: the cursor on the next slot.
struct LowerStep : public KernelPattern<StepOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(StepOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    Type ring = cast<EndTypeInterface>(op.getEnd().getType()).getRing();
    RingCursor next = lowering.advance(RingCursor(operands.getSignalled()),
                                       ring, instructions);
    rewriter.replaceOpWithMultiple(op, {next.pack()});
    return success();
  }
};

/// mbarrier: the address of the barrier that the stage's hand-over signals.
struct LowerMbarrier : public KernelPattern<MbarrierOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(MbarrierOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    auto stage = cast<StageTypeInterface>(op.getStage().getType());
    bool fills = cast<EndTypeInterface>(stage.getEndType()).isProducer();
    rewriter.replaceOp(
        op, fills ? cursor.getFullBarrier(instructions, stage.getRing())
                  : cursor.getEmptyBarrier(instructions, stage.getRing()));
    return success();
  }
};

/// tma_copy: tma_load, its addresses at hand.
struct LowerTmaCopy : public KernelPattern<TmaCopyOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(TmaCopyOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> coordinates = getSingles(operands.getCoordinates());
    bool announced = getPlan<StagePlanAttr>(op).bytesAtAcquire;
    int64_t ctaGroup = getCtaGroup(
        cast<StageTypeInterface>(op.getFilledStage().getType()).getRing());
    Instructions(rewriter, op.getLoc())
        .ifThen(lowering.getRole(op).leader, [&](Instructions &leader) {
          Value barrier = operands.getMbarrier()[0];
          if (!announced)
            leader.expectBytes(barrier, op.getBytes());
          // The bytes of both CTAs of a pair count in the leading one.
          if (ctaGroup == 2)
            barrier = leader.add(barrier, lowering.cluster.toLeader);
          leader.loadTile(operands.getTile()[0], operands.getMap()[0],
                          coordinates, barrier, /*mask=*/Value(), ctaGroup);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::fp8::populateExplicitPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelLowering &lowering) {
  patterns.add<LowerTryWait, LowerWait, LowerStep, LowerMbarrier, LowerTmaCopy,
               LowerFenceAsyncProxy>(converter, patterns.getContext(),
                                     lowering);
}
