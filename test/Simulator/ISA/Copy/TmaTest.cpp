// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA loads: boxes, swizzles and clipping against a naive model written from
// the definition.

#include "CopyKernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {
std::string coordinates(const std::vector<int> &c) {
  std::string text;
  for (size_t i = 0; i < c.size(); ++i)
    text += (i ? ", " : "") + std::to_string(c[i]);
  return "{" + text + "}";
}

/// The instruction that loads the box at `c` to %r0.
std::string loadOf(const TensorMap &map, const std::vector<int> &c) {
  return "cp.async.bulk.tensor." + std::to_string(map.rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], "
         "[map, " +
         coordinates(c) + "], [bar]";
}

/// Where the byte at logical offset `i` of a box goes, by the definition: in
/// every 128-byte line, the chunk's index is exchanged by XOR with the line's
/// number; a flip swaps the halves of the 16 bytes of odd lines.
uint32_t naiveSwizzle(Swizzle swizzle, uint32_t i) {
  struct {
    uint32_t span, chunk;
    bool flips;
  } const forms[] = {{0, 0, false},    {32, 16, false},  {64, 16, false},
                     {128, 16, false}, {128, 32, false}, {128, 32, true},
                     {128, 64, false}};
  auto [span, chunk, flips] = forms[size_t(swizzle)];
  if (!span)
    return i;
  uint32_t line = i / 128 % 8, chunks = span / chunk;
  uint32_t to = i / span * span + (i / chunk % chunks ^ line % chunks) * chunk +
                i % chunk;
  return flips && line % 2 ? to / 16 * 16 + (to + 8) % 16 : to;
}

/// Group by group of elements: coordinates in, bytes out; -1: of no element.
/// The box has whole lines of 128 bytes where the swizzle moves chunks in them.
std::vector<int> naiveBox(const Tensor &t, const std::vector<int> &c) {
  std::vector<int> out(t.map.boxBytes(), -1);
  const ElementInfo &info = infoOf(t.map.elementType);
  uint64_t count = t.map.boxBytes() / info.sharedBytes;
  for (uint64_t n = 0; n < count; ++n) {
    uint64_t rest = n * info.elements, at = 0;
    bool inside = true;
    for (unsigned i = 0; i < t.map.rank; ++i) {
      // The driver ignores a stride of dimension 0.
      uint32_t step = i ? t.map.elementStrides[i] : 1,
               extent = (t.map.box[i] + step - 1) / step;
      int64_t x = c[i] + int64_t(rest % extent) * step;
      rest /= extent;
      inside &= x >= 0 && uint64_t(x) < t.map.dims[i];
      at += i ? uint64_t(x) * t.map.strides[i - 1]
              : uint64_t(x) / info.elements * info.globalBytes;
    }
    for (uint32_t b = 0; b < info.globalBytes; ++b)
      out[naiveSwizzle(t.map.swizzle, uint32_t(n * info.sharedBytes + b))] =
          inside ? t.bytes[at + b] : 0;
  }
  return out;
}

/// Loads a box of bytes from `place`, reads it, executes `fence`, and loads it
/// again.
Report loadTwice(Device &device, const TensorMap &map, const std::string &place,
                 const std::string &fence) {
  std::string load = R"(
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], )" +
                     std::to_string(map.boxBytes()) + R"(;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [map, )" +
                     place + "], [bar];";
  std::string text =
      kernel(".param .align 64 .b8 map[128]",
             R"(
  .reg .pred %p; .reg .b32 %r<9>;
  mov.u32 %r0, s;
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;)" +
                 load + R"(
FIRST: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra FIRST;
  ld.shared.u32 %r1, [%r0];
  )" + fence + load +
                 R"(
SECOND: mbarrier.try_wait.parity.shared.b64 %p, [bar], 1; @!%p bra SECOND;
  ret;)",
             "sm_90a",
             ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n");
  return run(device, text, {KernelArgument::tensorMap(map)}, LaunchConfig());
}
} // namespace

