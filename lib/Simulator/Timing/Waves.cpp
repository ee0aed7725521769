// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many passes the CTAs of a launch make, and when the last of them ends.

#include "Timing/Waves.h"
#include "Timing/MemoryShares.h"

#include <algorithm>

using namespace fp8::sim;

void fp8::sim::countPasses(TracedLaunch &launch,
                           const std::deque<Trace> &traces) {
  for (const Trace &trace : traces)
    launch.passes = std::max(launch.passes, trace.passes);
  double mean = launch.passes;
  for (const Trace &trace : traces)
    mean = std::min(mean, shareOfWork(trace, launch) * trace.passes);
  const double ctas = double(launch.ctas);
  launch.ctasOfMost =
      std::clamp(ctas * (mean - (launch.passes - 1)), 0.0, ctas);
  // Tiles that reach beyond the output store less, so the bytes tell too few
  // passes. The first CTAs make most, and the second cluster is one of them or
  // not.
  if (traces.size() > 1)
    launch.ctasOfMost =
        traces[1].passes == launch.passes
            ? std::max(launch.ctasOfMost, kSecondCluster * ctas)
            : std::min(launch.ctasOfMost, kSecondCluster * ctas);
}

double fp8::sim::meanPasses(const TracedLaunch &launch) {
  // Where CTAs make one pass, those that store less have one, too.
  return launch.passes == 1
             ? 1
             : launch.passes - 1 + launch.ctasOfMost / double(launch.ctas);
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
  const double most = launch.passes,
               free = double(resident) - launch.ctasOfMost;
  const double before = double(others) <= free ? most - 1 : most;
  const double behind = launch.ctasOfMost <= double(resident) ? most - 1 : most;
  const double pass = first / passes, passOfRest = rest / passes;
  return std::max(first, before * pass + behind * passOfRest);
}
