// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the time of launches whose operands are not in the L2 cache.
#ifndef FP8_RUNTIME_TIMER_H
#define FP8_RUNTIME_TIMER_H

#include "fp8/Runtime/Launch.h"

namespace fp8::runtime {

enum class Clock {
  /// One launch at a time between two events; before each launch, a buffer of
  /// more than twice the L2 cache is written. Includes the time to start a
  /// launch, some microseconds.
  Flush,
  /// A CUDA graph of launches over several sets of operands. Together they are
  /// larger than the L2 cache, so that a set has left the cache before its next
  /// launch. The result is the time of a replay divided by its launches.
  Graph
};

constexpr unsigned kMostReplays = 1000000;

struct TimerOptions {
  Clock clock = Clock::Graph;
  /// Measured, at most kMostReplays; 20 are the fewest to report.
  unsigned replays = 20;
  unsigned warmUps = 3; ///< before them
};

struct Timing {
  double medianMicroseconds = 0, fastestMicroseconds = 0,
         slowestMicroseconds = 0; ///< of one launch
  unsigned replays = 0;
  unsigned launchesPerReplay = 0;
};

/// The number of sets of operands, of `bytes` each, for the graph clock:
/// together more than 4 times the L2 cache, but at most `limit` sets.
unsigned operandSetsFor(const DeviceInfo &device, uint64_t bytes,
                        unsigned limit);

/// Times launches of the same kernel, each on its own operands.
Expected<Timing> timeLaunches(std::shared_ptr<const Device> device,
                              const std::vector<PreparedLaunch> &launches,
                              const TimerOptions &options);

} // namespace fp8::runtime

#endif // FP8_RUNTIME_TIMER_H
