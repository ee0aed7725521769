// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many passes the CTAs of a launch make, and when the last of them ends.

#include "Timing/Waves.h"

#include <algorithm>

using namespace fp8::sim;

/// Passes of a CTA, if all did what those of the trace do for as long as there
/// is something to store.
static double meanPasses(const TracedLaunch &launch, const Trace &trace) {
  const double clusters = double(launch.ctas) / double(launch.clusterCtas);
  double has = 0, stores = 0;
  for (const Trace::Buffer &buffer : trace.buffers)
    if (buffer.stored) {
      has += double(buffer.bytes);
      stores += double(buffer.stored) * clusters;
    }
  return stores ? has / stores * trace.passes : trace.passes;
}

void fp8::sim::countPasses(TracedLaunch &launch,
                           const std::deque<Trace> &traces) {
  constexpr double kSecond = 0.4; // of the order of clusters: Grid.cpp
  for (const Trace &trace : traces)
    launch.passes = std::max(launch.passes, trace.passes);
  double mean = launch.passes;
  for (const Trace &trace : traces)
    mean = std::min(mean, meanPasses(launch, trace));
  const double ctas = double(launch.ctas);
  launch.whole = std::clamp(ctas * (mean - (launch.passes - 1)), 0.0, ctas);
  // Tiles that reach beyond the output store less, but take as long.
  if (traces.size() > 1)
    launch.whole = traces[1].passes == launch.passes
                       ? std::max(launch.whole, kSecond * ctas)
                       : std::min(launch.whole, kSecond * ctas);
}

double fp8::sim::wavesCycles(const TracedLaunch &launch, uint64_t resident,
                             uint32_t passes, double first, double rest) {
  const uint64_t waves = launch.ctas / resident,
                 others = launch.ctas % resident;
  if (!others)
    return first * double(waves);
  if (waves > 1 || launch.passes < 2)
    return first * double(waves) + rest;
  // The first CTAs make most passes, and those that make one fewer end first.
  const double most = launch.passes, free = double(resident) - launch.whole;
  const double before = double(others) <= free ? most - 1 : most;
  const double behind = launch.whole <= double(resident) ? most - 1 : most;
  const double pass = first / passes, passOfRest = rest / passes;
  return std::max(first, before * pass + behind * passOfRest);
}
