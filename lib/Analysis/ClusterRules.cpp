// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which CTAs of a cluster do what: the rules of rings whose slots CTAs share,
// and of what the leading CTA does alone (C1 to C5, C7), and those of
// the work queue (W2, W3).

#include "fp8/Analysis/KernelPlan.h"
#include "fp8/IR/ArgumentAccess.h"

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
                           << ", so it must be in an 'fp8.leading_cta of "
                              "pair' (C2)";
}

/// (C2, C3) Where the end of a pair's ring is worked on.
static LogicalResult checkAcquire(Operation *acquire, int64_t ctaGroup) {
  Type end = getEndOf(acquire->getOperand(0).getType());
  if (ctaGroup == 1)
    return success();
  if (isa<MmaWarpType>(end))
    return checkPairLeader(acquire, "takes an accumulator of a CTA pair");
  if (isa<ConsumerType>(end))
    return checkPairLeader(acquire,
                           "waits for the tiles of both CTAs of a pair");
  if (getLeadingGrouping(acquire))
    return acquire->emitOpError()
           << "must not be in an 'fp8.leading_cta' (C3), since both CTAs of "
              "the pair do this work; move it out";
  return success();
}

LogicalResult KernelPlan::checkSharedSlots(Operation *op,
                                           const PlannedRing &ring) const {
  if (!ring.isShared())
    return success();
  for (auto &[number, use] : flow->getStageUses()) {
    StagePlan stage = stages.lookup(number);
    for (AcquireOp acquire : use.acquires)
      if (llvm::is_contained(getRings(acquire.getEnd()), op) &&
          ring.ctaGroup == 1 && getLeadingGrouping(acquire) &&
          cluster.getSize() > 1)
        return acquire.emitOpError()
               << "takes a slot that several CTAs fill, so it must not be in "
                  "an 'fp8.leading_cta' (C4); move it out, since every CTA "
                  "copies its share and hands the slot back";
    for (TileCopyOpInterface copy : use.copies)
      if (copy.getLaunchBytes() &&
          llvm::is_contained(getRings(copy.getFilledStage()), op))
        return copy->emitOpError()
               << "copies a box whose bytes are an argument of the kernel into "
                  "a slot that CTAs share (M7); remove '"
               << kBoxBytesAttrName << "', or load into a ring of its own";
    for (TileCopyOpInterface copy : use.copies)
      if (llvm::is_contained(getRings(copy.getFilledStage()), op) &&
          !stage.bytesAtAcquire)
        return copy->emitOpError()
               << "copies into a slot that CTAs share, so it must be in the "
                  "block of the slot's acquire (C4), which announces its bytes "
                  "before those of another CTA arrive";
    for (AcquireOp acquire : use.acquires)
      if (llvm::is_contained(getRings(acquire.getEnd()), op) &&
          isa<ConsumerType>(getEndOf(acquire.getEnd().getType())) &&
          ring.ctaGroup == 2 && !stage.usedByMma)
        return acquire.emitOpError()
               << "takes a slot of a CTA pair that no MMA reads (C4), but only "
                  "the commit of an MMA hands it back to both CTAs; put what "
                  "threads read into a pipeline of its own";
  }
  return success();
}

/// (C7) A pair's MMA reads the tiles of both CTAs, for which only a pair's ring
/// waits; any other one reads those of its own CTA.
LogicalResult KernelPlan::checkOperandRing(Operation *op,
                                           const PlannedRing &ring) const {
  for (auto &[number, use] : flow->getStageUses()) {
    bool isRead = llvm::any_of(use.acquires, [&, this](AcquireOp acquire) {
      return llvm::is_contained(getRings(acquire.getEnd()), op) &&
             isa<ConsumerType>(getEndOf(acquire.getEnd().getType()));
    });
    if (!isRead)
      continue;
    for (MmaOp mma : use.mmas) {
      int64_t ctaGroup = mma.getAccumulator().getType().getCtaGroup();
      if (ctaGroup == ring.ctaGroup)
        continue;
      InFlightDiagnostic diagnostic = mma.emitOpError();
      if (ctaGroup == 2)
        diagnostic << "of a CTA pair reads the tiles of both CTAs, but its "
                      "operands' pipeline waits for those of one (C7); give "
                      "the pipeline 'cta_group = 2'";
      else
        diagnostic << "of one CTA reads the tiles of a CTA pair's pipeline "
                      "(C7), which only an MMA of the pair hands back to both "
                      "CTAs; give its accumulator 'cta_group = 2', or the "
                      "pipeline none";
      diagnostic.attachNote(op->getLoc()) << "the pipeline of its operands";
      return diagnostic;
    }
  }
  return success();
}

/// (W2, W3) The leading CTA asks, once for each slot; all CTAs read the answer.
LogicalResult KernelPlan::checkWorkQueue(WorkQueueOp queue) const {
  for (auto &[number, use] : flow->getStageUses())
    for (AcquireOp acquire : use.acquires) {
      if (!llvm::is_contained(getRings(acquire.getEnd()), queue))
        continue;
      std::optional<CtaGrouping> grouping = getLeadingGrouping(acquire);
      if (isa<ConsumerType>(getEndOf(acquire.getEnd().getType()))) {
        if (grouping)
          return acquire.emitOpError()
                 << "reads an answer that every CTA of the cluster gets, so it "
                    "must not be in an 'fp8.leading_cta' (W3)";
        continue;
      }
      if (grouping != CtaGrouping::Cluster && cluster.getSize() > 1)
        return acquire.emitOpError()
               << "takes a slot of a work queue to fill it, so it must be in "
                  "an 'fp8.leading_cta of cluster' (W3)";
      if (use.requests.size() == 1 && use.acquires.size() == 1 &&
          use.requests.front()->getBlock() == acquire->getBlock())
        continue;
      InFlightDiagnostic diagnostic =
          acquire.emitOpError()
          << "needs exactly one 'fp8.request_work' in its block (W2), since it "
             "takes a slot of a work queue, but has "
          << use.requests.size();
      for (RequestWorkOp request : use.requests)
        diagnostic.attachNote(request.getLoc()) << "requested here";
      return diagnostic;
    }
  return success();
}

LogicalResult KernelPlan::checkCluster() const {
  for (auto &[op, ring] : rings) {
    if (auto queue = dyn_cast<WorkQueueOp>(op)) {
      if (failed(checkWorkQueue(queue)))
        return failure();
      continue;
    }
    if (ring.ctaGroup == 2 && cluster.m % 2)
      return op->emitOpError()
             << "needs pairs of CTAs, but clusters have " << cluster.m
             << " CTAs along M; set an even number in '"
             << Fp8Dialect::kClusterAttrName << "' (C1)";
    if (failed(checkSharedSlots(op, ring)) ||
        failed(checkOperandRing(op, ring)))
      return failure();
    Operation *first = nullptr;
    for (Value end : op->getResults())
      for (Operation *acquire : flow->getAcquires(flow->getEnd(end))) {
        if (failed(checkAcquire(acquire, ring.ctaGroup)))
          return failure();
        if (!first)
          first = acquire;
        auto grouping = getLeadingGrouping(acquire),
             expected = getLeadingGrouping(first);
        // One CTA leads itself.
        if (ring.ctaGroup == 1 && grouping != expected &&
            cluster.getSize() > 1) {
          InFlightDiagnostic diagnostic =
              acquire->emitOpError()
              << "runs in " << describe(grouping)
              << ", but the other side of its ring runs in "
              << describe(expected)
              << " (C5), so that one of them waits forever; run both in the "
                 "same CTAs";
          diagnostic.attachNote(first->getLoc()) << "the other side";
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
