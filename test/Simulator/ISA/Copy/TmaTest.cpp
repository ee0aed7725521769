// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA and bulk copies: boxes, swizzles, clipping and reductions against a naive
// model written from the definition.

#include "Kernels.h"

#include <gmock/gmock.h>

#include <functional>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

constexpr uint32_t kDump = 16384;

std::string coordinates(const std::vector<int> &c) {
  std::string text;
  for (size_t i = 0; i < c.size(); ++i)
    text += (i ? ", " : "") + std::to_string(c[i]);
  return "{" + text + "}";
}

/// Loads the box at `c` to the 1024-aligned start of shared memory and dumps
/// `bytes` of it.
std::vector<uint8_t> loadBox(Device &device, const TensorMap &map,
                             const std::vector<int> &c, uint64_t seed = 0) {
  std::string rank = std::to_string(map.rank) + "d",
              bytes = std::to_string(map.boxBytes()),
              copied = std::to_string(map.copiedBytes());
  std::string text =
      kernel(".param .align 64 .b8 map[128], .param .u64 out",
             R"(
  .reg .pred %p, %q; .reg .b32 %r<9>; .reg .b64 %d<9>;
  mov.u32 %r0, s; mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0;
  @%p bra WAIT;
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], )" +
                 copied + R"(;
  cp.async.bulk.tensor.)" +
                 rank +
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%r0], [map, " +
                 coordinates(c) + R"(], [bar];
WAIT: bar.warp.sync -1;
LOOP: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra LOOP;
  ld.param.u64 %d0, [out]; mov.u32 %r2, 0;
DUMP: shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2; add.u32 %r4, %r3, %r0;
  setp.lt.u32 %q, %r3, )" +
                 bytes + R"(;
  @%q ld.shared.u32 %r5, [%r4];
  cvt.u64.u32 %d1, %r3; add.s64 %d1, %d1, %d0;
  @%q st.global.u32 [%d1], %r5;
  add.u32 %r2, %r2, 128; setp.lt.u32 %p, %r2, )" +
                 bytes + R"(; @%p bra DUMP;
  ret;)",
             "sm_100a",
             ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n");
  uint64_t out = *device.allocate("dump", kDump);
  LaunchConfig config;
  config.block = {32, 1, 1};
  Options options;
  options.scheduleSeed = seed;
  Report report =
      run(device, text,
          {KernelArgument::tensorMap(map), KernelArgument::value(out)}, config,
          options);
  EXPECT_TRUE(report.ok()) << report.str();
  std::vector<uint8_t> dump(kDump);
  device.read(out, dump.data(), kDump);
  return dump;
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

struct Tensor {
  TensorMap map;
  std::vector<uint8_t> bytes;
};

Tensor makeTensor(Device &device, ElementType type, std::vector<uint64_t> dims,
                  std::vector<uint32_t> box, Swizzle swizzle) {
  Tensor t;
  t.map.elementType = type;
  t.map.rank = unsigned(dims.size());
  const ElementInfo &info = infoOf(type);
  uint64_t stride = dims[0] * info.globalBytes / info.elements;
  for (unsigned i = 0; i < t.map.rank; ++i) {
    t.map.dims[i] = dims[i];
    t.map.box[i] = box[i];
    stride = ((i ? stride * dims[i] : stride) + 31) / 32 * 32;
    if (i + 1 < t.map.rank)
      t.map.strides[i] = stride;
  }
  t.map.swizzle = swizzle;
  t.bytes.resize(stride);
  for (size_t i = 0; i < t.bytes.size(); ++i)
    t.bytes[i] = uint8_t(i * 37 + i / 256 * 11 + 1);
  t.map.globalAddress = *device.allocate("tensor", stride);
  device.write(t.map.globalAddress, t.bytes.data(), stride);
  return t;
}

