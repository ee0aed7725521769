// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races in global memory between clusters (PTX ISA 8.7, 8.9).

#include "Memory/GlobalMemory.h"

#include <algorithm>

using namespace fp8::sim;

void GlobalMemory::take(ClusterAccesses &cluster) {
  uint32_t last = 0; // of the cluster's numbers
  for (const ClusterAccesses::Entry &entry : cluster.log()) {
    if (entry.number != last) {
      accesses.push_back(cluster[entry.number]);
      last = entry.number;
    }
    uint32_t mine = recorded() - 1;
    if (entry.write)
      history.write(entry.address, entry.count, mine);
    else
      history.read(entry.address, entry.count, mine);
  }
  cluster.clearLog();
  if (uint32_t fence = cluster.lastProxyFence())
    proxyFences[cluster.number()] = fence;
  fencedBehindFlag |= cluster.hasFencedBehindFlag();
}

bool GlobalMemory::ordered(uint32_t cluster, const GlobalActor &actor,
                           uint32_t number) const {
  const GlobalAccess &access = accesses[number];
  return !number || access.cluster == cluster ||
         access.isMorallyStrong(actor, Scope::Gpu) ||
         comesBefore(cluster, access);
}

bool GlobalMemory::comesBefore(uint32_t cluster,
                               const GlobalAccess &access) const {
  auto mine = horizons.find(cluster);
  if (mine == horizons.end())
    return false;
  auto other = mine->second.find(access.cluster);
  return other != mine->second.end() &&
         other->second->get(access.tag.agent()) >= access.tag.time();
}

// Flags do not tell which fences they are behind, so any of the writer's
// cluster after the write counts, and any of another cluster's behind a flag,
// which may have handed the data on.
bool GlobalMemory::isFenced(const ClusterAccesses &own,
                            const GlobalActor &actor, uint32_t number) const {
  const GlobalAccess &access = accesses[number];
  if (!actor.fenced || !number || access.cluster == own.number() ||
      !own.isGeneric(access) || own.hasFencedBehindFlag() || fencedBehindFlag)
    return true;
  auto fence = proxyFences.find(access.cluster);
  return fence != proxyFences.end() && access.number < fence->second;
}

std::optional<GlobalRace>
GlobalMemory::findRace(const ClusterAccesses &own, const GlobalActor &actor,
                       const GlobalRange &range) const {
  std::optional<GlobalRace> race;
  uint32_t good[2] = {0, 0}; // the latest that come before
  auto check = [&](uint32_t number, uint64_t at, uint64_t n, bool writes) {
    if (number == good[writes] || race)
      return;
    const bool comesBefore = ordered(own.number(), actor, number);
    if (comesBefore && (!writes || isFenced(own, actor, number)))
      good[writes] = number;
    else if (std::optional<uint64_t> change = range.firstChange(at, n))
      race = {*change, accesses[number], writes,
              comesBefore ? GlobalRace::Unfenced
              : accesses[number].strong && actor.strong
                  ? GlobalRace::NarrowScope
                  : GlobalRace::Unordered};
  };
  history.forEach(
      range.address, range.count,
      [&](const AccessHistory::Latest &latest, uint64_t at, uint64_t n) {
        check(latest.write, at, n, true);
        if (range.write)
          check(latest.read, at, n, false);
      });
  return race;
}

uint32_t GlobalMemory::lastWrite(uint64_t address, uint64_t count) const {
  uint32_t last = 0;
  history.forEach(address, count,
                  [&](const AccessHistory::Latest &latest, uint64_t, uint64_t) {
                    last = std::max(last, latest.write);
                  });
  return last;
}

void GlobalMemory::join(Horizon &mine, const Horizon &other) {
  for (const auto &[cluster, theirs] : other) {
    std::shared_ptr<const Clock> &clock = mine[cluster];
    if (!clock || theirs->covers(*clock)) {
      clock = theirs;
    } else if (!clock->covers(*theirs)) {
      auto both = std::make_shared<Clock>(*clock);
      both->join(*theirs);
      clock = std::move(both);
    }
  }
}

void GlobalMemory::release(uint32_t cluster,
                           const std::shared_ptr<const Clock> &before,
                           uint64_t address) {
  Horizon &flag = flags[address];
  if (auto mine = horizons.find(cluster); mine != horizons.end())
    join(flag, mine->second);
  join(flag, {{cluster, before}});
}

const Clock *GlobalMemory::take(Horizon &mine, uint32_t cluster,
                                uint64_t address) {
  auto flag = flags.find(address);
  if (flag == flags.end())
    return nullptr;
  join(mine, flag->second);
  auto own = flag->second.find(cluster);
  return own == flag->second.end() ? nullptr : own->second.get();
}

const Clock *GlobalMemory::acquire(uint32_t cluster, uint64_t address) {
  return take(horizons[cluster], cluster, address);
}

const Clock *GlobalMemory::observe(uint32_t cluster, uint64_t address) {
  horizons.try_emplace(cluster);
  return take(observed[cluster], cluster, address);
}

void GlobalMemory::fence(uint32_t cluster) {
  auto seen = observed.find(cluster);
  if (seen == observed.end() || seen->second.empty())
    return;
  join(horizons.find(cluster)->second, seen->second);
  seen->second.clear();
}
