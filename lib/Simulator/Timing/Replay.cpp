// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engines, and the warps that feed them.

#include "Timing/Replay.h"

#include <algorithm>
#include <deque>

using namespace fp8::sim;

namespace {

/// Serves one after another.
struct Queue {
  double free = 0, busy = 0;
  /// What asks at `at` for `duration` cycles; when it ends.
  double take(double at, double duration) {
    free = std::max(free, at) + duration;
    busy += duration;
    return free;
  }
};

/// The engines of one CTA's SM.
struct Multiprocessor {
  std::vector<Queue> partitions;
  Queue tensor, copies, l2, dram, stores, remote;
};

struct Phase {
  uint32_t pending = 0; ///< arrivals that have not been given a time
  double time = 0;      ///< of the latest that have
  std::vector<uint32_t> waiters;
};

/// The products of a warpgroup, in order.
struct Products {
  struct One {
    uint32_t warps = 0;
    double issued = 0, done = 0;
  };
  std::vector<One> all;
  uint32_t started = 0;
};

struct WarpState {
  size_t step = 0;
  double clock = 0;
  bool blocked = false;
  bool waited = false;       ///< it was blocked by the event it is at
  std::vector<double> ready; ///< by register
  struct Store {
    double read, done;
  };
  std::vector<Store> stores;
  std::vector<bool> maps; ///< by buffer: its tensor map was used
};

constexpr uint32_t kWarpsOfGroup = 4;
/// Rows outside the tensor that a box may have without cost.
constexpr uint32_t kFewRows = 16;
/// Cycles that a warp may run ahead of the others.
constexpr double kSlice = 16;

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
  std::vector<double> missShare; ///< by buffer: of its loads, from memory
  std::vector<bool> missLatency; ///< by buffer: loads wait for memory
  double resident, active; ///< CTAs at a time, and of them those with work
  double l2Bytes, dramBytes;
  double end = 0;

  void shareMemory();
  bool runWarp(uint32_t index, double until);
  void execute(uint32_t warp, uint32_t inst);
  bool handle(uint32_t warp, const TraceEvent &event);
  void arrive(uint32_t phase, double at);
  double load(WarpState &warp, Multiprocessor &sm, const TraceEvent &event);
  void startProduct(uint32_t warp, const TraceEvent &event);
  bool waitForProducts(uint32_t warp, const TraceEvent &event);
  Products &groupOf(uint32_t warp) {
    return groups[trace.warps[warp].cta * 8 +
                  trace.warps[warp].id / kWarpsOfGroup];
  }
  KernelTime result() const;
};

Replayer::Replayer(const Trace &trace, const Costs &costs,
                   const fp8::chip::Timing &t, const TracedLaunch &launch)
    : trace(trace), costs(costs), t(t), launch(launch), sms(launch.clusterCtas),
      phases(trace.phases), groups(launch.clusterCtas * 8),
      warps(trace.warps.size()) {
  for (Multiprocessor &sm : sms)
    sm.partitions.resize(size_t(t.partitions));
  for (WarpState &warp : warps) {
    warp.ready.resize(costs.registers());
    warp.maps.resize(trace.buffers.size());
  }
  for (const TraceEvent &event : trace.events)
    if (event.kind == TraceEvent::Kind::Arrive ||
        event.kind == TraceEvent::Kind::Load ||
        event.kind == TraceEvent::Kind::Remote)
      ++phases[event.phase].pending;
  shareMemory();
}