/// Group by group of elements: coordinates in, bytes out; -1: of no element.
std::vector<int> naiveBox(const Tensor &t, const std::vector<int> &c) {
  std::vector<int> out(kDump, -1);
  const ElementInfo &info = infoOf(t.map.elementType);
  uint64_t count = t.map.boxBytes() / info.sharedBytes;
  for (uint64_t n = 0; n < count; ++n) {
    uint64_t rest = n * info.elements, at = 0;
    bool inside = true;
    for (unsigned i = 0; i < t.map.rank; ++i) {
      int64_t x = c[i] + int64_t(rest % t.map.box[i]);
      rest /= t.map.box[i];
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

} // namespace

TEST(Tma, LoadsBoxesWithEverySwizzleAndClips) {
  struct Case {
    ElementType type;
    std::vector<uint64_t> dims;
    std::vector<uint32_t> box;
    Swizzle swizzle;
    std::vector<int> at;
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
      {ElementType::U8, {90, 40}, {48, 20}, Swizzle::B128Atom32, {48, 24}},
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
  };
  for (const Case &c : cases) {
    Device device;
    Tensor t = makeTensor(device, c.type, c.dims, c.box, c.swizzle);
    ASSERT_EQ(t.map.validate(), std::nullopt);
    std::vector<int> expected = naiveBox(t, c.at);
    std::vector<uint8_t> got = loadBox(device, t.map, c.at, c.at[0] & 3);
    size_t copied = 0, wrong = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      copied += expected[i] >= 0;
      wrong += expected[i] >= 0 && expected[i] != got[i];
    }
    EXPECT_EQ(copied, t.map.copiedBytes()) << "case " << (&c - cases);
    EXPECT_EQ(wrong, 0u) << "case " << (&c - cases);
  }
}

TEST(Tma, StoreWritesOnlyInsideTheTensor) {
  for (const char *operation :
       {"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_"
        "group"}) {
    Device device;
    TensorMap map;
    map.elementType = ElementType::F32;
    map.rank = 2;
    map.dims = {20, 10};
    map.strides = {80};
    map.box = {8, 4};
    std::vector<float> values(200, 2.0f);
    map.globalAddress = *device.allocate("d", 800);
    device.write(map.globalAddress, values.data(), 800);
    std::string text = kernel(".param .align 64 .b8 map[128]", std::string(R"(
  .reg .pred %p; .reg .b32 %r<9>; .reg .f32 %f;
  mov.u32 %r0, s; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %r0; cvt.rn.f32.u32 %f, %r1;
  st.shared.f32 [%r2], %f;
  fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %r1, 0; @%p bra END;
  )") + operation + R"( [map, {16, 8}], [%r0];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END: ret;)",
                              "sm_90a", ".shared .align 128 .b8 s[1024];\n");
    LaunchConfig config;
    config.block = {32, 1, 1};
    Report report = run(device, text, {KernelArgument::tensorMap(map)}, config);
    ASSERT_TRUE(report.ok()) << report.str();
    device.read(map.globalAddress, values.data(), 800);
    bool add = std::string(operation).find(".add") != std::string::npos;
    for (int y = 0; y < 10; ++y)
      for (int x = 0; x < 20; ++x) {
        bool inside = x >= 16 && y >= 8;
        float stored = float((y - 8) * 8 + x - 16);
        EXPECT_EQ(values[size_t(y * 20 + x)],
                  inside ? stored + (add ? 2 : 0) : 2.0f)
            << x << "," << y;
      }
  }
}

namespace {
/// Stores an 8x4 box of f32 of what threads wrote to the box at `place`.
Report storeBox(Device &device, const TensorMap &map, const char *place) {
  std::string text = kernel(".param .align 64 .b8 map[128]",
                            std::string(R"(
  .reg .pred %p; .reg .b32 %r<9>; .reg .f32 %f;
  mov.u32 %r0, s; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %r0; cvt.rn.f32.u32 %f, %r1;
  st.shared.f32 [%r2], %f;
  fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %r1, 0; @%p bra END;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [map, )") +
                                place +
                                R"(], [%r0];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END: ret;)",
                            "sm_90a", ".shared .align 128 .b8 s[1024];\n");
  LaunchConfig config;
  config.block = {32, 1, 1};
  return run(device, text, {KernelArgument::tensorMap(map)}, config);
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

/// Rows of 20 f32, of which the tensor has `columns`; all are 2.
TensorMap makeRows(Device &device, uint64_t columns) {
  TensorMap map;
  map.elementType = ElementType::F32;
  map.rank = 2;
  map.dims = {columns, 10};
  map.strides = {80};
  map.box = {8, 4};
  std::vector<float> values(200, 2.0f);
  map.globalAddress = *device.allocate("d", 800);
  device.write(map.globalAddress, values.data(), 800);
  return map;
}
} // namespace

// As an H200 does: test/Integration, probe-store.
TEST(Tma, AStoreWritesTheLast16BytesOfARowWhole) {
  Device device;
  TensorMap map = makeRows(device, 17);
  Report report = storeBox(device, map, "{16, 0}");
  ASSERT_TRUE(report.ok()) << report.str();
  std::vector<float> values(200);
  device.read(map.globalAddress, values.data(), 800);
  for (int row = 0; row < 4; ++row)
    for (int column = 16; column < 20; ++column)
      EXPECT_EQ(values[size_t(row * 20 + column)], row * 8 + column - 16)
          << row << "," << column;
  EXPECT_EQ(values[15], 2);
  EXPECT_EQ(values[20], 2);
}

TEST(Tma, BoxesBeginAt16BytesAndStoresInsideTheTensor) {
  struct Case {
    const char *place, *error;
  };
  const Case cases[] = {
      {"{1, 0}", "has coordinate 1 in dimension 0; the rule is a multiple of 4 "
                 "(16 bytes of the tensor's elements)"},
      {"{-4, 0}", "has coordinate -4 in dimension 0; the rule is 0 or more for "
                  "stores; only loads may start before the tensor"},
      {"{0, -1}", "has coordinate -1 in dimension 1; the rule is 0 or more"},
      {"{0, 12}", nullptr},
      {"{24, 0}", nullptr},
  };
  for (const Case &c : cases) {
    Device device;
    Report report = storeBox(device, makeRows(device, 20), c.place);
    EXPECT_EQ(report.ok(), !c.error) << c.place << report.str();
    if (c.error) {
      EXPECT_THAT(report.str(), HasSubstr(c.error));
    }
  }
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

TEST(Tma, StoresToOneMatrixOfABatch) {
  Device device;
  TensorMap map;
  map.elementType = ElementType::F32;
  map.rank = 3;
  map.dims = {8, 5, 3};
  map.box = {8, 4, 1};
  map.elementStrides = {1, 1, 1, 1, 1};
  // Row by row: the matrices' rows alternate.
  map.strides = {3 * 32, 32};
  std::vector<float> values(8 * 5 * 3, -1.0f);
  map.globalAddress = *device.allocate("d", values.size() * 4);
  device.write(map.globalAddress, values.data(), values.size() * 4);
  std::string text = kernel(".param .align 64 .b8 map[128]", R"(
  .reg .pred %p; .reg .b32 %r<9>; .reg .f32 %f;
  mov.u32 %r0, s; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %r0; cvt.rn.f32.u32 %f, %r1;
  st.shared.f32 [%r2], %f;
  fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %r1, 0; @%p bra END;
  cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [map, {0, 3, 1}], [%r0];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END: ret;)",
                            "sm_90a", ".shared .align 128 .b8 s[1024];\n");
  LaunchConfig config;
  config.block = {32, 1, 1};
  Report report = run(device, text, {KernelArgument::tensorMap(map)}, config);
  ASSERT_TRUE(report.ok()) << report.str();
  device.read(map.globalAddress, values.data(), values.size() * 4);
  for (int row = 0; row < 5; ++row)
    for (int matrix = 0; matrix < 3; ++matrix)
      for (int x = 0; x < 8; ++x) {
        bool inside = matrix == 1 && row >= 3;
        EXPECT_EQ(values[size_t((row * 3 + matrix) * 8 + x)],
                  inside ? float((row - 3) * 8 + x) : -1.0f)
            << row << ", " << matrix << ", " << x;
      }
}

TEST(Tma, MapsMustBeParameters) {
  Device device;
  Tensor t =
      makeTensor(device, ElementType::U8, {256, 40}, {128, 16}, Swizzle::B128);
  auto reportOf = [&](const std::string &map, const KernelArgument &argument,
                      const std::string &parameter) {
    std::string text = kernel(
        parameter,
        R"(
  .reg .b64 %d<9>; .reg .b32 %r0; .local .align 64 .b8 copy[128];
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; mov.u32 %r0, s;
  mov.b64 %d2, copy; cvta.local.u64 %d1, %d2;
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], [)" +
            map + R"(, {0, 0}], [bar]; ret;)",
        "sm_90a",
        ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n");
    return run(device, text, {argument});
  };
  const char *good = ".param .align 64 .b8 map[128]";
  auto bytesOf = [](uint8_t first) {
    std::vector<uint8_t> bytes(128);
    bytes[0] = first;
    return KernelArgument::bytes(std::move(bytes));
  };
  EXPECT_THAT(reportOf("%d1", KernelArgument::tensorMap(t.map), good).str(),
              HasSubstr("in local or shared memory"));
  EXPECT_THAT(reportOf("map", bytesOf(0), good).str(),
              HasSubstr("holds 128 zero bytes"));
  EXPECT_THAT(reportOf("map", bytesOf(1), good).str(),
              HasSubstr("bytes that a GPU's driver encoded"));
  EXPECT_THAT(reportOf("map", KernelArgument::tensorMap(t.map),
                       ".param .align 8 .b8 map[128]")
                  .str(),
              HasSubstr("aligned to at least 64"));
  TensorMap broken = t.map;
  broken.box[0] = 300;
  EXPECT_THAT(reportOf("map", KernelArgument::tensorMap(broken), good).str(),
              HasSubstr("parameter 'map': tensor map's box is 300"));
  // Bytes that a launch did not declare as a map are checked at the use.
  EXPECT_THAT(
      reportOf("map", KernelArgument::bytes(broken.encode()), good).str(),
      HasSubstr("holds a broken map: tensor map's box is 300"));
}

// As every CUTLASS kernel passes them.
TEST(Tma, MapsLieInStructsAndInConstantAndGlobalMemory) {
  Device device;
  Tensor t =
      makeTensor(device, ElementType::U8, {256, 40}, {128, 16}, Swizzle::B128);
  auto reportOf = [&](const std::string &address, size_t offset,
                      const TensorMap &map) {
    std::string text =
        kernel(
            ".param .align 64 .b8 all[320], .param .u64 out",
            R"(
  .reg .pred %p; .reg .b64 %d<9>; .reg .b32 %r<4>;
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; mov.u32 %r0, s;
  ld.param.u64 %d5, [all+256]; ld.param.u64 %d6, [out];
  )" + address + R"(
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%d1, {0, 0}], [bar];
LOOP: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra LOOP;
  ld.shared.u32 %r1, [s]; st.global.u32 [%d6], %r1; ret;)",
            "sm_90a",
            ".shared .align 1024 .b8 s[16384];\n.shared .align 8 .b64 bar;\n");
    uint64_t inMemory = *device.allocate("map", kTensorMapBytes),
             out = *device.allocate("out", 4);
    device.write(inMemory, map.encode().data(), kTensorMapBytes);
    std::vector<KernelArgument::Field> fields = {
        {256, KernelArgument::value(inMemory)}};
    if (offset < 256)
      fields.push_back({offset, KernelArgument::tensorMap(map)});
    Report report =
        run(device, text,
            {KernelArgument::structure(std::vector<uint8_t>(320, 0xcd), fields),
             KernelArgument::value(out)});
    uint32_t got = 0, first;
    std::memcpy(&first, t.bytes.data(), 4);
    device.read(out, &got, 4);
    EXPECT_EQ(got == first, report.ok());
    return report.str();
  };
  const char *second = "mov.b64 %d0, all; cvta.param.u64 %d1, %d0; "
                       "add.s64 %d1, %d1, 128;";
  EXPECT_EQ(reportOf(second, 128, t.map), "");
  EXPECT_EQ(reportOf("mov.b64 %d1, %d5;", 256, t.map), "");
  TensorMap broken = t.map;
  broken.rank = 6;
  EXPECT_THAT(reportOf(second, 128, broken),
              HasSubstr("parameter 'all', offset 128: tensor map has rank 6"));
  EXPECT_THAT(reportOf(second, 72, t.map),
              HasSubstr("parameter 'all', offset 72, takes a tensor map"));
}

TEST(BulkCopy, LoadsAndStores) {
  std::string text = kernel(
      ".param .u64 in, .param .u64 out", R"(
  .reg .pred %p; .reg .b64 %d<9>;
  ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 256, [bar];
L: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra L;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], 256;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; ret;)",
      "sm_90a", ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n");
  Device device;
  std::vector<uint8_t> in(256), out(256);
  for (size_t i = 0; i < 256; ++i)
    in[i] = uint8_t(i);
  uint64_t a = *device.allocate("in", 256), b = *device.allocate("out", 256);
  device.write(a, in.data(), 256);
  Report report =
      run(device, text, {KernelArgument::value(a), KernelArgument::value(b)});
  ASSERT_TRUE(report.ok()) << report.str();
  device.read(b, out.data(), 256);
  EXPECT_EQ(in, out);
}

