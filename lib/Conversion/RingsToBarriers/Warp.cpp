// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the warp handles with their hand-off of tensor memory.

#include "RingLowering.h"

using namespace mlir;
using namespace mlir::fp8;

/// create_mma_warp: allocate, publish the address, announce it. Allocation is
/// synchronous, so no tcgen05.fence orders it (PTX ISA 9.7.16.6.1).
static Results lowerCreateMmaWarp(CreateMmaWarpOp op,
                                  Operands<CreateMmaWarpOp> operands,
                                  RingBuilder &builder) {
  RingCursor end(operands.getEnd());
  OutputPipelineType ring = op.getWarp().getType().getRing();
  Value slot =
      builder.add(end.barriers, KernelPlan::getTmemAddressOffset(ring));
  auto plan = getPlan<RingPlanAttr>(op);
  Value address = builder.make<TmemAllocOp>(
      slot, plan.columns, /*last=*/plan.allocatesAlone, ring.getCtaGroup());
  builder.make<NamedBarrierOp>(end.base, plan.handoffThreads, /*arrive=*/true);
  end.base = address;
  return {end.pack()};
}

/// release_mma_warp: wait for the epilogue warps, free the columns, which is
/// synchronous, too.
static Results lowerReleaseMmaWarp(ReleaseMmaWarpOp op,
                                   Operands<ReleaseMmaWarpOp> operands,
                                   RingBuilder &builder) {
  RingCursor warp(operands.getWarp());
  OutputPipelineType ring = op.getWarp().getType().getRing();
  Value barrier =
      builder.add(warp.barriers, KernelPlan::getDeallocBarrierOffset(ring));
  builder.make<MbarrierWaitOp>(barrier, builder.i32(0), /*cluster=*/false,
                               builder.start.waitLimit);
  builder.make<TmemFreeOp>(warp.base, getPlan<RingPlanAttr>(op).columns,
                           ring.getCtaGroup());
  return {};
}

/// wait_tmem: meet the MMA warp, read the address. The address is the evidence.
static Results lowerWaitTmem(WaitTmemOp op, Operands<WaitTmemOp> operands,
                             RingBuilder &builder) {
  RingCursor end(operands.getEnd());
  OutputPipelineType ring = op.getReady().getType().getRing();
  builder.make<NamedBarrierOp>(end.base,
                               getPlan<RingPlanAttr>(op).handoffThreads);
  Value slot =
      builder.add(end.barriers, KernelPlan::getTmemAddressOffset(ring));
  return {{builder.make<TmemAddressOp>(slot)}};
}

/// create_epilogue_warp: the end, with the tensor memory's address.
static Results lowerCreateEpilogueWarp(CreateEpilogueWarpOp,
                                       Operands<CreateEpilogueWarpOp> operands,
                                       RingBuilder &) {
  RingCursor end(operands.getEnd());
  end.base = operands.getReady()[0];
  return {end.pack()};
}

/// release_epilogue_warp: each warp arrives at the barrier that guards
/// deallocation. Its lanes met, and its loads were fenced, when it released its
/// last stage.
static Results
lowerReleaseEpilogueWarp(ReleaseEpilogueWarpOp op,
                         Operands<ReleaseEpilogueWarpOp> operands,
                         RingBuilder &builder) {
  RingCursor warp(operands.getWarp());
  OutputPipelineType ring = op.getWarp().getType().getRing();
  builder.ifThen(getThread(op).getLeader(), [&](BarrierBuilder &leader) {
    Value barrier =
        leader.add(warp.barriers, KernelPlan::getDeallocBarrierOffset(ring));
    leader.make<MbarrierArriveOp>(barrier);
    // Both CTAs of a pair free their columns together.
    if (ring.getCtaGroup() == 2)
      leader.make<MbarrierArriveOp>(
          leader.add(barrier, builder.start.cluster.toPeer), /*remote=*/true);
  });
  return {};
}

void mlir::fp8::addWarpPatterns(RingPatterns &patterns) {
  patterns.add(lowerCreateMmaWarp);
  patterns.add(lowerReleaseMmaWarp);
  patterns.add(lowerWaitTmem);
  patterns.add(lowerCreateEpilogueWarp);
  patterns.add(lowerReleaseEpilogueWarp);
}
