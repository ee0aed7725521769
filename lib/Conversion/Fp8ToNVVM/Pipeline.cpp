// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers rings, acquire, release and close.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// A ring: a cursor on its first slot for each end. Its barriers were
/// initialised by the prologue.
template <typename RingOp>
struct LowerRing : public KernelPattern<RingOp> {
  using KernelPattern<RingOp>::KernelPattern;

  LogicalResult lower(RingOp op, typename KernelPattern<RingOp>::Adaptor,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    auto ring = getPlan<RingPlanAttr>(op);
    Value barriers =
        instructions.add(this->lowering.sharedMemory, ring.barrierOffset);
    Value base = getBase(op, ring, instructions);
    SmallVector<SmallVector<Value>> cursors;
    for (Type type : op->getResultTypes()) {
      bool isProducer = cast<EndTypeInterface>(type).isProducer();
      cursors.push_back(RingCursor(barriers, base, instructions.i32(0),
                                   instructions.i32(isProducer))
                            .pack());
    }
    rewriter.replaceOpWithMultiple(op, std::move(cursors));
    return success();
  }

private:
  Value getBase(RingOp op, const RingPlan &ring,
                Instructions &instructions) const {
    if constexpr (std::is_same_v<RingOp, OutputPipelineOp>)
      return instructions.i32(ring.namedBarrier);
    else
      return instructions.add(this->lowering.sharedMemory, ring.payloadOffset);
  }
};

/// acquire: wait for the slot; a producer that knows its bytes announces them.
struct LowerAcquire : public KernelPattern<AcquireOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(AcquireOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor cursor(operands.getEnd());
    EndTypeInterface end = getEndOf(op.getEnd().getType());
    if (!isa<ReadyType>(op.getEnd().getType()))
      cursor.wait(instructions, end, lowering.waitLimit);
    if (isSignalledWithoutMeeting(op))
      instructions.syncWarp();
    // What the other side did to tensor memory before its hand-over comes
    // before what this side does now (PTX ISA, tcgen05.fence).
    if (isa<MmaWarpType, EpilogueWarpType>(end))
      instructions.fenceAfterThreadSync();
    announceBytes(op, cursor, instructions);
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
                     Instructions &instructions) const {
    auto stage = getPlan<StagePlanAttr>(op);
    if (!stage.bytesAtAcquire)
      return;
    Type ring = getEndOf(op.getEnd().getType()).getRing();
    int64_t ctaGroup = getCtaGroup(ring);
    Value announces = lowering.getRole(op).leader;
    if (ctaGroup == 2)
      announces = instructions.bitAnd(
          announces,
          instructions.equal(instructions.bitAnd(lowering.cluster.rank, 1), 0));
    instructions.ifThen(announces, [&](Instructions &leader) {
      leader.arriveExpectBytes(cursor.getFullBarrier(leader, ring),
                               ctaGroup * stage.bytes);
    });
  }
};

/// arrive: signal the other side as the use of the stage demands. release: the
/// same, and advance.
template <typename HandOverOp>
struct LowerHandOver : public KernelPattern<HandOverOp> {
  using KernelPattern<HandOverOp>::KernelPattern;
  using KernelPattern<HandOverOp>::lowering;