TEST(BulkCopy, BytesBeyondWhatThePhaseExpectsAreReported) {
  auto reportOf = [](const char *expected, const char *count, uint64_t seed) {
    std::string text =
        kernel(".param .u64 in",
               std::string(R"(
  .reg .pred %p; .reg .b64 %d<9>;
  ld.param.u64 %d0, [in];
  mbarrier.init.shared.b64 [bar], )") +
                   count + R"(; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], )" +
                   expected + R"(;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 64, [bar];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+64], [%d0], 64, [bar];
L: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra L;
  nanosleep.u32 20; ld.shared.u32 %d1, [s+32];
M: mbarrier.try_wait.parity.shared.b64 %p, [bar], 1; @!%p bra M; ret;)",
               "sm_90a",
               ".shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n");
    Device device;
    uint64_t in = *device.allocate("in", 256);
    Options options;
    options.scheduleSeed = seed;
    return run(device, text, {KernelArgument::value(in)}, {}, options).str();
  };
  for (uint64_t seed = 0; seed < 4; ++seed) {
    // Half of the bytes: the phase completes with the first copy, and the
    // second lands in the next.
    EXPECT_THAT(
        reportOf("64", "1", seed),
        HasSubstr("after the phase they were issued in (0) has completed"));
    EXPECT_THAT(reportOf("96", "1", seed),
                HasSubstr("has received 32 bytes more than its phase expects"));
  }
}

