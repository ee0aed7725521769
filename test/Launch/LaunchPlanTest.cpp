// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binding a manifest to a call.
#include "fp8/Launch/LaunchPlan.h"

#include "ManifestInputs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace fp8::launch;

namespace {
std::string gemmText() { return readInput("valid/blockwise-gemm.json"); }

Manifest parse(const std::string &text) {
  Expected<Manifest> manifest = parseManifest(text);
  EXPECT_TRUE(manifest) << manifest.error();
  return manifest ? *manifest : Manifest();
}

std::vector<ArgumentValue> gemmArguments(int64_t m, int64_t n, int64_t k) {
  int64_t kBlocks = (k + 127) / 128, nBlocks = (n + 127) / 128;
  int64_t padded = (m + 3) / 4 * 4;
  return {{ElementType::F8E4M3FN, {m, k}, {k, 1}, 0x10000},
          {ElementType::F32, {kBlocks, m}, {padded, 1}, 0x20000},
          {ElementType::F8E4M3FN, {n, k}, {k, 1}, 0x30000},
          {ElementType::F32, {nBlocks, kBlocks}, {kBlocks, 1}, 0x40000},
          {ElementType::BF16, {m, n}, {n, 1}, 0x50000}};
}

DeviceProperties device() {
  DeviceProperties properties;
  properties.multiprocessorCount = 148;
  return properties;
}

std::string errorOf(const std::string &text,
                    const std::vector<ArgumentValue> &arguments) {
  Expected<LaunchPlan> plan = bindLaunch(parse(text), arguments, device());
  return plan ? "no error" : plan.error();
}
std::string errorOf(const std::vector<ArgumentValue> &arguments) {
  return errorOf(gemmText(), arguments);
}
} // namespace

TEST(LaunchPlan, BindsTheGemm) {
  Expected<LaunchPlan> bound =
      bindLaunch(parse(gemmText()), gemmArguments(1000, 512, 320), device());
  ASSERT_TRUE(bound) << bound.error();
  const LaunchPlan &plan = *bound;
  EXPECT_EQ(plan.grid, (std::array<uint32_t, 3>{32, 1, 1}));
  EXPECT_EQ(plan.block, (std::array<uint32_t, 3>{192, 1, 1}));
  EXPECT_EQ(plan.sharedMemoryBytes, 199680u);
  ASSERT_EQ(plan.parameters.size(), 6u);
  const auto &a = std::get<fp8::tensor::TensorMap>(plan.parameters[0]);
  EXPECT_EQ(a.address, 0x10000u);
  EXPECT_EQ(a.dims, (std::vector<uint64_t>{320, 1000}));
  EXPECT_EQ(a.stridesBytes, (std::vector<uint64_t>{320}));
  EXPECT_EQ(a.swizzle, fp8::tensor::Swizzle::B128);
  const auto &scale = std::get<fp8::tensor::TensorMap>(plan.parameters[2]);
  EXPECT_EQ(scale.stridesBytes, (std::vector<uint64_t>{4000}));
  EXPECT_EQ(std::get<BoundPointer>(plan.parameters[3]).address, 0x40000u);
  EXPECT_EQ(std::get<BoundScalar>(plan.parameters[5]).value, 1000);
}

TEST(LaunchPlan, ThePersistentGridIsTheDevice) {
  Expected<LaunchPlan> plan =
      bindLaunch(parse(gemmText()), gemmArguments(4096, 4096, 128), device());
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(plan->grid[0], 148u);
}

TEST(LaunchPlan, AZeroExtentIsNothingToLaunch) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{0, 128}, {128, 0}}) {
    Expected<LaunchPlan> plan =
        bindLaunch(parse(gemmText()), gemmArguments(m, n, 128), device());
    ASSERT_TRUE(plan) << plan.error();
    EXPECT_TRUE(plan->nothingToLaunch());
    EXPECT_TRUE(plan->parameters.empty());
  }
}

