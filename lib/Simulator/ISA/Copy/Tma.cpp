// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of tensors: what they read and write (PTX ISA 9.7.9.27).

#include "ISA/Copy/TensorCopy.h"

#include <algorithm>
#include <cstring>

using namespace fp8::sim;

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

enum class Direction { Load, Store, Prefetch };

/// Elements of the tensor of which the first coordinate must be a multiple: 16
/// bytes, and of padded types a box (PTX ISA 5.5.1.1).
int64_t coordinateUnit(const TensorMap &map) {
  const ElementInfo &info = infoOf(map.elementType);
  return info.isPadded() ? map.box[0] : 16 * info.elements / info.globalBytes;
}

/// Which directions a type or a swizzle does not have (CUDA Driver API,
/// cuTensorMapEncodeTiled).
const char *missingDirection(const TensorMap &map, Direction direction) {
  if (map.elementType == ElementType::U4Align16 &&
      direction == Direction::Store)
    return "stores a tensor of type 16u4_align16b, which can only be loaded";
  if (map.elementType == ElementType::U6Align16 &&
      map.swizzle == Swizzle::B128Atom64 && direction == Direction::Load)
    return "loads a tensor of type 16u6_align16b with swizzle 128B_ATOM_64B, "
           "which can only be stored";
  return nullptr;
}

/// An H200 ends the kernel with an illegal instruction where a box does not
/// begin at 16 bytes within the tensor's rows and, of stores, where a
/// coordinate is negative (test/Integration, probe-store and probe-box).
bool checkCoordinates(Warp &w, const Inst &i, int lane, const TensorMap &map,
                      const BoxPlace &place, Direction direction) {
  const std::array<int64_t, 5> &coordinates = place.coordinates;
  auto fail = [&](unsigned dimension, const std::string &rule) {
    w.machine.error(ErrorKind::TensorMap,
                    "'" + Machine::mnemonic(&i) + "' has coordinate " +
                        std::to_string(coordinates[dimension]) +
                        " in dimension " + std::to_string(dimension) +
                        "; the rule is " + rule,
                    &w, &i, lane, true);
    return false;
  };
  if (const char *missing = missingDirection(map, direction)) {
    w.machine.error(ErrorKind::TensorMap,
                    "'" + Machine::mnemonic(&i) + "' " + missing, &w, &i, lane,
                    true);
    return false;
  }
  int64_t unit = coordinateUnit(map);
  if (direction != Direction::Prefetch && coordinates[0] % unit)
    return fail(0, "a multiple of " + std::to_string(unit) +
                       (infoOf(map.elementType).isPadded()
                            ? " (a row of the box)"
                            : " (16 bytes of the tensor's elements)"));
  // Rows that are scattered may lie outside: they are not written.
  unsigned checked = direction != Direction::Store ? 0
                     : place.mode == BoxMode::Rows ? 1
                                                   : map.rank;
  for (unsigned n = 0; n < checked; ++n)
    if (coordinates[n] < 0)
      return fail(
          n, "0 or more for stores; only loads may start before the tensor");
  return true;
}

/// What does not fit between the instruction and the map; "": nothing.
std::string misfit(const TensorCopy &copy, const TensorMap &map) {
  if (map.rank != copy.rank)
    return "has " + std::to_string(copy.rank) +
           " dimensions, but its tensor map has " + std::to_string(map.rank);
  bool isColumn = copy.mode == BoxMode::Im2col;
  if (isColumn != (map.mode == TensorMapMode::Im2col))
    return isColumn ? "copies pixels, but its tensor map is of boxes "
                      "(cuTensorMapEncodeTiled); encode it by "
                      "cuTensorMapEncodeIm2col"
                    : "copies a box, but its tensor map is of pixels "
                      "(cuTensorMapEncodeIm2col); encode it by "
                      "cuTensorMapEncodeTiled";
  if (copy.mode == BoxMode::Rows && map.box[1] != 1)
    return "copies four rows, but its tensor map has boxes of " +
           std::to_string(map.box[1]) + " rows; the rule is 1";
  return {};
}

