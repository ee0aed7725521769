// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld, st, prefetch and hints (PTX ISA 9.7.9).

#include "ISA/Families.h"

#include "ISA/Access/LaneRuns.h"
#include "ISA/Alu/Alu.h"
#include "ISA/Copy/Copy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

using namespace fp8::sim;

namespace {

/// Payload of ld and st.
struct Access {
  AccessSpace space;
  Strength strength;
  bool isSigned;
  uint32_t bytes;    ///< of an element
  uint32_t elements; ///< of the vector
  uint64_t kept;     ///< the bits that a register has
  bool nonCoherent;  ///< .nc
};

/// The element in the lowest bytes of a word, as a register has it.
uint64_t extend(const Access &a, uint64_t value) {
  const unsigned above = 64 - a.bytes * 8;
  return a.isSigned && a.bytes < 8
             ? uint64_t(int64_t(value << above) >> above) & a.kept
             : value;
}

/// Element `n` of the list, of which `at` has the bytes, goes to a lane.
void setElement(Warp &w, const Access &a, uint32_t row, int lane,
                const uint8_t *at) {
  uint64_t value = 0;
  std::memcpy(&value, at, a.bytes > 8 ? 8 : a.bytes);
  w.row(row)[lane] = extend(a, value);
  if (a.bytes == 16)
    std::memcpy(&w.row(row + 1)[lane], at + 8, 8);
}

/// And back.
void getElement(const Warp &w, const Access &a, uint32_t row, int lane,
                uint8_t *to) {
  std::memcpy(to, &w.row(row)[lane], a.bytes > 8 ? 8 : a.bytes);
  if (a.bytes == 16)
    std::memcpy(to + 8, &w.row(row + 1)[lane], 8);
}

void loadLane(Warp &w, const Inst &i, int l) {
  const Access &a = i.get<Access>();
  const uint32_t *rows = &w.machine.program.lists[i.list];
  UndefinedPart undefined;
  const uint8_t *source =
      access(w, i, l, a.space, w.row(i.s[0])[l] + uint64_t(i.offset),
             a.bytes * a.elements, false, a.strength, nullptr, &undefined);
  if (!source)
    return;
  if (a.nonCoherent)
    w.machine.checkNonCoherent(w, i, l, w.row(i.s[0])[l] + uint64_t(i.offset),
                               a.bytes * a.elements);
  if (undefined.bytes)
    leaveUndefined(w, i, l, {a.bytes, a.isSigned}, undefined);
  for (uint32_t n = 0; n < a.elements; ++n)
    setElement(w, a, rows[n], l, source + n * a.bytes);
}

/// Elements of `sizeof(T)` bytes, `pitch` bytes apart, go to the lanes.
template <typename T>
void setElements(const Access &a, uint64_t *row, uint32_t lanes,
                 const uint8_t *at, uint32_t pitch) {
  forLanes(lanes, [&](int l) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    row[l] = extend(a, value);
    at += pitch;
  });
}

/// The lanes of a run have read the bytes at `source`.
void takeRun(Warp &w, const Inst &i, const LaneRun &run,
             const uint8_t *source) {
  const Access &a = i.get<Access>();
  for (uint32_t n = 0; n < a.elements; ++n) {
    const uint32_t row = w.machine.program.lists[i.list + n];
    const uint8_t *at = source + n * a.bytes;
    switch (a.bytes) {
    case 1:
      setElements<uint8_t>(a, w.row(row), run.lanes, at, run.pitch);
      break;
    case 2:
      setElements<uint16_t>(a, w.row(row), run.lanes, at, run.pitch);
      break;
    case 4:
      setElements<uint32_t>(a, w.row(row), run.lanes, at, run.pitch);
      break;
    case 8:
      setElements<uint64_t>(a, w.row(row), run.lanes, at, run.pitch);
      break;
    default:
      forLanes(run.lanes, [&](int l) {
        setElement(w, a, row, l, at);
        at += run.pitch;
      });
    }
  }
}

Flow load(Warp &w, const Inst &i, uint32_t mask) {
  const Access &a = i.get<Access>();
  const uint32_t size = a.bytes * a.elements;
  notePoll(w, i, mask, a.space, size);
  if (a.strength != Strength::Weak) {
    forLanes(mask, [&](int l) {
      if (!w.machine.stopped)
        loadLane(w, i, l);
    });
    return Flow::Next;
  }
  // A destination may be the address.
  uint64_t addresses[32];
  std::copy_n(w.row(i.s[0]), 32, addresses);
  eachRun(mask, addresses, uint64_t(i.offset), size, true,
          [&](const LaneRun &run) {
            if (w.machine.stopped)
              return;
            if (const uint8_t *source =
                    accessRun(w, i, a.space, run, size, nullptr)) {
              if (a.nonCoherent)
                w.machine.checkNonCoherent(w, i, __builtin_ctz(run.lanes),
                                           run.address, run.bytes);
              return takeRun(w, i, run, source);
            }
            forLanes(run.lanes, [&](int l) {
              if (!w.machine.stopped)
                loadLane(w, i, l);
            });
          });
  return Flow::Next;
}

/// Where the bytes are that each lane has stored; null: it has not.
using Targets = std::array<const uint8_t *, 32>;

