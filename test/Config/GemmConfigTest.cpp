// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of a configuration's fields, and what follows from it. The parser
// is held by test/IR/gemm.mlir and test/IR/attributes-invalid.mlir.
#include "fp8/Config/GemmConfig.h"

#include "fp8/Chip/Chip.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace fp8::config;

namespace {

/// A configuration in which no field has its default.
GemmConfig makePinned() {
  GemmConfig config;
  for (const Field &field : getFields())
    for (const Number &number : field.numbers)
      number.set(config, number.get(config) ? number.get(config) * 2 : 1);
  config.scheduler = SchedulerKind::ClusterLaunchControl;
  return config;
}

} // namespace

TEST(GemmConfig, EachNumberIsAMemberOfItsOwn) {
  GemmConfig config;
  int64_t value = 1;
  for (const Field &field : getFields())
    for (const Number &number : field.numbers)
      if (field.words.empty())
        number.set(config, ++value);
  value = 1;
  for (const Field &field : getFields())
    for (const Number &number : field.numbers)
      if (field.words.empty()) {
        EXPECT_EQ(number.get(config), ++value) << number.name;
      }
}

TEST(GemmConfig, EachWordIsAValue) {
  for (const Field &field : getFields())
    for (size_t word = 0; word < field.words.size(); word++) {
      GemmConfig config;
      ASSERT_EQ(field.numbers.size(), 1u) << field.name;
      field.numbers.front().set(config, word);
      EXPECT_EQ(field.numbers.front().get(config), int64_t(word))
          << field.words[word];
    }
}

TEST(GemmConfig, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const Field &field : getFields())
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
}

TEST(GemmConfig, LeavesDefaultsOutOfTheText) {
  EXPECT_EQ(stringify(GemmConfig()), "tile = 128 x 128 x 128");
  EXPECT_EQ(stringify(makePinned()),
            "tile = 256 x 256 x 256, cta_group = 2, cluster = 2 x 2, "
            "split_k = 2, stages = 1, accumulators = 1, scheduler = clc, "
            "band = 1, b_scales = lanes, l2_promotion = 512, "
            "launch = programmatic, edge = first, signal = wait");
}

TEST(GemmConfig, APairIsTheSmallestClusterOfPairs) {
  GemmConfig config;
  config.ctaGroup = config.cluster.m = 2;
  EXPECT_EQ(stringify(config), "tile = 128 x 128 x 128, cta_group = 2");
  config.cluster.m = 4;
  EXPECT_EQ(stringify(config),
            "tile = 128 x 128 x 128, cta_group = 2, cluster = 4 x 1");
}

TEST(GemmConfig, IsEqualIfEachFieldIs) {
  EXPECT_TRUE(GemmConfig() == GemmConfig());
  for (const Field &field : getFields())
    for (const Number &number : field.numbers) {
      GemmConfig config;
      number.set(config, !number.get(config));
      EXPECT_FALSE(config == GemmConfig()) << number.name;
    }
}

TEST(GemmConfig, KeepsNumbersWithinTheirLimits) {
  EXPECT_EQ(findFault(GemmConfig()), "");
  for (const Field &field : getFields())
    for (const Number &number : field.numbers) {
      if (!number.limits)
        continue;
      for (int64_t beyond :
           {number.limits->least - 1, number.limits->most + 1}) {
        GemmConfig config;
        number.set(config, beyond);
        std::string fault = findFault(config),
                    start = std::string(number.name) + " must be ";
        EXPECT_EQ(fault.substr(0, start.size()), start);
        EXPECT_NE(fault.find("but got " + std::to_string(beyond)),
                  std::string::npos)
            << fault;
      }
    }
}

TEST(GemmConfig, FindsFaultWithNumbersThatDoNotFitOneAnother) {
  auto find = [](int64_t tileM, int64_t tileN, int64_t ctaGroup,
                 ClusterShape cluster) {
    GemmConfig config;
    config.tileM = tileM;
    config.tileN = tileN;
    config.ctaGroup = ctaGroup;
    config.cluster = cluster;
    return findFault(config);
  };
  EXPECT_EQ(find(16, 128, 1, {}), "");
  EXPECT_EQ(find(16, 96, 1, {}),
            "tile N must be a multiple of 64 with a tile M that is none, since "
            "its columns are then the MMA's rows, but got 96");
  EXPECT_EQ(find(72, 128, 1, {}), "");
  EXPECT_EQ(find(136, 128, 1, {}),
            "tile M must be a multiple of 8 up to 128, 192 or 256 with "
            "cta_group = 1, but got 136");
  EXPECT_EQ(find(192, 96, 1, {}), "");
  EXPECT_EQ(find(192, 128, 2, {2, 1, 1}),
            "tile M must be 128 or 256 with cta_group = 2, but got 192");
  EXPECT_EQ(find(64, 128, 2, {2, 1, 1}),
            "tile M must be 128 or 256 with cta_group = 2, but got 64");
  EXPECT_EQ(find(128, 128, 1, {8, 4, 1}),
            "a cluster must have 1 to 16 CTAs, but got 8 x 4");
  EXPECT_EQ(
      find(256, 128, 2, {3, 1, 1}),
      "a cluster must have a whole number of CTA pairs along M, but got 3 "
      "CTAs");
  EXPECT_EQ(find(128, 128, 1, {2, 1, 2}),
            "the CTAs that divide K form a cluster by themselves; remove "
            "cluster and cta_group where split_k is set");
}

TEST(GemmConfig, FieldsAreDocumented) {
  std::ifstream file(FP8_SOURCE_DIR "/docs/Gemm.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const Field &field : getFields()) {
    std::string row = "\n| `" + std::string(field.name) + "` | " +
                      std::string(field.documentation);
    EXPECT_NE(text.str().find(row), std::string::npos)
        << "docs/Gemm.md has no row that begins with" << row;
  }
}
