// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tile mode (PTX
// ISA 9.7.9.27).

#include "ISA/Copy/Tma.h"

#include "ISA/Alu/Alu.h"
#include "ISA/Copy/Copy.h"
#include "Memory/Swizzle.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace fp8::sim;

void fp8::sim::walkBox(
    const TensorMap &map, const std::array<int64_t, 5> &coordinates,
    uint32_t sharedBase,
    const std::function<void(uint64_t, uint32_t, uint32_t)> &run,
    const std::function<void(uint32_t, uint32_t)> &fill) {
  uint32_t element = elementBytes(map.elementType);
  std::array<uint32_t, 5> extent{1, 1, 1, 1, 1};
  for (unsigned i = 0; i < map.rank; ++i)
    extent[i] =
        (map.box[i] + map.elementStrides[i] - 1) / map.elementStrides[i];
  uint32_t innerBytes = extent[0] * element;
  bool contiguous = map.elementStrides[0] == 1;
  uint32_t chunk = map.swizzle != Swizzle::None ? 16
                   : contiguous                 ? innerBytes
                                                : element;
  if (!contiguous)
    chunk = element;
  std::array<uint32_t, 5> at{};
  uint32_t logical = 0; // offset within the box before swizzling
  while (true) {
    bool rowInside = true;
    uint64_t row = map.globalAddress;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t c = coordinates[i] + int64_t(at[i]) * map.elementStrides[i];
      rowInside &= c >= 0 && uint64_t(c) < map.dims[i];
      row += uint64_t(c) * map.strides[i - 1];
    }
    for (uint32_t x = 0; x < innerBytes; x += chunk) {
      uint32_t bytes = std::min(chunk, innerBytes - x);
      uint32_t shared =
          swizzleAddress(map.swizzle, sharedBase + logical + x) - sharedBase;
      int64_t first =
          coordinates[0] + int64_t(x / element) * map.elementStrides[0];
      int64_t count = bytes / element;
      int64_t below = std::clamp<int64_t>(-first, 0, count);
      int64_t above =
          std::clamp<int64_t>(first + count - int64_t(map.dims[0]), 0, count);
      if (!contiguous)
        above = first >= int64_t(map.dims[0]) ? count : 0;
      if (!rowInside || below + above >= count) {
        fill(shared, bytes);
        continue;
      }
      uint32_t skip = uint32_t(below) * element,
               tail = uint32_t(above) * element;
      if (skip)
        fill(shared, skip);
      run(row + uint64_t((first + below) * int64_t(element)), shared + skip,
          bytes - skip - tail);
      if (tail)
        fill(shared + bytes - tail, tail);
    }
    logical += innerBytes;
    unsigned i = 1;
    while (i < map.rank && ++at[i] == extent[i])
      at[i++] = 0;
    if (i >= map.rank)
      return;
  }
}

