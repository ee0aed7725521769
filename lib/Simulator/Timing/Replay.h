// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives the events of a trace times. A warp has a clock and issues in order. An
// engine is a queue with a rate and a latency. What a warp waits for moves its
// clock.

#ifndef FP8_LIB_SIMULATOR_TIMING_REPLAY_H
#define FP8_LIB_SIMULATOR_TIMING_REPLAY_H

#include "Timing/Costs.h"
#include "Timing/Trace.h"
#include "fp8/Simulator/Report.h"

#include <array>
#include <cstdint>
#include <optional>

namespace fp8::sim {

/// The launch around the cluster that was traced.
struct TracedLaunch {
  uint64_t ctas = 1;        ///< of the grid
  uint64_t clusterCtas = 1; ///< of a cluster
  /// Passes over their operands of the CTAs that make most, and how many CTAs
  /// make as many. The others make one fewer.
  uint32_t passes = 1;
  double ctasOfMost = 0;
  bool programmatic = false;
};

/// The time of the launch; an empty optional if a wait of the trace never ends.
std::optional<KernelTime> replay(const Trace &trace, const Costs &costs,
                                 const chip::Timing &timing,
                                 const TracedLaunch &launch);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_TIMING_REPLAY_H
