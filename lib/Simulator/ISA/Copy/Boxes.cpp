// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pieces of a box, in the tensor and in shared memory (PTX ISA 5.5).

#include "ISA/Copy/Tma.h"

#include "Memory/Swizzle.h"

#include <algorithm>

using namespace fp8::sim;

namespace {
/// How a row of a box splits into chunks that are contiguous on both sides.
struct RowChunks {
  ElementInfo info;
  uint32_t groups;  ///< of elements in a row
  uint32_t atATime; ///< groups of a chunk
  int64_t step;     ///< elements of the tensor from one to the next

  RowChunks(const TensorMap &map, uint32_t extent)
      : info(infoOf(map.elementType)), groups(extent / info.elements),
        step(map.elementStrides[0]) {
    uint32_t chunk = map.swizzle == Swizzle::None      ? bytes()
                     : patternOf(map.swizzle).flipMask ? 8
                                                       : 16;
    bool contiguous = step == 1 && !info.isPadded();
    atATime = contiguous ? std::max(1u, chunk / info.sharedBytes) : 1;
  }
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
} // namespace

void fp8::sim::walkBox(
    const TensorMap &map, const std::array<int64_t, 5> &coordinates,
    uint32_t sharedBase,
    const std::function<void(uint64_t, uint32_t, uint32_t)> &run,
    const std::function<void(uint32_t, uint32_t)> &fill) {
  std::array<uint32_t, 5> extent{1, 1, 1, 1, 1};
  for (unsigned i = 0; i < map.rank; ++i)
    extent[i] =
        (map.box[i] + map.elementStrides[i] - 1) / map.elementStrides[i];
  const RowChunks chunks(map, extent[0]);
  const ElementInfo &info = chunks.info;
  auto bytesOf = [&](int64_t elements) {
    return elements * info.globalBytes / info.elements;
  };
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
    for (uint32_t x = 0; x < chunks.groups; x += chunks.atATime) {
      uint32_t groups = std::min(chunks.atATime, chunks.groups - x);
      uint32_t offset = logical + x * info.sharedBytes;
      uint32_t shared =
          swizzleAddress(map.swizzle, sharedBase + offset) - sharedBase;
      int64_t first = coordinates[0] + int64_t(x) * info.elements * chunks.step;
      Clipped part(first, int64_t(groups) * info.elements, map.dims[0]);
      if (!rowInside || !part.inside) {
        fill(shared, groups * info.sharedBytes);
        continue;
      }
      uint32_t skip = uint32_t(bytesOf(part.below)),
               count = uint32_t(bytesOf(part.inside)),
               tail = uint32_t(bytesOf(part.above));
      if (skip)
        fill(shared, skip);
      run(row + uint64_t(bytesOf(first + part.below)), shared + skip, count);
      if (tail)
        fill(shared + skip + count, tail);
    }
    logical += chunks.bytes();
    unsigned i = 1;
    while (i < map.rank && ++at[i] == extent[i])
      at[i++] = 0;
    if (i >= map.rank)
      return;
  }
}