  LogicalResult lower(HandOverOp op,
                      typename KernelPattern<HandOverOp>::Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    Type ring = cast<StageTypeInterface>(op.getStage().getType()).getRing();
    signal(op, cursor, ring, instructions);
    if constexpr (std::is_same_v<HandOverOp, ReleaseOp>)
      cursor = lowering.advance(cursor, ring, instructions);
    rewriter.replaceOpWithMultiple(op, {cursor.pack()});
    return success();
  }

private:
  void signal(HandOverOp op, const RingCursor &cursor, Type ring,
              Instructions &instructions) const {
    Type type = op.getStage().getType();
    Value leader = lowering.getRole(op).leader;
    bool fills = isa<ProducerStageType, MmaStageType>(type);
    auto getBarrier = [&](Instructions &inner) {
      return fills ? cursor.getFullBarrier(inner, ring)
                   : cursor.getEmptyBarrier(inner, ring);
    };
    auto stage = getPlan<StagePlanAttr>(op);
    if (isa<ProducerStageType>(type) && stage.hasElements)
      instructions.ifThen(leader, [&](Instructions &inner) {
        inner.arriveAfterCopies(getBarrier(inner));
      });
    if (isa<ProducerStageType>(type) &&
        (stage.bytesAtAcquire || isa<WorkQueueType>(ring)))
      return; // the arrival was made with the announcement of the bytes; the
              // copies, or the answer, complete the phase
    if (isa<MmaStageType>(type) ||
        (isa<ConsumerStageType>(type) && stage.usedByMma)) {
      // The MMAs are asynchronous: the commit arrives when they are complete.
      if (stage.usedByThreads)
        instructions.syncWarp();
      int64_t ctaGroup = getCtaGroup(ring);
      instructions.ifThen(leader, [&](Instructions &inner) {
        inner.commitMmas(
            getBarrier(inner),
            lowering.cluster.getReleaseMask(stage, ctaGroup, inner), ctaGroup);
      });
      return;
    }
    // Loads from tensor memory are complete: promotion waited for them.
    if (isa<EpilogueStageType>(type))
      instructions.fenceBeforeThreadSync();
    // The next answer is written through the async proxy.
    if (isa<WorkQueueType>(ring))
      instructions.fenceAsyncProxy();
    // All lanes have done their part before one of them speaks for the warp.
    if (!stage.converged)
      instructions.syncWarp();
    // The MMA warp of a pair waits in its leading CTA, the scheduler in that of
    // the cluster.
    Value distance;
    if (isa<EpilogueStageType>(type) && getCtaGroup(ring) == 2)
      distance = lowering.cluster.toLeader;
    else if (isa<WorkQueueType>(ring))
      distance = lowering.cluster.toFirst;
    if (isa<ConsumerStageType>(type))
      if (auto arrivals = lowering.cluster.getReleaseArrivals(
              stage, lowering.getRole(op).lane, instructions);
          arrivals.rank) {
        // The other lanes have none: LLVM must not compute its address for
        // them.
        instructions.ifThen(arrivals.arrives, [&](Instructions &inner) {
          inner.arriveRemote(inner.mapToCta(getBarrier(inner),
                                            inner.keepInLoop(arrivals.rank)));
        });
        return;
      }
    instructions.ifThen(leader, [&](Instructions &inner) {
      Value barrier = getBarrier(inner);
      if (distance)
        inner.arriveRemote(inner.add(barrier, distance));
      else
        inner.arrive(barrier);
    });
  }
};

/// close: a producer waits for its slots to come back, a store queue for its
/// copies, an exchange until what it sent has been read. Slots without tiles
/// are handed back by threads alone, and those of other CTAs do it before they
/// come to the cluster's last barrier.
struct LowerClose : public KernelPattern<CloseOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(CloseOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Type type = op.getEnd().getType();
    if (isa<StoreQueueType>(type)) {
      Instructions(rewriter, op.getLoc())
          .ifThen(lowering.getRole(op).leader, [](Instructions &leader) {
            leader.waitStores(/*pending=*/0, /*readOnly=*/false);
          });
    } else if (isa<ExchangeType>(type)) {
      // This CTA may end when what the others have to tell it has come.
      Instructions instructions(rewriter, op.getLoc());
      ExchangeHandle(operands.getEnd())
          .waitUntilRead(instructions, cast<ExchangeType>(type),
                         lowering.waitLimit);
    } else if (auto end = dyn_cast<EndTypeInterface>(type);
               end && end.isProducer() && hasData(end.getRing())) {
      RingCursor(operands.getEnd())
          .drain(rewriter, op.getLoc(), end, lowering.waitLimit);
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
struct LowerTile : public KernelPattern<TileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(TileOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    auto ring = cast<PipelineType>(
        cast<StageTypeInterface>(op.getStage().getType()).getRing());
    Value offset =
        instructions.mul(cursor.getSlot(instructions, ring),
                         KernelPlan::getTileStride(op.getTile().getType()));
    Value address =
        instructions.add(instructions.add(cursor.base, offset),
                         KernelPlan::getTileOffset(ring, op.getName()));
    rewriter.replaceOp(op, address);
    return success();
  }
};

/// index: the slot's number.
struct LowerIndex : public KernelPattern<IndexOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(IndexOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    Type type = op.getHandle().getType();
    auto stage = dyn_cast<StageTypeInterface>(type);
    Type ring = stage ? stage.getRing() : getEndOf(type).getRing();
    Value slot = RingCursor(operands.getHandle()).getSlot(instructions, ring);
    rewriter.replaceOp(op, instructions.toIndex(slot));
    return success();
  }
};

} // namespace

void mlir::fp8::populatePipelinePatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelLowering &lowering) {
  patterns.add<LowerRing<PipelineOp>, LowerRing<OutputPipelineOp>,
               LowerRing<WorkQueueOp>, LowerAcquire, LowerHandOver<ReleaseOp>,
               LowerHandOver<ArriveOp>, LowerClose, LowerTile, LowerIndex>(
      converter, patterns.getContext(), lowering);
}