bool placeOf(Warp &w, const Inst &i, int lane, const TensorMap &map,
             Direction direction, BoxPlace &out) {
  const TensorCopy &copy = i.get<TensorCopy>();
  if (map.interleave != Interleave::None) {
    w.machine.error(ErrorKind::Unsupported,
                    "'" + Machine::mnemonic(&i) +
                        "' takes an interleaved tensor map, which is not "
                        "supported; encode it without interleave",
                    &w, &i, lane, true);
    return false;
  }
  if (std::string wrong = misfit(copy, map); !wrong.empty()) {
    w.machine.error(ErrorKind::TensorMap,
                    "'" + Machine::mnemonic(&i) + "' " + wrong, &w, &i, lane,
                    true);
    return false;
  }
  out.mode = copy.mode;
  const uint32_t *rows = &w.machine.program.lists[i.list];
  for (uint32_t n = 0; n < copy.coordinates(); ++n)
    out.coordinates[n] = int32_t(w.row(rows[n])[lane]);
  for (uint32_t n = 0; n < copy.offsets; ++n)
    out.offsets[n] = uint16_t(w.row(rows[copy.coordinates() + n])[lane]);
  return checkCoordinates(w, i, lane, map, out, direction);
}

bool checkSharedAlignment(Warp &w, const Inst &i, int lane, uint64_t address) {
  // 128 bytes always; a swizzled box must start where the pattern repeats for
  // the addresses here to be what they seem.
  if (address % 128 == 0)
    return true;
  w.machine.error(ErrorKind::Misaligned,
                  "'" + Machine::mnemonic(&i) + "' uses " +
                      w.machine.sharedName(address & kSharedOffsetMask) +
                      "; the rule is a multiple of 128 bytes",
                  &w, &i, lane, true);
  return false;
}

const TensorMap *mapOf(Warp &w, const Inst &i, int lane) {
  return w.machine.tensorMapAt(
      w, i, lane, w.row(i.s[1])[lane] + i.get<TensorCopy>().mapOffset);
}

/// One lane's box: in the tensor, and in shared memory.
struct Box {
  const TensorMap *map;
  BoxPlace place;
  uint64_t shared; ///< shared::cluster address

  uint32_t base() const { return uint32_t(shared) & kSharedOffsetMask; }
  /// Boxes of the map that the copy takes.
  uint32_t count() const {
    return place.mode == BoxMode::Rows ? kGatheredRows : 1;
  }
  uint32_t bytes() const { return uint32_t(map->boxBytes()) * count(); }
  uint32_t copiedBytes() const {
    return uint32_t(map->copiedBytes()) * count();
  }
};

/// How many of the box's elements lie in the tensor along one dimension.
uint32_t extentInside(const Box &box, unsigned n) {
  int64_t first = box.place.coordinates[n], extent = box.map->box[n];
  int64_t end = std::min<int64_t>(first + extent, int64_t(box.map->dims[n]));
  return uint32_t(std::max<int64_t>(end - std::max<int64_t>(first, 0), 0));
}

/// What the timing model asks of a box: its bytes in the tensor, and how many
/// of a matrix's rows are not.
BoxInside insideOf(const Box &box) {
  BoxInside inside;
  inside.bytes = box.bytes();
  if (box.place.mode != BoxMode::Tile)
    return inside;
  for (unsigned n = 1; n < box.map->rank; ++n)
    inside.begin +=
        uint64_t(box.place.coordinates[n]) * box.map->strides[n - 1];
  inside.begin += uint64_t(box.place.coordinates[0]);
  inside.column = int32_t(box.place.coordinates[0]);
  for (unsigned n = 0; n < box.map->rank; ++n)
    inside.bytes = uint32_t(uint64_t(inside.bytes) * extentInside(box, n) /
                            box.map->box[n]);
  if (box.map->rank > 1) {
    inside.rows = extentInside(box, 1);
    inside.rowsBeyond = box.map->box[1] - inside.rows;
    inside.strips =
        uint32_t((box.map->dims[1] + box.map->box[1] - 1) / box.map->box[1]);
  }
  return inside;
}

