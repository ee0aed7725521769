// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to global memory: bounds, initialisation, and the reports of races.

#include "Machine/Machine.h"
#include "Program/CasLoops.h"

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
    message += buffer ? " in buffer '" + buffer->name + "', which is read-only"
                      : ", " + device.describeOutside(address);
    error(ErrorKind::OutOfBounds, message, &warp, &inst, lane, true);
    return nullptr;
  }
  lastBuffer = buffer;
  return buffer->bytes.data() + (address - buffer->address);
}

/// The first of these bytes that nothing has written, counted from `address`;
/// `count` if there is none.
static uint64_t firstUnwritten(const Buffer &buffer, uint64_t address,
                               uint64_t count) {
  if (buffer.initialised.empty())
    return count;
  auto begin = buffer.initialised.begin() + int64_t(address - buffer.address);
  return uint64_t(std::find(begin, begin + int64_t(count), uint8_t(0)) - begin);
}

OriginId Machine::unwrittenOrigin(const Inst &inst, uint64_t address) {
  return origins.add(
      ErrorKind::UninitialisedMemory, inst, Origins::kMemory, [&] {
        return "'" + mnemonic(&inst) + "' reads bytes of buffer '" +
               lastBuffer->name + "' at offset " +
               std::to_string(address - lastBuffer->address) +
               " that nothing has written";
      });
}

void Machine::findUnwritten(const Inst &inst, uint64_t address, uint32_t count,
                            UndefinedPart &part) {
  for (uint32_t byte = uint32_t(firstUnwritten(*lastBuffer, address, count));
       byte < count; ++byte)
    if (!lastBuffer->initialised[address - lastBuffer->address + byte])
      part.add(byte, unwrittenOrigin(inst, address + byte));
}

void Machine::landUnwritten(const Inst &inst, uint64_t address, uint64_t count,
                            const SharedPlace &target) {
  for (uint64_t byte = firstUnwritten(*lastBuffer, address, count);
       byte < count; ++byte)
    if (!lastBuffer->initialised[address - lastBuffer->address + byte])
      target.memory.markUndefined(target.offset + uint32_t(byte),
                                  unwrittenOrigin(inst, address + byte));
}

void Machine::reportUnwritten(Warp &warp, const Inst &inst, int lane,
                              uint64_t address) {
  reportUndefined(unwrittenOrigin(inst, address),
                  "'" + mnemonic(&inst) +
                      "' combines undefined bytes of buffer '" +
                      lastBuffer->name + "'; write them first",
                  &warp, &inst, lane);
}

/// A write. What it combines with the bytes there must be written before.
void Machine::markWritten(Warp &warp, const Inst &inst, int lane,
                          uint64_t address, uint64_t count, bool combines) {
  uint64_t first = firstUnwritten(*lastBuffer, address, count);
  if (first == count)
    return;
  if (combines)
    reportUnwritten(warp, inst, lane, address + first);
  std::fill_n(lastBuffer->initialised.begin() +
                  int64_t(address - lastBuffer->address),
              count, uint8_t(1));
}

static std::string raceCure(const Machine &machine, const Warp &warp,
                            const GlobalRace &race) {
  const GlobalAccess &earlier = race.earlier;
  if (race.fault == GlobalRace::NarrowScope)
    return " in another CTA, which the scope of one of the two leaves out; "
           "give "
           "both a scope that includes the two CTAs, such as .gpu";
  if (race.fault == GlobalRace::SameInstruction)
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
                         const GlobalRace &race) {
  const Buffer *buffer = device.find(race.address, 1);
  const Inst *earlier = &program.code[race.earlier.tag.instruction()];
  // A plain load and an atom.cas of another thread.
  const Inst &load = write ? *earlier : inst, &swap = write ? inst : *earlier;
  bool mayBeStale = race.earlierWrites != write && isCompareAndSwap(swap) &&
                    feedsCompareAndSwap(program, load);
  const bool isUnfenced = race.fault == GlobalRace::Unfenced;
  std::string message = "'" + mnemonic(&inst) +
                        (write ? "' writes " : "' reads ") + "buffer '" +
                        buffer->name + "' at offset " +
                        std::to_string(race.address - buffer->address);
  message += isUnfenced
                 ? " through the async proxy, but '" + mnemonic(earlier) +
                       "' wrote it through the generic proxy with no "
                       "fence.proxy.async between the two; execute "
                       "fence.proxy.async after the write, before what hands "
                       "the data over"
                 : " with no synchronisation after '" + mnemonic(earlier) +
                       (race.earlierWrites ? "' wrote it" : "' read it") +
                       raceCure(*this, warp, race);
  SimulationError &e = error(isUnfenced   ? Rule::MissingProxyFence
                             : mayBeStale ? Rule::StaleCompare
                                          : Rule::Race,
                             std::move(message), &warp, &inst, lane);
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
  if (bytes && write) {
    grid.keep(*lastBuffer);
    markWritten(warp, inst, lane, address, count, !value);
  }
  if (!bytes || !checksOrder || lastBuffer->readOnly)
    return bytes;
  GlobalMemory &memory = grid.memory;
  if (actor.strong)
    meetOthers();
  bool flag = actor.strong && actor.warp && actor.scope == Scope::Gpu;
  if (flag && !write)
    takeFlag(warp, address, actor.relaxed);
  GlobalRange range{address, count, write, bytes, value, inst.combines};
  std::optional<GlobalRace> race = accesses.record(actor, range);
  if (!race)
    race = memory.findRace(accesses, actor, range);
  if (race)
    reportRace(warp, inst, lane, write, *race);
  if (flag && write && !(actor.relaxed && !anyFence))
    memory.release(ordinal, handedOn(*actor.warp, actor.relaxed), address);
  return bytes;
}

