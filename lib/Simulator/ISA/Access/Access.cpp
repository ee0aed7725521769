// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane's access, by state space.

#include "ISA/Access/Access.h"

using namespace fp8::sim;

bool fp8::sim::genericToShared(uint64_t address, uint64_t &shared) {
  if (address < kSharedWindow || address - kSharedWindow >= kWindowSize)
    return false;
  shared = address - kSharedWindow;
  return true;
}

static uint8_t *accessShared(Warp &w, const Inst &i, int lane, uint64_t address,
                             uint32_t count, bool write, const uint8_t *value,
                             bool cluster, UndefinedPart *undefined) {
  Cta *cta;
  uint32_t offset;
  if (!w.machine.clusterAddress(w, i, lane, address, cta, offset))
    return nullptr;
  if (!cluster && cta != &w.cta) {
    w.machine.error(
        ErrorKind::OutOfBounds,
        "'" + Machine::mnemonic(&i) +
            "' uses a shared::cta address of another CTA; use .shared::cluster",
        &w, &i, lane, true);
    return nullptr;
  }
  if (!w.machine.checkPresent(*cta, w, i, lane))
    return nullptr;
  w.machine.touchRemote(*cta, w, i, w.accessAgent(), w.time());
  SharedMemory &shared = cta->shared;
  if (write) {
    if (!shared.checkWrite(w, i, lane, offset, count, value))
      return nullptr;
    if (undefined)
      shared.markUndefined(offset, *undefined);
    return shared.data() + offset;
  }
  switch (shared.checkRead(w, i, lane, offset, count)) {
  case SharedMemory::Found::Nothing:
    return nullptr;
  case SharedMemory::Found::Defined:
    break;
  case SharedMemory::Found::Undefined: {
    UndefinedPart found;
    shared.findUndefined(i, offset, count, undefined ? *undefined : found);
    if (found.bytes)
      shared.reportUndefined(w, i, lane, offset + found.firstByte());
  }
  }
  return shared.data() + offset;
}

static uint8_t *accessLocal(Warp &w, const Inst &i, int lane, uint64_t offset,
                            uint32_t count, bool write,
                            UndefinedPart *undefined) {
  LocalMemory &memory = w.local[size_t(lane)];
  if (memory.empty())
    w.reserveLocal(lane, w.machine.program.localBytes);
  if (count > memory.size() || offset > memory.size() - count) {
    w.machine.error(ErrorKind::OutOfBounds,
                    "'" + Machine::mnemonic(&i) +
                        "' accesses local memory at offset " +
                        std::to_string(offset) + ", outside the thread's " +
                        std::to_string(memory.size()) + " bytes",
                    &w, &i, lane, true);
    return nullptr;
  }
  if (write)
    memory.write(offset, count, undefined);
  else if (undefined)
    memory.read(offset, count, *undefined, [&] {
      return w.machine.origins.add(
          ErrorKind::UninitialisedMemory, i, Origins::kMemory, [&] {
            return "'" + Machine::mnemonic(&i) +
                   "' reads local memory at offset " + std::to_string(offset) +
                   ", where the thread has not written";
          });
    });
  return memory.data() + offset;
}

static uint8_t *accessGlobal(Warp &w, const Inst &i, int lane, uint64_t address,
                             uint32_t count, bool write, Strength strength,
                             const uint8_t *value, UndefinedPart *undefined) {
  uint8_t *bytes = w.machine.accessGlobal(w, i, lane,
                                          {w.tag(i),
                                           strength != Strength::Weak,
                                           &w,
                                           {},
                                           strength == Strength::Relaxed,
                                           std::nullopt,
                                           i.scope},
                                          address, count, write, value);
  if (!bytes || write)
    return bytes;
  UndefinedPart found;
  w.machine.findUnwritten(i, address, count, undefined ? *undefined : found);
  if (found.bytes)
    w.machine.reportUnwritten(w, i, lane, address + found.firstByte());
  return bytes;
}

