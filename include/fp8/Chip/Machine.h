// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of a GPU in the cost model: rates, latencies and sizes.
// docs/Chooser.md says how each was determined.
#ifndef FP8_CHIP_MACHINE_H
#define FP8_CHIP_MACHINE_H

#include "fp8/Chip/Chip.h"
#include "fp8/Chip/Clusters.h"

#include <cstdint>
#include <string_view>

namespace fp8::chip {

/// The constants of the cost model (fp8/Tuning/CostModel.h). Cycles are SM
/// cycles.
struct Machine {
  const char *name;
  int64_t multiprocessors;
  double gigahertz;
  /// Multiply-adds of e4m3 that the tensor cores of an SM perform in a cycle.
  double multiplyAddsPerCycle;
  /// The smallest M that an MMA is charged for.
  int64_t mmaRows;
  /// The fraction of that rate that an SM sustains; and the additional cycles
  /// for each byte from L2, since both take power.
  double sustainedShare, l2PowerCycles;
  /// The fraction where tensor cores apply the scales, for which no promotion
  /// is the bound; and the cycles between the tiles of such a kernel, in which
  /// they have no operands. 0 where they apply none.
  double scaledShare, betweenTilesCycles;
  /// The latency from a warpgroup's wait for operands to its product, in
  /// addition to the MMA; and the part of it that remains if the next product
  /// is started early.
  double productCycles, overlappedProductCycles;
  /// The cost to promote a product, in addition to one multiply-add for each
  /// sum; and the cost for each further part of the columns with its own B
  /// scales.
  double promotionCycles, scalePartCycles;
  /// How long a tile's first product, or promotion, waits for B scales that
  /// lanes load. The first tile waits for its first copy anyway.
  double firstScalesCycles;
  /// Bytes of accumulators that the warps of an SM read from tensor memory in a
  /// cycle; 0 where products are in registers.
  double transferBytesPerCycle;
  /// The cost for each row of the tile where operands are swapped, since a
  /// thread then has the A scales of a quarter of them; and the part of it that
  /// remains if the next product is started early.
  double swappedRowCycles, overlappedSwappedRowCycles;
  /// Bytes that an SM receives in a cycle, and that L2 delivers to all SMs in a
  /// cycle.
  double l1BytesPerCycle, l2BytesPerCycle;
  /// Bytes that memory moves in a nanosecond, and those that one SM draws while
  /// memory does not wait.
  double dramBytesPerNs, dramBytesPerNsOfOne;
  /// The latency of a copy under load; and what it adds that a slot is handed
  /// back by all CTAs that share its copies.
  double loadLatencyNs, sharedLatencyNs;
  /// The time of a row of a box outside the operand, for all SMs together, if
  /// nothing else holds them up; sixteen of a box cost nothing.
  double fillPs;
  /// What a CTA's loop takes longer for each such row, each column of tiles at
  /// work and each K block; and for each column beyond N, each row of tiles and
  /// each K block, if the CTA has one tile.
  double fillWaitPs;
  /// The time to begin and end a kernel; the additional time of a cluster; the
  /// time to exchange sums between CTAs; and what each sum that a CTA sends
  /// adds to it.
  double launchUs, clusterUs, exchangeUs, exchangePs;
  /// The fraction by which the loop takes longer if two CTAs that divide K
  /// share columns of tiles with others, in three rows of tiles or more, or in
  /// two that have rows in common. Two others, and two warpgroups, have a
  /// quarter of it.
  double dividedTogetherShare;
  /// The part of a launch that a programmatic launch overlaps with the end of
  /// the preceding kernel.
  double earlyUs;
  ClusterRoom clusters;
  /// The time to store a tile: a constant, and the time for each column of a
  /// warpgroup's 64 rows.
  double epilogueCycles, epilogueColumnCycles;
  /// The cost to store a row of a box of D, for all SMs together.
  double storePs;
};

namespace machines {
extern const Machine kH200, kH100, kB200, kThor;
} // namespace machines

/// Every machine whose constants are built in.
Table<const Machine *> getMachines();
/// The machine of that name, which is what the driver calls the GPU; or null.
const Machine *lookupMachine(std::string_view name);

/// One of the numbers of a machine.
struct MachineConstant {
  const char *name;
  double least, most; ///< what is possible
  bool isFitted;      ///< to times of kernels (fp8/Tuning/Fit.h)
  double (*get)(const Machine &machine);
  void (*set)(Machine &machine, double value);
};
/// All of them, in the order of Machine.
Table<MachineConstant> getMachineConstants();

} // namespace fp8::chip

#endif // FP8_CHIP_MACHINE_H
