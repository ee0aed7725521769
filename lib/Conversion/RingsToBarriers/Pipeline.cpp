// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers rings, acquire, release and close.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// A ring: a cursor on its first slot for each end. Its barriers were
/// initialised by the prologue.
template <typename RingOp>
struct LowerRing : public RingPattern<RingOp> {
  using RingPattern<RingOp>::RingPattern;
  using RingPattern<RingOp>::start;

  LogicalResult lower(RingOp op, typename RingPattern<RingOp>::Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    auto ring = getPlan<RingPlanAttr>(op);
    Value barriers =
        builder.add(start.sharedMemory, ring.barrierOffset);
    Value base = getBase(op, ring, builder);
    SmallVector<SmallVector<Value>> cursors;
    for (Type type : op->getResultTypes()) {
      bool isProducer = cast<EndTypeInterface>(type).isProducer();
      cursors.push_back(RingCursor(barriers, base, builder.i32(0),
                                   builder.i32(isProducer))
                            .pack());
    }
    rewriter.replaceOpWithMultiple(op, std::move(cursors));
    return success();
  }

private:
  Value getBase(RingOp op, const RingPlan &ring,
                BarrierBuilder &builder) const {
    if constexpr (std::is_same_v<RingOp, OutputPipelineOp>)
      return builder.i32(ring.namedBarrier);
    else
      return builder.add(start.sharedMemory, ring.payloadOffset);
  }
};

/// acquire: wait for the slot; a producer that knows its bytes announces them.
struct LowerAcquire : public RingPattern<AcquireOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(AcquireOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor cursor(operands.getEnd());
    EndTypeInterface end = getEndOf(op.getEnd().getType());
    if (!isa<ReadyType>(op.getEnd().getType()))
      cursor.wait(builder, end, start.waitLimit);
    if (isSignalledWithoutMeeting(op))
      builder.syncWarp();
    // What the other side did to tensor memory before its hand-over comes
    // before what this side does now (PTX ISA, tcgen05.fence).
    if (isa<MmaWarpType, EpilogueWarpType>(end))
      builder.make<FenceTmemOp>(FenceSide::After);
    announceBytes(op, cursor, builder);
    rewriter.replaceOpWithMultiple(op, {cursor.pack()});
    return success();
  }

private:
  /// True if the slot is handed over by an engine that the elected lane sets to
  /// work, without a meeting of the warp. All lanes have waited by then: one
  /// that lags by a lap would wait for a phase whose parity is back, which PTX
  /// does not allow (PTX ISA, mbarrier.test_wait: the current phase or the one
  /// before it), and for ever.
  bool isSignalledWithoutMeeting(AcquireOp op) const {
    Type type = op.getStage().getType();
    if (isa<ProducerStageType, MmaStageType>(type))
      return true;
    auto stage = getPlan<StagePlanAttr>(op);
    return isa<ConsumerStageType>(type) && stage.usedByMma &&
           !stage.usedByThreads;
  }

  /// The full barrier is told of the bytes to come, those of both CTAs where a
  /// pair fills the slot: its leading CTA's barrier counts for both.
  void announceBytes(AcquireOp op, const RingCursor &cursor,
                     BarrierBuilder &builder) const {
    auto stage = getPlan<StagePlanAttr>(op);
    if (!stage.bytesAtAcquire)
      return;
    Type ring = getEndOf(op.getEnd().getType()).getRing();
    int64_t ctaGroup = getCtaGroup(ring);
    Value announces = getThread(op).getLeader();
    if (ctaGroup == 2)
      announces = builder.bitAnd(
          announces, start.cluster.isLeading(CtaGrouping::Pair, builder));
    builder.ifThen(announces, [&](BarrierBuilder &leader) {
      leader.make<MbarrierExpectOp>(cursor.getFullBarrier(leader, ring),
                                    ctaGroup * stage.bytes, /*arrive=*/true);
    });
  }
};

/// arrive: signal the other side as the use of the stage demands. release: the
/// same, and advance.
template <typename HandOverOp>
struct LowerHandOver : public RingPattern<HandOverOp> {
  using RingPattern<HandOverOp>::RingPattern;
  using RingPattern<HandOverOp>::start;

