// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under load the clock falls within some ten milliseconds. Measurements begin
// cool where kernels are short, and warm where they last
// (benchmark/gpu/survey.py).

#include "Timing/Clock.h"

#include <algorithm>

using namespace fp8::sim;

void fp8::sim::setClock(KernelTime &time, const chip::Timing &t, double load) {
  const double sustained =
      t.gigahertz * (1 - t.powerSlope * std::max(0.0, load - t.powerShare));
  time.gigahertz = t.gigahertz;
  for (int round = 0; round < 3; ++round) {
    time.microseconds = time.launchUs + time.cycles / time.gigahertz / 1e3;
    const double warm =
        std::clamp((time.microseconds - t.coolUs) / t.warmingUs, 0.0, 1.0);
    time.gigahertz = t.gigahertz - warm * (t.gigahertz - sustained);
  }
}

fp8::chip::Timing fp8::sim::atClock(const fp8::chip::Timing &timing,
                                    double gigahertz) {
  const double cycle = timing.gigahertz / gigahertz;
  fp8::chip::Timing slower = timing;
  slower.dramBytes *= cycle;
  slower.dramBytesOfOne *= cycle;
  slower.dramLatencyCycles /= cycle;
  slower.issue[size_t(fp8::chip::IssueClass::GlobalLoad)].latency /= cycle;
  return slower;
}