TEST(LaunchPlan, AnEmptyTensorMapIsLegal) {
  Expected<LaunchPlan> plan =
      bindLaunch(parse(gemmText()), gemmArguments(128, 128, 0), device());
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_FALSE(plan->nothingToLaunch());
  const auto &a = std::get<fp8::tensor::TensorMap>(plan->parameters[0]);
  EXPECT_EQ(a.dims, (std::vector<uint64_t>{1, 128}));
  EXPECT_EQ(a.stridesBytes, (std::vector<uint64_t>{16}));
}

TEST(LaunchPlan, PrintsTheBrokenRule) {
  auto arguments = gemmArguments(128, 128, 256);
  arguments[2] = {ElementType::F8E4M3FN, {128, 128}, {128, 1}, 0x30000};
  EXPECT_EQ(errorOf(arguments),
            "a and b must agree in K (eq(a.shape[1], b.shape[1]) does not "
            "hold: a.shape[1] = 256, b.shape[1] = 128)");
  EXPECT_EQ(errorOf(gemmArguments(128, 128, 24)),
            "K must be a multiple of 16 (eq(rem(a.shape[1], 16), 0) does not "
            "hold: a.shape[1] = 24)");
}

TEST(LaunchPlan, ChecksTheArguments) {
  auto arguments = gemmArguments(128, 128, 128);
  arguments.pop_back();
  EXPECT_EQ(errorOf(arguments), "the kernel takes 5 arguments, got 4");
  arguments = gemmArguments(128, 128, 128);
  arguments[4].dtype = ElementType::F16;
  EXPECT_EQ(errorOf(arguments), "argument 'd' has element type f16; the kernel "
                                "was compiled for bf16");
  arguments[4] = {ElementType::BF16, {128}, {1}, 0};
  EXPECT_EQ(errorOf(arguments), "argument 'd' has shape [128] and strides [1]; "
                                "the kernel takes rank 2");
  arguments = gemmArguments(128, 128, 128);
  arguments[0].strides[1] = 2;
  EXPECT_EQ(errorOf(arguments),
            "a.strides[1] is 2; the kernel was compiled for 1");
  arguments = gemmArguments(128, 128, 128);
  arguments[0].shape[0] = -1;
  EXPECT_EQ(errorOf(arguments), "argument 'a' has the negative extent -1");
  EXPECT_EQ(errorOf(replaced(gemmText(), "/arguments/0/shape/0", 64),
                    gemmArguments(128, 128, 128)),
            "a.shape[0] is 128; the kernel was compiled for 64");
}

TEST(LaunchPlan, ChecksTensorMaps) {
  auto arguments = gemmArguments(128, 128, 128);
  arguments[0].strides[0] = 136;
  EXPECT_EQ(errorOf(arguments),
            "parameters[0]: tensor map of 'a': strides_bytes[0]: 136 bytes; "
            "TMA takes positive multiples of 16 (pad the rows)");
  arguments[0].strides[0] = 112;
  EXPECT_EQ(
      errorOf(arguments),
      "parameters[0]: tensor map of 'a': strides_bytes[0]: 112 bytes are less "
      "than the 128 bytes of the inner dimensions; rows would overlap");
  arguments[0].strides[0] = int64_t(1) << 40;
  EXPECT_EQ(errorOf(arguments),
            "parameters[0]: tensor map of 'a': strides_bytes[0]: 1099511627776 "
            "bytes; TMA takes strides below 2^40");
  arguments = gemmArguments(128, 128, 128);
  EXPECT_EQ(
      errorOf(replaced(gemmText(), "/parameters/0/dims/0", int64_t(1) << 33),
              arguments),
      "parameters[0]: tensor map of 'a': dims[0]: 8589934592 is out of "
      "range; an extent must be 0 to 2^32");
  arguments[0].address = 0x10008;
  EXPECT_EQ(errorOf(arguments), "parameters[0]: tensor map of 'a': the address "
                                "is not aligned to 16 bytes");
  arguments = gemmArguments(128, 128, 128);
  EXPECT_EQ(
      errorOf(replaced(gemmText(), "/parameters/0/swizzle", "64B"), arguments),
      "parameters[0]: tensor map of 'a': box[0]: 128 bytes a row do not "
      "fit the span of swizzle 64B");
  EXPECT_EQ(
      errorOf(replaced(gemmText(), "/parameters/0/box/0", 120), arguments),
      "parameters[0]: tensor map of 'a': box[0]: 120 bytes a row; TMA "
      "takes multiples of 16");
  EXPECT_EQ(
      errorOf(replaced(gemmText(), "/parameters/0/oob_fill", "nan"), arguments),
      "parameters[0]: tensor map of 'a': oob_fill: nan needs a "
      "floating-point type of 16 bits or more, not f8E4M3FN");
}