namespace {

/// NaN fill writes a quiet NaN of the type that NVIDIA does not name. An H200
/// writes 0x7ff7 for bf16; other types are not measured.
void fillBytes(const TensorMap &map, uint8_t *target, uint32_t bytes) {
  if (map.oobFill == OobFill::Zero) {
    std::memset(target, 0, bytes);
    return;
  }
  std::memset(target, 0xff, bytes);
  if (elementBytes(map.elementType) == 2)
    for (uint32_t i = 0; i + 1 < bytes; i += 2) {
      target[i] = 0xf7;
      target[i + 1] = 0x7f;
    }
}

// Inst::aux: rank; aux2: of a load 1 for .cta_group::2, else reduction (0 none,
// 1 add, 2 min, 3 max, 4 inc, 5 dec, 6 and, 7 or, 8 xor); sources: 0 shared
// address, 1 map, 2 mbarrier (loads), then the CTA mask if multicast; list:
// coordinates. offset: of the shared address; imm: of the map (with its
// window); offset2: of the mbarrier.

enum class Direction { Load, Store, Prefetch };

/// An H200 ends the kernel with an illegal instruction where a box does not
/// begin at 16 bytes within the tensor's rows and, of stores, where a
/// coordinate is negative (test/Integration, probe-store and probe-box).
bool checkCoordinates(Warp &w, const Inst &i, int lane, const TensorMap &map,
                      const std::array<int64_t, 5> &coordinates,
                      Direction direction) {
  auto fail = [&](unsigned dimension, const std::string &rule) {
    w.machine.error(ErrorKind::TensorMap,
                    "'" + Machine::mnemonic(&i) + "' has coordinate " +
                        std::to_string(coordinates[dimension]) +
                        " in dimension " + std::to_string(dimension) +
                        ", the rule is " + rule,
                    &w, &i, lane, true);
    return false;
  };
  int64_t unit = 16 / elementBytes(map.elementType);
  if (direction != Direction::Prefetch && map.interleave == Interleave::None &&
      coordinates[0] % unit)
    return fail(0, "a multiple of " + std::to_string(unit) +
                       ", 16 bytes of the tensor's elements");
  for (unsigned n = 0; direction == Direction::Store && n < map.rank; ++n)
    if (coordinates[n] < 0)
      return fail(n, "0 or more for stores; only loads fill what lies in "
                     "front of the tensor");
  return true;
}

bool coordinatesOf(Warp &w, const Inst &i, int lane, const TensorMap &map,
                   Direction direction, std::array<int64_t, 5> &out) {
  if (map.rank != i.aux) {
    w.machine.error(
        ErrorKind::TensorMap,
        "'" + Machine::mnemonic(&i) + "' has " + std::to_string(i.aux) +
            " dimensions and its tensor map " + std::to_string(map.rank),
        &w, &i, lane, true);
    return false;
  }
  for (uint32_t n = 0; n < i.aux; ++n)
    out[n] = int32_t(w.row(w.machine.program.lists[i.list + n])[lane]);
  return checkCoordinates(w, i, lane, map, out, direction);
}

bool checkSharedAlignment(Warp &w, const Inst &i, int lane,
                          const TensorMap &map, uint64_t address) {
  // 128 bytes always; a swizzled box must start where the pattern repeats for
  // the addresses here to be what they seem.
  if (address % 128 == 0)
    return true;
  w.machine.error(ErrorKind::Misaligned,
                  "'" + Machine::mnemonic(&i) + "' uses " +
                      w.machine.sharedName(address & kSharedOffsetMask) +
                      ", the rule is a multiple of 128 bytes",
                  &w, &i, lane, true);
  (void)map;
  return false;
}

Flow tensorLoad(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  forLanes(mask, [&](int l) {
    if (m.stopped)
      return;
    const TensorMap *map = m.tensorMapAt(w, i, l, w.row(i.s[1])[l] + i.imm);
    m.checkBehindGridWait(w, i, l);
    std::array<int64_t, 5> coordinates{};
    uint64_t target = w.row(i.s[0])[l] + uint64_t(i.offset);
    if (!map || !coordinatesOf(w, i, l, *map, Direction::Load, coordinates) ||
        !checkSharedAlignment(w, i, l, *map, target))
      return;
    BulkLoad load;
    load.target = target;
    load.bytes = uint32_t(map->boxBytes());
    load.barrier = w.row(i.s[2])[l] + i.offset2;
    load.multicast = i.sources > 3;
    if (load.multicast)
      load.ctaMask = uint32_t(w.row(i.s[3])[l]) & 0xffff;
    load.pair = i.aux2;
    load.readsGlobal = true;
    Warp *warp = &w;
    uint32_t base = uint32_t(target) & kSharedOffsetMask;
    // The box must lie in global memory wherever it is inside the tensor; say
    // so at issue.
    issueLoad(w, i, l, load,
              [warp, &i, l, map, coordinates, base](uint8_t *box,
                                                    const GlobalActor &actor) {
                walkBox(
                    *map, coordinates, base,
                    [&](uint64_t global, uint32_t shared, uint32_t count) {
                      if (warp->machine.stopped)
                        return;
                      if (const uint8_t *from = warp->machine.accessGlobal(
                              *warp, i, l, actor, global, count, false))
                        std::memcpy(box + shared, from, count);
                    },
                    [&](uint32_t shared, uint32_t count) {
                      fillBytes(*map, box + shared, count);
                    });
              });
  });
  return Flow::Next;
}

/// The tensor as a store of it sees it: the last 16 bytes of a row are written
/// whole, with what the box has behind the row's end (measured on an H200).
TensorMap withWholeUnits(TensorMap map) {
  if (map.elementStrides[0] == 1) {
    uint64_t unit = 16 / elementBytes(map.elementType);
    map.dims[0] = (map.dims[0] + unit - 1) / unit * unit;
  }
  return map;
}

Flow tensorStore(Warp &w, const Inst &i, uint32_t mask) {
  Machine &m = w.machine;
  forLanes(mask, [&](int l) {
    if (m.stopped)
      return;
    const TensorMap *map = m.tensorMapAt(w, i, l, w.row(i.s[1])[l] + i.imm);
    m.checkBehindGridWait(w, i, l);
    std::array<int64_t, 5> coordinates{};
    uint64_t source = w.row(i.s[0])[l] + uint64_t(i.offset);
    if (!map || !coordinatesOf(w, i, l, *map, Direction::Store, coordinates) ||
        !checkSharedAlignment(w, i, l, *map, source))
      return;
    if (i.aux2 && elementBytes(map->elementType) < 2) {
      m.error(ErrorKind::TensorMap,
              "'" + Machine::mnemonic(&i) + "' cannot reduce 8-bit elements",
              &w, &i, l, true);
      return;
    }
    Warp *warp = &w;
    uint32_t base = uint32_t(source) & kSharedOffsetMask;
    issueStore(w, i, l, source, uint32_t(map->boxBytes()), i.aux2 != 0,
               [warp, &i, l, map = withWholeUnits(*map), coordinates,
                base](const uint8_t *box, const GlobalActor &actor) {
                 walkBox(
                     map, coordinates, base,
                     [&](uint64_t global, uint32_t shared, uint32_t count) {
                       if (warp->machine.stopped)
                         return;
                       if (uint8_t *to = warp->machine.accessGlobal(
                               *warp, i, l, actor, global, count, true,
                               i.aux2 ? nullptr : box + shared))
                         reduceBytes(map.elementType, i.aux2, to, box + shared,
                                     count);
                     },
                     [](uint32_t, uint32_t) {});
               });
  });
  return Flow::Next;
}

Flow tensorPrefetch(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) {
    std::array<int64_t, 5> coordinates;
    if (w.machine.stopped)
      return;
    if (const TensorMap *map =
            w.machine.tensorMapAt(w, i, l, w.row(i.s[1])[l] + i.imm))
      coordinatesOf(w, i, l, *map, Direction::Prefetch, coordinates);
  });
  return Flow::Next;
}

