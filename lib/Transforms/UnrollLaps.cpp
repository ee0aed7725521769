// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unrolls loops that go around a ring a whole number of times, and loops of
// products that gain by it.

#include "Gemm/PtxasLimits.h"
#include "fp8/IR/Fp8.h"
#include "fp8/IR/Profile.h"
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

/// The slots of the ring whose end, warp handle or stage it is; 0 for other
/// values.
static int64_t getNumSlots(Type type) {
  if (EndTypeInterface end = getEndOf(type))
    return cast<RingTypeInterface>(end.getRing()).getNumStages();
  if (auto stage = dyn_cast<StageTypeInterface>(type))
    return cast<RingTypeInterface>(stage.getRing()).getNumStages();
  return 0;
}

/// True if the loop starts products in the registers of warpgroups.
static bool startsProducts(scf::ForOp loop) {
  return loop.walk([](WarpgroupMmaOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// True if ptxas gains by copies of a loop that starts products.
static bool gainsProducts(scf::ForOp loop) {
  return !loop.walk([](PromoteOp promote) {
                return ptxas::gainsByUnrolling(promote.getPartial().getType(),
                                               promote.getBScales().size())
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// True for a loop that is worth unrolling: few trips, which are laps of a
/// ring. Of a loop that starts products they must be no laps: addresses of
/// fixed slots would take the registers of the sums.
static bool isWorthUnrolling(scf::ForOp loop, int64_t maxTrips) {
  // With stamps in each copy of a body, ptxas spills.
  if (auto module = loop->getParentOfType<ModuleOp>();
      module && module->hasAttr(kProfileAttrName))
    return false;
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips || trips->ugt(maxTrips) || trips->isZero())
    return false;
  auto makesLaps = [&](Type type) {
    int64_t slots = getNumSlots(type);
    return slots && trips->getSExtValue() % slots == 0;
  };
  TypeRange carried = loop.getInitArgs().getTypes();
  if (!startsProducts(loop))
    return llvm::any_of(carried, makesLaps);
  bool unrolls = llvm::any_of(carried, getNumSlots) &&
                 llvm::none_of(carried, makesLaps) && gainsProducts(loop);
  LDBG() << (unrolls ? "unrolls" : "keeps") << " the loop at " << loop.getLoc()
         << ", which starts products in registers";
  return unrolls;
}

namespace {

struct UnrollLapsPass
    : public mlir::fp8::impl::Fp8UnrollLapsBase<UnrollLapsPass> {
  using Fp8UnrollLapsBase::Fp8UnrollLapsBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    // Inner loops come first.
    getOperation()->walk([&](scf::ForOp loop) {
      if (isWorthUnrolling(loop, maxTrips))
        loops.push_back(loop);
    });
    LDBG() << "unrolls " << loops.size() << " loops";
    for (scf::ForOp loop : loops)
      if (failed(loopUnrollFull(loop)))
        return signalPassFailure();
  }
};

} // namespace

void mlir::fp8::addLoopCopyPasses(OpPassManager &passes) {
  // Unswitching removes selects that unrolling would duplicate.
  passes.addPass(createFp8UnswitchScales());
  passes.addPass(createFp8UnrollLaps());
}
