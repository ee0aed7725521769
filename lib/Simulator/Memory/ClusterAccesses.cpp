// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races in global memory between the threads and copies of a cluster (PTX ISA
// 8.7, 8.9).

#include "Memory/ClusterAccesses.h"

#include "Memory/WarpOrder.h"

using namespace fp8::sim;

std::optional<uint64_t> GlobalRange::firstChange(uint64_t at,
                                                 uint64_t n) const {
  if (!write || !value)
    return at;
  for (uint64_t end = at + n; at < end; ++at)
    if (old[at - address] != value[at - address])
      return at;
  return std::nullopt;
}

uint32_t ClusterAccesses::numberOf(const GlobalActor &actor) {
  const GlobalAccess &last = accesses[latest];
  if (!latest || last.tag != actor.tag || last.strong != actor.strong) {
    latest = recorded();
    accesses.push_back({actor.tag, cluster, latest, actor.strong, actor.scope});
  }
  return latest;
}

bool ClusterAccesses::ordered(const GlobalActor &actor, uint32_t number) const {
  const GlobalAccess &access = accesses[number];
  const Scope reach =
      rankOf(access.tag) == rankOf(actor.tag) ? Scope::Cta : Scope::Cluster;
  if (!number || access.isMorallyStrong(actor, reach))
    return true;
  uint32_t agent = access.tag.agent();
  if (!actor.warp)
    return access.tag == actor.tag ||
           actor.known.get(agent) >= access.tag.time();
  return actor.warp->isOwnAccess(agent) || actor.warp->knows(access.tag);
}

bool ClusterAccesses::isFenced(const GlobalActor &actor,
                               uint32_t number) const {
  const GlobalAccess &access = accesses[number];
  return !actor.fenced || !number || !isGeneric(access) ||
         actor.fenced->get(access.tag.agent()) >= access.tag.time();
}

std::optional<GlobalRace> ClusterAccesses::findRace(const GlobalActor &actor,
                                                    const GlobalRange &range,
                                                    uint32_t mine) const {
  // Of the latest accesses asked about, whether they come before this one.
  struct {
    uint32_t number = 0;
    bool ordered = true, fenced = true;
  } lastWrite, lastRead;
  std::optional<GlobalRace> race;
  auto check = [&](auto &last, uint32_t number, uint64_t at, uint64_t n,
                   bool writes) {
    if (number != last.number)
      last = {number, ordered(actor, number), isFenced(actor, number)};
    // Lanes of one instruction are not ordered either.
    bool lanes =
        range.write && writes && number == mine && actor.warp && !actor.strong;
    // Two that may race in any order need no fence; nor does a copy that
    // overwrites what was read, whose result the reader has.
    bool fenced = !last.ordered || !writes || last.fenced;
    if ((last.ordered && fenced && !lanes) || race)
      return;
    if (std::optional<uint64_t> change = range.firstChange(at, n))
      race = {*change, accesses[number], writes,
              lanes     ? GlobalRace::SameInstruction
              : !fenced ? GlobalRace::Unfenced
              : accesses[number].strong && actor.strong
                  ? GlobalRace::NarrowScope
                  : GlobalRace::Unordered};
  };
  history.forEach(
      range.address, range.count,
      [&](const AccessHistory::Latest &latest, uint64_t at, uint64_t n) {
        check(lastWrite, latest.write, at, n, true);
        if (range.write)
          check(lastRead, latest.read, at, n, false);
      });
  return race;
}

void ClusterAccesses::append(const GlobalRange &range, uint32_t number) {
  if (!entries.empty()) {
    Entry &last = entries.back();
    if (last.number == number && last.write == range.write &&
        last.address + last.count == range.address &&
        last.count + range.count <= ~uint32_t(0)) {
      last.count += uint32_t(range.count);
      return;
    }
  }
  entries.push_back(
      {range.address, uint32_t(range.count), number, range.write});
}

void ClusterAccesses::note(const GlobalActor &actor, const GlobalRange &range,
                           uint32_t number) {
  if (range.write)
    history.write(range.address, range.count, number);
  else
    // The read of an atomic does not hide a weak one that its write races with.
    history.read(range.address, range.count, number, [&](uint32_t before) {
      return range.ofAtomic && !ordered(actor, before);
    });
  append(range, number);
}

std::optional<GlobalRace> ClusterAccesses::record(const GlobalActor &actor,
                                                  const GlobalRange &range) {
  uint32_t mine = numberOf(actor);
  std::optional<GlobalRace> race = findRace(actor, range, mine);
  note(actor, range, mine);
  return race;
}

bool ClusterAccesses::recordOrdered(const GlobalActor &actor,
                                    const GlobalRange &range) {
  uint32_t mine = numberOf(actor);
  if (findRace(actor, range, mine))
    return false;
  note(actor, range, mine);
  return true;
}

std::optional<GlobalAccess> ClusterAccesses::lastWrite(uint64_t address,
                                                       uint64_t count) const {
  uint32_t last = 0;
  history.forEach(address, count,
                  [&](const AccessHistory::Latest &latest, uint64_t, uint64_t) {
                    last = std::max(last, latest.write);
                  });
  return last ? std::optional(accesses[last]) : std::nullopt;
}
