// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to global memory: bounds, initialisation, and the reports of races.

#include "Machine/Machine.h"

#include <algorithm>

using namespace fp8::sim;

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
      message += address < near->address
                     ? std::to_string(near->address - address) +
                           " bytes above the address"
                     : "at offset " + std::to_string(address - near->address) +
                           " from its start";
    } else {
      message += ", but there is no buffer";
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
    return " in another lane with another value, so the result is undefined; "
           "let one lane write, or use red or atom";
  if (earlier.cluster != machine.ordinal)
    return " in another cluster; let only one cluster access it, or hand it "
           "over by a flag that one cluster writes with .release and the other "
           "reads with .acquire";
  if (machine.roleOf(earlier.tag.agent()) == Role::BulkWrite)
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
