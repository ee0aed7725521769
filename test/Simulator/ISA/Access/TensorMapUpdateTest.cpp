// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps that a kernel builds and changes, and the fences of the
// tensor-map proxy.

#include "Kernels.h"

#include <gmock/gmock.h>

using namespace fp8::sim;
using namespace fp8::sim::test;
using testing::HasSubstr;

namespace {

std::string replace(const std::string &field, const std::string &value,
                    const std::string &where = "shared::cta.b1024") {
  bool wide = field.find("address") != std::string::npos ||
              field.find("stride,") == std::string("global_").size();
  std::string name = field.substr(0, field.find(','));
  std::string ordinal =
      name.size() < field.size() ? field.substr(name.size() + 1) + ", " : "";
  std::string map = where[0] == 's' ? "[map]" : "[%d0]";
  return "tensormap.replace.tile." + name + "." + where +
         (wide ? ".b64 " : ".b32 ") + map + ", " + ordinal + value + ";\n";
}

const char *const kAcquire =
    "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;\n";
const char *const kCopy =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
    "gpu.sync.aligned [%d0], [map], 128;\n";

/// Builds a map of 8 rows of 32 f32 from zeros, in lane 0.
std::string build() {
  return "@%p bra BUILT;\n" + replace("global_address", "%d1") +
         replace("rank", "1") + replace("box_dim,0", "32") +
         replace("box_dim,1", "4") + replace("global_dim,0", "32") +
         replace("global_dim,1", "8") + replace("global_stride,0", "128") +
         replace("element_stride,0", "1") + replace("element_stride,1", "1") +
         replace("elemtype", "7") + replace("interleave_layout", "0") +
         replace("swizzle_mode", "0") + replace("fill_mode", "0") +
         "BUILT: bar.warp.sync -1;\n";
}

/// Loads a box, waits, and stores its first row to `out` + `offset`.
std::string load(int n) {
  std::string i = std::to_string(n);
  return "@%p bra ISSUED" + i + R"(;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%d0, {0, 4}], [bar];
ISSUED)" +
         i + ": bar.warp.sync -1;\nLOOP" + i +
         ": mbarrier.try_wait.parity.shared.b64 %q, [bar], " + i +
         "; @!%q bra LOOP" + i +
         ";\n  ld.shared.f32 %f0, [%r1]; st.global.f32 [%d4+" +
         std::to_string(n * 128) +
         "], %f0; fence.proxy.async; bar.warp.sync -1;\n";
}

/// What a run leaves.
struct Result {
  Report report;
  std::vector<float> rows; ///< of 32, one for each load
};

/// Runs `body`, where %d0 is the address of 128 zero bytes for a map in global
/// memory, and %d1 and %d3 those of two tensors of 1s and of 2s.
Result run(const std::string &body, const TensorMap *map = nullptr,
           bool strict = false) {
  std::string text = kernel(
      ".param .u64 maps, .param .u64 in, .param .u64 out", R"(
  .reg .pred %p, %q; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<3>;
  ld.param.u64 %d0, [maps]; ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
  add.s64 %d3, %d1, 1024;
  mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 2; cvt.u64.u32 %d4, %r0;
  add.s64 %d4, %d4, %d2;
  mov.u32 %r1, map; add.u32 %r1, %r1, %r0; st.shared.u32 [%r1], 0;
  mov.u32 %r1, tile; add.u32 %r1, %r1, %r0;
  setp.ne.u32 %p, %r0, 0;
  @!%p mbarrier.init.shared.b64 [bar], 1;
  @!%p fence.mbarrier_init.release.cluster;
  bar.warp.sync -1;
)" + body + "ret;\n",
      "sm_90a",
      ".shared .align 128 .b8 map[128];\n.shared .align 128 .b8 tile[512];\n"
      ".shared .align 8 .b64 bar;\n");
  Device device;
  std::vector<float> tensors(512, 1.0f);
  std::fill(tensors.begin() + 256, tensors.end(), 2.0f);
  uint64_t in = *device.allocate("in", 2048),
           maps = *device.allocate("maps", 128),
           out = *device.allocate("out", 256);
  device.write(in, tensors.data(), 2048);
  if (map) {
    TensorMap placed = *map;
    placed.globalAddress = in;
    device.write(maps, placed.encode().data(), kTensorMapBytes);
  }
  LaunchConfig config;
  config.block = {32, 1, 1};
  Options options;
  options.strict = strict;
  Result result;
  result.report =
      test::run(device, text,
                {KernelArgument::value(maps), KernelArgument::value(in),
                 KernelArgument::value(out)},
                config, options);
  result.rows.resize(64);
  device.read(out, result.rows.data(), 256);
  return result;
}

