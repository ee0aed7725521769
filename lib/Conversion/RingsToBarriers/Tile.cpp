// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers views of tiles and accumulators, TMA loads and element loads.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

/// tile: the address of the slot's tile.
static Results lowerTile(TileOp op, Operands<TileOp> operands,
                         RingBuilder &builder) {
  auto ring = cast<PipelineType>(
      cast<StageTypeInterface>(op.getStage().getType()).getRing());
  Value address =
      RingCursor(operands.getStage()).getTile(builder, ring, op.getName());
  return {{builder.make<ViewAtOp>(op.getTile().getType(), address)}};
}

/// accumulator: the address of the stage's first column.
static Results lowerAccumulator(AccumulatorOp op,
                                Operands<AccumulatorOp> operands,
                                RingBuilder &builder) {
  RingCursor cursor(operands.getStage());
  auto ring = cast<OutputPipelineType>(
      cast<StageTypeInterface>(op.getStage().getType()).getRing());
  Value address =
      builder.add(cursor.base, builder.mul(cursor.getSlot(builder, ring),
                                           ring.getStageColumns()));
  return {{builder.make<ViewAtOp>(op.getAccumulator().getType(), address)}};
}

void mlir::fp8::numberScaleSlots(FunctionOpInterface kernel) {
  kernel->walk([](MmaOp mma) {
    Value stage = mma.getScaleStage();
    if (!stage)
      return;
    OpBuilder builder(mma);
    mma.getSlotMutable().assign(IndexOp::create(builder, mma.getLoc(), stage));
  });
}

/// tma_load: one lane starts the copy, which counts its bytes on the stage's
/// full barrier.
static Results lowerTmaLoad(TmaLoadOp op, Operands<TmaLoadOp> operands,
                            RingBuilder &builder) {
  auto ring = cast<PipelineType>(op.getStage().getType().getRing());
  TileType tile = ring.getTile(op.getName());
  RingCursor cursor(operands.getStage());
  SmallVector<Value> coordinates = getSingles(operands.getCoordinates());
  bool announced = getPlan<StagePlanAttr>(op).bytesAtAcquire;
  int64_t ctaGroup = ring.getCtaGroup();
  const ClusterValues &cluster = builder.start.cluster;
  builder.ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
    Value barrier = cursor.getFullBarrier(leader, ring);
    if (!announced)
      leader.make<MbarrierExpectOp>(barrier, tile.getSizeInBytes(),
                                    /*arrive=*/false, /*remote=*/false,
                                    op.getLaunchBytes());
    // The bytes of both CTAs of a pair count in the leading one.
    if (ctaGroup == 2)
      barrier = leader.add(barrier, cluster.toPairLeader);
    Value destination = cursor.getTile(leader, ring, op.getName());
    CopyShare share;
    if (op.getMulticast())
      share = cluster.getShare(*op.getMulticast(), ctaGroup, leader);
    if (share.index) {
      int64_t rows = tile.getRows() / share.sharers;
      destination = leader.add(
          destination, leader.mul(share.index, rows * tile.getRowBytes()));
      Value &firstRow = coordinates[coordinates.size() - 2];
      firstRow =
          leader.add(firstRow, leader.toIndex(leader.mul(share.index, rows)));
    }
    leader.make<CopyTileOp>(operands.getMap()[0], coordinates, destination,
                            barrier, share.mask, ctaGroup);
  });
  return {};
}

/// load_element: one lane starts the copy, for which the hand-over arrives.
static Results lowerLoadElement(LoadElementOp op,
                                Operands<LoadElementOp> operands,
                                RingBuilder &builder) {
  auto ring = cast<PipelineType>(op.getStage().getType().getRing());
  TileType tile = ring.getTile(op.getName());
  RingCursor cursor(operands.getStage());
  builder.ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
    Value address = cursor.getTile(leader, ring, op.getName());
    Value destination = leader.add(
        address, op.getColumn() * tile.getRowBytes() / tile.getColumns());
    leader.make<CopyElementOp>(operands.getSource()[0],
                               getSingles(operands.getIndices()), destination,
                               getOptional(operands.getExists()));
  });
  return {};
}

void mlir::fp8::addTilePatterns(RingPatterns &patterns) {
  patterns.add(lowerTile);
  patterns.add(lowerAccumulator);
  patterns.add(lowerTmaLoad);
  patterns.add(lowerLoadElement);
}
