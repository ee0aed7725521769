// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA stores and reductions: what lies outside a tensor stays as it is.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {
const char *const kStore =
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";

/// Stores an 8x4 box of f32 of what threads wrote, by `instruction`, to the box
/// at `place`.
Report storeBox(Device &device, const TensorMap &map, const std::string &place,
                const std::string &instruction = kStore) {
  std::string text = kernel(".param .align 64 .b8 map[128]", R"(
  .reg .pred %p; .reg .b32 %r<9>; .reg .f32 %f;
  mov.u32 %r0, s; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %r0; cvt.rn.f32.u32 %f, %r1;
  st.shared.f32 [%r2], %f;
  fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %r1, 0; @%p bra END;
  )" + instruction + " [map, " + place + R"(], [%r0];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END: ret;)",
                            "sm_90a", ".shared .align 128 .b8 s[1024];\n");
  LaunchConfig config;
  config.block = {32, 1, 1};
  return run(device, text, {KernelArgument::tensorMap(map)}, config);
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

TEST(TmaStore, StoreWritesOnlyInsideTheTensor) {
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
    Report report = storeBox(device, map, "{16, 8}", operation);
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

// As an H200 does: test/Integration, probe-store.
TEST(TmaStore, AStoreWritesTheLast16BytesOfARowWhole) {
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

TEST(TmaStore, BoxesBeginAt16BytesInsideTheTensor) {
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
}

TEST(TmaStore, StoresToOneMatrixOfABatch) {
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
  Report report =
      storeBox(device, map, "{0, 3, 1}",
               "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group");
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
