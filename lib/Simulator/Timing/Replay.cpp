// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engines, and the warps that feed them.

#include "Timing/Replay.h"
#include "Timing/Ahead.h"
#include "Timing/Clock.h"
#include "Timing/Engines.h"
#include "Timing/MemoryShares.h"
#include "Timing/WarpState.h"
#include "Timing/Waves.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

namespace {
constexpr uint32_t kWarpsOfGroup = 4;
constexpr double kLanesBytes = 32 * sizeof(uint32_t); ///< of a register
/// Cycles that a warp may run ahead of the others.
constexpr double kSlice = 4;

class Replayer {
public:
  Replayer(const Trace &trace, const Costs &costs, const fp8::chip::Timing &t,
           const TracedLaunch &launch);
  std::optional<KernelTime> run();

private:
  const Trace &trace;
  const Costs &costs;
  const fp8::chip::Timing &t;
  const TracedLaunch &launch;
  std::vector<Multiprocessor> sms;
  std::vector<Phase> phases;
  std::vector<Products> groups; ///< by CTA and warpgroup
  std::vector<WarpState> warps;
  const MemoryShares memory;
  double end = 0;
  /// When the dependent kernel may start, and the first product.
  double nextStarts = 1e300, firstProduct = 1e300;
  Ahead ahead;

