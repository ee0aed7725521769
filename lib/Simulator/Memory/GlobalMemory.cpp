// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks on global memory: bounds, initialisation, and races between threads,
// asynchronous copies and clusters (PTX ISA 8.7, 8.9).

#include "Memory/GlobalMemory.h"

#include "Machine/Machine.h"

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
  return actor.warp->isOwnAccess(agent) ||
         actor.warp->clocks.all.get(agent) >= access.tag.time();
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

uint8_t *Machine::global(Warp &warp, const Inst &inst, int lane,
                         uint64_t address, uint64_t count, bool write) {
  globalReads += !write;
  checkBehindGridWait(warp, inst, lane);
  Buffer *buffer = lastBuffer && lastBuffer->contains(address, count)
                       ? lastBuffer
                       : device.find(address, count);
  if (!buffer || (write && buffer->readOnly)) {
    std::string message =
        "'" + mnemonic(&inst) + "' " + (write ? "writes " : "reads ") +
        std::to_string(count) + " bytes of global memory at address " +
        std::to_string(address);
    if (buffer) {
      message += " in buffer '" + buffer->name + "', which is read-only";
    } else if (const Buffer *near = device.nearest(address)) {
      message += ", outside every buffer; the nearest is '" + near->name +
                 "' of " + std::to_string(near->size) + " bytes, ";
      message +=
          address < near->address
              ? std::to_string(near->address - address) + " bytes further up"
              : "at its offset " + std::to_string(address - near->address);
    } else {
      message += ", and there is no buffer";
    }
    error(ErrorKind::OutOfBounds, message, &warp, &inst, lane, true);
    return nullptr;
  }
  lastBuffer = buffer;
  uint64_t offset = address - buffer->address;
  if (!buffer->initialised.empty()) {
    auto begin = buffer->initialised.begin() + int64_t(offset),
         end = begin + int64_t(count);
    if (write)
      std::fill(begin, end, uint8_t(1));
    else if (std::find(begin, end, uint8_t(0)) != end)
      error(ErrorKind::UninitialisedMemory,
            "'" + mnemonic(&inst) + "' reads bytes of buffer '" + buffer->name +
                "' at offset " + std::to_string(offset) +
                " that nothing has written",
            &warp, &inst, lane);
  }
  return buffer->bytes.data() + offset;
}

static std::string raceCure(const Machine &machine, const Warp &warp,
                            const GlobalMemory::Race &race) {
  const GlobalMemory::Access &earlier = race.earlier;
  if (race.sameInstruction)
    return " in another lane, with another value, and which one stays is "
           "undefined; let one lane write, or use red or atom";
  if (earlier.cluster != machine.ordinal)
    return ", in another cluster; let one cluster alone access it, or hand it "
           "over by a flag that the one writes with .release and the other "
           "reads with .acquire";
  uint32_t role = earlier.tag.agent() / machine.warpsInCluster;
  if (role == uint32_t(Role::BulkWrite))
    return earlier.tag.agent() == warp.agent(Role::BulkWrite)
               ? "; wait for it first, with cp.async.bulk.wait_group without "
                 ".read"
               : "; let the thread that issued it wait, with "
                 "cp.async.bulk.wait_group without .read, and order the two by "
                 "a barrier";
  return "; order the two by a barrier that both sides take part in";
}

void Machine::reportRace(Warp &warp, const Inst &inst, int lane, bool write,
                         const GlobalMemory::Race &race) {
  const Buffer *buffer = device.find(race.address, 1);
  const Inst *earlier = &program.code[race.earlier.tag.instruction()];
  SimulationError &e =
      error(ErrorKind::Race,
            "'" + mnemonic(&inst) + (write ? "' writes " : "' reads ") +
                "buffer '" + buffer->name + "' at offset " +
                std::to_string(race.address - buffer->address) +
                " with no synchronisation after '" + mnemonic(earlier) +
                (race.earlierWrites ? "' wrote it" : "' read it") +
                raceCure(*this, warp, race),
            &warp, &inst, lane);
  std::string who = agentName(race.earlier.tag.agent());
  if (race.earlier.cluster != ordinal) {
    auto [x, y, z] = grid.clusterIndex(race.earlier.cluster);
    who += ", in the cluster that begins at block (" + std::to_string(x) +
           ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  }
  e.notes.push_back(note(earlier, "the other access is here, " + who));
}

uint8_t *Machine::accessGlobal(Warp &warp, const Inst &inst, int lane,
                               const GlobalActor &actor, uint64_t address,
                               uint64_t count, bool write,
                               const uint8_t *value) {
  uint8_t *bytes = global(warp, inst, lane, address, count, write);
  if (!bytes || !checksOrder || lastBuffer->readOnly)
    return bytes;
  GlobalMemory &memory = grid.memory;
  bool flag = actor.strong && actor.warp;
  if (flag && !write)
    memory.acquire(ordinal, address);
  GlobalMemory::Race race;
  if (write ? memory.write(ordinal, actor, address, count, bytes, value, race)
            : memory.read(ordinal, actor, address, count, race))
    reportRace(warp, inst, lane, write, race);
  if (flag && write)
    memory.release(ordinal, address);
  return bytes;
}
