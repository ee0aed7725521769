// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is derived from a linear kernel: the registers of its threads.

#include "fp8/Analysis/KernelPlan.h"

#include "llvm/Support/MathExtras.h"

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
/// What a thread that only starts copies gets by with.
static constexpr int64_t kCopyingThread = 40;

static constexpr int64_t kWarpsPerGroup = 4;

void KernelPlan::planRegisters() {
  // Warpgroups that multiply, from the first warp on.
  int64_t multiplyWarps = 0;
  for (auto &[op, warps] : roles) {
    WalkResult multiplies =
        op->walk([](WarpgroupMmaOp) { return WalkResult::interrupt(); });
    if (!multiplies.wasInterrupted() || warps.first != multiplyWarps ||
        warps.count % kWarpsPerGroup)
      break;
    multiplyWarps += warps.count;
  }
  int64_t groups = llvm::divideCeil(numWarps, kWarpsPerGroup);
  int64_t share =
      llvm::alignDown(kRegistersPerQuarter / (32 * groups), kGranule);
  registers.atEntry = std::min(kMaxRegistersPerThread, share);
  int64_t multiplyGroups = multiplyWarps / kWarpsPerGroup;
  if (multiplyGroups == 0 || multiplyGroups == groups ||
      share > kMaxRegistersPerThread)
    return;
  numWarps = kWarpsPerGroup * groups;
  registers.multiplyWarps = multiplyWarps;
  registers.others = kCopyingThread;
  int64_t left = share * groups - kCopyingThread * (groups - multiplyGroups);
  registers.multiply = std::min<int64_t>(
      kMostTaken, llvm::alignDown(left / multiplyGroups, kGranule));
}
