// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers views of tiles and accumulators, TMA loads and element loads.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// accumulator: the address of the stage's first column.
struct LowerAccumulator : public RingPattern<AccumulatorOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(AccumulatorOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor cursor(operands.getStage());
    auto ring = cast<OutputPipelineType>(
        cast<StageTypeInterface>(op.getStage().getType()).getRing());
    Value address = builder.add(
        cursor.base,
        builder.mul(cursor.getSlot(builder, ring), ring.getStageColumns()));
    rewriter.replaceOpWithNewOp<ViewAtOp>(op, op.getAccumulator().getType(),
                                          address);
    return success();
  }
};

/// tma_load: one lane starts the copy, which counts its bytes on the stage's
/// full barrier.
struct LowerTmaLoad : public RingPattern<TmaLoadOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(TmaLoadOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    auto ring = cast<PipelineType>(op.getStage().getType().getRing());
    TileType tile = ring.getTile(op.getName());
    RingCursor cursor(operands.getStage());
    SmallVector<Value> coordinates = getSingles(operands.getCoordinates());
    bool announced = getPlan<StagePlanAttr>(op).bytesAtAcquire;
    int64_t ctaGroup = ring.getCtaGroup();
    BarrierBuilder(rewriter, op.getLoc())
        .ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
          Value barrier = cursor.getFullBarrier(leader, ring);
          if (!announced)
            leader.make<MbarrierExpectOp>(barrier, tile.getSizeInBytes());
          // The bytes of both CTAs of a pair count in the leading one.
          if (ctaGroup == 2)
            barrier = leader.add(barrier, start.cluster.toPairLeader);
          Value destination = cursor.getTile(leader, ring, op.getName());
          CopyShare share;
          if (op.getMulticast())
            share =
                start.cluster.getShare(*op.getMulticast(), ctaGroup, leader);
          if (share.index) {
            int64_t rows = tile.getRows() / share.sharers;
            destination =
                leader.add(destination,
                           leader.mul(share.index, rows * tile.getRowBytes()));
            Value &firstRow = coordinates[coordinates.size() - 2];
            firstRow = leader.add(
                firstRow, leader.toIndex(leader.mul(share.index, rows)));
          }
          leader.make<CopyTileOp>(operands.getMap()[0], coordinates,
                                  destination, barrier, share.mask, ctaGroup);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

/// load_element: one lane starts the copy, for which the hand-over arrives.
struct LowerLoadElement : public RingPattern<LoadElementOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(LoadElementOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    auto ring = cast<PipelineType>(op.getStage().getType().getRing());
    TileType tile = ring.getTile(op.getName());
    RingCursor cursor(operands.getStage());
    SmallVector<Value> indices = getSingles(operands.getIndices());
    Value exists = op.getExists() ? operands.getExists()[0] : Value();
    BarrierBuilder(rewriter, op.getLoc())
        .ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
          Value tileAddress = cursor.getTile(leader, ring, op.getName());
          Value destination = leader.add(
              tileAddress,
              op.getColumn() * tile.getRowBytes() / tile.getColumns());
          leader.make<CopyElementOp>(operands.getSource()[0], indices,
                                     destination, exists);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::fp8::populateTilePatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     const KernelStart &start) {
  patterns.add<LowerAccumulator, LowerTmaLoad, LowerLoadElement>(
      converter, patterns.getContext(), start);
}