TEST(LaunchPlan, EvaluatesTheBox) {
  nlohmann::json rows{{"min", {{{"dim", {"a", 0}}}, 64}}};
  std::string text = replaced(replaced(gemmText(), "/parameters/0/box/1", rows),
                              "/version", 7);
  auto arguments = gemmArguments(48, 128, 128);
  Expected<LaunchPlan> plan = bindLaunch(parse(text), arguments, device());
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(std::get<fp8::tensor::TensorMap>(plan->parameters[0]).box[1], 48u);
  EXPECT_EQ(errorOf(replaced(text, "/parameters/0/box/1/min/1", 0), arguments),
            "parameters[0]: tensor map of 'a': box[1]: 0 is out of range; a "
            "box has 1 to 256 elements");
}

TEST(LaunchPlan, ChecksTheLaunch) {
  auto arguments = gemmArguments(128, 128, 128);
  std::string text = gemmText();
  EXPECT_EQ(
      errorOf(replaced(text, "/launch/shared_memory_bytes", 232449), arguments),
      "launch.shared_memory_bytes: 232449 bytes are above the device's "
      "limit of 232448 per block");
  EXPECT_EQ(
      errorOf(replaced(text, "/launch/grid/1", 65536), arguments),
      "launch.grid[1]: 65536 blocks are out of range; the range is 0 to 65535");
  EXPECT_EQ(errorOf(replaced(text, "/launch/grid/1", {{"floordiv", {1, 0}}}),
                    arguments),
            "launch.grid[1]: floordiv(1, 0) divides by zero");
  EXPECT_EQ(errorOf(replaced(text, "/launch/cluster/0", 2), arguments),
            "launch.grid[0]: 1 blocks are not a multiple of the cluster's 2");
  EXPECT_EQ(errorOf(replaced(text, "/parameters/5/type", "i8"),
                    gemmArguments(256, 128, 128)),
            "parameters[5]: 256 does not fit in i8");
}

TEST(LaunchPlan, ElementsHaveAnAddress) {
  std::vector<ArgumentValue> arguments = gemmArguments(128, 128, 128);
  arguments[2].address = 0;
  EXPECT_EQ(errorOf(arguments),
            "argument 'b' has elements but no memory: its address is null");
  arguments = gemmArguments(128, 128, 0);
  arguments[0].address = arguments[2].address = 0;
  EXPECT_EQ(errorOf(arguments), "no error") << "there are no elements";
}

