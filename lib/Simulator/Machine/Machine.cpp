// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scheduling of a cluster, completion of asynchronous work, errors. PTX
// promises no more than that the CTAs of one cluster run together, so a kernel
// that needs more is not guaranteed to finish.

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

namespace {
/// Rounds of "all waits time out" without any effect after which the state is
/// called a deadlock.
constexpr unsigned kStuckRounds = 64;
/// Virtual nanoseconds or cycles that such a round takes.
constexpr uint64_t kTimeJump = 1 << 24;
/// Turns in which a warp's rank changes once, on average.
constexpr unsigned kRankChange = 256;
/// Turns of a watch for polls in which all waits time out once, on average.
constexpr unsigned kTimeUp = 32;
} // namespace

Machine::Machine(Grid &grid, ClusterIndex first, uint32_t ordinal)
    : ClusterContext(grid.program, grid.config, grid.options, grid.report,
                     ordinal),
      parameters(grid.parameters), barrierLog(report.barriers, program),
      accesses(ordinal, warpsInCta, ctasInCluster), grid(grid),
      device(grid.device),
      random(options.scheduleSeed * 2 + 1 + (uint64_t(ordinal) << 32)) {
  makeCtas(first);
  if (options.timing)
    timing = std::make_unique<TimingHooks>(*this, grid.traces.emplace_back());
  if (random.below(2))
    for (size_t i = 0; i < warps.size(); ++i)
      ranks.push_back(random.next());
}

void Machine::makeCtas(ClusterIndex first) {
  const auto &cluster = config.cluster;
  uint32_t threads = config.block[0] * config.block[1] * config.block[2];
  uint32_t sharedBytes =
      uint32_t(program.staticSharedEnd + config.dynamicSharedBytes);
  nextAgent = kRoles * warpsInCluster;
  for (uint32_t rank = 0; rank < ctasInCluster; ++rank) {
    std::array<uint32_t, 3> inCluster{rank % cluster[0],
                                      rank / cluster[0] % cluster[1],
                                      rank / cluster[0] / cluster[1]};
    std::array<uint32_t, 3> index{first[0] + inCluster[0],
                                  first[1] + inCluster[1],
                                  first[2] + inCluster[2]};
    ctas.push_back(
        std::make_unique<Cta>(*this, rank, index, inCluster, sharedBytes));
    for (uint32_t w = 0; w < warpsInCta; ++w) {
      uint32_t lanes =
          threads - w * 32 >= 32 ? ~0u : (1u << (threads - w * 32)) - 1;
      ctas.back()->warps.push_back(std::make_unique<Warp>(
          *ctas.back(), w, rank * warpsInCta + w, lanes));
      warps.push_back(ctas.back()->warps.back().get());
    }
  }
}

void Machine::reportStepLimit() {
  SimulationError &e =
      error(ErrorKind::LimitExceeded,
            "the launch exceeds the step limit of " +
                std::to_string(options.stepLimit) + " warp instructions",
            nullptr, nullptr, -1, true);
  describeWaiters(e);
}

void Machine::run(unsigned turns, bool alone) {
  isAlone = alone;
  while (!stopped && turns) {
    while (auto op = async.takeDue(now))
      if (!completeOrHold(std::move(op)))
        return;
    if (stopped)
      return;
    runnable.clear();
    bool alive = false;
    for (Warp *warp : warps) {
      alive |= !warp->finished();
      if (warp->runnable())
        runnable.push_back(warp);
    }
    if (!alive) {
      done = checkClusterEnd();
      return;
    }
    if (runnable.empty()) {
      if (unstick())
        continue;
      stuck = !wantsToBeAlone();
      return;
    }
    if (reported.statistics.warpInstructions +
            report.statistics.warpInstructions >
        options.stepLimit)
      return reportStepLimit();
    uint64_t r = random.next();
    Warp *warp = choose(r >> 32);
    if (watch.isOn()) {
      watch.look(*warp);
      // Those that wait for a time meet what follows when it is up.
      if (oneIn(kTimeUp))
        for (Warp *waiter : warps)
          waiter->timeOut();
    }
    unsigned quantum =
        r & 3 ? 1 + unsigned(r >> 8 & 63) : 1 + unsigned(r >> 8 & 1023);
    // In a trace, lanes ahead of others seldom go first.
    const unsigned anyOf = timing ? 1023 : 15;
    warp->run(quantum, (r >> 24 & anyOf) != 0, r >> 28);
    if (held.warp)
      return;
    --turns;
  }
}

