// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What work saves that is done before the preceding kernel has ended.

#include "Timing/Ahead.h"
#include "Timing/Waves.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

double fp8::sim::launchUs(const chip::Timing &t, bool isProgrammatic,
                          const Ahead &ahead, bool meets) {
  const double cluster = meets ? t.clusterUs : 0;
  if (!isProgrammatic)
    return t.launchUs + cluster;
  // No CTA waits for all others between two kernels.
  if (ahead.signals && ahead.multiplies)
    return t.ahead.launchUs;
  double saved = t.earlyUs;
  if (ahead.signals && !ahead.loads)
    saved += t.signalUs;
  else if (ahead.signals)
    saved += ahead.hasGroups ? t.constantOfTwoUs : t.constantUs;
  return t.launchUs - saved + cluster;
}

void fp8::sim::setLoad(AheadShares &shares, const chip::Timing &t,
                       const Trace &trace, const TracedLaunch &launch,
                       double resident) {
  const double ctas = double(launch.ctas), passes = meanPasses(launch);
  const double slots = std::ceil(ctas / resident) * double(t.multiprocessors);
  shares.idle = 1 - ctas * passes / (launch.passes * slots);
  shares.fits = 2 * launch.ctas <= uint64_t(t.multiprocessors);
  const double clusters = ctas / double(launch.clusterCtas);
  uint64_t most = 0;
  for (const Trace::Buffer &buffer : trace.buffers) {
    if (!buffer.loaded || buffer.bytes <= most)
      continue;
    most = buffer.bytes;
    const double loads =
        double(buffer.loaded) / trace.passes * passes * clusters;
    shares.again = std::max(1 - double(most) / loads, 0.0);
  }
}

double fp8::sim::partAhead(const chip::Timing &t, const AheadShares &shares) {
  const double room = std::max(1 - shares.dram, 0.0),
               inStep = std::max(1 - shares.idle / t.ahead.enoughIdle, 0.0);
  return t.ahead.part +
         (t.ahead.ofIdle * shares.idle + (shares.fits ? t.ahead.ofFit : 0)) *
             room -
         t.ahead.ofAgain * shares.again * inStep -
         t.ahead.ofShared * shares.shared - t.ahead.ofTensor * shares.tensor;
}

/// What the bytes take in memory.
static double leastUs(const fp8::chip::Timing &t, const Trace &trace) {
  double bytes = 0;
  for (const Trace::Buffer &buffer : trace.buffers)
    if (buffer.loaded || buffer.stored)
      bytes += double(buffer.bytes);
  return bytes / t.ahead.dramBytesPerNs / 1e3;
}

void fp8::sim::takeAhead(KernelTime &time, const chip::Timing &t,
                         const Trace &trace, const AheadShares &shares) {
  const double us = time.microseconds;
  time.aheadUs = std::min(partAhead(t, shares) * (us - time.launchUs),
                          std::max(us - leastUs(t, trace), 0.0));
  time.microseconds -= time.aheadUs;
}
