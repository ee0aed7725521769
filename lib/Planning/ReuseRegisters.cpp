// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets products of warpgroups take the registers of earlier ones.

#include "fp8/Planning/Planning.h"

#include "fp8/Planning/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::fp8 {
#define GEN_PASS_DEF_FP8REUSEREGISTERS
#include "fp8/Planning/Passes.h.inc"
} // namespace mlir::fp8

#define DEBUG_TYPE "fp8-reuse-registers"

using namespace mlir;
using namespace mlir::fp8;

/// Serves the products of one block.
static void reuseInBlock(Block &block) {
  // Products that were waited for and whose registers are to be had, the oldest
  // first.
  SmallVector<Value> done;
  for (Operation &op : block) {
    if (auto wait = dyn_cast<WaitMmaOp>(op))
      done.push_back(wait.getFragment());
    auto mma = dyn_cast<WarpgroupMmaOp>(op);
    if (!mma)
      continue;
    if (mma.getAccumulator()) {
      // Whose registers it has taken already, when the pass runs again.
      if (auto *taken = llvm::find(done, mma.getAccumulator());
          mma.getOverwrites() && taken != done.end())
        done.erase(taken);
      continue;
    }
    FragmentType product = mma.getPending().getType().getFragment();
    auto *found = llvm::find_if(
        done, [&](Value value) { return value.getType() == product; });
    if (found == done.end())
      continue;
    LDBG() << "the product at " << mma.getLoc() << " takes the registers of "
           << *found;
    mma.getAccumulatorMutable().assign(*found);
    mma.setOverwrites(true);
    done.erase(found);
  }
}

void mlir::fp8::reuseRegisters(FunctionOpInterface kernel) {
  kernel->walk([](Block *block) { reuseInBlock(*block); });
}

namespace {

struct ReuseRegistersPass
    : public mlir::fp8::impl::Fp8ReuseRegistersBase<ReuseRegistersPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (hasRings(kernel) && isPlanned(kernel))
        reuseRegisters(kernel);
  }
};

} // namespace
