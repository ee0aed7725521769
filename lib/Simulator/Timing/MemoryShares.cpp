// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How CTAs share L2 and DRAM.

#include "Timing/MemoryShares.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace fp8::sim;

double fp8::sim::shareOfWork(const Trace &trace, const TracedLaunch &launch) {
  const double clusters = double(launch.ctas) / double(launch.clusterCtas);
  double has = 0, stores = 0;
  for (const Trace::Buffer &buffer : trace.buffers)
    if (buffer.stored) {
      has += double(buffer.bytes);
      stores += double(buffer.stored) * clusters;
    }
  return stores ? has / stores : 1;
}

void fp8::sim::evenLoads(std::deque<Trace> &traces) {
  std::map<uint64_t, double> most; // by address, in a pass
  for (const Trace &trace : traces)
    for (const Trace::Buffer &buffer : trace.buffers)
      most[buffer.address] =
          std::max(most[buffer.address], double(buffer.loaded) / trace.passes);
  for (Trace &trace : traces)
    for (Trace::Buffer &buffer : trace.buffers)
      if (buffer.loaded)
        buffer.loaded = uint64_t(most[buffer.address] * trace.passes);
}

MemoryShares::MemoryShares(const Trace &trace, const chip::Timing &t,
                           const TracedLaunch &launch)
    : trace(trace), t(t) {
  const double sms = double(std::max<int64_t>(
      t.clusters.countCtas(launch.clusterCtas, t.multiprocessors),
      launch.clusterCtas));
  resident = std::min(double(launch.ctas), sms);
  double clusters = double(launch.ctas) / double(launch.clusterCtas);
  const double share = std::min(1.0, shareOfWork(trace, launch));
  active = std::max(1.0, resident * share);
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
    if (launch.clusterCtas > 1 && trace.meets && missLatency.back())
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
         std::max(1 / t.l2BytesOfOne, getCopying(load) / sharers / t.l2Bytes);
}

double MemoryShares::dramByteCycles(double ctas) const {
  return 1 / t.dramBytesOfOne + ctas / t.dramBytes;
}

double MemoryShares::dramCycles(const TraceEvent &load) const {
  return load.inside * missShare[load.buffer] *
         dramByteCycles(getCopying(load));
}

bool MemoryShares::takesFill(const TraceEvent &load) const {
  return load.beyond > t.fillFree;
}

double MemoryShares::fillCycles(const TraceEvent &load, uint32_t filled) const {
  const double inStep = std::min(1.0, filled / t.fillCopies);
  const double sharers = active / std::pow(load.strips, t.fillStrips);
  const double tiles = std::max(1u, trace.buffers[load.buffer].rounds);
  return inStep * std::pow(load.beyond - t.fillFree, t.fillPower) *
         t.fillCycles * std::min(sharers, t.fillSharers) /
         std::pow(tiles, t.fillSpread);
}

double MemoryShares::storeCycles(const TraceEvent &store) const {
  return std::max(store.bytes /
                      std::min(t.storeBytesOfOne, t.storeBytes / active),
                  store.count * t.storeRowCycles * active);
}

double MemoryShares::storeDramCycles(const TraceEvent &store) const {
  return store.bytes * dramByteCycles(active);
}
