// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under load the clock falls within some ten milliseconds. The time is that of
// the middle of 21 replays of at least 1.5 ms and ten launches, as
// benchmark/gpu/clock.py takes it.

#include "Timing/Clock.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

void fp8::sim::setClock(KernelTime &time, const chip::Timing &t, double load) {
  constexpr double kReplaysBefore = 11, kReplayMs = 1.5, kLaunches = 12;
  const double sustained =
      t.gigahertz * (1 - t.powerSlope * std::max(0.0, load - t.powerShare));
  time.gigahertz = t.gigahertz;
  for (int round = 0; round < 3; ++round) {
    time.microseconds = time.launchUs + time.cycles / time.gigahertz / 1e3;
    double ms = kReplaysBefore *
                std::max(kReplayMs, kLaunches * time.microseconds / 1e3);
    time.gigahertz =
        sustained + (t.gigahertz - sustained) * std::exp(-ms / t.powerMs);
  }
}