void Machine::checkNonCoherent(Warp &warp, const Inst &inst, int lane,
                               uint64_t address, uint64_t count) {
  if (!checksOrder || lastBuffer->readOnly)
    return;
  std::optional<GlobalAccess> write = accesses.lastWrite(address, count);
  if (uint32_t number = grid.memory.lastWrite(address, count); number && !write)
    write = grid.memory.accessAt(number);
  if (!write)
    return;
  const Inst *earlier = &program.code[write->tag.instruction()];
  SimulationError &e = error(
      ErrorKind::NonCoherentRead,
      "'" + mnemonic(&inst) + "' reads buffer '" + lastBuffer->name +
          "' at offset " + std::to_string(address - lastBuffer->address) +
          " through the non-coherent cache, but the kernel has written there "
          "by '" +
          mnemonic(earlier) +
          "', so what it reads may be old; load without .nc (in CUDA C++: "
          "without __ldg, or a pointer that is not const __restrict__)",
      &warp, &inst, lane);
  e.notes.push_back(
      note(earlier, "written here, " + agentName(write->tag.agent())));
}

void Machine::takeFlag(Warp &warp, uint64_t address, bool relaxed) {
  accesses.takeFlag();
  const Clock *own = relaxed ? grid.memory.observe(ordinal, address)
                             : grid.memory.acquire(ordinal, address);
  if (!own)
    return;
  warp.acquireFlag(*own, relaxed,
                   accesses.lastProxyFence() != 0 ||
                       grid.memory.hasFencedBehindFlag());
}

// Of threads that fence, meet, and let one of them write a flag, as kernels do,
// the flag hands on what is behind any of the fences and is known to the
// writer; by the text of the ISA, only what the writer knew at its own fence.
std::shared_ptr<const Clock> Machine::handedOn(const WarpOrder &warp,
                                               bool relaxed) {
  Clock before = warp.knowledge();
  if (relaxed)
    before.limit(fenced);
  if (!latest || !latest->covers(before) || !before.covers(*latest))
    latest = std::make_shared<const Clock>(std::move(before));
  return latest;
}

void Machine::fenceGrid(Warp &warp) {
  warp.fenceThread(Scope::Gpu);
  anyFence = true;
  fenced.join(warp.clocks().all);
  grid.memory.fence(ordinal);
}

void Machine::fenceProxy(Warp &warp, bool ofShared, bool ofGlobal) {
  warp.fenceProxy(ofShared, ofGlobal);
  if (ofGlobal)
    accesses.fenceProxy();
}

uint8_t *Machine::accessOrdered(Warp &warp, const Inst &inst, uint32_t lanes,
                                uint64_t address, uint64_t count,
                                const uint8_t *value) {
  const bool write = value != nullptr;
  Buffer *buffer = lastBuffer && lastBuffer->contains(address, count)
                       ? lastBuffer
                       : device.find(address, count);
  if (!buffer || (write && buffer->readOnly) ||
      (config.programmatic && !config.readsConstants &&
       lanes & ~warp.waitedForGrid) ||
      (!write && firstUnwritten(*buffer, address, count) < count))
    return nullptr;
  uint8_t *bytes = buffer->bytes.data() + (address - buffer->address);
  if (checksOrder && !buffer->readOnly) {
    const GlobalActor actor{warp.tag(inst), false, &warp, {}};
    const GlobalRange range{address, count, write, bytes, value};
    if (grid.memory.findRace(accesses, actor, range) ||
        !accesses.recordOrdered(actor, range))
      return nullptr;
  }
  lastBuffer = buffer;
  globalReads += !write;
  if (write) {
    grid.keep(*buffer);
    markWritten(warp, inst, 0, address, count, false);
  }
  return bytes;
}
