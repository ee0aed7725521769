// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under load the clock falls within some ten milliseconds.

#include "Timing/Clock.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

/// The time is that of the middle of 21 replays of at least 1.5 ms and ten
/// launches, as benchmark/gpu/clock.py takes it.
void fp8::sim::setClock(KernelTime &time, const chip::Timing &timing,
                        double load) {
  constexpr double kReplaysBefore = 11, kReplayMs = 1.5, kLaunches = 12;
  const double highest = timing.gigahertz;
  const double excess = std::max(0.0, load - timing.powerShare);
  const double sustained = highest * (1 - timing.powerSlope * excess);
  time.gigahertz = highest;
  for (int round = 0; round < 3; ++round) {
    time.microseconds = time.launchUs + time.cycles / time.gigahertz / 1e3;
    double ms = kReplaysBefore *
                std::max(kReplayMs, kLaunches * time.microseconds / 1e3);
    time.gigahertz =
        sustained + (highest - sustained) * std::exp(-ms / timing.powerMs);
  }
}
