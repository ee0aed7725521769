// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is derived from a linear kernel: the registers of its threads.

#include "fp8/Analysis/KernelPlan.h"

#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "fp8-plan-kernels"

using namespace mlir;
using namespace mlir::fp8;

/// The most that a thread can have, and the registers of each quarter of a
/// multiprocessor, to which warps are dealt in turn (CUDA programming guide,
/// technical specifications).
static constexpr int64_t kMaxRegistersPerThread = 255;
static constexpr int64_t kRegistersPerQuarter = 16384;
/// The most that setmaxnreg can give a thread whose instructions name 255.
static constexpr int64_t kMostTaken = 248;
/// Registers are handed out to threads by eight.
static constexpr int64_t kGranule = 8;
/// What a thread that only starts copies gets by with; and the less that it
/// keeps beside three warpgroups or more, whose sums spill otherwise.
static constexpr int64_t kCopyingThread = 40, kLeastCopyingThread = 32;
static constexpr int64_t kManyGroups = 3;

static constexpr int64_t kWarpsPerGroup = 4;

bool RegisterPlan::takes(WarpRange warps) const {
  return llvm::any_of(
      growing, [&](WarpRange range) { return range.first == warps.first; });
}

/// Whether a thread of the role has parts of tiles in registers.
static bool holdsFragments(Operation *role) {
  WalkResult result = role->walk([](Operation *op) {
    return llvm::any_of(op->getResultTypes(), llvm::IsaPred<FragmentType>)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void KernelPlan::planRegisters() {
  int64_t groups = llvm::divideCeil(numWarps, kWarpsPerGroup);
  int64_t share =
      llvm::alignDown(kRegistersPerQuarter / (32 * groups), kGranule);
  registers.atEntry = std::min(kMaxRegistersPerThread, share);
  SmallVector<WarpRange> growing;
  int64_t growingWarps = 0;
  bool multiplies = false;
  for (auto &[op, warps] : roles) {
    if (!holdsFragments(op))
      continue;
    // A warpgroup as a whole takes registers or hands them over.
    if (warps.first % kWarpsPerGroup || warps.count % kWarpsPerGroup)
      return;
    multiplies |= op->walk([](WarpgroupMmaOp) {
                      return WalkResult::interrupt();
                    }).wasInterrupted();
    growingWarps += warps.count;
    growing.push_back(warps);
  }
  int64_t growingGroups = growingWarps / kWarpsPerGroup;
  if (!multiplies || growingGroups == groups ||
      share > kMaxRegistersPerThread) {
    LDBG() << "all threads keep the " << registers.atEntry
           << " registers that they start with";
    return;
  }
  numIdleWarps = kWarpsPerGroup * groups - numWarps;
  numWarps += numIdleWarps;
  registers.growing = std::move(growing);
  registers.others =
      growingGroups < kManyGroups ? kCopyingThread : kLeastCopyingThread;
  int64_t left = share * groups - registers.others * (groups - growingGroups);
  registers.multiply = std::min<int64_t>(
      kMostTaken, llvm::alignDown(left / growingGroups, kGranule));
  LDBG() << "threads of " << growingGroups << " of " << groups
         << " warpgroups take " << registers.multiply
         << " registers, the others keep " << registers.others;
}