void Machine::runAlone() {
  isAlone = true;
  if (std::unique_ptr<AsyncOp> op = std::move(held.op))
    complete(std::move(op));
  if (auto turn = std::exchange(held.warp, std::nullopt); turn && !stopped)
    turn->first->resume(turn->second);
  isAlone = false;
}

void Machine::meetOthers() {
  if (grid.concurrent && !isAlone)
    grid.abandon();
  else
    grid.memory.take(accesses);
}

// Ranks that seldom change let one warp run ahead of another as far as the
// kernel's waits allow, which equal chances never do (probabilistic concurrency
// testing). Now and then any warp may go, since others may poll its writes.
Warp *Machine::choose(uint64_t r) {
  size_t any = r % runnable.size();
  if (ranks.empty() || random.below(32) == 0)
    return runnable[any];
  if (random.below(kRankChange) == 0)
    ranks[runnable[any]->globalIndex] = random.next();
  return *std::max_element(
      runnable.begin(), runnable.end(), [&](const Warp *a, const Warp *b) {
        return ranks[a->globalIndex] < ranks[b->globalIndex];
      });
}

/// False when something is held.
bool Machine::checkClusterEnd() {
  // What no longer needs the CTA (global writes of bulk stores, arrivals)
  // completes.
  while (!stopped) {
    auto op = async.takeAny();
    if (!op)
      break;
    if (!completeOrHold(std::move(op)))
      return false;
  }
  report.statistics.blocks += ctas.size();
  for (auto &cta : ctas)
    for (Mbarrier &barrier : cta->mbarriers)
      if (barrier.live)
        barrierLog.close(barrier);
  return true;
}

void Machine::issue(std::unique_ptr<AsyncOp> op) {
  progress();
  if (options.completion == Completion::AtIssue) {
    op->complete();
    return;
  }
  for (const SharedAccess &access : op->shared)
    ctas[access.cta]->shared.own(*access.footprint, *op);
  for (const TensorRegion &region : op->tensor)
    ctas[region.cta]->tensor.own(region, 1);
  async.add(std::move(op), now);
}

void Machine::complete(std::unique_ptr<AsyncOp> op) {
  for (const SharedAccess &access : op->shared)
    ctas[access.cta]->shared.disown(*access.footprint, *op);
  for (const TensorRegion &region : op->tensor)
    ctas[region.cta]->tensor.own(region, -1);
  op->complete();
  progress();
  wakeAll(WaitKind::Sleep);
}

bool Machine::completeOrHold(std::unique_ptr<AsyncOp> op) {
  if (op->exclusive && !isAlone) {
    held.op = std::move(op);
    return false;
  }
  complete(std::move(op));
  return true;
}

void Machine::wakeAll(WaitKind kind) {
  for (Warp *warp : warps)
    warp->wake(kind);
}

/// No warp can run: completes some asynchronous work, or lets every timed wait
/// fail. False when only another cluster could help.
bool Machine::unstick() {
  if (auto op = async.takeAny())
    return completeOrHold(std::move(op));
  bool any = false;
  for (Warp *warp : warps)
    any |= warp->timeOut();
  now += kTimeJump;
  if (!stuckRounds)
    readsWhenStuck = globalReads;
  if (any && ++stuckRounds < kStuckRounds)
    return true;
  // Who reads no global memory will not see what other clusters write.
  if (globalReads == readsWhenStuck)
    reportDeadlock();
  stuckRounds = 0;
  return false;
}

