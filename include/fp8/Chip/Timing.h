// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of a GPU in the simulator's timing model: the rates and the
// latencies of its engines. docs/Timing.md describes the model.

#ifndef FP8_CHIP_TIMING_H
#define FP8_CHIP_TIMING_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fp8::chip {

/// Instructions that take alike to issue and to execute.
enum class IssueClass : uint8_t {
  Free, ///< ptxas leaves no instruction of it, or one that never waits
  Arithmetic,
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
inline constexpr size_t kIssueClasses = 12;

/// What one warp instruction costs, in cycles of the SM.
struct IssueCost {
  double slots;   ///< for which it takes the issue slot of its partition
  double latency; ///< from its issue to the first use of its result
};

/// Cycles are those of the SM at its boost clock; bytes are per cycle.
struct Timing {
  const char *name;
  int64_t multiprocessors;
  int64_t clusterMultiprocessors; ///< that clusters of more than two CTAs find
  int64_t partitions;             ///< of an SM, each with an issue slot
  double gigahertz;
  /// Where the tensor cores work for a larger share than `powerShare` of the
  /// cycles, the clock falls by `powerSlope` for each further part.
  double powerShare, powerSlope;
  /// From one kernel's end to the next one's first instruction, what a
  /// programmatic launch saves of it, and what a cluster adds.
  double launchUs, earlyUs, clusterUs;
  std::array<IssueCost, kIssueClasses> issue;
  /// From the completion of a phase to the first instruction behind a wait; and
  /// from an arrival to its effect, in the CTA and in another.
  double wakeCycles, arriveCycles, remoteCycles;
  /// The TMA: what a copy takes of the unit, the latency of a copy from L2 and
  /// from memory, and the first use of a tensor map.
  double copyCycles, l2LatencyCycles, dramLatencyCycles, mapCycles;
  /// What L2 takes for a row of a box that lies outside the tensor, of boxes
  /// with sixteen such rows or more: all SMs ask one place of it.
  double fillCycles;
  /// Bytes from L2 to an SM, from L2 to all SMs, from memory to an SM, and from
  /// memory to all SMs.
  double l2BytesOfOne, l2Bytes, dramBytesOfOne, dramBytes;
  /// A store by the TMA: bytes that it reads, and its latency.
  double storeBytes, storeLatencyCycles;
  /// Writes to the shared memory of another CTA.
  double remoteBytes, remoteLatencyCycles;
  /// Multiply-adds of 8 bits, bytes of shared memory that operands take, the
  /// cycles that each product adds to its operands', and the latency from a
  /// product's end to its sums.
  double multiplyAdds, operandBytes, productCycles, productLatencyCycles;
};

/// The constants for the chip called `name`; null if it has none.
const Timing *lookupTiming(const char *name);

/// The names of the chips that have constants, with commas between them.
std::string getTimedChips();

} // namespace fp8::chip

#endif // FP8_CHIP_TIMING_H
