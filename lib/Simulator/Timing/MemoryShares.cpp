// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How CTAs share L2 and DRAM.

#include "Timing/MemoryShares.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

/// Rows outside the tensor that a box may have without cost.
static constexpr uint32_t kFewRows = 13;

MemoryShares::MemoryShares(const Trace &trace, const chip::Timing &t,
                           const TracedLaunch &launch)
    : trace(trace), t(t) {
  const double sms =
      double(launch.clusterCtas > 4   ? t.largeClusterMultiprocessors
             : launch.clusterCtas > 2 ? t.clusterMultiprocessors
                                      : t.multiprocessors);
  resident = std::min(double(launch.ctas), sms);
  double clusters = double(launch.ctas) / double(launch.clusterCtas);
  double has = 0, stores = 0;
  for (const Trace::Buffer &buffer : trace.buffers)
    if (buffer.stored) {
      has += double(buffer.bytes);
      stores += double(buffer.stored) * clusters;
    }
  double share = stores ? std::min(1.0, has / stores) : 1;
  active = std::max(1.0, resident * share);
  // CTAs run where SMs were free, and so two on the SMs of one TPC before every
  // TPC has one. With half of the SMs, or all, each has as many as another.
  const double busy = active / sms,
               uneven = launch.programmatic && busy > 0.5 ? 2 * (1 - busy) : 0;
  even = 1 / (1 + t.earlyUneven * uneven * uneven);
  copying = copyingLast = active;
  // The first CTA has as many tiles as any. Those with one less leave memory to
  // the others.
  const double passes = trace.passes,
               last = active * passes - resident * (passes - 1);
  if (last >= 1) {
    copying = resident;
    copyingLast = last + t.idleShare * (resident - last);
  }
  for (const Trace::Buffer &buffer : trace.buffers) {
    double loads = double(buffer.loaded) * clusters * share;
    double miss = loads ? std::min(1.0, double(buffer.bytes) / loads) : 0;
    missLatency.push_back(miss * active >= 0.5);
    // Clusters that load the same bytes do not run in step.
    if (launch.clusterCtas > 1 && missLatency.back())
      miss = std::min(1.0, miss * (1 + t.clusterMisses));
    missShare.push_back(miss);
  }
}

double MemoryShares::getCopying(const TraceEvent &load) const {
  return load.pass + 1 < trace.passes ? copying : copyingLast;
}

double MemoryShares::l2Cycles(const TraceEvent &load) const {
  // L2 answers several SMs that ask for the same at a time by one access.
  const double miss = missShare[load.buffer];
  double sharers = miss ? std::min(1 / miss, t.l2Sharers) : 1;
  return load.bytes *
         std::max(1 / t.l2BytesOfOne, getCopying(load) / sharers / t.l2Bytes) /
         even;
}

double MemoryShares::dramByteCycles(double ctas) const {
  return std::max(1 / t.dramBytesOfOne, ctas / t.dramBytes) / even;
}

double MemoryShares::dramCycles(const TraceEvent &load) const {
  return load.inside * missShare[load.buffer] *
         dramByteCycles(getCopying(load));
}

bool MemoryShares::takesFill(const TraceEvent &load) {
  return load.beyond > kFewRows;
}

double MemoryShares::fillCycles(const TraceEvent &load, uint32_t filled) const {
  const double inStep = std::min(1.0, filled / t.fillCopies);
  return inStep * std::pow(load.beyond - kFewRows, t.fillPower) * t.fillCycles *
         std::min(active, t.fillSharers) /
         std::max(1u, trace.buffers[load.buffer].rounds);
}

double MemoryShares::storeCycles(const TraceEvent &store) const {
  return std::max(store.bytes /
                      std::min(t.storeBytesOfOne, t.storeBytes / active),
                  store.count * t.storeRowCycles * active);
}

double MemoryShares::storeDramCycles(const TraceEvent &store) const {
  return store.bytes * dramByteCycles(active);
}
