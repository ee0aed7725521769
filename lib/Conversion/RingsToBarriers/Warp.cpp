// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the warp handles with their hand-off of tensor memory.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// create_mma_warp: allocate, publish the address, announce it. Allocation is
/// synchronous, so no tcgen05.fence orders it (PTX ISA 9.7.16.6.1).
struct LowerCreateMmaWarp : public RingPattern<CreateMmaWarpOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(CreateMmaWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor end(operands.getEnd());
    OutputPipelineType ring = op.getWarp().getType().getRing();
    Value slot =
        builder.add(end.barriers, KernelPlan::getTmemAddressOffset(ring));
    auto plan = getPlan<RingPlanAttr>(op);
    Value address = builder.make<TmemAllocOp>(slot, ring.getAllocatedColumns(),
                                              /*last=*/plan.allocatesAlone,
                                              ring.getCtaGroup());
    builder.make<NamedBarrierOp>(end.base, plan.handoffThreads,
                                 /*arrive=*/true);
    end.base = address;
    rewriter.replaceOpWithMultiple(op, {end.pack()});
    return success();
  }
};

/// release_mma_warp: wait for the epilogue warps, free the columns, which is
/// synchronous, too.
struct LowerReleaseMmaWarp : public RingPattern<ReleaseMmaWarpOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(ReleaseMmaWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor warp(operands.getWarp());
    OutputPipelineType ring = op.getWarp().getType().getRing();
    Value barrier = builder.add(warp.barriers,
                                     KernelPlan::getDeallocBarrierOffset(ring));
    builder.make<MbarrierWaitOp>(barrier, builder.i32(0), /*cluster=*/false,
                                 start.waitLimit);
    builder.make<TmemFreeOp>(warp.base, ring.getAllocatedColumns(),
                             ring.getCtaGroup());
    rewriter.eraseOp(op);
    return success();
  }
};

/// wait_tmem: meet the MMA warp, read the address. The address is the evidence.
struct LowerWaitTmem : public RingPattern<WaitTmemOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(WaitTmemOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor end(operands.getEnd());
    OutputPipelineType ring = op.getReady().getType().getRing();
    builder.make<NamedBarrierOp>(end.base,
                                 getPlan<RingPlanAttr>(op).handoffThreads);
    Value slot =
        builder.add(end.barriers, KernelPlan::getTmemAddressOffset(ring));
    rewriter.replaceOp(op, builder.make<TmemAddressOp>(slot));
    return success();
  }
};

/// create_epilogue_warp: the end, with the tensor memory's address.
struct LowerCreateEpilogueWarp : public RingPattern<CreateEpilogueWarpOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(CreateEpilogueWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    RingCursor end(operands.getEnd());
    end.base = operands.getReady()[0];
    rewriter.replaceOpWithMultiple(op, {end.pack()});
    return success();
  }
};

/// release_epilogue_warp: each warp arrives at the barrier that guards
/// deallocation. Its lanes met, and its loads were fenced, when it released its
/// last stage.
struct LowerReleaseEpilogueWarp : public RingPattern<ReleaseEpilogueWarpOp> {
  using RingPattern::RingPattern;

  LogicalResult lower(ReleaseEpilogueWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    BarrierBuilder builder(rewriter, op.getLoc());
    RingCursor warp(operands.getWarp());
    OutputPipelineType ring = op.getWarp().getType().getRing();
    builder.ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
      Value barrier =
          leader.add(warp.barriers, KernelPlan::getDeallocBarrierOffset(ring));
      leader.make<MbarrierArriveOp>(barrier);
      // Both CTAs of a pair free their columns together.
      if (ring.getCtaGroup() == 2)
        leader.make<MbarrierArriveOp>(leader.add(barrier, start.cluster.toPeer),
                                      /*remote=*/true);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::fp8::populateWarpPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     const KernelStart &start) {
  patterns
      .add<LowerCreateMmaWarp, LowerReleaseMmaWarp, LowerWaitTmem,
           LowerCreateEpilogueWarp, LowerReleaseEpilogueWarp>(
          converter, patterns.getContext(), start);
}