TEST(CopyAsync, GroupsAndArrivals) {
  std::string body = R"(
  .reg .pred %p<4>; .reg .b64 %d<9>; .reg .b32 %r<9>;
  ld.param.u64 %d0, [in]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 16; add.s64 %d0, %d0, %d2;
  shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;
  cp.async.cg.shared.global [%r2], [%d0], 16;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r2+512], [%d0], 4, 2;
  cp.async.commit_group;
  cp.async.wait_group 1;
  ld.shared.u32 %r4, [%r2];
  cp.async.wait_group 0;
  ld.shared.u32 %r5, [%r2+512];
  add.u32 %r4, %r4, %r5;
  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r4; ret;)";
  auto runIt = [](const std::string &text, std::vector<uint32_t> &out) {
    Device device;
    std::vector<uint32_t> in(128);
    for (uint32_t i = 0; i < 128; ++i)
      in[i] = i << 16 | i;
    uint64_t a = *device.allocate("in", 512), b = *device.allocate("out", 128);
    device.write(a, in.data(), 512);
    LaunchConfig config;
    config.block = {32, 1, 1};
    Report report =
        run(device,
            kernel(".param .u64 in, .param .u64 out", text, "sm_90a",
                   ".shared .align 128 .b8 s[1024];\n"),
            {KernelArgument::value(a), KernelArgument::value(b)}, config);
    out.resize(32);
    device.read(b, out.data(), 128);
    return report;
  };
  std::vector<uint32_t> out;
  Report report = runIt(body, out);
  ASSERT_TRUE(report.ok()) << report.str();
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (i * 4 << 16) + i * 4 + i * 4);
  report = runIt(replaced(body, "cp.async.wait_group 1;", ""), out);
  EXPECT_TRUE(has(report, ErrorKind::MemoryInFlight) ||
              has(report, ErrorKind::Race))
      << report.str();
}