  LogicalResult lower(HandOverOp op,
                      typename RingPattern<HandOverOp>::Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    Type ring = cast<StageTypeInterface>(op.getStage().getType()).getRing();
    signal(op, cursor, ring, builder);
    if constexpr (std::is_same_v<HandOverOp, ReleaseOp>)
      cursor = cursor.advance(builder, ring);
    rewriter.replaceOpWithMultiple(op, {cursor.pack()});
    return success();
  }

private:
  void signal(HandOverOp op, const RingCursor &cursor, Type ring,
              BarrierBuilder &builder) const {
    Type type = op.getStage().getType();
    Value leader = getThread(op).getLeader();
    bool fills = isa<ProducerStageType, MmaStageType>(type);
    auto getBarrier = [&](BarrierBuilder &inner) {
      return fills ? cursor.getFullBarrier(inner, ring)
                   : cursor.getEmptyBarrier(inner, ring);
    };
    auto stage = getPlan<StagePlanAttr>(op);
    if (isa<ProducerStageType>(type) && stage.hasElements)
      builder.ifThen(leader, [&](BarrierBuilder &inner) {
        inner.make<MbarrierArriveOp>(getBarrier(inner), /*remote=*/false,
                                     /*after_copies=*/true);
      });
    if (isa<ProducerStageType>(type) &&
        (stage.bytesAtAcquire || isa<WorkQueueType>(ring)))
      return; // the arrival was made with the announcement of the bytes; the
              // copies, or the answer, complete the phase
    if (isa<MmaStageType>(type) ||
        (isa<ConsumerStageType>(type) && stage.usedByMma)) {
      // The MMAs are asynchronous: the commit arrives when they are complete.
      if (stage.usedByThreads)
        builder.syncWarp();
      int64_t ctaGroup = getCtaGroup(ring);
      builder.ifThen(leader, [&](BarrierBuilder &inner) {
        inner.make<MbarrierCommitOp>(
            getBarrier(inner),
            start.cluster.getReleaseMask(stage, ctaGroup, inner), ctaGroup);
      });
      return;
    }
    // Loads from tensor memory are complete: promotion waited for them.
    if (isa<EpilogueStageType>(type))
      builder.make<FenceTmemOp>(FenceSide::Before);
    // The next answer is written through the async proxy.
    if (isa<WorkQueueType>(ring))
      builder.make<FenceAsyncProxyOp>();
    // All lanes have done their part before one of them speaks for the warp.
    if (!stage.converged)
      builder.syncWarp();
    // The MMA warp of a pair waits in its leading CTA, the scheduler in that of
    // the cluster.
    Value distance;
    if (isa<EpilogueStageType>(type) && getCtaGroup(ring) == 2)
      distance = start.cluster.toPairLeader;
    else if (isa<WorkQueueType>(ring))
      distance = start.cluster.toClusterLeader;
    if (isa<ConsumerStageType>(type))
      if (auto arrivals = start.cluster.getReleaseArrivals(
              stage, getThread(op).getLane(), builder);
          arrivals.rank) {
        // The other lanes have none: LLVM must not compute its address for
        // them.
        builder.ifThen(arrivals.arrives, [&](BarrierBuilder &inner) {
          inner.make<MbarrierArriveOp>(
              inner.make<MapToCtaOp>(getBarrier(inner),
                                     inner.make<KeepInLoopOp>(arrivals.rank)),
              /*remote=*/true);
        });
        return;
      }
    builder.ifThen(leader, [&](BarrierBuilder &inner) {
      Value barrier = getBarrier(inner);
      if (distance)
        inner.make<MbarrierArriveOp>(inner.add(barrier, distance),
                                     /*remote=*/true);
      else
        inner.make<MbarrierArriveOp>(barrier);
    });
  }
};

/// close: a producer waits for its slots to come back, a store queue for its
/// copies, an exchange until what it sent has been read. Slots without tiles
/// are handed back by threads alone, and those of other CTAs do it before they
/// come to the cluster's last barrier.
struct LowerClose : public RingPattern<CloseOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(CloseOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Type type = op.getEnd().getType();
    if (isa<StoreQueueType>(type)) {
      BarrierBuilder(rewriter, op.getLoc())
          .ifThen(getThread(op).getLeader(), [](BarrierBuilder &leader) {
            leader.make<WaitStoresOp>();
          });
    } else if (isa<ExchangeType>(type)) {
      // This CTA may end when what the others have to tell it has come.
      BarrierBuilder builder(rewriter, op.getLoc());
      ExchangeHandle(operands.getEnd())
          .waitUntilRead(builder, cast<ExchangeType>(type),
                         start.waitLimit);
    } else if (auto end = dyn_cast<EndTypeInterface>(type);
               end && end.isProducer() && hasData(end.getRing())) {
      RingCursor(operands.getEnd())
          .drain(rewriter, op.getLoc(), end, start.waitLimit);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  static bool hasData(Type ring) {
    auto pipeline = dyn_cast<PipelineType>(ring);
    return !pipeline || !pipeline.getTiles().empty();
  }
};

/// tile: the address of the slot's tile.
struct LowerTile : public RingPattern<TileOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(TileOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    auto ring = cast<PipelineType>(
        cast<StageTypeInterface>(op.getStage().getType()).getRing());
    Value address = cursor.getTile(builder, ring, op.getName());
    rewriter.replaceOpWithNewOp<ViewAtOp>(op, op.getTile().getType(), address);
    return success();
  }
};

/// index: the slot's number.
struct LowerIndex : public RingPattern<IndexOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(IndexOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    Type type = op.getHandle().getType();
    auto stage = dyn_cast<StageTypeInterface>(type);
    Type ring = stage ? stage.getRing() : getEndOf(type).getRing();
    Value slot = RingCursor(operands.getHandle()).getSlot(builder, ring);
    rewriter.replaceOp(op, builder.toIndex(slot));
    return success();
  }
};

} // namespace

void mlir::fp8::populatePipelinePatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelStart &start) {
  patterns.add<LowerRing<PipelineOp>, LowerRing<OutputPipelineOp>,
               LowerRing<WorkQueueOp>, LowerAcquire, LowerHandOver<ReleaseOp>,
               LowerHandOver<ArriveOp>, LowerClose, LowerTile, LowerIndex>(
      converter, patterns.getContext(), start);
}
