// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the lanes of a warp need not meet, since they meet elsewhere.

#include "Meetings.h"

#include "fp8/Analysis/KernelPlan.h"

using namespace mlir;
using namespace mlir::fp8;

bool mlir::fp8::isSignalledByEngine(Value stage, const StagePlan &plan) {
  Type type = stage.getType();
  if (isa<ProducerStageType, MmaStageType>(type))
    return true;
  return isa<ConsumerStageType>(type) && plan.usedByMma && !plan.usedByThreads;
}

/// Whether the op before a release is a release too, behind which the lanes
/// have met. Both hand back slots that threads read. An accumulator's release
/// does not count here, since each of its lanes orders its loads before they
/// meet.
static bool isBehindRelease(Operation *op, GetStagePlan getStage) {
  auto release = dyn_cast<ReleaseOp>(op);
  auto previous = dyn_cast_or_null<ReleaseOp>(op->getPrevNode());
  if (!release || !previous)
    return false;
  auto isRead = [&](ReleaseOp candidate) {
    auto type = dyn_cast<ConsumerStageType>(candidate.getStage().getType());
    return type && isa<PipelineType>(type.getRing()) &&
           !getStage(candidate.getStage()).usedByMma;
  };
  return isRead(release) &&
         (isRead(previous) ||
          isa<EpilogueStageType>(previous.getStage().getType()));
}

/// Whether an acquire that meets follows, with nothing in between but waits
/// and computation. A lane that has come to that meeting has done the wait of
/// this acquire, and what the elected lane starts comes behind it.
static bool isBeforeMeeting(AcquireOp acquire, GetStagePlan getStage) {
  StagePlan plan = getStage(acquire.getStage());
  // An announcement is an arrival, which comes behind the meeting.
  if (!isSignalledByEngine(acquire.getStage(), plan) || plan.bytesAtAcquire)
    return false;
  for (Operation *op = acquire->getNextNode(); op; op = op->getNextNode()) {
    if (auto later = dyn_cast<AcquireOp>(op)) {
      if (isSignalledByEngine(later.getStage(), getStage(later.getStage())))
        return true;
    } else if (!isa<WaitOp, TryWaitOp>(op) && !isMemoryEffectFree(op)) {
      return false;
    }
  }
  return false;
}

/// Whether all that the op does is computation, and copies that one lane
/// starts.
static bool leavesLanesAlone(Operation *op) {
  return !op->walk([](Operation *inner) {
              bool leaves =
                  isa<TileCopyOpInterface, LoadElementOp>(inner) ||
                  inner->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() ||
                  isMemoryEffectFree(inner);
              return leaves ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// Whether a producer arrives for what one lane alone has filled since the
/// lanes met in the acquire.
static bool isFilledByOneLane(Operation *handOver, Value stage,
                              GetStagePlan getStage) {
  auto acquire = stage.getDefiningOp<AcquireOp>();
  auto type = dyn_cast<ProducerStageType>(stage.getType());
  if (!type || !acquire || acquire->getBlock() != handOver->getBlock())
    return false;
  // The arrival was made before, or comes with the answer.
  if (getStage(stage).bytesAtAcquire || isa<WorkQueueType>(type.getRing()))
    return false;
  return llvm::all_of(llvm::make_range(std::next(acquire->getIterator()),
                                       handOver->getIterator()),
                      [](Operation &op) { return leavesLanesAlone(&op); });
}

bool mlir::fp8::isConverged(Operation *op, GetStagePlan getStage) {
  if (auto acquire = dyn_cast<AcquireOp>(op))
    return isBeforeMeeting(acquire, getStage);
  Value stage = getHandedOver(op);
  return stage && (isBehindRelease(op, getStage) ||
                   isFilledByOneLane(op, stage, getStage));
}
