// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors of operands in shared memory, and what they describe.

#include "ISA/TensorCore/OperandLayout.h"

#include "Memory/Swizzle.h"

#include <array>
#include <map>

using namespace fp8::sim;

std::optional<std::string>
fp8::sim::decodeMatrixDescriptor(uint64_t bits, bool mnMajor,
                                 unsigned elementBytes,
                                 MatrixDescriptor &descriptor) {
  auto field = [&](unsigned low, unsigned count) {
    return uint32_t(bits >> low & ((uint64_t(1) << count) - 1));
  };
  if (field(46, 3) != 1)
    return "bits 46-48 are " + std::to_string(field(46, 3)) +
           "; the rule is 1 (version of the descriptor)";
  if (field(14, 2) || field(30, 2) || field(53, 8))
    return std::string("a reserved bit is set");
  if (field(52, 1))
    return std::string(
        "the absolute leading dimension mode (bit 52) is not supported");
  switch (field(61, 3)) {
  case 0:
    descriptor.swizzle = Swizzle::None;
    break;
  case 2:
    descriptor.swizzle = Swizzle::B128;
    break;
  case 4:
    descriptor.swizzle = Swizzle::B64;
    break;
  case 6:
    descriptor.swizzle = Swizzle::B32;
    break;
  case 1:
    return std::string(
        "the layout 128-byte swizzle with 32-byte atoms (1) is not supported");
  default:
    return "the layout (bits 61-63) is " + std::to_string(field(61, 3)) +
           "; the rule is 0, 1, 2, 4 or 6";
  }
  descriptor.start = field(0, 14) << 4;
  descriptor.leading = field(16, 14) << 4;
  descriptor.stride = field(32, 14) << 4;
  descriptor.baseOffset = field(49, 3);
  descriptor.mnMajor = mnMajor;
  descriptor.elementBytes = elementBytes;
  if (descriptor.baseOffset)
    return std::string("the base offset is not zero, which is not supported; "
                       "start the swizzle pattern on its boundary");
  if (mnMajor && elementBytes == 4)
    return std::string("MN-major operands are not supported for kind::tf32");
  return std::nullopt;
}

uint32_t MatrixDescriptor::address(uint32_t row, uint32_t k) const {
  uint32_t span = swizzle == Swizzle::None ? 16 : spanBytes(swizzle);
  uint32_t offset;
  if (!mnMajor) {
    uint32_t byte = k * elementBytes;
    // 8 rows make a core matrix; without swizzle the next 16 bytes of K are a
    // leading dimension away.
    offset = row / 8 * stride + row % 8 * span;
    offset += swizzle == Swizzle::None ? byte / 16 * leading + byte % 16 : byte;
  } else {
    uint32_t byte = row * elementBytes;
    uint32_t across = swizzle == Swizzle::None ? stride : leading;
    uint32_t down = swizzle == Swizzle::None ? leading : stride;
    offset = byte / span * across + byte % span + k % 8 * span + k / 8 * down;
  }
  return swizzleAddress(swizzle, start + offset);
}

static std::vector<SharedRun> joinChunks(const std::vector<uint32_t> &chunks,
                                         uint32_t used) {
  std::vector<SharedRun> runs;
  for (uint32_t address : chunks)
    if (!runs.empty() && runs.back().begin + runs.back().size == address)
      runs.back().size += 16;
    else if (!runs.empty() && address + 16 == runs.back().begin)
      runs.back() = {address, runs.back().size + 16, false, used};
    else
      runs.push_back({address, 16, false, used});
  return runs;
}

static OperandLayout makeLayout(const MatrixDescriptor &descriptor,
                                uint32_t rows, uint32_t k, uint32_t used) {
  OperandLayout layout{descriptor.mnMajor, rows, k, {}, {}};
  const uint32_t perChunk = 16 / descriptor.elementBytes;
  const uint32_t outer = descriptor.mnMajor ? k : rows,
                 inner = descriptor.mnMajor ? rows : k;
  for (uint32_t o = 0; o < outer; ++o)
    for (uint32_t i = 0; i < inner; i += perChunk)
      layout.chunks.push_back(descriptor.mnMajor ? descriptor.address(i, o)
                                                 : descriptor.address(o, i));
  layout.footprint = Footprint(joinChunks(layout.chunks, used));
  return layout;
}

std::shared_ptr<const OperandLayout>
fp8::sim::layoutOf(const MatrixDescriptor &descriptor, uint32_t rows,
                   uint32_t k, uint32_t used) {
  using Key = std::array<uint32_t, 9>;
  static constexpr size_t kMost = 1024;
  static thread_local std::map<Key, std::shared_ptr<const OperandLayout>> known;
  if (known.size() >= kMost)
    known.clear();
  auto &layout =
      known[Key{descriptor.start, descriptor.leading, descriptor.stride,
                uint32_t(descriptor.swizzle), descriptor.mnMajor,
                descriptor.elementBytes, rows, k, used}];
  if (!layout)
    layout =
        std::make_shared<OperandLayout>(makeLayout(descriptor, rows, k, used));
  return layout;
}
