// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engines, and the warps that feed them.

#include "Timing/Clock.h"
#include "Timing/Replayer.h"
#include "Timing/Waves.h"

#include <algorithm>
#include <cmath>

using namespace fp8::sim;

namespace {
constexpr double kLanesBytes = 32 * sizeof(uint32_t); ///< of a register
/// Cycles that a warp may run ahead of the others.
constexpr double kSlice = 4;
} // namespace

Replayer::Replayer(const Trace &trace, const Costs &costs,
                   const fp8::chip::Timing &t, const TracedLaunch &launch)
    : trace(trace), costs(costs), t(t), launch(launch), sms(launch.clusterCtas),
      phases(trace.phases), groups(launch.clusterCtas * kMostGroups),
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

/// Loads of `registers` registers come between the operands of products, and
/// wait for one another. When they begin.
double Replayer::loadShared(WarpState &warp, Multiprocessor &sm, double at,
                            uint32_t registers) {
  sm.shared.take(at, registers * kLanesBytes / t.sharedBytes);
  const double cycles = registers * t.loadCycles;
  const double begin = sm.loads.take(at, cycles) - cycles;
  warp.loaded = std::max(warp.loaded,
                         begin + t.loadedCycles + registers * t.scaledCycles);
  return begin;
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
    if (inst.loadsShared)
      at = loadShared(warp, sm, at, inst.end - inst.writes);
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
  AheadShares shares{sm.shared.busy / last, sm.dram.busy / last,
                     sm.tensor.busy / last};
  setLoad(shares, t, trace, launch, memory.getResident());
  const double power =
      sm.tensor.busy + t.l2Power * sm.l2.busy + t.dramPower * sm.dram.busy;
  setClock(time, t, power / last * (1 - t.idlePower * shares.idle));
  if (launch.programmatic && work.signals && work.multiplies)
    takeAhead(time, t, trace, shares);
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
