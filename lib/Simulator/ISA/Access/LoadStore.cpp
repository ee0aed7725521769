// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld, st, prefetch and hints (PTX ISA 9.7.9).

#include "ISA/Families.h"

#include "ISA/Access/Access.h"
#include "ISA/Alu/Alu.h"
#include "ISA/Copy/Copy.h"

#include <cstring>

using namespace fp8::sim;

bool fp8::sim::genericToShared(uint64_t address, uint64_t &shared) {
  if (address < kSharedWindow || address - kSharedWindow >= kWindowSize)
    return false;
  shared = address - kSharedWindow;
  return true;
}

static uint8_t *accessShared(Warp &w, const Inst &i, int lane, uint64_t address,
                             uint32_t count, bool write, Strength strength,
                             const uint8_t *value, bool cluster,
                             UndefinedPart *undefined) {
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
    if (!shared.checkWrite(w, i, lane, offset, count, strength, value))
      return nullptr;
    if (undefined)
      shared.markUndefined(offset, *undefined);
    return shared.data() + offset;
  }
  switch (shared.checkRead(w, i, lane, offset, count, strength)) {
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
  uint8_t *bytes = w.machine.accessGlobal(
      w, i, lane, {w.tag(i), strength != Strength::Weak, &w, {}}, address,
      count, write, value);
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
        return accessShared(w, i, lane, offset, count, write, strength, value,
                            true, undefined);
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
    return accessShared(w, i, lane, address, count, write, strength, value,
                        false, undefined);
  case AccessSpace::SharedCluster:
    return accessShared(w, i, lane, address, count, write, strength, value,
                        true, undefined);
  case AccessSpace::Local:
    return accessLocal(w, i, lane, address, count, write, undefined);
  case AccessSpace::Param:
    return accessParam(w, i, lane, address, count, write);
  }
  return nullptr;
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
    w.machine.synchroniseStrong(w, shared ? address + kSharedWindow : address,
                                write, strength == Strength::Relaxed);
  }
  return bytes;
}

namespace {

/// Payload of ld and st.
struct Access {
  AccessSpace space;
  Strength strength;
  bool isSigned;
  uint32_t bytes;    ///< of an element
  uint32_t elements; ///< of the vector
  uint64_t kept;     ///< the bits that a register has
};

Flow load(Warp &w, const Inst &i, uint32_t mask) {
  const Access &a = i.get<Access>();
  const uint32_t bytes = a.bytes, elements = a.elements;
  const uint64_t *base = w.row(i.s[0]);
  const uint32_t *rows = &w.machine.program.lists[i.list];
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    UndefinedPart undefined;
    const uint8_t *source =
        access(w, i, l, a.space, base[l] + uint64_t(i.offset), bytes * elements,
               false, a.strength, nullptr, &undefined);
    if (!source)
      return;
    if (undefined.bytes)
      leaveUndefined(w, i, l, {bytes, a.isSigned}, undefined);
    for (uint32_t n = 0; n < elements; ++n) {
      uint64_t value = 0;
      std::memcpy(&value, source + n * bytes, bytes > 8 ? 8 : bytes);
      if (a.isSigned && bytes < 8)
        value =
            uint64_t(int64_t(value << (64 - bytes * 8)) >> (64 - bytes * 8)) &
            a.kept;
      w.row(rows[n])[l] = value;
      if (bytes == 16)
        std::memcpy(&w.row(rows[n] + 1)[l], source + n * bytes + 8, 8);
    }
  });
  return Flow::Next;
}

Flow store(Warp &w, const Inst &i, uint32_t mask) {
  const Access &a = i.get<Access>();
  const uint32_t bytes = a.bytes, elements = a.elements;
  const uint64_t *base = w.row(i.s[0]);
  const uint32_t *rows = &w.machine.program.lists[i.list];
  const uint32_t undefinedLanes = w.undefinedLanes(rows, elements, mask);
  w.machine.progress();
  w.machine.beginStore();
  forLanes(mask, [&](int l) {
    if (w.machine.stopped)
      return;
    uint8_t value[64];
    UndefinedPart undefined;
    if (undefinedLanes >> l & 1)
      gatherUndefined(w, i, l, {bytes, false}, undefined);
    for (uint32_t n = 0; n < elements; ++n) {
      std::memcpy(value + n * bytes, &w.row(rows[n])[l], bytes > 8 ? 8 : bytes);
      if (bytes == 16)
        std::memcpy(value + n * bytes + 8, &w.row(rows[n] + 1)[l], 8);
    }
    const uint64_t address = base[l] + uint64_t(i.offset);
    uint8_t *target =
        access(w, i, l, a.space, address, bytes * elements, true, a.strength,
               value, undefined.bytes ? &undefined : nullptr);
    if (undefined.bytes && isGlobal(a.space, address))
      reportStored(w, i, l, {bytes, false}, undefined);
    if (target)
      std::memcpy(target, value, bytes * elements);
  });
  return Flow::Next;
}

AccessSpace takeSpace(Decoder &d) {
  switch (
      d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster",
                   "local", "param", "param::entry", "const", "param::func"})) {
  case 0:
    return AccessSpace::Global;
  case 1:
  case 2:
    return AccessSpace::Shared;
  case 3:
    return AccessSpace::SharedCluster;
  case 4:
    return AccessSpace::Local;
  case 5:
  case 6:
    return AccessSpace::Param;
  case 7:
    return AccessSpace::Const;
  case 8:
    return AccessSpace::Local;
  default:
    return AccessSpace::Generic;
  }
}

