// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which CTAs of a cluster do what: the rules of rings whose slots CTAs share,
// and of what the leading CTA does alone (C1 to C5).

#include "fp8/Analysis/KernelPlan.h"

using namespace mlir;
using namespace mlir::fp8;

/// The CTAs that run the op: the leading ones of the grouping, or all.
static std::optional<CtaGrouping> getLeadingGrouping(Operation *op) {
  if (auto leading = op->getParentOfType<LeadingCtaOp>())
    return leading.getGrouping();
  return std::nullopt;
}

static StringRef describe(std::optional<CtaGrouping> grouping) {
  if (!grouping)
    return "all CTAs";
  return *grouping == CtaGrouping::Pair ? "the leading CTA of each pair"
                                        : "the leading CTA of the cluster";
}

/// (C2) Whoever uses what a pair's MMA makes or reads runs where the MMA runs.
static LogicalResult checkPairLeader(Operation *op, StringRef what) {
  if (getLeadingGrouping(op) == CtaGrouping::Pair)
    return success();
  return op->emitOpError() << what
                           << ", so it must stand in an 'fp8.leading_cta of "
                              "pair' (C2)";
}

/// The CTAs in which an end is worked on, from the kind of end and its ring;
/// null where the kernel is free to choose.
static LogicalResult checkAcquire(AcquireOp acquire, int64_t ctaGroup) {
  Type end = acquire.getEnd().getType();
  if (ctaGroup == 1)
    return success();
  if (isa<MmaWarpType>(end))
    return checkPairLeader(acquire, "takes an accumulator of a CTA pair");
  if (isa<ConsumerType>(end))
    return checkPairLeader(acquire,
                           "waits for the tiles of both CTAs of a pair");
  if (getLeadingGrouping(acquire))
    return acquire.emitOpError()
           << "is one CTA's part of a pair's work, so it must not stand in an "
              "'fp8.leading_cta' (C3); both CTAs do theirs";
  return success();
}

LogicalResult KernelPlan::checkSharedSlots(Operation *op,
                                           const RingPlan &ring) const {
  if (!ring.isShared())
    return success();
  for (auto &[number, use] : flow->getStageUses()) {
    StagePlan stage = stages.lookup(number);
    for (TmaLoadOp load : use.loads)
      if (getRingOf(load.getStage()) == op && !stage.bytesAtAcquire)
        return load.emitOpError()
               << "copies into a slot that CTAs share, so it must stand in the "
                  "block of the slot's acquire (C4), where its bytes are "
                  "announced before another CTA's arrive";
    for (AcquireOp acquire : use.acquires)
      if (getRingOf(acquire.getEnd()) == op &&
          isa<ConsumerType>(acquire.getEnd().getType()) && !stage.usedByMma)
        return acquire.emitOpError()
               << "empties a slot into which other CTAs copy, but no MMA reads "
                  "it (C4): the commit of an MMA reaches those CTAs, an "
                  "arrival "
                  "does not; give what threads read a pipeline of its own";
  }
  return success();
}

LogicalResult KernelPlan::checkCluster() const {
  for (auto &[op, ring] : rings) {
    if (ring.ctaGroup == 2 && cluster.m % 2)
      return op->emitOpError()
             << "is of a CTA pair, but clusters have " << cluster.m
             << " CTAs along M; state an even number in '"
             << Fp8Dialect::kClusterAttrName << "' (C1)";
    if (failed(checkSharedSlots(op, ring)))
      return failure();
    AcquireOp first;
    for (Value end : op->getResults())
      for (AcquireOp acquire : flow->getAcquires(flow->getEnd(end))) {
        if (failed(checkAcquire(acquire, ring.ctaGroup)))
          return failure();
        if (!first)
          first = acquire;
        auto grouping = getLeadingGrouping(acquire),
             expected = getLeadingGrouping(first);
        if (ring.ctaGroup == 1 && grouping != expected) {
          InFlightDiagnostic diagnostic =
              acquire.emitOpError()
              << "runs in " << describe(grouping)
              << ", but the other side of its ring in " << describe(expected)
              << " (C5); one would wait for ever";
          diagnostic.attachNote(first.getLoc()) << "the other side";
          return diagnostic;
        }
      }
  }
  return success();
}

LogicalResult KernelPlan::checkMma(MmaOp mma) {
  if (mma.getAccumulator().getType().getCtaGroup() == 1)
    return success();
  return checkPairLeader(mma, "works on the accumulator of a CTA pair");
}
