// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cost model knows of a GPU: rates, latencies and sizes
// (docs/Chooser.md says how each was found).
#ifndef FP8_CHIP_MACHINE_H
#define FP8_CHIP_MACHINE_H

#include <cstdint>

namespace fp8::chip {

/// The constants of the cost model (fp8/Tuning/CostModel.h). Cycles are those
/// of an SM.
struct Machine {
  const char *name;
  int64_t multiprocessors;
  double gigahertz;
  /// Multiply-adds of e4m3 that the tensor cores of an SM do in a cycle.
  double multiplyAddsPerCycle;
  /// The smallest M that an MMA is charged for.
  int64_t mmaRows;
  /// The part of that rate that lasts; and the cycles that a byte from L2 costs
  /// beside, for both take power.
  double sustainedShare, l2PowerCycles;
  /// From a warpgroup's wait for operands to its product, beside the MMA; what
  /// is left of it where the next product is started early.
  double productCycles, overlappedProductCycles;
  /// To promote a product beside one multiply-add a sum; for each further part
  /// of the columns that has B scales of its own.
  double promotionCycles, scalePartCycles;
  /// Bytes that an SM takes in, and that L2 gives to all, in a cycle.
  double l1BytesPerCycle, l2BytesPerCycle;
  /// Bytes that memory moves in a nanosecond, and that one SM draws of them.
  double dramBytesPerNs, dramBytesPerNsOfOne;
  /// From a copy's start to its bytes, under load.
  double loadLatencyNs;
  /// What a row of a box costs that lies beyond the operand, all SMs together.
  double fillPs;
  /// To begin and end a kernel; what a cluster takes longer; to exchange sums
  /// among two CTAs, and for each doubling of their number.
  double launchUs, clusterUs, exchangeUs;
  /// Of a launch, what a programmatic one does while the kernel in front ends.
  double earlyUs;
  /// By which part the loop of such a kernel takes longer where it leaves SMs
  /// idle but not half of them, for its CTAs stand where SMs were free; and
  /// where those are CTAs of clusters, or several rows of tiles read the same
  /// B.
  double earlyIdleShare, earlyTogetherShare;
  /// SMs that clusters of more than two CTAs find: they do not cross GPCs.
  int64_t clusterMultiprocessors;
  /// To store a tile: once, and for each column of a warpgroup's 64 rows.
  double epilogueCycles, epilogueColumnCycles;
};

} // namespace fp8::chip

#endif // FP8_CHIP_MACHINE_H
