// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pieces of a box, in the tensor and in shared memory (PTX ISA 5.5).

#include "ISA/Copy/Tma.h"

#include "Memory/Swizzle.h"

#include <algorithm>
#include <cstring>
#include <functional>

using namespace fp8::sim;

/// Bytes that swizzling keeps together.
static uint32_t chunkOf(Swizzle swizzle) {
  return patternOf(swizzle).flipMask ? 8 : 16;
}

namespace {
/// How a row of a box splits into chunks that are contiguous on both sides.
struct RowChunks {
  ElementInfo info;
  uint32_t groups;  ///< of elements in a row
  uint32_t atATime; ///< groups of a chunk

  explicit RowChunks(const TensorMap &map)
      : info(infoOf(map.elementType)), groups(map.box[0] / info.elements) {
    uint32_t chunk =
        map.swizzle == Swizzle::None ? bytes() : chunkOf(map.swizzle);
    atATime = isContiguous() ? std::max(1u, chunk / info.sharedBytes) : 1;
  }
  bool isContiguous() const { return !info.isPadded(); }
  uint32_t bytes() const { return groups * info.sharedBytes; }
};

/// The part of `count` elements from `first` on that lies in 0 to `extent`.
struct Clipped {
  int64_t below, inside, above;
  Clipped(int64_t first, int64_t count, uint64_t extent)
      : below(std::clamp<int64_t>(-first, 0, count)),
        above(std::clamp<int64_t>(first + count - int64_t(extent), 0, count)) {
    inside = std::max<int64_t>(0, count - below - above);
  }
};

/// A row of a box: where its dimensions but the innermost are 0.
struct Row {
  uint64_t address;
  bool inside; ///< the tensor

  Row(const TensorMap &map, const std::array<int64_t, 5> &at)
      : address(map.globalAddress), inside(true) {
    for (unsigned i = 1; i < map.rank; ++i) {
      inside &= at[i] >= 0 && uint64_t(at[i]) < map.dims[i];
      address += uint64_t(at[i]) * map.strides[i - 1];
    }
  }
};
using EachRow = std::function<void(const Row &)>;

void walkTile(const TensorMap &map, const BoxPlace &place,
              const EachRow &each) {
  std::array<int64_t, 5> at = place.coordinates;
  while (true) {
    each(Row(map, at));
    unsigned i = 1;
    for (; i < map.rank; ++i) {
      at[i] += map.elementStrides[i];
      if (at[i] < place.coordinates[i] + int64_t(map.box[i]))
        break;
      at[i] = place.coordinates[i];
    }
    if (i >= map.rank)
      return;
  }
}

/// Pixels follow each other within the corners, along W, then H, then D, then
/// N (PTX ISA 5.5.4.1); the offsets come on top.
void walkPixels(const TensorMap &map, const BoxPlace &place,
                const EachRow &each) {
  std::array<int64_t, 5> at = place.coordinates;
  const unsigned spatial = map.spatialDims();
  for (uint32_t pixel = 0; pixel < map.box[1]; ++pixel) {
    std::array<int64_t, 5> moved = at;
    for (unsigned i = 0; i < spatial; ++i)
      moved[i + 1] += place.offsets[i];
    each(Row(map, moved));
    unsigned i = 1;
    for (; i <= spatial; ++i) {
      at[i] += map.elementStrides[i];
      if (at[i] < int64_t(map.dims[i]) + map.upperCorner[i - 1])
        break;
      at[i] = map.lowerCorner[i - 1];
    }
    if (i > spatial)
      at[i] += map.elementStrides[i];
  }
}

void walkRows(const TensorMap &map, const BoxPlace &place,
              const EachRow &each) {
  for (uint32_t n = 1; n <= kGatheredRows; ++n)
    each(Row(map, {place.coordinates[0], place.coordinates[n]}));
}
} // namespace

void fp8::sim::copyRow(const TensorMap &map, uint32_t sharedBase,
                       uint32_t logical, uint32_t bytes, uint8_t *box,
                       const uint8_t *from) {
  if (map.swizzle == Swizzle::None) {
    std::memcpy(box + logical, from, bytes);
    return;
  }
  const uint32_t chunk = chunkOf(map.swizzle);
  auto place = [&](uint32_t x) {
    return swizzleAddress(map.swizzle, sharedBase + logical + x) - sharedBase;
  };
  uint32_t x = 0;
  for (; chunk == 16 && x + 16 <= bytes; x += 16)
    std::memcpy(box + place(x), from + x, 16);
  for (; x < bytes; x += chunk)
    std::memcpy(box + place(x), from + x, std::min(chunk, bytes - x));
}

void fp8::sim::walkBox(const TensorMap &map, const BoxPlace &place,
                       uint32_t sharedBase, BoxVisitor &visitor) {
  const RowChunks chunks(map);
  const ElementInfo &info = chunks.info;
  auto bytesOf = [&](int64_t elements) {
    return elements * info.globalBytes / info.elements;
  };
  const int64_t left = place.coordinates[0];
  const bool whole =
      chunks.isContiguous() && left >= 0 &&
      uint64_t(left) + chunks.groups * info.elements <= map.dims[0];
  auto swizzled = [&](uint32_t logical) {
    return swizzleAddress(map.swizzle, sharedBase + logical) - sharedBase;
  };
  auto showChunk = [&](const Row &row, uint32_t logical, uint32_t x) {
    const uint32_t groups = std::min(chunks.atATime, chunks.groups - x);
    const uint32_t shared = swizzled(logical + x * info.sharedBytes);
    const int64_t first = left + int64_t(x) * info.elements;
    const Clipped part(first, int64_t(groups) * info.elements, map.dims[0]);
    if (!row.inside || !part.inside)
      return visitor.fill(shared, groups * info.sharedBytes);
    const uint32_t skip = uint32_t(bytesOf(part.below)),
                   count = uint32_t(bytesOf(part.inside)),
                   tail = uint32_t(bytesOf(part.above));
    if (skip)
      visitor.fill(shared, skip);
    visitor.run(row.address + uint64_t(bytesOf(first + part.below)),
                shared + skip, count);
    if (tail)
      visitor.fill(shared + skip + count, tail);
  };
  uint32_t logical = 0; // offset within the box before swizzling
  static constexpr decltype(&walkTile) walks[] = {walkTile, walkPixels,
                                                  walkRows};
  walks[size_t(place.mode)](map, place, [&](const Row &row) {
    if (!(row.inside && whole &&
          visitor.row(row.address + uint64_t(bytesOf(left)), logical,
                      chunks.bytes())))
      for (uint32_t x = 0; x < chunks.groups; x += chunks.atATime)
        showChunk(row, logical, x);
    logical += chunks.bytes();
  });
}
