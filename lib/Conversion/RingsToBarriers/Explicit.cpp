// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the halves of acquire and release, and copies that name their barrier.
// arrive is lowered with release, in Pipeline.cpp.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

/// try_wait: one test of the barrier.
static Results lowerTryWait(TryWaitOp op, Operands<TryWaitOp> operands,
                            RingBuilder &builder) {
  auto end = cast<EndTypeInterface>(op.getEnd().getType());
  return {{RingCursor(operands.getEnd()).test(builder, end)}};
}

/// wait: the cursor stays where it is.
static Results lowerWait(WaitOp op, Operands<WaitOp> operands,
                         RingBuilder &builder) {
  RingCursor cursor(operands.getEnd());
  auto end = cast<EndTypeInterface>(op.getEnd().getType());
  if (Value done = getOptional(operands.getDone())) {
    Value one =
        builder.make<arith::ConstantOp>(builder.getBuilder().getBoolAttr(true));
    builder.ifThen(builder.bitXor(done, one),
                   [&](BarrierBuilder &) { cursor.wait(builder, end); });
  } else {
    cursor.wait(builder, end);
  }
  return {cursor.pack()};
}

/// step: the cursor on the next slot.
static Results lowerStep(StepOp op, Operands<StepOp> operands,
                         RingBuilder &builder) {
  Type ring = cast<EndTypeInterface>(op.getEnd().getType()).getRing();
  return {RingCursor(operands.getSignalled()).advance(builder, ring).pack()};
}

/// mbarrier: the address of the barrier that the stage's hand-over signals.
static Results lowerMbarrier(MbarrierOp op, Operands<MbarrierOp> operands,
                             RingBuilder &builder) {
  RingCursor cursor(operands.getStage());
  auto stage = cast<StageTypeInterface>(op.getStage().getType());
  bool fills = cast<EndTypeInterface>(stage.getEndType()).isProducer();
  return {{fills ? cursor.getFullBarrier(builder, stage.getRing())
                 : cursor.getEmptyBarrier(builder, stage.getRing())}};
}

/// tma_copy: tma_load, its addresses at hand.
static Results lowerTmaCopy(TmaCopyOp op, Operands<TmaCopyOp> operands,
                            RingBuilder &builder) {
  // The stage lent the tile (X2), so that its view is here by now.
  auto tile = cast<ViewAtOp>(operands.getTile()[0].getDefiningOp());
  SmallVector<Value> coordinates = getSingles(operands.getCoordinates());
  bool announced = getPlan<StagePlanAttr>(op).bytesAtAcquire;
  int64_t ctaGroup = getCtaGroup(
      cast<StageTypeInterface>(op.getFilledStage().getType()).getRing());
  builder.ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
    Value barrier = operands.getMbarrier()[0];
    if (!announced)
      leader.make<MbarrierExpectOp>(barrier, op.getBytes());
    // The bytes of both CTAs of a pair count in the leading one.
    if (ctaGroup == 2)
      barrier = leader.add(barrier, builder.start.cluster.toPairLeader);
    leader.make<CopyTileOp>(operands.getMap()[0], coordinates,
                            tile.getAddress(), barrier, /*mask=*/Value(),
                            ctaGroup);
  });
  return {};
}

void mlir::fp8::addExplicitPatterns(RingPatterns &patterns) {
  patterns.add(lowerTryWait);
  patterns.add(lowerWait);
  patterns.add(lowerStep);
  patterns.add(lowerMbarrier);
  patterns.add(lowerTmaCopy);
}
