// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers rings, acquire, release and close.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

/// A ring: a cursor on its first slot for each end. Its barriers were
/// initialised by the prologue.
template <typename RingOp>
static Results lowerRing(RingOp op, Operands<RingOp>, RingBuilder &builder) {
  auto ring = getPlan<RingPlanAttr>(op);
  Value shared = builder.start.sharedMemory,
        barriers = builder.add(shared, ring.barrierOffset),
        base = std::is_same_v<RingOp, OutputPipelineOp>
                   ? builder.i32(ring.namedBarrier)
                   : builder.add(shared, ring.payloadOffset);
  Results cursors;
  for (Type type : op->getResultTypes()) {
    bool isProducer = cast<EndTypeInterface>(type).isProducer();
    Value parity = builder.i32(isProducer);
    cursors.push_back(
        RingCursor(barriers, base, builder.i32(0), parity).pack());
  }
  return cursors;
}

//===----------------------------------------------------------------------===//
// acquire
//===----------------------------------------------------------------------===//

/// The full barrier is told of the bytes to come, those of both CTAs where a
/// pair fills the slot: its leading CTA's barrier counts for both.
static void announceBytes(AcquireOp op, const RingCursor &cursor,
                          RingBuilder &builder) {
  auto stage = getPlan<StagePlanAttr>(op);
  if (!stage.bytesAtAcquire)
    return;
  Type ring = getEndOf(op.getEnd().getType()).getRing();
  int64_t ctaGroup = getCtaGroup(ring);
  Value announces = getThread(op).getLeader();
  if (ctaGroup == 2)
    announces = builder.bitAnd(
        announces, builder.start.cluster.isLeading(CtaGrouping::Pair, builder));
  builder.ifThen(announces, [&](BarrierBuilder &leader) {
    leader.make<MbarrierExpectOp>(cursor.getFullBarrier(leader, ring),
                                  ctaGroup * stage.bytes, /*arrive=*/true);
  });
}

/// acquire: wait for the slot; a producer that knows its bytes announces them.
static Results lowerAcquire(AcquireOp op, Operands<AcquireOp> operands,
                            RingBuilder &builder) {
  RingCursor cursor(operands.getEnd());
  EndTypeInterface end = getEndOf(op.getEnd().getType());
  if (!isa<ReadyType>(op.getEnd().getType()))
    cursor.wait(builder, end);
  // What the other side did to tensor memory before its hand-over comes before
  // what this side does now (PTX ISA, tcgen05.fence).
  if (isa<MmaWarpType, EpilogueWarpType>(end))
    builder.make<FenceTmemOp>(FenceSide::After);
  auto plan = getPlan<StagePlanAttr>(op);
  if (isSignalledByEngine(op.getStage(), plan) && !plan.converged)
    builder.syncWarp();
  announceBytes(op, cursor, builder);
  return {cursor.pack()};
}

//===----------------------------------------------------------------------===//
// release, arrive
//===----------------------------------------------------------------------===//

namespace {

/// The hand-over of a slot: what signals the other side.
class HandOver {
public:
  HandOver(Operation *op, Value stage, const RingCursor &cursor,
           RingBuilder &builder)
      : type(stage.getType()), ring(cast<StageTypeInterface>(type).getRing()),
        plan(getPlan<StagePlanAttr>(op)), thread(getThread(op)), cursor(cursor),
        builder(builder), cluster(builder.start.cluster) {}

  /// Signals as the use of the stage demands.
  void signal();

private:
  Value getBarrier(BarrierBuilder &inner) const {
    return isa<ProducerStageType, MmaStageType>(type)
               ? cursor.getFullBarrier(inner, ring)
               : cursor.getEmptyBarrier(inner, ring);
  }
  /// Has the MMAs that the leader has issued arrive when they are complete.
  void commit();
  /// A thread arrives for its warp.
  void arrive();
  /// What to add to a barrier's address where another CTA waits; null if none
  /// does.
  Value getDistance() const;

  Type type, ring;
  StagePlan plan;
  RoleThreadOp thread;
  const RingCursor &cursor;
  RingBuilder &builder;
  const ClusterValues &cluster;
};

} // namespace

void HandOver::signal() {
  bool fills = isa<ProducerStageType>(type);
  if (fills && plan.hasElements)
    builder.ifThen(thread.getLeader(), [&](BarrierBuilder &inner) {
      inner.make<MbarrierArriveOp>(getBarrier(inner), /*remote=*/false,
                                   /*after_copies=*/true);
    });
  // The arrival was made with the announcement of the bytes; the copies, or the
  // answer, complete the phase.
  if (fills && (plan.bytesAtAcquire || isa<WorkQueueType>(ring)))
    return;
  if (isa<MmaStageType>(type) ||
      (isa<ConsumerStageType>(type) && plan.usedByMma))
    commit();
  else
    arrive();
}

