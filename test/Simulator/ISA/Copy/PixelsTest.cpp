// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA copies of pixels (im2col) and of rows that are gathered and scattered,
// against the definition (PTX ISA 5.5.3, 5.5.4).

#include "CopyKernels.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

/// The u16 of `bytes` bytes of shared memory behind `instruction`.
Report load(Device &device, const TensorMap &map,
            const std::string &instruction, uint32_t bytes,
            std::vector<uint16_t> &out) {
  std::vector<uint8_t> dump(bytes);
  Report report = loadAndDump(device, map, instruction, bytes, dump);
  out.resize(bytes / 2);
  std::memcpy(out.data(), dump.data(), bytes);
  return report;
}

/// A dense tensor of u16, whose elements are 1, 2, 3 ...
TensorMap makeNumbers(Device &device, const std::vector<uint64_t> &dims) {
  TensorMap map;
  map.elementType = ElementType::U16;
  map.rank = unsigned(dims.size());
  uint64_t elements = 1;
  for (unsigned i = 0; i < map.rank; ++i) {
    map.dims[i] = dims[i];
    elements *= dims[i];
    if (i + 1 < map.rank)
      map.strides[i] = elements * 2;
  }
  std::vector<uint16_t> values(elements);
  for (size_t i = 0; i < elements; ++i)
    values[i] = uint16_t(i + 1);
  map.globalAddress = *device.allocate("in", elements * 2);
  device.write(map.globalAddress, values.data(), elements * 2);
  return map;
}

/// A convolution over C, W, H and N: pixel `p` of its output, moved by (s, r),
/// is the pixel of the input that filter element (s, r) meets.
struct Convolution {
  int64_t w, h, n, pad, stride, dilation, s, r;

  int64_t outputs(int64_t size, int64_t taps) const {
    return (size + 2 * pad - dilation * (taps - 1) - 1) / stride + 1;
  }
  int64_t q() const { return outputs(w, s); }
  int64_t p() const { return outputs(h, r); }
};

constexpr Convolution kConvolutions[] = {
    {8, 6, 3, 1, 1, 1, 3, 3},
    {9, 7, 2, 2, 2, 1, 3, 3},
    {11, 9, 2, 0, 1, 2, 3, 2},
};

} // namespace

// The pixels of an im2col copy are those that a convolution needs.
TEST(Pixels, AreThoseOfAConvolution) {
  constexpr int64_t kChannels = 16, kPixels = 48;
  for (const Convolution &c : kConvolutions) {
    Device device;
    TensorMap map = makeNumbers(
        device, {kChannels, uint64_t(c.w), uint64_t(c.h), uint64_t(c.n)});
    map.mode = TensorMapMode::Im2col;
    map.box = {uint32_t(kChannels), uint32_t(kPixels), 1, 1, 1};
    map.elementStrides = {1, uint32_t(c.stride), uint32_t(c.stride), 1, 1};
    map.lowerCorner = {int16_t(-c.pad), int16_t(-c.pad)};
    map.upperCorner = {int16_t(c.pad - c.dilation * (c.s - 1)),
                       int16_t(c.pad - c.dilation * (c.r - 1))};
    map.swizzle = Swizzle::B32;
    ASSERT_EQ(map.validate(), std::nullopt);
    // From an output in the middle of a row on, into the next image and, at
    // the end, behind the last.
    for (int64_t first :
         {int64_t(3), c.q() * c.p() - 5, c.q() * c.p() * c.n - 20}) {
      int64_t q = first % c.q(), p = first / c.q() % c.p(),
              n = first / c.q() / c.p();
      int64_t moveW = c.dilation * (c.s - 1), moveH = c.dilation;
      std::string text =
          "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::"
          "complete_tx::bytes [%r0], [map, {0, " +
          std::to_string(q * c.stride - c.pad) + ", " +
          std::to_string(p * c.stride - c.pad) + ", " + std::to_string(n) +
          "}], [bar], {" + std::to_string(moveW) + ", " +
          std::to_string(moveH) + "}";
      std::vector<uint16_t> got;
      Report report = load(device, map, text, kChannels * kPixels * 2, got);
      ASSERT_TRUE(report.ok()) << report.str();
      size_t wrong = 0;
      for (int64_t i = 0; i < kPixels; ++i)
        for (int64_t channel = 0; channel < kChannels; ++channel) {
          int64_t output = first + i;
          int64_t x = output % c.q() * c.stride - c.pad + moveW,
                  y = output / c.q() % c.p() * c.stride - c.pad + moveH,
                  image = output / c.q() / c.p();
          bool inside = x >= 0 && x < c.w && y >= 0 && y < c.h && image < c.n;
          int64_t expected =
              inside ? ((image * c.h + y) * c.w + x) * kChannels + channel + 1
                     : 0;
          // 32B: the halves of a row are exchanged by bit 7 of the address.
          int64_t at = i * kChannels + (channel ^ (i >> 2 & 1) << 3);
          wrong += got[size_t(at)] != uint16_t(expected);
        }
      EXPECT_EQ(wrong, 0u) << "from output " << first << " of convolution "
                           << (&c - kConvolutions);
    }
  }
}