  double loadLatency(const TraceEvent &event) const {
    return event.count
               ? t.issue[size_t(fp8::chip::IssueClass::GlobalLoad)].latency
               : t.l1LatencyCycles;
  }
  double arrivalCycles(const TraceEvent &event) const {
    return event.isRemote ? t.remoteCycles : t.arriveCycles;
  }
  void runWarp(uint32_t index, double until);
  bool execute(uint32_t warp, uint32_t inst, double until);
  bool handle(uint32_t warp, const TraceEvent &event);
  void arrive(const WarpState &warp, uint32_t phase, double at);
  double load(WarpState &warp, Multiprocessor &sm, const TraceEvent &event);
  void startProduct(uint32_t warp, const TraceEvent &event);
  double productCycles(const TraceEvent &event) const;
  double multiply(Multiprocessor &sm, double at, const TraceEvent &event);
  void startTensorWork(uint32_t warp, const TraceEvent &event);
  void transfer(uint32_t warp, const TraceEvent &event);
  bool waitForProducts(uint32_t warp, const TraceEvent &event);
  Products &groupOf(uint32_t warp) {
    return groups[trace.warps[warp].cta * 8 +
                  trace.warps[warp].id / kWarpsOfGroup];
  }
  KernelTime result() const;
  double overlap(double all, double memory) const;
  double lastWaveCycles(uint64_t ctas) const;
  Ahead getAhead() const;
  void noteProduct(const WarpState &warp);
};

Replayer::Replayer(const Trace &trace, const Costs &costs,
                   const fp8::chip::Timing &t, const TracedLaunch &launch)
    : trace(trace), costs(costs), t(t), launch(launch), sms(launch.clusterCtas),
      phases(trace.phases), groups(launch.clusterCtas * 8),
      warps(trace.warps.size()), memory(trace, t, launch) {
  for (Multiprocessor &sm : sms) {
    sm.partitions.resize(size_t(t.partitions));
    sm.transfers.resize(size_t(t.partitions));
  }
  for (WarpState &warp : warps) {
    warp.ready.resize(costs.registers());
    warp.maps.resize(trace.buffers.size());
  }
  for (const TraceEvent &event : trace.events)
    if (event.kind == TraceEvent::Kind::Arrive ||
        event.kind == TraceEvent::Kind::Load ||
        event.kind == TraceEvent::Kind::Remote ||
        (event.kind == TraceEvent::Kind::Commit &&
         event.phase != TraceEvent::kNoPhase))
      ++phases[event.phase].pending;
}

void Replayer::arrive(const WarpState &warp, uint32_t number, double at) {
  Phase &phase = phases[number];
  phase.time = std::max(phase.time, at);
  phase.isBehindGridWait |= warp.isBehindGridWait;
  if (--phase.pending)
    return;
  for (uint32_t waiter : phase.waiters)
    warps[waiter].blocked = false;
  phase.waiters.clear();
}

double Replayer::load(WarpState &warp, Multiprocessor &sm,
                      const TraceEvent &event) {
  double at = sm.copies.take(warp.clock, event.isPart ? 0 : t.copyCycles);
  if (!warp.maps[event.buffer]) {
    warp.maps[event.buffer] = true;
    at += t.mapCycles;
  }
  if (event.pass > warp.pass) {
    warp.pass = event.pass;
    sm.dram.take(at, t.passCycles);
    sm.l2.take(at, t.passCycles);
  }
  const double fill =
      memory.takesFill(event) ? memory.fillCycles(event, warp.filled++) : 0;
  const double l2 =
      sm.l2.take(at, memory.l2Cycles(event) + fill) + t.l2LatencyCycles;
  // What is asked of memory waits behind the rows that all ask for.
  const double dram = sm.dram.take(at, memory.dramCycles(event) + fill);
  return memory.waitsForDram(event.buffer)
             ? std::max(l2, dram + t.dramLatencyCycles)
             : std::max(l2, dram);
}

void Replayer::noteProduct(const WarpState &warp) {
  if (warp.clock >= firstProduct)
    return;
  firstProduct = warp.clock;
  ahead.multiplies = !warp.isBehindGridWait;
}

void Replayer::startProduct(uint32_t index, const TraceEvent &event) {
  noteProduct(warps[index]);
  Products &group = groupOf(index);
  if (group.all.size() < event.count)
    group.all.resize(event.count);
  Products::One &one = group.all[event.count - 1];
  one.issued = std::max(one.issued, warps[index].clock);
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

/// False where the warp must wait for others.
bool Replayer::handle(uint32_t index, const TraceEvent &event) {
  WarpState &warp = warps[index];
  Multiprocessor &sm = sms[trace.warps[index].cta];
  switch (event.kind) {
  case TraceEvent::Kind::Arrive:
    arrive(warp, event.phase,
           std::max(warp.clock, warp.waitedFor) + arrivalCycles(event));
    break;
  case TraceEvent::Kind::Wait: {
    Phase &phase = phases[event.phase];
    if (phase.pending) {
      phase.waiters.push_back(index);
      warp.blocked = true;
      return false;
    }
    if (phase.time > warp.clock)
      warp.clock = phase.time + t.wakeCycles;
    warp.isBehindGridWait |= phase.isBehindGridWait;
    break;
  }
  case TraceEvent::Kind::Load:
    ahead.loads |= !warp.isBehindGridWait;
    arrive(warp, event.phase, load(warp, sm, event));
    break;
  case TraceEvent::Kind::Remote:
    arrive(warp, event.phase,
           sm.remote.take(warp.clock, event.bytes / t.remoteBytes) +
               t.remoteLatencyCycles);
    break;
  case TraceEvent::Kind::Store: {
    double read = sm.stores.take(warp.clock, memory.storeCycles(event));
    sm.dram.take(read, memory.storeDramCycles(event));
    warp.stores.push_back({read, read + t.storeLatencyCycles});
    break;
  }
  case TraceEvent::Kind::StoreWait:
    for (uint32_t n = 0; n < event.count && n < warp.stores.size(); ++n)
      warp.clock = std::max(warp.clock, event.readOnly ? warp.stores[n].read
                                                       : warp.stores[n].done);
    break;
  case TraceEvent::Kind::StartNext:
    nextStarts = std::min(nextStarts, warp.clock);
    break;
  case TraceEvent::Kind::GridWait:
    warp.isBehindGridWait = true;
    break;
  case TraceEvent::Kind::Mma:
    startProduct(index, event);
    break;
  case TraceEvent::Kind::MmaWait:
    return waitForProducts(index, event);
  case TraceEvent::Kind::TensorMma:
  case TraceEvent::Kind::TensorCopy:
    startTensorWork(index, event);
    break;
  case TraceEvent::Kind::AsyncCopy:
    warp.started = std::max(warp.started, warp.clock + loadLatency(event));
    break;
  case TraceEvent::Kind::GlobalLoad:
    warp.loadLatency = loadLatency(event);
    break;
  case TraceEvent::Kind::Commit:
    if (event.phase != TraceEvent::kNoPhase)
      arrive(warp, event.phase,
             std::max(warp.clock, warp.started) + arrivalCycles(event));
    break;
  case TraceEvent::Kind::Transfer:
    transfer(index, event);
    break;
  case TraceEvent::Kind::TransferWait:
    // ptxas lets each use wait for its own load; others learn of all of them.
    warp.waitedFor = warp.transferred;
    break;
  case TraceEvent::Kind::Allocate:
    warp.clock += t.tensorMemory.allocateCycles;
    break;
  }
  return true;
}

/// False where the registers that it reads are not there by then: other warps
/// of the partition issue first.
bool Replayer::execute(uint32_t index, uint32_t number, double until) {
  WarpState &warp = warps[index];
  const Costs::Inst &inst = costs[number];
  double at = warp.clock;
  costs.forReads(inst,
                 [&](uint32_t row) { at = std::max(at, warp.ready[row]); });
  if (inst.cost.slots && at > until) {
    warp.clock = at;
    return false;
  }
  if (inst.cost.slots) {
    const Trace::Warp &traced = trace.warps[index];
    Multiprocessor &sm = sms[traced.cta];
    Queue &slot = sm.partitions[traced.id % sm.partitions.size()];
    warp.clock = slot.take(at, inst.cost.slots);
    at = warp.clock - inst.cost.slots;
    if (inst.spills) {
      at = sm.shared.take(at, inst.spills * t.spillCycles);
      warp.clock = std::max(warp.clock, at);
    }
    if (inst.loadsShared) {
      const double cycles =
          (inst.end - inst.writes) * kLanesBytes / t.sharedBytes;
      at = sm.shared.take(at, cycles) - cycles;
    }
  }
  const double latency = inst.loadsGlobal && warp.loadLatency
                             ? warp.loadLatency
                             : inst.cost.latency;
  const double ready = inst.loadsTensor ? warp.transferred : at + latency;
  costs.forWrites(inst, [&](uint32_t row) { warp.ready[row] = ready; });
  return true;
}

void Replayer::runWarp(uint32_t index, double until) {
  WarpState &warp = warps[index];
  const std::vector<uint32_t> &steps = trace.warps[index].steps;
  while (warp.step < steps.size() && warp.clock <= until) {
    uint32_t step = steps[warp.step];
    const bool done = step & Trace::kEvent
                          ? handle(index, trace.events[step & ~Trace::kEvent])
                          : execute(index, step, until);
    if (!done)
      return;
    ++warp.step;
  }
  end = std::max(end, warp.clock);
}

/// What memory's work and all else take together.
double Replayer::overlap(double all, double memory) const {
  const auto [less, more] = std::minmax({all, memory});
  return more * std::pow(1 + std::pow(less / more, t.dramNorm), 1 / t.dramNorm);
}

/// CTAs that find no SM at first have memory for themselves.
double Replayer::lastWaveCycles(uint64_t ctas) const {
  TracedLaunch rest = launch;
  rest.ctas = ctas;
  return Replayer(trace, costs, t, rest).run()->cycles;
}

Ahead Replayer::getAhead() const {
  auto multiplies = [](const Products &group) { return !group.all.empty(); };
  const auto all = std::count_if(groups.begin(), groups.end(), multiplies);
  const bool signals = nextStarts < firstProduct;
  const bool hasGroups = uint64_t(all) > launch.clusterCtas;
  return {signals, ahead.loads, ahead.multiplies, hasGroups};
}

KernelTime Replayer::result() const {
  KernelTime time;
  const auto resident = uint64_t(memory.getResident());
  double last = end;
  for (const WarpState &warp : warps)
    for (const WarpState::Store &store : warp.stores)
      last = std::max(last, store.done);
  time.cycles = overlap(last, sms.front().dram.busy);
  if (launch.ctas > resident) {
    const uint64_t rest = launch.ctas % resident;
    time.cycles = wavesCycles(launch, resident, trace.passes, time.cycles,
                              rest ? lastWaveCycles(rest) : 0);
  }
  const Multiprocessor &sm = sms.front();
  double slots = 0;
  for (const Queue &partition : sm.partitions)
    slots = std::max(slots, partition.busy);
  time.engines = {
      {"tensor", sm.tensor.busy / last}, {"issue", slots / last},
      {"l2", sm.l2.busy / last},         {"dram", sm.dram.busy / last},
      {"copy", sm.copies.busy / last},   {"store", sm.stores.busy / last},
      {"shared", sm.shared.busy / last}};
  if (t.tensorMemory.transferBytes)
    time.engines.push_back({"transfer", sm.transfers.front().busy / last});
  const Ahead work = getAhead();
  time.launchUs = launchUs(t, launch.programmatic, work,
                           launch.clusterCtas > 1 && trace.meets);
  const double power =
      sm.tensor.busy + t.l2Power * sm.l2.busy + t.dramPower * sm.dram.busy;
  setClock(time, t, power / last);
  if (launch.programmatic && work.signals && work.multiplies)
    takeAhead(time, t, trace, launch, memory.getResident(),
              {0, 0, sm.shared.busy / last, sm.dram.busy / last});
  return time;
}

std::optional<KernelTime> Replayer::run() {
  while (true) {
    uint32_t next = ~0u;
    double other = 1e300;
    bool alive = false;
    for (uint32_t n = 0; n < warps.size(); ++n) {
      if (warps[n].step >= trace.warps[n].steps.size())
        continue;
      alive = true;
      if (warps[n].blocked)
        continue;
      if (next == ~0u || warps[n].clock < warps[next].clock) {
        if (next != ~0u)
          other = std::min(other, warps[next].clock);
        next = n;
      } else {
        other = std::min(other, warps[n].clock);
      }
    }
    if (!alive)
      return result();
    if (next == ~0u)
      return std::nullopt;
    runWarp(next, other + kSlice);
  }
}

} // namespace

std::optional<KernelTime> fp8::sim::replay(const Trace &trace,
                                           const Costs &costs,
                                           const chip::Timing &timing,
                                           const TracedLaunch &launch) {
  std::optional<KernelTime> time = Replayer(trace, costs, timing, launch).run();
  if (!time || time->gigahertz == timing.gigahertz)
    return time;
  // Memory does not slow down with the SMs.
  const fp8::chip::Timing slower = atClock(timing, time->gigahertz);
  return Replayer(trace, costs, slower, launch).run();
}