/// The map that build() makes.
TensorMap matrix() {
  TensorMap map;
  map.elementType = ElementType::F32;
  map.rank = 2;
  map.dims = {32, 8};
  map.strides = {128};
  map.box = {32, 4};
  return map;
}

/// A row of `value`.
bool holds(const Result &result, int row, float value) {
  return std::count(result.rows.begin() + row * 32,
                    result.rows.begin() + row * 32 + 32, value) == 32;
}

} // namespace

TEST(TensorMapUpdate, BuildsAMapFromZeros) {
  Result result = run(build() + kCopy + kAcquire + load(0), nullptr, true);
  EXPECT_EQ(result.report.str(), "");
  EXPECT_TRUE(holds(result, 0, 1));
}

TEST(TensorMapUpdate, ChangesAMapInSharedMemory) {
  std::string change = "@%p bra CHANGED;\n" + replace("global_address", "%d3") +
                       "CHANGED: bar.warp.sync -1;\n";
  std::string body = build() + kCopy + kAcquire + load(0) + change + kCopy +
                     kAcquire + load(1);
  Result result = run(body);
  EXPECT_EQ(result.report.str(), "");
  EXPECT_TRUE(holds(result, 0, 1) && holds(result, 1, 2));
}

// The CTA has read the map before, so it goes on with what it knows.
TEST(TensorMapUpdate, ADroppedAcquireLeavesTheOldMap) {
  std::string change = "@%p bra CHANGED;\n" + replace("global_address", "%d3") +
                       "CHANGED: bar.warp.sync -1;\n";
  Result result =
      run(build() + kCopy + kAcquire + load(0) + change + kCopy + load(1));
  ASSERT_TRUE(has(result.report, ErrorKind::StaleTensorMap))
      << result.report.str();
  EXPECT_EQ(result.report.errors.size(), 1u) << result.report.str();
  EXPECT_THAT(result.report.str(), HasSubstr("has not acquired it since"));
  EXPECT_TRUE(holds(result, 1, 1));
}

TEST(TensorMapUpdate, AMapOfTheHostNeedsNoFence) {
  TensorMap map = matrix();
  Result result = run(load(0), &map, true);
  EXPECT_EQ(result.report.str(), "");
  EXPECT_TRUE(holds(result, 0, 1));
}

TEST(TensorMapUpdate, ChangesAMapInGlobalMemory) {
  TensorMap map = matrix();
  std::string change = "@%p bra CHANGED;\n" +
                       replace("global_address", "%d3", "global.b1024") +
                       "CHANGED: bar.warp.sync -1;\n";
  std::string release = "fence.proxy.tensormap::generic.release.gpu;\n";
  Result result = run(change + release + kAcquire + load(0), &map);
  EXPECT_EQ(result.report.str(), "");
  EXPECT_TRUE(holds(result, 0, 2));
  Result unreleased = run(change + kAcquire + load(0), &map);
  EXPECT_THAT(unreleased.report.str(), HasSubstr("nothing has released it"));
  EXPECT_TRUE(has(unreleased.report, ErrorKind::StaleTensorMap));
  // A release that comes too early releases nothing.
  EXPECT_TRUE(has(run(release + change + kAcquire + load(0), &map).report,
                  ErrorKind::StaleTensorMap));
  Result unacquired = run(change + release + load(0), &map);
  EXPECT_TRUE(has(unacquired.report, ErrorKind::StaleTensorMap));
  EXPECT_TRUE(holds(unacquired, 0, 1));
  // An acquire that comes too early sees the old map.
  EXPECT_TRUE(has(run(kAcquire + change + release + load(0), &map).report,
                  ErrorKind::StaleTensorMap));
}

TEST(TensorMapUpdate, AnOrdinaryStoreIsAWriteToo) {
  TensorMap map = matrix();
  std::string store = "@%p bra STORED; st.global.u64 [%d0], %d3;\n"
                      "STORED: bar.warp.sync -1;\n";
  EXPECT_TRUE(
      has(run(store + load(0), &map).report, ErrorKind::StaleTensorMap));
  Result fenced = run(store + "fence.proxy.tensormap::generic.release.gpu;\n" +
                          kAcquire + load(0),
                      &map);
  EXPECT_EQ(fenced.report.str(), "");
  EXPECT_TRUE(holds(fenced, 0, 2));
}