bool Machine::clusterAddress(Warp &warp, const Inst &inst, int lane,
                             uint64_t address, Cta *&cta, uint32_t &offset) {
  if (address >= kSharedWindow && address - kSharedWindow < kWindowSize) {
    error(Rule::GenericAddress,
          "'" + mnemonic(&inst) +
              "' uses a generic address where it takes a shared one; convert "
              "it with cvta.to.shared",
          &warp, &inst, lane);
    address -= kSharedWindow;
  }
  uint32_t rank = uint32_t(address >> kSharedRankShift);
  if (address >> 32 || rank >= ctas.size()) {
    error(ErrorKind::OutOfBounds,
          "'" + mnemonic(&inst) + "' uses shared address " +
              std::to_string(address) + ", which is in no CTA of the cluster",
          &warp, &inst, lane, true);
    return false;
  }
  cta = ctas[rank].get();
  offset = uint32_t(address) & kSharedOffsetMask;
  return true;
}

void Machine::tryCompleteCluster() {
  uint32_t needed = 0;
  for (const Warp *warp : warps)
    needed += uint32_t(__builtin_popcount(warp->live()));
  // Arrivals of lanes that exited since count for the phase they arrived in.
  uint32_t gone = 0;
  for (const Warp *warp : warps)
    gone += uint32_t(__builtin_popcount(warp->clusterCounted & ~warp->live()));
  if (!clusterBarrier.arrived || clusterBarrier.arrived < needed + gone)
    return;
  for (Warp *warp : warps)
    warp->clusterCounted = 0;
  clusterBarrier.arrived = 0;
  ++clusterBarrier.phase;
  clusterBarrier.done.join(clusterBarrier.arriving);
  wakeAll(WaitKind::ClusterBarrier);
}

uint32_t Machine::mmaAgent(const WarpOrder &warp, int lane) {
  const uint32_t index = warp.globalIndex;
  auto any = mmaAgents.lower_bound({index, 0});
  const bool isFirst = any == mmaAgents.end() || any->first.first != index;
  auto [found, isNew] =
      mmaAgents.try_emplace({index, lane}, warp.agent(Role::Mma));
  if (isNew && !isFirst) {
    found->second = newAgent();
    mmaLanes[found->second] = index;
  }
  return found->second;
}

std::optional<ClusterIndex> Machine::cancelCluster() {
  meetOthers();
  if (grid.requestsFailEarly && random.below(8) == 0)
    requestsFail = true;
  std::optional<ClusterIndex> taken;
  if (!requestsFail)
    taken = grid.takePending();
  if (taken)
    ++report.statistics.canceledClusters;
  else
    requestsFail = true;
  return taken;
}

void Machine::requestFails(const Mbarrier &barrier) {
  if (!failedRequest.time)
    failedRequest = {barrier.offset, barrier.time() + 1};
}

// Release and acquire are taken for both; that misses races but invents none.
void Machine::synchroniseStrong(Warp &warp, const Inst &inst, uint64_t address,
                                bool write, Order order) {
  auto known = strongFlags.find(address);
  if (known == strongFlags.end()) {
    if (!write)
      return;
    known = strongFlags.try_emplace(address).first;
    known->second.inCta.resize(ctas.size());
  }
  Flag &flag = known->second;
  SyncClocks &inCta = flag.inCta[warp.ctaRank];
  const Order wide = inst.scope == Scope::Cta ? Order::Time : order;
  if (write)
    warp.release(inCta, order, Scope::Cta);
  else
    warp.acquire(inCta, order, Scope::Cta);
  if (ctas.size() == 1)
    return;
  if (write)
    warp.release(flag.inCluster, wide, Scope::Cluster);
  else
    warp.acquire(flag.inCluster, wide, Scope::Cluster);
}
