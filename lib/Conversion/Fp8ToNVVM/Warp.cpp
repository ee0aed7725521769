// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers roles and the warp handles with their hand-off of tensor memory.

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fp8;

namespace {

/// role: a branch on the warp's number.
struct LowerRole : public KernelPattern<RoleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(RoleOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    if (!op.getBody().hasOneBlock())
      return rewriter.notifyMatchFailure(
          op, "roles of several blocks are wrapped before");
    Location loc = op.getLoc();
    WarpRange warps{getPlan<RolePlanAttr>(op).firstWarp,
                    int64_t(op.getWarps())};
    auto branch =
        scf::IfOp::create(rewriter, loc, isInRange(warps, loc, rewriter),
                          /*withElseRegion=*/false);
    Block *then = branch.thenBlock();
    SmallVector<Value> inits = getAllParts(operands.getInits());
    TypeConverter::SignatureConversion signature = convertArguments(op);
    Block *body = rewriter.applySignatureConversion(
        &op.getBody().front(), signature, getTypeConverter());
    Operation *yield = body->getTerminator();
    rewriter.inlineBlockBefore(body, then->getTerminator(), inits);
    rewriter.eraseOp(yield);
    rewriter.eraseOp(op);
    return success();
  }

private:
  TypeConverter::SignatureConversion convertArguments(RoleOp op) const {
    TypeConverter::SignatureConversion signature(
        op.getBody().getNumArguments());
    (void)getTypeConverter()->convertSignatureArgs(
        op.getBody().getArgumentTypes(), signature);
    return signature;
  }

  Value isInRange(WarpRange warps, Location loc, OpBuilder &builder) const {
    Instructions instructions(builder, loc);
    if (warps.count == 1)
      return instructions.equal(lowering.warpId, warps.first);
    // One comparison: the difference wraps below the first warp.
    Value within = instructions.add(lowering.warpId, -warps.first);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                 within, instructions.i32(warps.count));
  }
};

/// create_mma_warp: allocate, publish the address, announce it. Allocation is
/// synchronous, so no tcgen05.fence orders it (PTX ISA 9.7.16.6.1).
struct LowerCreateMmaWarp : public KernelPattern<CreateMmaWarpOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(CreateMmaWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor end(operands.getEnd());
    OutputPipelineType ring = op.getWarp().getType().getRing();
    Value slot =
        instructions.add(end.barriers, KernelPlan::getTmemAddressOffset(ring));
    int64_t ctaGroup = ring.getCtaGroup();
    instructions.allocateColumns(slot, ring.getAllocatedColumns(), ctaGroup);
    // Nobody of the CTA may allocate after this (PTX ISA, tcgen05.alloc).
    auto plan = getPlan<RingPlanAttr>(op);
    if (plan.allocatesAlone)
      instructions.relinquishAllocation(ctaGroup);
    // The whole warp allocates, so each lane reads behind its own write.
    Value address = instructions.loadShared(slot, rewriter.getI32Type());
    instructions.arriveNamedBarrier(end.base, plan.handoffThreads);
    rewriter.replaceOpWithMultiple(
        op, {RingCursor(end.barriers, address, end.index, end.phase).pack()});
    return success();
  }
};

/// release_mma_warp: wait for the epilogue warps, free the columns, which is
/// synchronous, too.
struct LowerReleaseMmaWarp : public KernelPattern<ReleaseMmaWarpOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ReleaseMmaWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor warp(operands.getWarp());
    OutputPipelineType ring = op.getWarp().getType().getRing();
    Value barrier = instructions.add(warp.barriers,
                                     KernelPlan::getDeallocBarrierOffset(ring));
    instructions.waitBarrier(barrier, instructions.i32(0), lowering.waitLimit);
    instructions.freeColumns(warp.base, ring.getAllocatedColumns(),
                             ring.getCtaGroup());
    rewriter.eraseOp(op);
    return success();
  }
};

/// wait_tmem: meet the MMA warp, read the address. The address is the evidence.
struct LowerWaitTmem : public KernelPattern<WaitTmemOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(WaitTmemOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor end(operands.getEnd());
    OutputPipelineType ring = op.getReady().getType().getRing();
    instructions.syncNamedBarrier(end.base,
                                  getPlan<RingPlanAttr>(op).handoffThreads);
    Value slot =
        instructions.add(end.barriers, KernelPlan::getTmemAddressOffset(ring));
    rewriter.replaceOp(op,
                       instructions.loadShared(slot, rewriter.getI32Type()));
    return success();
  }
};

/// create_epilogue_warp: the end, with the tensor memory's address.
struct LowerCreateEpilogueWarp : public KernelPattern<CreateEpilogueWarpOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(CreateEpilogueWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    RingCursor end(operands.getEnd());
    Value address = operands.getReady()[0];
    rewriter.replaceOpWithMultiple(
        op, {RingCursor(end.barriers, address, end.index, end.phase).pack()});
    return success();
  }
};

/// release_epilogue_warp: each warp arrives at the barrier that guards
/// deallocation. Its lanes met, and its loads were fenced, when it released its
/// last stage.
struct LowerReleaseEpilogueWarp : public KernelPattern<ReleaseEpilogueWarpOp> {
  using KernelPattern::KernelPattern;

  LogicalResult lower(ReleaseEpilogueWarpOp op, Adaptor operands,
                      ConversionPatternRewriter &rewriter) const override {
    Instructions instructions(rewriter, op.getLoc());
    RingCursor warp(operands.getWarp());
    OutputPipelineType ring = op.getWarp().getType().getRing();
    instructions.ifThen(lowering.getRole(op).leader, [&](Instructions &leader) {
      Value barrier =
          leader.add(warp.barriers, KernelPlan::getDeallocBarrierOffset(ring));
      leader.arrive(barrier);
      // Both CTAs of a pair free their columns together.
      if (ring.getCtaGroup() == 2)
        leader.arriveRemote(leader.add(barrier, lowering.cluster.toPeer));
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::fp8::populateWarpPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     const KernelLowering &lowering) {
  patterns
      .add<LowerRole, LowerCreateMmaWarp, LowerReleaseMmaWarp, LowerWaitTmem,
           LowerCreateEpilogueWarp, LowerReleaseEpilogueWarp>(
          converter, patterns.getContext(), lowering);
}