static uint8_t *accessParam(Warp &w, const Inst &i, int lane, uint64_t offset,
                            uint32_t count, bool write) {
  const std::vector<uint8_t> &bytes = w.machine.parameters;
  if (write || count > bytes.size() || offset > bytes.size() - count) {
    w.machine.error(ErrorKind::OutOfBounds,
                    "'" + Machine::mnemonic(&i) +
                        (write ? "' writes a kernel parameter"
                               : "' reads outside the kernel's parameters"),
                    &w, &i, lane, true);
    return nullptr;
  }
  // A parameter is only read from.
  return const_cast<uint8_t *>(bytes.data()) + offset;
}

static uint8_t *accessSpace(Warp &w, const Inst &i, int lane, AccessSpace space,
                            uint64_t address, uint32_t count, bool write,
                            Strength strength, const uint8_t *value,
                            UndefinedPart *undefined) {
  switch (space) {
  case AccessSpace::Generic:
    if (address >= kParamWindow) {
      uint64_t offset = address & (kWindowSize - 1);
      uint64_t window = address & ~(kWindowSize - 1);
      if (window == kSharedWindow)
        return accessShared(w, i, lane, offset, count, write, value, true,
                            undefined);
      if (window == kLocalWindow)
        return accessLocal(w, i, lane, offset, count, write, undefined);
      if (window == kParamWindow)
        return accessParam(w, i, lane, offset, count, write);
    }
    [[fallthrough]];
  case AccessSpace::Global:
  case AccessSpace::Const:
    return accessGlobal(w, i, lane, address, count, write, strength, value,
                        undefined);
  case AccessSpace::Shared:
    return accessShared(w, i, lane, address, count, write, value, false,
                        undefined);
  case AccessSpace::SharedCluster:
    return accessShared(w, i, lane, address, count, write, value, true,
                        undefined);
  case AccessSpace::Local:
    return accessLocal(w, i, lane, address, count, write, undefined);
  case AccessSpace::Param:
    return accessParam(w, i, lane, address, count, write);
  }
  return nullptr;
}

void fp8::sim::notePoll(Warp &w, const Inst &i, uint32_t mask,
                        AccessSpace space, uint32_t bytes) {
  if (!w.machine.watch.isOn() || !mask)
    return;
  Poll poll{&i,
            space == AccessSpace::Shared || space == AccessSpace::SharedCluster,
            w.row(i.s[0])[__builtin_ctz(mask)] + uint64_t(i.offset), bytes};
  if (space == AccessSpace::Generic)
    poll.isShared = genericToShared(poll.address, poll.address);
  if (poll.isShared || (mayBeGlobal(space) && poll.address < kParamWindow))
    w.machine.watch.note(w, poll);
}

uint8_t *fp8::sim::access(Warp &w, const Inst &i, int lane, AccessSpace space,
                          uint64_t address, uint32_t count, bool write,
                          Strength strength, const uint8_t *value,
                          UndefinedPart *undefined) {
  // The vector or scalar access must be aligned to its size (PTX ISA 6.4.1).
  if (address & (count - 1)) {
    w.machine.error(ErrorKind::Misaligned,
                    "'" + Machine::mnemonic(&i) + "' uses address " +
                        std::to_string(address) +
                        ", which is not a multiple of the " +
                        std::to_string(count) + " bytes accessed",
                    &w, &i, lane, true);
    return nullptr;
  }
  uint8_t *bytes = accessSpace(w, i, lane, space, address, count, write,
                               strength, value, undefined);
  if (bytes && strength != Strength::Weak) {
    bool shared =
        space == AccessSpace::Shared || space == AccessSpace::SharedCluster;
    w.machine.synchroniseStrong(
        w, i, shared ? address + kSharedWindow : address, write,
        strength == Strength::Relaxed ? Order::Fenced : Order::Memory);
  }
  return bytes;
}