void HandOver::commit() {
  if (plan.usedByThreads)
    builder.syncWarp();
  int64_t ctaGroup = getCtaGroup(ring);
  builder.ifThen(thread.getLeader(), [&](BarrierBuilder &inner) {
    Value mask = cluster.getReleaseMask(plan, ctaGroup, inner);
    inner.make<MbarrierCommitOp>(getBarrier(inner), mask, ctaGroup);
  });
}

// The MMA warp of a pair waits in its leading CTA, the scheduler in that of the
// cluster.
Value HandOver::getDistance() const {
  if (isa<EpilogueStageType>(type) && getCtaGroup(ring) == 2)
    return cluster.toPairLeader;
  return isa<WorkQueueType>(ring) ? cluster.toClusterLeader : Value();
}

void HandOver::arrive() {
  // Loads from tensor memory are complete: promotion waited for them.
  if (isa<EpilogueStageType>(type))
    builder.make<FenceTmemOp>(FenceSide::Before);
  // The next answer is written through the async proxy.
  if (isa<WorkQueueType>(ring))
    builder.make<FenceAsyncProxyOp>();
  // All lanes have done their part before one of them speaks for the warp.
  if (!plan.converged)
    builder.syncWarp();
  ClusterValues::Arrivals arrivals;
  if (isa<ConsumerStageType>(type))
    arrivals = cluster.getReleaseArrivals(plan, thread.getLane(), builder);
  if (arrivals.rank) {
    // The other lanes have none: LLVM must not compute its address for them.
    builder.ifThen(arrivals.arrives, [&](BarrierBuilder &inner) {
      Value rank = inner.make<KeepInLoopOp>(arrivals.rank);
      inner.make<MbarrierArriveOp>(
          inner.make<MapToCtaOp>(getBarrier(inner), rank), /*remote=*/true);
    });
    return;
  }
  Value distance = getDistance();
  builder.ifThen(thread.getLeader(), [&](BarrierBuilder &inner) {
    Value barrier = getBarrier(inner);
    if (distance)
      barrier = inner.add(barrier, distance);
    inner.make<MbarrierArriveOp>(barrier, /*remote=*/distance != nullptr);
  });
}

/// arrive: signal the other side.
static Results lowerArrive(ArriveOp op, Operands<ArriveOp> operands,
                           RingBuilder &builder) {
  RingCursor cursor(operands.getStage());
  HandOver(op, op.getStage(), cursor, builder).signal();
  return {cursor.pack()};
}

/// release: the same, and advance.
static Results lowerRelease(ReleaseOp op, Operands<ReleaseOp> operands,
                            RingBuilder &builder) {
  RingCursor cursor(operands.getStage());
  HandOver(op, op.getStage(), cursor, builder).signal();
  Type ring = cast<StageTypeInterface>(op.getStage().getType()).getRing();
  return {cursor.advance(builder, ring).pack()};
}

//===----------------------------------------------------------------------===//
// close, index
//===----------------------------------------------------------------------===//

static bool hasData(Type ring) {
  auto pipeline = dyn_cast<PipelineType>(ring);
  return !pipeline || !pipeline.getTiles().empty();
}

/// close: a producer waits for its slots to come back, a store queue for its
/// copies, an exchange until what it sent has been read. Slots without tiles
/// are handed back by threads alone, and those of other CTAs do it before they
/// come to the cluster's last barrier.
static Results lowerClose(CloseOp op, Operands<CloseOp> operands,
                          RingBuilder &builder) {
  Type type = op.getEnd().getType();
  if (isa<StoreQueueType>(type))
    builder.ifThen(getThread(op).getLeader(),
                   [](BarrierBuilder &leader) { leader.make<WaitStoresOp>(); });
  else if (auto exchange = dyn_cast<ExchangeType>(type))
    // This CTA may end when what the others have to tell it has come.
    ExchangeHandle(operands.getEnd()).waitUntilRead(builder, exchange);
  else if (auto end = dyn_cast<EndTypeInterface>(type);
           end && end.isProducer() && hasData(end.getRing()))
    RingCursor(operands.getEnd()).drain(builder, end);
  return {};
}

/// index: the slot's number.
static Results lowerIndex(IndexOp op, Operands<IndexOp> operands,
                          RingBuilder &builder) {
  Type type = op.getHandle().getType();
  auto stage = dyn_cast<StageTypeInterface>(type);
  Type ring = stage ? stage.getRing() : getEndOf(type).getRing();
  Value slot = RingCursor(operands.getHandle()).getSlot(builder, ring);
  return {{builder.toIndex(slot)}};
}

void mlir::fp8::addPipelinePatterns(RingPatterns &patterns) {
  patterns.add(lowerRing<PipelineOp>);
  patterns.add(lowerRing<OutputPipelineOp>);
  patterns.add(lowerRing<WorkQueueOp>);
  patterns.add(lowerAcquire);
  patterns.add(lowerArrive);
  patterns.add(lowerRelease);
  patterns.add(lowerClose);
  patterns.add(lowerIndex);
}
