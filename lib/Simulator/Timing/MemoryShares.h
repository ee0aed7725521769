// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the CTA that was traced has of the memory that all CTAs of the launch
// share: L2, DRAM, and the place of L2 that answers for rows outside a tensor.

#ifndef FP8_LIB_SIMULATOR_TIMING_MEMORYSHARES_H
#define FP8_LIB_SIMULATOR_TIMING_MEMORYSHARES_H

#include "Timing/Replay.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace fp8::sim {

/// The bytes of a launch's output, of those that all its CTAs would store if
/// each stored what those of the trace do; 1 if it stores nothing.
double shareOfWork(const Trace &trace, const TracedLaunch &launch);

/// Gives each trace the loads of the one that has most in a pass, of each
/// buffer. A tile at an edge loads less than those that lie inside, of which
/// there are more.
void evenLoads(std::deque<Trace> &traces);

/// The other CTAs do what those of the trace do, as long as there is work: the
/// bytes of the output tell how much. All times are in cycles of the SM's
/// clock.
class MemoryShares {
public:
  MemoryShares(const Trace &trace, const chip::Timing &t,
               const TracedLaunch &launch);

  /// CTAs that run at a time.
  double getResident() const { return resident; }
  /// What the bytes of a load take in L2.
  double l2Cycles(const TraceEvent &load) const;
  /// What those of its bytes take in DRAM that L2 misses.
  double dramCycles(const TraceEvent &load) const;
  /// True if loads of the buffer wait for DRAM.
  bool waitsForDram(uint32_t buffer) const { return missLatency[buffer]; }
  /// What the rows of a box outside the tensor take, for a warp with `filled`
  /// such copies before. CTAs that begin, or that have had tiles before, do not
  /// ask for the same at a time.
  double fillCycles(const TraceEvent &load, uint32_t filled) const;
  /// True if the rows outside the tensor are so many that they take time.
  bool takesFill(const TraceEvent &load) const;
  /// What a store takes: its bytes, or its rows if they are so short that those
  /// take longer.
  double storeCycles(const TraceEvent &store) const;
  /// What its bytes take in DRAM.
  double storeDramCycles(const TraceEvent &store) const;

private:
  /// Cycles of an SM for a byte of DRAM, where `ctas` copy.
  double dramByteCycles(double ctas) const;
  /// CTAs that copy in the pass of a load.
  double getCopying(const TraceEvent &load) const;

  const Trace &trace;
  const chip::Timing &t;
  std::vector<double> missShare; ///< by buffer: of its loads, from DRAM
  std::vector<bool> missLatency; ///< by buffer
  double resident, active;     ///< CTAs at a time, and of them those with work
  double copying, copyingLast; ///< CTAs that do, before and in the last pass
};

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_MEMORYSHARES_H