/// Whether `.param` means the parameters of a function or of a call, which are
/// in the frame (PTX ISA 5.1.6).
bool isFrameAccess(const Decoder &d) {
  for (const ast::Operand &operand : d.text().operands)
    if (operand.kind == ast::Operand::Kind::Address &&
        operand.elements[0].kind == ast::Operand::Kind::Symbol)
      return d.frameValue(operand.elements[0].name) != nullptr;
  return d.functionIndex() != 0;
}

bool decodeAccess(Decoder &d, Inst &i, bool isLoad) {
  Access &access = i.make<Access>();
  access.strength = Strength::Weak;
  // st.async.mmio may land at once.
  if (d.take("async") && !d.requiresChip(100))
    return false;
  d.take("weak");
  if (d.takeOneOf({"volatile", "acquire", "release", "mmio"}) >= 0)
    access.strength = Strength::Strong;
  if (d.take("relaxed") && access.strength == Strength::Weak)
    access.strength = Strength::Relaxed;
  d.takeOneOf({"cta", "cluster", "gpu", "sys"});
  bool perhapsFrame = d.hasQualifier("param");
  access.space = takeSpace(d);
  if (perhapsFrame && isFrameAccess(d))
    access.space = AccessSpace::Local;
  i.exclusive = access.strength != Strength::Weak && mayBeGlobal(access.space);
  d.take("nc");
  d.dropCacheHints();
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  d.takeOneOf({"unified"});
  access.elements = vector < 0 ? 1 : 2u << vector;
  Type type = d.takeType();
  access.bytes = typeSize(type);
  access.isSigned = isSignedType(type);
  if (!access.bytes || access.elements * access.bytes > 32)
    return d.fail("is not supported with this type and number of elements");
  i.fn = isLoad ? load : store;
  i.checksList = true;
  auto element = [&]() -> bool {
    const ast::Operand *operand = d.peekOperand();
    if (operand && operand->kind == ast::Operand::Kind::Vector &&
        !operand->elements.empty())
      operand = &operand->elements[0];
    unsigned width = operand ? d.registerBytes(*operand) : 0;
    access.kept = lowBits(width ? width * 8 : 64);
    return d.list(i, access.elements, type, isLoad);
  };
  bool ok = isLoad ? element() && d.address(i) : d.address(i) && element();
  if (ok && d.cacheHint)
    d.takeOperand();
  return ok;
}

Flow nothing(Warp &, const Inst &, uint32_t) { return Flow::Next; }

/// Payload of prefetch.tensormap: the window of the map's state space.
struct MapWindow {
  uint64_t base;
};

/// prefetch.tensormap and prefetch.param.tensormap look at the map they name.
Flow prefetchTensorMap(Warp &w, const Inst &i, uint32_t mask) {
  const uint64_t *base = w.row(i.s[0]);
  forLanes(mask, [&](int l) {
    if (!w.machine.stopped)
      w.machine.tensorMapAt(
          w, i, l, base[l] + uint64_t(i.offset) + i.get<MapWindow>().base,
          false);
  });
  return Flow::Next;
}

bool decodePrefetch(Decoder &d, Inst &i) {
  int space =
      d.takeOneOf({"global", "local", "param", "const", "param::entry"});
  if (d.take("tensormap")) {
    i.fn = prefetchTensorMap;
    i.make<MapWindow>().base = space == 2 || space == 4 ? kParamWindow : 0;
    return d.address(i);
  }
  if (d.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"}) < 0)
    return d.fail("needs a cache level");
  i.fn = nothing;
  return d.address(i);
}

} // namespace

void fp8::sim::addLoadStoreOpcodes(OpcodeTable &t) {
  for (const char *name : {"ld", "ldu"})
    t.add(name, [](Decoder &d, Inst &i) { return decodeAccess(d, i, true); });
  t.add("st", [](Decoder &d, Inst &i) {
    if (d.hasQualifier("async") && !d.hasQualifier("mmio"))
      return decodeStoreAsync(d, i);
    if (d.hasQualifier("bulk"))
      return decodeBulkFill(d, i);
    return decodeAccess(d, i, false);
  });
  t.add("prefetch", decodePrefetch);
  t.add("prefetchu", [](Decoder &d, Inst &i) {
    i.fn = nothing;
    return d.take("L1") && d.address(i);
  });
  for (const char *name : {"discard", "applypriority"})
    t.add(name, [](Decoder &d, Inst &i) {
      d.take("global");
      d.takeOneOf({"L2", "L2::evict_normal"});
      i.fn = nothing;
      uint64_t bytes; // that the hint covers
      return d.address(i) && d.immediate(bytes);
    });
  t.add("createpolicy", [](Decoder &d, Inst &i) {
    // A cache policy is an opaque word that only hints use.
    int kind = d.takeOneOf({"fractional", "range", "cvt"});
    if (kind < 0)
      return d.fail("needs .fractional, .range or .cvt");
    d.takeOneOf({"global"});
    if (kind == 2)
      d.take("L2");
    d.takeOneOf({"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                 "L2::evict_unchanged"});
    d.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
    i.fn = [](Warp &w, const Inst &inst, uint32_t mask) {
      forLanes(mask, [&](int l) { w.row(inst.d[0])[l] = uint64_t(1) << 60; });
      return Flow::Next;
    };
    if (!d.take("b64") || !d.destination(i, Type::B64))
      return false;
    if (kind == 1)
      return d.address(i) && d.source(i, Type::U32) && d.source(i, Type::U32);
    if (kind == 2)
      return d.source(i, Type::B64);
    if (d.operandsLeft())
      d.takeOperand();
    return true;
  });
}