TEST(Tma, LoadsBoxesWithEverySwizzleAndClips) {
  struct Case {
    ElementType type;
    std::vector<uint64_t> dims;
    std::vector<uint32_t> box;
    Swizzle swizzle;
    std::vector<int> at;
    std::array<uint32_t, 5> steps = {1, 1, 1, 1, 1};
  };
  const Case cases[] = {
      {ElementType::U8, {256, 40}, {128, 64}, Swizzle::B128, {128, 0}},
      {ElementType::U8, {208, 40}, {128, 32}, Swizzle::B128, {128, 16}},
      {ElementType::U8, {256, 40}, {128, 16}, Swizzle::B128, {-16, -3}},
      {ElementType::BF16, {100, 40}, {32, 16}, Swizzle::B64, {80, 30}},
      {ElementType::U8, {100, 40}, {32, 24}, Swizzle::B32, {80, 5}},
      {ElementType::F32, {301}, {128}, Swizzle::None, {200}},
      {ElementType::F32, {37, 5, 4}, {8, 3, 2}, Swizzle::None, {32, 3, 3}},
      {ElementType::F16,
       {20, 6, 5, 4, 3},
       {8, 4, 3, 2, 2},
       Swizzle::None,
       {16, 4, 3, 2, 2}},
      {ElementType::BF16, {64, 9, 5}, {64, 4, 2}, Swizzle::B128, {8, 7, -1}},
      // A matrix of a batch: rows past its last are zeros, not the next one's.
      {ElementType::U8,
       {208, 40, 3},
       {128, 16, 1},
       Swizzle::B128,
       {128, 32, 1}},
      {ElementType::F32, {64, 40}, {32, 20}, Swizzle::B128Atom32, {32, 24}},
      {ElementType::U8, {90, 40}, {48, 24}, Swizzle::B128Atom32, {48, 24}},
      {ElementType::BF16,
       {100, 40},
       {64, 20},
       Swizzle::B128Atom32Flip8,
       {48, 3}},
      {ElementType::BF16, {100, 40}, {64, 20}, Swizzle::B128Atom64, {48, 30}},
      {ElementType::U4Align8, {192, 20}, {128, 9}, Swizzle::B64, {96, 15}},
      {ElementType::U4Align16, {384, 20}, {128, 24}, Swizzle::B128, {256, 3}},
      {ElementType::U4Align16, {128, 20}, {128, 8}, Swizzle::None, {-128, 3}},
      {ElementType::U6Align16,
       {256, 20},
       {128, 24},
       Swizzle::B128Atom32,
       {128, -2}},
      {ElementType::U8, {256, 40}, {128, 61}, Swizzle::B128, {128, -3}, {2, 4}},
      {ElementType::F32,
       {37, 25, 9},
       {8, 7, 5},
       Swizzle::None,
       {32, 3, 1},
       {8, 3, 2}},
  };
  for (const Case &c : cases) {
    Device device;
    Tensor t = makeTensor(device, c.type, c.dims, c.box, c.swizzle);
    t.map.elementStrides = c.steps;
    ASSERT_EQ(t.map.validate(), std::nullopt);
    std::vector<int> expected = naiveBox(t, c.at);
    std::vector<uint8_t> got(t.map.boxBytes());
    Report report = loadAndDump(device, t.map, loadOf(t.map, c.at),
                                t.map.copiedBytes(), got, c.at[0] & 3);
    ASSERT_TRUE(report.ok()) << report.str();
    size_t copied = 0, wrong = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      copied += expected[i] >= 0;
      wrong += expected[i] >= 0 && expected[i] != got[i];
    }
    EXPECT_EQ(copied, t.map.copiedBytes()) << "case " << (&c - cases);
    EXPECT_EQ(wrong, 0u) << "case " << (&c - cases);
  }
}

TEST(Tma, InterleavedTensorsAreNotCopied) {
  Device device;
  Tensor t = makeTensor(device, ElementType::U8, {16, 40, 8}, {16, 16, 1},
                        Swizzle::None);
  t.map.interleave = Interleave::B16;
  ASSERT_EQ(t.map.validate(), std::nullopt);
  std::vector<uint8_t> got(t.map.boxBytes());
  Report report = loadAndDump(device, t.map, loadOf(t.map, {0, 0, 0}),
                              t.map.copiedBytes(), got, 0);
  EXPECT_TRUE(has(report, ErrorKind::Unsupported)) << report.str();
  EXPECT_THAT(report.str(), HasSubstr("takes an interleaved tensor map"));
}

TEST(Tma, BoxesBeginAt16Bytes) {
  Device device;
  Tensor t =
      makeTensor(device, ElementType::U8, {256, 40}, {128, 16}, Swizzle::B128);
  const std::string fence = "fence.proxy.async.shared::cta;";
  EXPECT_TRUE(loadTwice(device, t.map, "{-16, -1}", fence).ok());
  Report report = loadTwice(device, t.map, "{8, 0}", fence);
  EXPECT_THAT(
      report.str(),
      HasSubstr(
          "has coordinate 8 in dimension 0; the rule is a multiple of 16"));
}

TEST(Tma, ACopyOverWhatWasReadNeedsAFence) {
  Device device;
  Tensor t =
      makeTensor(device, ElementType::U8, {256, 40}, {128, 16}, Swizzle::B128);
  EXPECT_TRUE(
      loadTwice(device, t.map, "{0, 0}", "fence.proxy.async.shared::cta;")
          .ok());
  Report report = loadTwice(device, t.map, "{0, 0}", "");
  ASSERT_TRUE(has(report, ErrorKind::MissingProxyFence)) << report.str();
  EXPECT_THAT(report.str(),
              HasSubstr("'ld.shared.u32' read it through the generic proxy "
                        "with no fence.proxy.async between the two"));
  EXPECT_THAT(report.str(), HasSubstr("execute fence.proxy.async after the "
                                      "read, before the barrier"));
}
