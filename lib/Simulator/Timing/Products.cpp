// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products, of warpgroups and of one thread, and what waits for them.

#include "Timing/Replayer.h"

#include <algorithm>

using namespace fp8::sim;

void Replayer::noteProduct(const WarpState &warp) {
  if (warp.clock >= firstProduct)
    return;
  firstProduct = warp.clock;
  ahead.multiplies = !warp.isBehindGridWait;
}

void Replayer::startProduct(uint32_t index, const TraceEvent &event) {
  WarpState &warp = warps[index];
  noteProduct(warp);
  // ptxas multiplies what was loaded behind the first product.
  if (event.count > warp.ended + 1)
    warp.clock = std::max(warp.clock, warp.loaded);
  Products &group = groupOf(index);
  if (group.all.size() < event.count)
    group.all.resize(event.count);
  Products::One &one = group.all[event.count - 1];
  one.issued = std::max(one.issued, warp.clock);
  if (++one.warps < kWarpsOfGroup)
    return;
  one.done = multiply(sms[trace.warps[index].cta], one.issued, event) +
             t.productLatencyCycles;
  group.started = event.count;
  for (uint32_t n = 0; n < warps.size(); ++n)
    if (&groupOf(n) == &group)
      warps[n].blocked = false;
}

/// When a product ends that may start at `at`. Its operands are read while the
/// product in front is made.
double Replayer::multiply(Multiprocessor &sm, double at,
                          const TraceEvent &event) {
  const double cycles = productCycles(event);
  const double read = sm.shared.take(std::max(at, sm.tensor.free - cycles),
                                     event.bytes / t.sharedBytes);
  return sm.tensor.take(std::max(at, read - cycles), cycles);
}

/// The math, or reading the operands if that takes longer.
double Replayer::productCycles(const TraceEvent &event) const {
  double rows = event.pair
                    ? event.rows
                    : std::max<int64_t>(event.rows, t.tensorMemory.leastRows);
  double operands = event.bytes / t.sharedBytes + t.productCycles +
                    (event.pair ? t.tensorMemory.pairCycles : 0);
  return std::max(rows * event.columns * 32 / t.multiplyAdds + t.productCycles,
                  operands);
}

/// A product or a copy into tensor memory. A product waits for the copies in
/// front of it.
void Replayer::startTensorWork(uint32_t index, const TraceEvent &event) {
  WarpState &warp = warps[index];
  const uint32_t cta = trace.warps[index].cta;
  // Of a pair the two that differ in the last bit of their rank.
  const uint32_t first = event.pair ? cta & ~1u : cta;
  const uint32_t last = event.pair ? cta | 1u : cta;
  const bool multiplies = event.kind == TraceEvent::Kind::TensorMma;
  if (multiplies)
    noteProduct(warp);
  double at = warp.clock;
  for (uint32_t n = first; multiplies && n <= last; ++n)
    at = std::max({at, sms[n].tensor.free, sms[n].tensorCopies.free});
  double done = 0;
  for (uint32_t n = first; n <= last; ++n)
    done = std::max(
        done, multiplies
                  ? multiply(sms[n], at, event) + t.productLatencyCycles
                  : sms[n].tensorCopies.take(at, t.tensorMemory.copyCycles));
  if (event.pair)
    done += t.tensorMemory.pairLatencyCycles;
  warp.started = std::max(warp.started, done);
}

bool Replayer::waitForProducts(uint32_t index, const TraceEvent &event) {
  Products &group = groupOf(index);
  WarpState &warp = warps[index];
  if (group.started < event.count) {
    warp.blocked = true;
    return false;
  }
  warp.ended = std::max(warp.ended, event.count);
  if (event.count)
    warp.clock = std::max(warp.clock, group.all[event.count - 1].done);
  return true;
}

void Replayer::transfer(uint32_t index, const TraceEvent &event) {
  WarpState &warp = warps[index];
  std::vector<Queue> &transfers = sms[trace.warps[index].cta].transfers;
  warp.transferred =
      transfers[trace.warps[index].id % transfers.size()].take(
          warp.clock, event.bytes / t.tensorMemory.transferBytes) +
      t.tensorMemory.transferLatencyCycles;
}
