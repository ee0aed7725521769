// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races in global memory between threads, asynchronous copies and clusters (PTX
// ISA 8.7, 8.9).

#include "Memory/GlobalMemory.h"

#include "Memory/WarpOrder.h"

#include <algorithm>

using namespace fp8::sim;

GlobalMemory::Page &GlobalMemory::pageOf(uint64_t address) {
  uint64_t index = address / kPageBytes;
  if (index == cachedIndex)
    return *cached;
  std::unique_ptr<Page> &page = pages[index];
  if (!page)
    page = std::make_unique<Page>();
  cachedIndex = index;
  cached = page.get();
  return *page;
}

uint32_t GlobalMemory::record(uint32_t cluster, const GlobalActor &actor) {
  const Access &last = accesses[latest];
  if (!latest || last.tag != actor.tag || last.cluster != cluster ||
      last.strong != actor.strong) {
    latest = uint32_t(accesses.size());
    accesses.push_back({actor.tag, cluster, actor.strong});
  }
  return latest;
}

bool GlobalMemory::ordered(uint32_t cluster, const GlobalActor &actor,
                           uint32_t index) const {
  const Access &access = accesses[index];
  if (!index || (access.strong && actor.strong))
    return true;
  if (access.cluster != cluster) {
    auto mine = horizons.find(cluster);
    if (mine == horizons.end())
      return false;
    auto other = mine->second.find(access.cluster);
    return other != mine->second.end() && index < other->second;
  }
  uint32_t agent = access.tag.agent();
  if (!actor.warp)
    return access.tag == actor.tag ||
           actor.known.get(agent) >= access.tag.time();
  return actor.warp->isOwnAccess(agent) || actor.warp->knows(access.tag);
}

bool GlobalMemory::read(uint32_t cluster, const GlobalActor &actor,
                        uint64_t address, uint64_t count, Race &race) {
  uint32_t mine = record(cluster, actor), good = 0;
  bool raced = false;
  for (uint64_t at = address; at < address + count; ++at) {
    Page &page = pageOf(at);
    uint32_t written = page.writes[at % kPageBytes];
    if (written != good) {
      if (!ordered(cluster, actor, written)) {
        if (!raced)
          race = {at, accesses[written], true, false};
        raced = true;
      }
      good = written;
    }
    page.reads[at % kPageBytes] = mine;
  }
  return raced;
}

bool GlobalMemory::write(uint32_t cluster, const GlobalActor &actor,
                         uint64_t address, uint64_t count, const uint8_t *old,
                         const uint8_t *value, Race &race) {
  uint32_t mine = record(cluster, actor);
  // Of the latest access asked about, whether it comes before this one.
  struct {
    uint32_t access = 0;
    bool ordered = true;
  } lastWrite, lastRead;
  bool raced = false;
  auto check = [&](auto &last, uint32_t access, uint64_t at, bool writes) {
    if (access != last.access)
      last = {access, ordered(cluster, actor, access)};
    // Lanes of one instruction are not ordered either.
    bool lanes = writes && access == mine && actor.warp && !actor.strong;
    if ((last.ordered && !lanes) || raced ||
        (value && old[at - address] == value[at - address]))
      return;
    race = {at, accesses[access], writes, lanes};
    raced = true;
  };
  for (uint64_t at = address; at < address + count; ++at) {
    Page &page = pageOf(at);
    uint32_t &written = page.writes[at % kPageBytes];
    uint32_t &read = page.reads[at % kPageBytes];
    check(lastWrite, written, at, true);
    check(lastRead, read, at, false);
    written = mine;
    read = 0;
  }
  return raced;
}

uint32_t GlobalMemory::lastWrite(uint64_t address, uint64_t count) {
  uint32_t last = 0;
  for (uint64_t at = address; at < address + count; ++at)
    last = std::max(last, pageOf(at).writes[at % kPageBytes]);
  return last;
}

void GlobalMemory::release(uint32_t cluster, uint64_t address) {
  Horizon &flag = flags[address];
  auto mine = horizons.find(cluster);
  if (mine != horizons.end())
    for (auto [other, count] : mine->second)
      flag[other] = std::max(flag[other], count);
  flag[cluster] = uint32_t(accesses.size());
}

void GlobalMemory::acquire(uint32_t cluster, uint64_t address) {
  auto flag = flags.find(address);
  if (flag == flags.end())
    return;
  Horizon &mine = horizons[cluster];
  for (auto [other, count] : flag->second)
    if (other != cluster)
      mine[other] = std::max(mine[other], count);
}