/// False after an error.
bool boxOf(Warp &w, const Inst &i, int lane, Direction direction, Box &box) {
  if (w.machine.stopped)
    return false;
  box.map = mapOf(w, i, lane);
  w.machine.checkBehindGridWait(w, i, lane);
  box.shared = w.row(i.s[0])[lane] + uint64_t(i.offset);
  return box.map && placeOf(w, i, lane, *box.map, direction, box.place) &&
         checkSharedAlignment(w, i, lane, box.shared);
}

/// Bytes that the host's memory moves at a time.
constexpr uint32_t kHostLine = 64;

/// Copies a lane's box to shared memory.
class BoxLoad : public BoxVisitor {
public:
  BoxLoad(Warp &warp, const Inst &inst, int lane, const Box &box,
          const SharedPlace &to, const GlobalActor &actor)
      : warp(warp), inst(inst), lane(lane), box(box), to(to), actor(actor) {}

  void run(uint64_t global, uint32_t shared, uint32_t bytes) override {
    if (warp.machine.stopped)
      return;
    if (const uint8_t *from = known(global, bytes)) {
      std::memcpy(to.data() + shared, from, bytes);
      return;
    }
    read = true;
    const uint8_t *from = warp.machine.accessGlobal(warp, inst, lane, actor,
                                                    global, bytes, false);
    if (!from)
      return;
    std::memcpy(to.data() + shared, from, bytes);
    warp.machine.landUnwritten(inst, global, bytes, to + shared);
  }
  void fill(uint32_t shared, uint32_t bytes) override {
    fillBytes(*box.map, to.data() + shared, bytes);
  }
  bool row(uint64_t global, uint32_t logical, uint32_t bytes) override {
    const uint8_t *from = warp.machine.stopped ? nullptr : known(global, bytes);
    if (!from)
      return false;
    // Rows lie far apart, and the next ones are soon needed.
    const uintptr_t next =
        reinterpret_cast<uintptr_t>(from) + 4 * box.map->strides[0];
    for (uint32_t at = 0; at < bytes; at += kHostLine)
      __builtin_prefetch(reinterpret_cast<const void *>(next + at));
    copyRow(*box.map, box.base(), logical, bytes, to.data(), from);
    return true;
  }

private:
  Warp &warp;
  const Inst &inst;
  const int lane;
  const Box &box;
  const SharedPlace &to;
  const GlobalActor &actor;
  bool read = false;

  /// The bytes of a further read, where it needs no check.
  const uint8_t *known(uint64_t global, uint32_t bytes) const {
    return read ? warp.machine.constantGlobal(global, bytes) : nullptr;
  }
};

/// Shows the pieces of a box that a store writes.
class WrittenPieces : public BoxVisitor {
public:
  explicit WrittenPieces(const SourceVisitor &visit) : visit(visit) {}

  void run(uint64_t, uint32_t shared, uint32_t bytes) override {
    visit(shared, bytes);
  }
  void fill(uint32_t, uint32_t) override {}

private:
  const SourceVisitor &visit;
};

/// Writes a lane's box from the bytes of shared memory.
class BoxStore : public BoxVisitor {
public:
  BoxStore(Warp &warp, const Inst &inst, int lane, const TensorMap &map,
           const uint8_t *from, const GlobalActor &actor)
      : warp(warp), inst(inst), lane(lane), map(map), from(from), actor(actor) {
  }