/// The other CTAs do what those of the trace do, as long as there is work: the
/// bytes of the output tell how much.
void Replayer::shareMemory() {
  const double sms = double(launch.clusterCtas > 2 ? t.clusterMultiprocessors
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
  l2Bytes = std::min(t.l2BytesOfOne, t.l2Bytes / active);
  dramBytes = std::min(t.dramBytesOfOne, t.dramBytes / active);
  for (const Trace::Buffer &buffer : trace.buffers) {
    double loads = double(buffer.loaded) * clusters * share;
    double miss = loads ? std::min(1.0, double(buffer.bytes) / loads) : 0;
    missShare.push_back(miss);
    missLatency.push_back(miss * active >= 0.5);
  }
}

void Replayer::arrive(uint32_t number, double at) {
  Phase &phase = phases[number];
  phase.time = std::max(phase.time, at);
  if (--phase.pending)
    return;
  for (uint32_t waiter : phase.waiters)
    warps[waiter].blocked = false;
  phase.waiters.clear();
}

double Replayer::load(WarpState &warp, Multiprocessor &sm,
                      const TraceEvent &event) {
  double at = sm.copies.take(warp.clock, t.copyCycles);
  if (!warp.maps[event.buffer]) {
    warp.maps[event.buffer] = true;
    at += t.mapCycles;
  }
  double bytes = event.bytes;
  double fill =
      event.beyond < kFewRows ? 0 : event.beyond * t.fillCycles * active;
  double l2 = sm.l2.take(at, bytes / l2Bytes + fill) + t.l2LatencyCycles;
  double dram =
      sm.dram.take(at, event.inside * missShare[event.buffer] / dramBytes);
  return missLatency[event.buffer] ? std::max(l2, dram + t.dramLatencyCycles)
                                   : std::max(l2, dram);
}

void Replayer::startProduct(uint32_t index, const TraceEvent &event) {
  Products &group = groupOf(index);
  if (group.all.size() < event.count)
    group.all.resize(event.count);
  Products::One &one = group.all[event.count - 1];
  one.issued = std::max(one.issued, warps[index].clock);
  if (++one.warps < kWarpsOfGroup)
    return;
  // 64 rows of A, 32 bytes deep, and as much of each column of B.
  double columns = event.columns;
  double math = 64 * columns * 32 / t.multiplyAdds;
  double operands = (64.0 * event.depthBytes + 32 * columns) / t.operandBytes;
  Queue &tensor = sms[trace.warps[index].cta].tensor;
  one.done =
      tensor.take(one.issued, std::max(math, operands) + t.productCycles) +
      t.productLatencyCycles;
  group.started = event.count;
  for (uint32_t n = 0; n < warps.size(); ++n)
    if (&groupOf(n) == &group)
      warps[n].blocked = false;
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

/// False where the warp must wait for others.
bool Replayer::handle(uint32_t index, const TraceEvent &event) {
  WarpState &warp = warps[index];
  Multiprocessor &sm = sms[trace.warps[index].cta];
  switch (event.kind) {
  case TraceEvent::Kind::Arrive:
    arrive(event.phase,
           warp.clock + (event.isRemote ? t.remoteCycles : t.arriveCycles));
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
    break;
  }
  case TraceEvent::Kind::Load:
    arrive(event.phase, load(warp, sm, event));
    break;
  case TraceEvent::Kind::Remote:
    arrive(event.phase,
           sm.remote.take(warp.clock, event.bytes / t.remoteBytes) +
               t.remoteLatencyCycles);
    break;
  case TraceEvent::Kind::Store: {
    double read = sm.stores.take(warp.clock, event.bytes / t.storeBytes);
    sm.dram.take(read, event.bytes / dramBytes);
    warp.stores.push_back({read, read + t.storeLatencyCycles});
    break;
  }
  case TraceEvent::Kind::StoreWait:
    for (uint32_t n = 0; n < event.count && n < warp.stores.size(); ++n)
      warp.clock = std::max(warp.clock, event.readOnly ? warp.stores[n].read
                                                       : warp.stores[n].done);
    break;
  case TraceEvent::Kind::Mma:
    startProduct(index, event);
    break;
  case TraceEvent::Kind::MmaWait:
    return waitForProducts(index, event);
  }
  return true;
}

void Replayer::execute(uint32_t index, uint32_t number) {
  WarpState &warp = warps[index];
  const Costs::Inst &inst = costs[number];
  double at = warp.clock;
  costs.forReads(inst,
                 [&](uint32_t row) { at = std::max(at, warp.ready[row]); });
  if (inst.cost.slots) {
    const Trace::Warp &traced = trace.warps[index];
    Multiprocessor &sm = sms[traced.cta];
    Queue &slot = sm.partitions[traced.id % sm.partitions.size()];
    warp.clock = slot.take(at, inst.cost.slots);
    at = warp.clock - inst.cost.slots;
  }
  costs.forWrites(
      inst, [&](uint32_t row) { warp.ready[row] = at + inst.cost.latency; });
}

/// False where the warp has nothing to do before others have.
bool Replayer::runWarp(uint32_t index, double until) {
  WarpState &warp = warps[index];
  const std::vector<uint32_t> &steps = trace.warps[index].steps;
  while (warp.step < steps.size() && warp.clock <= until) {
    uint32_t step = steps[warp.step];
    if (!(step & Trace::kEvent))
      execute(index, step);
    else if (!handle(index, trace.events[step & ~Trace::kEvent]))
      return false;
    ++warp.step;
  }
  end = std::max(end, warp.clock);
  return true;
}

KernelTime Replayer::result() const {
  KernelTime time;
  double waves = std::max(
      1.0, double((launch.ctas + uint64_t(resident) - 1) / uint64_t(resident)));
  double last = end;
  for (const WarpState &warp : warps)
    for (const WarpState::Store &store : warp.stores)
      last = std::max(last, store.done);
  time.cycles = last * waves;
  const Multiprocessor &sm = sms.front();
  double slots = 0;
  for (const Queue &partition : sm.partitions)
    slots = std::max(slots, partition.busy);
  time.engines = {
      {"tensor", sm.tensor.busy / last}, {"issue", slots / last},
      {"l2", sm.l2.busy / last},         {"dram", sm.dram.busy / last},
      {"copy", sm.copies.busy / last},   {"store", sm.stores.busy / last}};
  double over = std::max(0.0, sm.tensor.busy / last - t.powerShare);
  time.gigahertz = t.gigahertz * (1 - t.powerSlope * over);
  time.launchUs = t.launchUs - (launch.programmatic ? t.earlyUs : 0) +
                  (launch.clusterCtas > 1 ? t.clusterUs : 0);
  time.microseconds = time.launchUs + time.cycles / time.gigahertz / 1e3;
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
  return Replayer(trace, costs, timing, launch).run();
}