/// NumPy gives such axes any strides: (0, 1) to a row, (0, 0) to no elements.
TEST(LaunchPlan, StridesThatLeadNowhereAreFree) {
  const std::string text = readInput("valid/minimal.json");
  auto errorWith = [&](const std::vector<int64_t> &shape,
                       const std::vector<int64_t> &strides) -> std::string {
    // x is contiguous, with rows of any length.
    nlohmann::json manifest = nlohmann::json::parse(text);
    manifest["arguments"] = {{{"name", "x"},
                              {"dtype", "f32"},
                              {"shape", {nullptr, nullptr}},
                              {"strides", {nullptr, 1}},
                              {"access", "read"}}};
    manifest["constraints"] = {
        {{"rule", "x must be contiguous"},
         {"condition",
          {{"eq", {{{"stride", {"x", 0}}}, {{"dim", {"x", 1}}}}}}}}};
    Manifest parsed = parse(manifest.dump());
    std::vector<ArgumentValue> arguments = {
        {ElementType::F32, shape, strides, 0x1000}};
    auto error = checkArguments(parsed, arguments);
    return error ? error->message : errorOf(manifest.dump(), arguments);
  };
  EXPECT_EQ(errorWith({1, 64}, {0, 1}), "no error");
  EXPECT_EQ(errorWith({1, 64}, {512, 1}), "no error");
  EXPECT_EQ(errorWith({64, 1}, {1, 7}), "no error");
  EXPECT_EQ(errorWith({64, 0}, {0, 0}), "no error");
  EXPECT_EQ(errorWith({0, 64}, {0, 0}), "no error");
  EXPECT_EQ(errorWith({2, 64}, {0, 1}),
            "x must be contiguous (eq(x.strides[0], x.shape[1]) does not hold: "
            "x.strides[0] = 0, x.shape[1] = 64)");
  EXPECT_EQ(errorWith({1, 64}, {64, 2}),
            "x.strides[1] is 2; the kernel was compiled for 1");
}

/// One row of a padded matrix: its own stride is the one that TMA takes.
TEST(LaunchPlan, StridesThatFitStay) {
  std::vector<ArgumentValue> arguments = gemmArguments(1, 128, 320);
  arguments[0].strides[0] = 4096;
  Expected<LaunchPlan> plan =
      bindLaunch(parse(gemmText()), arguments, device());
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(std::get<fp8::tensor::TensorMap>(plan->parameters[0]).stridesBytes,
            (std::vector<uint64_t>{4096}));
}

TEST(LaunchPlan, BindsMatricesOfABatch) {
  Manifest manifest = parse(gemmText());
  manifest.constraints.clear();
  auto map = std::get<TensorMapSpec>(manifest.parameters[0]);
  auto size = [](int64_t value) { return Expression::constant(value); };
  auto bind = [&](int64_t rowStride, int64_t batchStride) -> std::string {
    map.dims = {size(256), size(40), size(3)};
    map.stridesBytes = {size(rowStride), size(batchStride)};
    map.box = {size(128), size(64), size(1)};
    map.elementStrides = {1, 1, 1};
    manifest.parameters[0] = map;
    Expected<LaunchPlan> plan =
        bindLaunch(manifest, gemmArguments(128, 128, 128), device());
    if (!plan)
      return plan.error();
    const auto &bound = std::get<fp8::tensor::TensorMap>(plan->parameters[0]);
    EXPECT_EQ(bound.dims, (std::vector<uint64_t>{256, 40, 3}));
    EXPECT_EQ(
        bound.stridesBytes,
        (std::vector<uint64_t>{uint64_t(rowStride), uint64_t(batchStride)}));
    return "no error";
  };
  EXPECT_EQ(bind(256, 256 * 40), "no error");
  EXPECT_EQ(bind(272, int64_t(1) << 36), "no error")
      << "slices, past 2^32 elements";
  EXPECT_EQ(bind(768, 256), "no error") << "row by row";
  EXPECT_EQ(
      bind(256, 256 * 39),
      "parameters[0]: tensor map of 'a': strides_bytes[1]: 9984 bytes are less "
      "than the 10240 bytes of the inner dimensions; rows would overlap");
  EXPECT_EQ(
      bind(752, 256),
      "parameters[0]: tensor map of 'a': strides_bytes[0]: 752 bytes are less "
      "than the 768 bytes of the inner dimensions; rows would overlap");
  EXPECT_EQ(bind(256, 0),
            "parameters[0]: tensor map of 'a': strides_bytes[1]: 0 bytes; TMA "
            "takes positive multiples of 16 (pad the rows)");
}