/// `undefined`: a register of the lane is. Returns where its bytes are.
const uint8_t *storeLane(Warp &w, const Inst &i, int l, bool isUndefined) {
  const Access &a = i.get<Access>();
  const uint32_t *rows = &w.machine.program.lists[i.list];
  uint8_t value[64];
  UndefinedPart undefined;
  if (isUndefined)
    gatherUndefined(w, i, l, {a.bytes, false}, undefined);
  for (uint32_t n = 0; n < a.elements; ++n)
    getElement(w, a, rows[n], l, value + n * a.bytes);
  const uint64_t address = w.row(i.s[0])[l] + uint64_t(i.offset);
  uint8_t *target =
      access(w, i, l, a.space, address, a.bytes * a.elements, true, a.strength,
             value, undefined.bytes ? &undefined : nullptr);
  if (undefined.bytes && isGlobal(a.space, address))
    reportStored(w, i, l, {a.bytes, false}, undefined);
  if (target)
    std::memcpy(target, value, a.bytes * a.elements);
  return target;
}

/// Stores those of a run at once, if it can be.
bool storeRun(Warp &w, const Inst &i, const LaneRun &run, Targets &targets) {
  const Access &a = i.get<Access>();
  uint8_t values[32 * 32];
  for (uint32_t n = 0; n < a.elements; ++n) {
    const uint32_t row = w.machine.program.lists[i.list + n];
    uint8_t *to = values + n * a.bytes;
    forLanes(run.lanes, [&](int l) {
      getElement(w, a, row, l, to);
      to += run.pitch;
    });
  }
  uint8_t *target = accessRun(w, i, a.space, run, run.pitch, values);
  if (!target)
    return false;
  std::memcpy(target, values, run.bytes);
  forLanes(run.lanes, [&, at = target](int l) mutable {
    targets[size_t(l)] = at;
    at += run.pitch;
  });
  return true;
}

/// Of lanes that store to the same bytes of shared memory any may be the last,
/// so they must store the same. Global memory has a check of its own.
void checkLanesAgree(Warp &w, const Inst &i, uint32_t mask,
                     const Targets &targets) {
  const Access &a = i.get<Access>();
  const uint8_t *shared = w.cta.shared.data();
  bool told = false;
  forLanes(mask, [&](int l) {
    const uint8_t *target = targets[size_t(l)];
    if (told || !target || std::less<>()(target, shared) ||
        !std::less<>()(target, shared + w.cta.shared.size()))
      return;
    uint8_t value[64];
    for (uint32_t n = 0; n < a.elements; ++n)
      getElement(w, a, w.machine.program.lists[i.list + n], l,
                 value + n * a.bytes);
    if (!std::memcmp(target, value, a.bytes * a.elements))
      return;
    told = true;
    w.machine.error(ErrorKind::Race,
                    "'" + Machine::mnemonic(&i) + "' writes " +
                        w.machine.sharedName(uint32_t(target - shared)) +
                        " in another lane with another value, so the result "
                        "is undefined; let one lane write, or use red or atom",
                    &w, &i, l);
  });
}

Flow store(Warp &w, const Inst &i, uint32_t mask) {
  const Access &a = i.get<Access>();
  const uint32_t undefinedLanes =
      w.undefinedLanes(&w.machine.program.lists[i.list], a.elements, mask);
  w.machine.progress();
  w.machine.beginStore();
  Targets targets{};
  // Runs whose addresses grow have no bytes in common.
  bool mayMeet = false;
  uint64_t end = 0;
  eachRun(mask, w.row(i.s[0]), uint64_t(i.offset), a.bytes * a.elements, false,
          [&](const LaneRun &run) {
            mayMeet |= run.address < end;
            end = std::max(end, run.address + run.bytes);
            if (!w.machine.stopped && a.strength == Strength::Weak &&
                !(run.lanes & undefinedLanes) && storeRun(w, i, run, targets))
              return;
            forLanes(run.lanes, [&](int l) {
              if (!w.machine.stopped)
                targets[size_t(l)] =
                    storeLane(w, i, l, undefinedLanes >> l & 1);
            });
          });
  if (mayMeet && a.strength == Strength::Weak &&
      a.space != AccessSpace::Global && w.machine.checksOrder &&
      !w.machine.stopped)
    checkLanesAgree(w, i, mask, targets);
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

bool fp8::sim::decodeAccess(Decoder &d, Inst &i, bool isLoad) {
  Access &access = i.make<Access>();
  access.strength = Strength::Weak;
  // st.async.release, to global memory, may land at once.
  if (d.take("async") && !d.requiresChip(100))
    return false;
  d.take("weak");
  // Volatile is relaxed, of scope .sys (PTX ISA 8.4, 9.7.9.8).
  if (d.take("mmio") || d.take("volatile"))
    access.strength = Strength::Relaxed;
  if (d.takeOneOf({"acquire", "release"}) >= 0)
    access.strength = Strength::Strong;
  if (d.take("relaxed"))
    access.strength = Strength::Relaxed;
  d.takeScope(i);
  bool perhapsFrame = d.hasQualifier("param");
  access.space = takeSpace(d);
  if (perhapsFrame && isFrameAccess(d))
    access.space = AccessSpace::Local;
  i.strong = access.strength != Strength::Weak;
  i.exclusive = i.strong && mayBeGlobal(access.space);
  access.nonCoherent = d.take("nc");
  if (access.nonCoherent && access.space != AccessSpace::Global)
    return d.fail("takes .nc of .global only");
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

void fp8::sim::addLoadStoreOpcodes(OpcodeTable &t) {
  for (const char *name : {"ld", "ldu"})
    t.add(name, [](Decoder &d, Inst &i) { return decodeAccess(d, i, true); });
  t.add("st", [](Decoder &d, Inst &i) {
    if (d.hasQualifier("async") && !d.hasQualifier("release"))
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
