// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of a GPU in the simulator's timing model: the rates and the
// latencies of its engines. docs/Timing.md describes the model.

#ifndef FP8_CHIP_TIMING_H
#define FP8_CHIP_TIMING_H

#include "fp8/Chip/Clusters.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fp8::chip {

/// Instructions that take alike to issue and to execute.
enum class IssueClass : uint8_t {
  Free,       ///< ptxas leaves no instruction of it, or one that never waits
  Arithmetic, ///< of floating point
  Packed,     ///< of pairs of f32
  Integer,    ///< and predicates: much of it ptxas leaves out
  Convert,
  Divide, ///< a sequence of instructions
  Shuffle,
  SharedLoad,
  SharedStore,
  GlobalLoad,
  GlobalStore,
  Synchronise, ///< mbarriers, named barriers, fences
  Tensor,      ///< starts or waits for matrix products
  Copy,        ///< starts or waits for copies
};
inline constexpr size_t kIssueClasses = 14;

/// What one warp instruction costs, in cycles of the SM.
struct IssueCost {
  double slots;   ///< for which it takes the issue slot of its partition
  double latency; ///< from its issue to the first use of its result
};

/// Tensor memory, of chips that have it.
struct TensorMemoryTiming {
  /// A product of one CTA takes at least as long as one of so many rows.
  int64_t leastRows;
  /// What each product of a pair of CTAs takes beside its operands, and the
  /// latency that it adds.
  double pairCycles, pairLatencyCycles;
  /// A copy from shared to tensor memory (tcgen05.cp).
  double copyCycles;
  /// Bytes that a warp loads or stores, and the latency of it.
  double transferBytes, transferLatencyCycles;
  double allocateCycles; ///< an allocation, and a release
};

/// A kernel that multiplies before the preceding one has ended.
struct AheadTiming {
  double launchUs; ///< from that one's end to its first instruction
  /// The part of its cycles that is ahead: `part`, and `ofIdle` of the part of
  /// the SMs' time in which they have no CTA and memory has room, and `ofFit`
  /// of memory's room where two kernels fit at a time; less `ofAgain` of the
  /// part of the loads that others have made before, which CTAs that do not run
  /// in step wait for, and less `ofShared` and `ofTensor` of the parts of the
  /// cycles in which shared memory and the tensor cores work. From `enoughIdle`
  /// on nobody waits for loads.
  double part, ofIdle, ofFit, ofAgain, enoughIdle, ofShared, ofTensor;
  /// What memory delivers at most: kernels that follow one another without a
  /// pause take no less.
  double dramBytesPerNs;
};

/// Cycles are those of the SM at its boost clock; bytes are per cycle.
struct Timing {
  const char *name;
  int64_t multiprocessors;
  ClusterRoom clusters;
  int64_t partitions; ///< of an SM, each with an issue slot
  double gigahertz;
  /// The load is the share of the cycles in which the tensor cores work,
  /// `l2Power` of that of L2 and `dramPower` of that of memory; less
  /// `idlePower` of it for the part of the SMs' time in which they have no CTA.
  /// Where it exceeds `powerShare`, the clock falls by `powerSlope` for each
  /// further part: not for kernels of `coolUs` or less, and all the way for
  /// those that take `warmingUs` longer. What memory takes does not depend on
  /// the clock.
  double powerShare, powerSlope, l2Power, dramPower, idlePower, coolUs,
      warmingUs;
  /// From one kernel's end to the next one's first instruction, what a
  /// programmatic launch saves of it, and what a cluster adds.
  double launchUs, earlyUs, clusterUs;
  /// What it saves beside, if the preceding kernel signals in front of its
  /// products; and that, if this one then loads constants early: where one
  /// warpgroup multiplies, and where several do.
  double signalUs, constantUs, constantOfTwoUs;
  AheadTiming ahead;
  std::array<IssueCost, kIssueClasses> issue;
  /// From the completion of a phase to the first instruction behind a wait; and
  /// from an arrival to its effect, in the CTA and in another.
  double wakeCycles, arriveCycles, remoteCycles;
  /// How many registers more than a thread has a kernel may need before ptxas
  /// spills: it computes values later, or again. What an access to a spilled
  /// register takes of shared memory and L1, which are one.
  double spillFree, spillCycles;
  /// A load of a line that the CTA has loaded from before.
  double l1LatencyCycles;
  /// The TMA: what a copy takes of the unit, the latency of a copy from L2 and
  /// from memory, and the first use of a tensor map.
  double copyCycles, l2LatencyCycles, dramLatencyCycles, mapCycles;
  /// What L2 takes for the rows of a box outside the tensor, which all SMs
  /// request from one place: `fillCycles` for each SM, of `fillSharers` at
  /// most, over the `fillStrips`-th power of the boxes that the tensor's rows
  /// fill, of which the SMs load one or another; times the `fillPower`-th power
  /// of the number of rows beyond the first `fillFree`. The first copies of a
  /// CTA take less, and the `fillCopies`-th all of it. It is divided by the
  /// `fillSpread`-th power of the number of a CTA's tiles: CTAs fall out of
  /// step.
  double fillCycles, fillSharers, fillStrips, fillPower, fillFree, fillCopies,
      fillSpread;
  /// What memory and L2 take where a CTA turns to its next tile.
  double passCycles;
  /// In the last round, when not all SMs have a tile: the fraction of the
  /// others that still counts as copying.
  double idleShare;
  /// Of bytes that several clusters load: the part that comes from memory
  /// again.
  double clusterMisses;
  /// Bytes from L2 to an SM; from L2 to all SMs of what each alone asks for,
  /// and how many that ask for the same at most count as one; from memory to an
  /// SM, and from memory to all SMs.
  double l2BytesOfOne, l2Bytes, l2Sharers, dramBytesOfOne, dramBytes;
  /// Memory's work and all else overlap as two sides of a norm of this power:
  /// the smaller it is, the longer two of equal length take.
  double dramNorm;
  /// A store by the TMA: bytes that it reads, of one SM and of all; what a row
  /// of a box takes for each SM, if that is longer; and its latency.
  double storeBytesOfOne, storeBytes, storeRowCycles, storeLatencyCycles;
  /// Writes to the shared memory of another CTA.
  double remoteBytes, remoteLatencyCycles;
  /// Multiply-adds of 8 bits, the cycles that each product adds to them or to
  /// reading its operands, and the latency from a product's end to its sums.
  double multiplyAdds, productCycles, productLatencyCycles;
  /// Bytes of shared memory, for products' operands and loads by warps. Copies
  /// that land take nothing of them.
  double sharedBytes;
  /// What a register that a warp loads from there takes of the SM's path for
  /// loads. A warp's products behind the first that it starts wait for what it
  /// has loaded, for so many cycles and more for each register: ptxas puts the
  /// multiplications of scales in between.
  double loadCycles, loadedCycles, scaledCycles;
  TensorMemoryTiming tensorMemory;
};

/// The constants of the GPU called `gpu` ("h100"), which has the chip; of an
/// empty name, those of the chip's first GPU. Null if there are none.
const Timing *lookupTiming(std::string_view chip, std::string_view gpu = {});

/// The GPUs that have constants and their chips: "h200 (sm_90a), ...".
std::string getTimedGpus();

} // namespace fp8::chip

#endif // FP8_CHIP_TIMING_H
