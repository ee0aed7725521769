// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long launches take when their operands are not in the L2 cache already.
#ifndef FP8_RUNTIME_TIMER_H
#define FP8_RUNTIME_TIMER_H

#include "fp8/Runtime/Launch.h"

namespace fp8::runtime {

enum class Clock {
  /// One launch at a time between two events; before each, a buffer of more
  /// than twice the L2 cache is written. Holds the time to start a launch, some
  /// microseconds, as well.
  Flush,
  /// A CUDA graph of launches over several sets of operands, which together are
  /// larger than the L2 cache: a set is gone from it when its turn comes again.
  /// The time of a replay, over its launches.
  Graph
};

struct TimerOptions {
  Clock clock = Clock::Graph;
  unsigned replays = 20; ///< measured; 20 are the fewest to report
  unsigned warmUps = 3;  ///< before them
};

struct Timing {
  double medianMicroseconds = 0, fastestMicroseconds = 0,
         slowestMicroseconds = 0; ///< of one launch
  unsigned replays = 0;
  unsigned launchesPerReplay = 0;
};

/// How many sets of operands of `bytes` each the graph clock wants: more than 4
/// times the L2 cache together, but no more than `limit`.
unsigned operandSetsFor(const DeviceInfo &device, uint64_t bytes,
                        unsigned limit);

/// Times launches of the same kernel, each on operands of its own.
Expected<Timing> timeLaunches(std::shared_ptr<const Device> device,
                              const std::vector<PreparedLaunch> &launches,
                              const TimerOptions &options);

} // namespace fp8::runtime

#endif // FP8_RUNTIME_TIMER_H