TEST(TensorMapUpdate, EveryFieldHasItsPlace) {
  TensorMap map = matrix();
  map.dims = {uint64_t(1) << 32, 8};
  std::string change = "@%p bra CHANGED;\n" +
                       replace("global_address", "4096", "global.b1024") +
                       replace("rank", "4", "global.b1024") +
                       replace("elemtype", "10", "global.b1024") +
                       replace("interleave_layout", "1", "global.b1024") +
                       replace("swizzle_mode", "3", "global.b1024") +
                       replace("swizzle_atomicity", "1", "global.b1024") +
                       replace("fill_mode", "1", "global.b1024");
  for (int i = 0; i < 5; ++i) {
    std::string n = std::to_string(i);
    change += replace("global_dim," + n, "10" + n, "global.b1024") +
              replace("box_dim," + n, "2" + n, "global.b1024") +
              replace("element_stride," + n, n, "global.b1024");
    if (i < 4)
      change += replace("global_stride," + n, "68719476736", "global.b1024");
  }
  change += "CHANGED: bar.warp.sync -1;\n";
  // The map goes to where the rows go.
  for (int i = 0; i < 128; i += 8)
    change += "ld.global.u64 %d5, [%d0+" + std::to_string(i) +
              "]; st.global.u64 [%d2+" + std::to_string(i) + "], %d5;\n";
  Result result = run(change, &map);
  ASSERT_EQ(result.report.str(), "");
  TensorMap got;
  ASSERT_EQ(TensorMap::decode(
                reinterpret_cast<const uint8_t *>(result.rows.data()), got),
            std::nullopt);
  EXPECT_EQ(got.globalAddress, 4096u);
  EXPECT_EQ(got.rank, 5u);
  EXPECT_EQ(got.elementType, ElementType::BF16);
  EXPECT_EQ(got.interleave, Interleave::B16);
  EXPECT_EQ(got.swizzle, Swizzle::B128Atom32);
  EXPECT_EQ(got.oobFill, OobFill::NaN);
  EXPECT_EQ(got.dims, (std::array<uint64_t, 5>{100, 101, 102, 103, 104}));
  EXPECT_EQ(got.box, (std::array<uint32_t, 5>{20, 21, 22, 23, 24}));
  EXPECT_EQ(got.elementStrides, (std::array<uint32_t, 5>{0, 1, 2, 3, 4}));
  uint64_t stride = uint64_t(1) << 36;
  EXPECT_EQ(got.strides,
            (std::array<uint64_t, 4>{stride, stride, stride, stride}));
}

TEST(TensorMapUpdate, RefusesWhatIsNoUpdate) {
  auto problem = [](const std::string &body, const TensorMap *map = nullptr) {
    return run(body, map).report.str();
  };
  std::string built = build() + kCopy + kAcquire;
  EXPECT_THAT(problem(replaced(built, "rank.shared::cta.b1024.b32 [map], 1",
                               "rank.shared::cta.b1024.b32 [map], 5")),
              HasSubstr("sets rank to 5; the largest value"));
  EXPECT_THAT(problem(replaced(built,
                               "swizzle_mode.shared::cta.b1024.b32 "
                               "[map], 0",
                               "swizzle_mode.shared::cta.b1024.b32 [map], 4")),
              HasSubstr("sets swizzle_mode to 4"));
  EXPECT_THAT(problem("st.shared.u32 [%r1], 7; mov.u32 %r2, map; "
                      "@!%p st.shared.u32 [%r2], 7; bar.warp.sync -1;\n" +
                      build()),
              HasSubstr("bytes that are no tensor map"));
  EXPECT_THAT(problem(replaced(built, "[map], 0, 128", "[map], 4, 128")),
              HasSubstr("takes ordinals 0 to 3"));
  EXPECT_THAT(problem(replaced(built, "rank.shared::cta.b1024.b32",
                               "rank.shared::cta.b1024.b64")),
              HasSubstr("needs .b1024 and .b32"));
  // What the kernel forgot is found where the map is used.
  EXPECT_THAT(
      problem(replaced(built, replace("box_dim,0", "32"), "") + load(0)),
      HasSubstr("holds a broken map: tensor map's box is 0"));
  EXPECT_THAT(problem(load(0)), HasSubstr("128 zero bytes"));
}