TEST(Pixels, MapsAndInstructionsFit) {
  Device device;
  TensorMap map = makeNumbers(device, {16, 8, 8, 2});
  map.box = {16, 8, 1, 1, 1};
  std::vector<uint16_t> got;
  const char *pixels =
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::"
      "complete_tx::bytes [%r0], [map, {0, 0, 0, 0}], [bar], {0, 0}";
  EXPECT_THAT(load(device, map, pixels, 256, got).str(),
              HasSubstr("its tensor map is of boxes"));
  map.mode = TensorMapMode::Im2col;
  const char *box =
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes [%r0], [map, {0, 0, 0, 0}], [bar]";
  EXPECT_THAT(load(device, map, box, 256, got).str(),
              HasSubstr("its tensor map is of pixels"));
  map.lowerCorner = {0, -129};
  EXPECT_THAT(*map.validate(), HasSubstr("-128 to 127"));
}

TEST(Rows, AreGatheredWhereverTheyLie) {
  constexpr uint64_t kColumns = 64, kRows = 20;
  constexpr int kGathered[] = {17, 0, 20, 3}; // one is outside
  Device device;
  TensorMap map = makeNumbers(device, {kColumns, kRows});
  map.box = {32, 1};
  std::string text =
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::"
      "complete_tx::bytes [%r0], [map, {16, 17, 0, 20, 3}], [bar]";
  std::vector<uint16_t> got;
  Report report = load(device, map, text, 4 * 64, got);
  ASSERT_TRUE(report.ok()) << report.str();
  for (size_t row = 0; row < 4; ++row)
    for (size_t column = 0; column < 32; ++column) {
      uint64_t expected =
          kGathered[row] < int(kRows)
              ? uint64_t(kGathered[row]) * kColumns + 16 + column + 1
              : 0;
      EXPECT_EQ(got[row * 32 + column], expected) << row << "," << column;
    }
  map.box = {32, 4};
  EXPECT_THAT(load(device, map, text, 4 * 64, got).str(),
              HasSubstr("boxes of 4 rows; the rule is 1"));
}

TEST(Rows, AreScattered) {
  constexpr uint64_t kColumns = 64, kRows = 20;
  Device device;
  TensorMap map = makeNumbers(device, {kColumns, kRows});
  map.box = {32, 1};
  std::string text = kernel(".param .align 64 .b8 map[128]", R"(
  .reg .pred %p; .reg .b32 %r<9>;
  mov.u32 %r0, s; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 3; add.u32 %r2, %r2, %r0;
  add.u32 %r3, %r1, 1000; st.shared.v2.u32 [%r2], {%r3, %r3};
  fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %r1, 0; @%p bra END;
  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [map, {32, 19, 4, 25, 7}], [%r0];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END: ret;)",
                            "sm_100a", ".shared .align 128 .b8 s[1024];\n");
  LaunchConfig config;
  config.block = {32, 1, 1};
  Report report = run(device, text, {KernelArgument::tensorMap(map)}, config);
  ASSERT_TRUE(report.ok()) << report.str();
  std::vector<uint16_t> values(kColumns * kRows);
  device.read(map.globalAddress, values.data(), values.size() * 2);
  for (uint64_t y = 0; y < kRows; ++y)
    for (uint64_t x = 0; x < kColumns; ++x) {
      int row = y == 19 ? 0 : y == 4 ? 1 : y == 7 ? 3 : -1;
      uint64_t expected = y * kColumns + x + 1;
      if (row >= 0 && x >= 32) {
        uint64_t at = uint64_t(row) * 32 + x - 32; // 4 elements a thread
        expected = at % 2 ? 0 : 1000 + at / 4;
      }
      EXPECT_EQ(values[y * kColumns + x], expected) << x << "," << y;
    }
}
