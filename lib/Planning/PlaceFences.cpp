// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts fences in front of the hand-overs of slots that threads have read and
// TMA overwrites. One serves all slots that were read before it.

#include "fp8/Planning/Planning.h"

#include "fp8/Planning/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8PLACEFENCES
#include "fp8/Planning/Passes.h.inc"
} // namespace mlir::fp8

#define DEBUG_TYPE "fp8-place-fences"

using namespace mlir;
using namespace mlir::fp8;

/// Whether a promotion behind `wait` has loaded the A scale in front of it, and
/// reads nothing else from shared memory (loadAScale).
static bool hasLoadedBefore(PromoteOp op, WaitMmaOp wait) {
  auto isBefore = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return !def || def->getBlock() != wait->getBlock() ||
           def->isBeforeInBlock(wait);
  };
  return isBefore(op.getAScale()) && !op.getBRow() &&
         (!op.getARow() || isBefore(op.getARow()));
}

/// Where the fence goes that orders what threads have read from a slot before
/// what TMA writes there next: without it, loads may still be under way when
/// the copy lands, although their thread has arrived. It waits for them: in
/// front of a wait for a product, that takes the least time.
static Operation *findFencePlace(Operation *handOver) {
  for (Operation *op = handOver->getPrevNode(); op; op = op->getPrevNode()) {
    auto wait = dyn_cast<WaitMmaOp>(op);
    if (!wait) {
      // Which stage it reads does not matter: few blocks read several.
      WalkResult reads = op->walk([](Operation *inner) {
        return isa<ViewReaderOpInterface>(inner) && !isa<WarpgroupMmaOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (reads.wasInterrupted() && !isa<PromoteOp>(op))
        return handOver;
      continue;
    }
    for (Operation *late = wait->getNextNode(); late != handOver;
         late = late->getNextNode())
      if (auto promote = dyn_cast<PromoteOp>(late);
          promote && !hasLoadedBefore(promote, wait))
        return handOver;
    return wait;
  }
  return handOver;
}

/// The op behind which threads have read what `user` reads of a slot; null if
/// it lies in another block than the slot's acquire.
static Operation *findRead(Operation *user, AcquireOp acquire) {
  Operation *read = user;
  if (auto promote = dyn_cast<PromoteOp>(user); promote && !promote.getBRow()) {
    // The A scale is loaded where its tile is taken, and its row is known.
    read = promote.getAScale().getDefiningOp();
    if (Value row = promote.getARow()) {
      Operation *def = row.getDefiningOp();
      if (!def || def->getBlock() != read->getBlock())
        read = user;
      else if (read->isBeforeInBlock(def))
        read = def;
    }
  }
  return read->getBlock() == acquire->getBlock() ? read : nullptr;
}

/// Whether threads have read all of the slot where `place` begins, so that a
/// fence in front of it serves a later hand-over of the slot.
static bool isBehindReads(Operation *place, Value stage) {
  auto acquire = stage.getDefiningOp<AcquireOp>();
  if (!acquire || acquire->getBlock() != place->getBlock())
    return false;
  return llvm::all_of(stage.getUsers(), [&](Operation *tile) {
    if (!isa<TileOp>(tile))
      return isa<ReleaseOp, ArriveOp>(tile);
    return llvm::all_of(tile->getUsers(), [&](Operation *user) {
      if (isa<WarpgroupMmaOp>(user))
        return true;
      Operation *read = findRead(user, acquire);
      return read && read->isBeforeInBlock(place);
    });
  });
}

/// The ops that a fence goes in front of.
static llvm::SetVector<Operation *> findPlaces(FunctionOpInterface kernel) {
  llvm::SetVector<Operation *> places;
  kernel->walk([&](Operation *op) {
    Value handedOver = getHandedOver(op);
    if (!handedOver || !isa<ConsumerStageType>(handedOver.getType()))
      return;
    auto stage = getPlan<StagePlanAttr>(op);
    if (!stage.loadedByThreads || !stage.overwrittenByTma)
      return;
    // The lanes meet behind it.
    while (getPlan<StagePlanAttr>(op).converged)
      op = op->getPrevNode();
    // The fence of an earlier hand-over also orders the reads of this slot that
    // came before it.
    if (places.empty() || !isBehindReads(places.back(), handedOver))
      places.insert(findFencePlace(op));
  });
  return places;
}

static bool hasFence(Operation *place) {
  return isa_and_nonnull<FenceAsyncProxyOp>(place->getPrevNode());
}

void mlir::fp8::placeFences(FunctionOpInterface kernel) {
  for (Operation *place : findPlaces(kernel)) {
    if (hasFence(place))
      continue;
    LDBG() << "a fence before '" << place->getName() << "' at "
           << place->getLoc();
    OpBuilder builder(place);
    FenceAsyncProxyOp::create(builder, place->getLoc());
  }
}

LogicalResult mlir::fp8::checkFences(FunctionOpInterface kernel) {
  for (Operation *place : findPlaces(kernel))
    if (!hasFence(place))
      return place->emitOpError()
             << "needs an fp8.fence_async_proxy before it, since TMA "
                "overwrites what threads have read; run --fp8-place-fences";
  return success();
}

namespace {

struct PlaceFencesPass
    : public mlir::fp8::impl::Fp8PlaceFencesBase<PlaceFencesPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      if (!hasRings(kernel) || !isPlanned(kernel))
        continue;
      // Each op is asked for its plan.
      if (failed(checkPlan(kernel)))
        return signalPassFailure();
      placeFences(kernel);
    }
  }
};

} // namespace