/// `[map, {coordinates}]`: source 1, and the list.
bool mapAndCoordinates(Decoder &d, Inst &i) {
  const ast::Operand *whole;
  int64_t offset = i.offset;
  if (!d.address(i, &whole))
    return false;
  if (whole->elements.size() != 2 ||
      whole->elements[1].kind != ast::Operand::Kind::Vector)
    return d.fail("needs a tensor operand [map, {coordinates}]");
  const std::vector<ast::Operand> &coordinates = whole->elements[1].elements;
  if (coordinates.size() != i.aux)
    return d.fail("needs " + std::to_string(i.aux) + " coordinates, not " +
                  std::to_string(coordinates.size()));
  i.imm = uint64_t(std::exchange(i.offset, offset));
  // A parameter's name stands for its address in parameter space.
  const ast::Operand &base = whole->elements[0];
  if (base.kind == ast::Operand::Kind::Symbol)
    for (const EntryParameter &parameter : d.function.signature.parameters)
      if (parameter.name == base.name)
        i.imm += kParamWindow;
  i.list = uint32_t(d.program.lists.size());
  i.listCount = i.aux;
  for (const ast::Operand &coordinate : coordinates) {
    uint32_t row;
    if (!d.row(coordinate, Type::S32, row))
      return false;
    d.program.lists.push_back(row);
  }
  return true;
}

bool takeRank(Decoder &d, Inst &i) {
  int rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (rank < 0)
    return d.fail("needs .1d to .5d");
  i.aux = uint32_t(rank) + 1;
  if (d.hasQualifier("im2col") || d.hasQualifier("im2col_no_offs") ||
      d.hasQualifier("tile::gather4") || d.hasQualifier("tile::scatter4"))
    return d.fail("is supported in tile mode only");
  return true;
}

bool finishHint(Decoder &d) { return !d.cacheHint || d.takeOperand(); }

bool decodeStore(Decoder &d, Inst &i) {
  i.fn = tensorStore;
  if (d.takeOneOf({"shared::cta"}) < 0 || !d.take("bulk_group"))
    return d.fail("stores from .shared::cta with .bulk_group only");
  // The map comes first in the text; the shared address is source 0 for all
  // copies.
  if (!mapAndCoordinates(d, i))
    return false;
  i.s[1] = i.s[0];
  i.sources = 0;
  if (!d.address(i))
    return false;
  i.sources = 2;
  return finishHint(d);
}

} // namespace

bool fp8::sim::decodeBulkTensor(Decoder &d, Inst &i) {
  d.take("tensor");
  bool prefetch = d.take("prefetch");
  if (!takeRank(d, i))
    return false;
  d.take("tile");
  d.dropCacheHints();
  if (prefetch) {
    i.fn = tensorPrefetch;
    if (!d.take("L2") || !d.take("global"))
      return d.fail("is not supported in this form");
    if (!mapAndCoordinates(d, i))
      return false;
    i.s[1] = i.s[0];
    i.sources = 2;
    return finishHint(d);
  }
  const std::vector<std::string> &q = d.text().qualifiers;
  size_t global = size_t(std::find(q.begin(), q.end(), "global") - q.begin());
  size_t shared = size_t(std::find_if(q.begin(), q.end(),
                                      [](const std::string &s) {
                                        return s.rfind("shared", 0) == 0;
                                      }) -
                         q.begin());
  if (!d.take("global"))
    return d.fail("needs .global");
  if (global < shared)
    return decodeStore(d, i);
  if (d.takeOneOf({"shared::cluster", "shared::cta"}) < 0)
    return d.fail("loads to .shared::cluster or .shared::cta");
  if (!d.take("mbarrier::complete_tx::bytes"))
    return d.fail("needs .mbarrier::complete_tx::bytes");
  bool multicast = d.take("multicast::cluster");
  i.aux2 = d.takeOneOf({"cta_group::1", "cta_group::2"}) == 1;
  i.fn = tensorLoad;
  if (!d.address(i) || !mapAndCoordinates(d, i) || !d.address(i, i.offset2))
    return false;
  if (multicast && !d.source(i, Type::U16))
    return false;
  return finishHint(d);
}

bool fp8::sim::decodeReduceTensor(Decoder &d, Inst &i) {
  if (!takeRank(d, i))
    return false;
  d.take("tile");
  d.dropCacheHints();
  if (!d.take("global"))
    return d.fail("needs .global");
  return takeReduction(d, i.aux2) && decodeStore(d, i);
}