  void run(uint64_t global, uint32_t shared, uint32_t bytes) override {
    if (warp.machine.stopped)
      return;
    const Reduction reduction = inst.get<TensorCopy>().reduction;
    const bool reduces = reduction != Reduction::None;
    if (uint8_t *to =
            warp.machine.accessGlobal(warp, inst, lane, actor, global, bytes,
                                      true, reduces ? nullptr : from + shared))
      reduceBytes(map.elementType, reduction, to, from + shared, bytes);
  }
  void fill(uint32_t, uint32_t) override {}

private:
  Warp &warp;
  const Inst &inst;
  const int lane;
  const TensorMap &map;
  const uint8_t *from;
  const GlobalActor &actor;
};

} // namespace

Flow fp8::sim::loadTensor(Warp &w, const Inst &i, uint32_t mask) {
  const TensorCopy &copy = i.get<TensorCopy>();
  forLanes(mask, [&](int l) {
    Box box;
    if (!boxOf(w, i, l, Direction::Load, box))
      return;
    BulkLoad load;
    load.target = box.shared;
    load.bytes = box.bytes();
    load.padding = load.bytes - box.copiedBytes();
    load.barrier = w.row(i.s[2])[l] + copy.barrierOffset;
    load.multicast = i.sources > 3;
    if (load.multicast)
      load.ctaMask = uint32_t(w.row(i.s[3])[l]) & 0xffff;
    load.pair = copy.pair;
    load.readsGlobal = true;
    load.global = box.map->globalAddress;
    load.inside = insideOf(box);
    Warp *warp = &w;
    // The box must lie in global memory wherever it is inside the tensor; say
    // so at issue.
    issueLoad(
        w, i, l, load,
        [warp, &i, l, box](const SharedPlace &to, const GlobalActor &actor) {
          BoxLoad visitor(*warp, i, l, box, to, actor);
          walkBox(*box.map, box.place, box.base(), visitor);
        });
  });
  return Flow::Next;
}

/// The tensor as a store of it sees it: the last 16 bytes of a row are written
/// whole, with what the box has behind the row's end (measured on an H200).
static TensorMap withWholeUnits(TensorMap map) {
  uint64_t unit = uint64_t(coordinateUnit(map));
  map.dims[0] = (map.dims[0] + unit - 1) / unit * unit;
  return map;
}

Flow fp8::sim::storeTensor(Warp &w, const Inst &i, uint32_t mask) {
  const bool reduces = i.get<TensorCopy>().reduction != Reduction::None;
  forLanes(mask, [&](int l) {
    Box box;
    if (!boxOf(w, i, l, Direction::Store, box))
      return;
    const ElementInfo &info = infoOf(box.map->elementType);
    if (reduces && (info.globalBytes < 2 || info.isPacked())) {
      w.machine.error(ErrorKind::TensorMap,
                      "'" + Machine::mnemonic(&i) + "' cannot reduce " +
                          std::string(info.name) + " elements",
                      &w, &i, l, true);
      return;
    }
    Warp *warp = &w;
    const BoxInside inside = insideOf(box);
    const TensorMap map = withWholeUnits(*box.map);
    issueStore(
        w, i, l, box.shared, box.bytes(),
        {box.map->globalAddress, inside.bytes, inside.rows}, reduces,
        [&](const SourceVisitor &visit) {
          WrittenPieces pieces(visit);
          walkBox(map, box.place, box.base(), pieces);
        },
        [warp, &i, l, box, map](const uint8_t *bytes,
                                const GlobalActor &actor) {
          BoxStore visitor(*warp, i, l, map, bytes, actor);
          walkBox(map, box.place, box.base(), visitor);
        });
  });
  return Flow::Next;
}

Flow fp8::sim::prefetchTensor(Warp &w, const Inst &i, uint32_t mask) {
  forLanes(mask, [&](int l) {
    BoxPlace place;
    if (w.machine.stopped)
      return;
    if (const TensorMap *map = mapOf(w, i, l))
      placeOf(w, i, l, *map, Direction::Prefetch, place);
  });
  return Flow::Next;
}
