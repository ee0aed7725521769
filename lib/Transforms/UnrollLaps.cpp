// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unrolls loops that go around a ring a whole number of times.

#include "fp8/IR/Fp8.h"
#include "fp8/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8UNROLLLAPS
#include "fp8/Transforms/Passes.h.inc"
} // namespace mlir::fp8

#define DEBUG_TYPE "fp8-unroll-laps"

using namespace mlir;
using namespace mlir::fp8;

/// The slots of the ring whose end or warp handle it is; 0 for other values.
static int64_t getNumSlots(Type type) {
  EndTypeInterface end = getEndOf(type);
  return end ? cast<RingTypeInterface>(end.getRing()).getNumStages() : 0;
}

/// True if the loop starts products in the registers of warpgroups. Unrolled,
/// the addresses of all slots take the registers of the sums.
static bool startsProducts(scf::ForOp loop) {
  return loop.walk([](WarpgroupMmaOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// True for a loop that is worth unrolling: few trips, which are laps of a
/// ring.
static bool makesLaps(scf::ForOp loop, int64_t maxTrips) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips || trips->ugt(maxTrips) || trips->isZero())
    return false;
  if (startsProducts(loop)) {
    LDBG() << "keeps the loop at " << loop.getLoc()
           << ": it starts products in registers";
    return false;
  }
  return llvm::any_of(loop.getInitArgs().getTypes(), [&](Type type) {
    int64_t slots = getNumSlots(type);
    return slots && trips->getSExtValue() % slots == 0;
  });
}

namespace {

struct UnrollLapsPass
    : public mlir::fp8::impl::Fp8UnrollLapsBase<UnrollLapsPass> {
  using Fp8UnrollLapsBase::Fp8UnrollLapsBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    // Inner loops come first.
    getOperation()->walk([&](scf::ForOp loop) {
      if (makesLaps(loop, maxTrips))
        loops.push_back(loop);
    });
    LDBG() << "unrolls " << loops.size() << " loops";
    for (scf::ForOp loop : loops)
      if (failed(loopUnrollFull(loop)))
        return signalPassFailure();
  }
};

} // namespace
