// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading manifests: the good ones, and one clear error for each of the others.
#include "fp8/Launch/Manifest.h"

#include "ManifestInputs.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace fp8::launch;

namespace {
std::string errorOf(const std::string &text) {
  Expected<Manifest> manifest = parseManifest(text);
  return manifest ? "no error" : manifest.error();
}
} // namespace

TEST(Manifest, ReadsTheGemm) {
  Expected<Manifest> read =
      parseManifest(readInput("valid/blockwise-gemm.json"));
  ASSERT_TRUE(read) << read.error();
  const Manifest &manifest = *read;
  EXPECT_EQ(manifest.kernel, "gemm");
  EXPECT_EQ(manifest.chip, "sm_100a");
  EXPECT_EQ(manifest.problem, "blockwise_gemm");
  EXPECT_TRUE(manifest.problemOptions.empty());
  ASSERT_EQ(manifest.arguments.size(), 5u);
  EXPECT_EQ(manifest.arguments[4].dtype, ElementType::BF16);
  EXPECT_EQ(manifest.arguments[4].access, Access::Write);
  EXPECT_EQ(manifest.arguments[0].shape[0], std::nullopt);
  EXPECT_EQ(manifest.arguments[0].strides[1], 1);
  EXPECT_EQ(manifest.constraints[0].rule, "a and b must agree in K");
  EXPECT_EQ(manifest.constraints[1].condition.str(manifest.argumentNames()),
            "eq(rem(a.shape[1], 16), 0)");
  EXPECT_EQ(manifest.launch.block[0], 192u);
  EXPECT_EQ(manifest.launch.sharedMemoryBytes, 199680u);
  const auto &map = std::get<TensorMapSpec>(manifest.parameters[4]);
  EXPECT_EQ(map.argument, 4u);
  EXPECT_EQ(map.swizzle, fp8::tensor::Swizzle::B128);
  ASSERT_EQ(map.box.size(), 2u);
  EXPECT_EQ(map.box[0].str(manifest.argumentNames()), "64");
  EXPECT_EQ(map.box[1].str(manifest.argumentNames()), "32");
  EXPECT_EQ(std::get<PointerSpec>(manifest.parameters[3]).argument, 3u);
  EXPECT_EQ(std::get<ScalarSpec>(manifest.parameters[5]).type,
            ElementType::I32);
}

TEST(ManifestInputs, APatchKeepsTheRestOfTheText) {
  std::string text = readInput("valid/blockwise-gemm.json");
  EXPECT_EQ(replaced(text, "/chip", "sm_100a"), text);
  std::string changed = text;
  changed.replace(text.find("sm_100a"), 7, "sm_90a");
  EXPECT_EQ(replaced(text, "/chip", "sm_90a"), changed);
  EXPECT_THROW(replaced(text, "/chips", 1), nlohmann::json::exception);
}

TEST(Manifest, ReadsTheExamples) {
  unsigned count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::string(FP8_INPUTS) + "/valid")) {
    ++count;
    std::string name = entry.path().filename().string();
    EXPECT_EQ(errorOf(readInput("valid/" + name)), "no error") << name;
  }
  EXPECT_GE(count, 4u);
}

TEST(Manifest, NamesThePlaceAndTheRule) {
  for (const char *table : {"invalid.json", "beyond-schema.json"}) {
    std::vector<RefusedManifest> manifests = readRefused(table);
    EXPECT_GE(manifests.size(), 12u) << table;
    for (const RefusedManifest &manifest : manifests)
      EXPECT_EQ(errorOf(manifest.text), manifest.error) << manifest.name;
  }
}

TEST(Manifest, EveryTruncationIsOneError) {
  std::string text = readInput("valid/blockwise-gemm.json");
  while (text.back() == '\n')
    text.pop_back();
  for (size_t length = 0; length < text.size(); ++length) {
    std::string error = errorOf(text.substr(0, length));
    ASSERT_NE(error, "no error") << length;
    ASSERT_NE(error.find("not valid JSON: the text ends too early"),
              std::string::npos)
        << length << ": " << error;
  }
}

TEST(Manifest, EveryChangedByteIsHandled) {
  std::string text = readInput("valid/every-operator.json");
  for (size_t at = 0; at < text.size(); ++at)
    for (char c : {'\0', '"', '[', '}', '9', '\xff'}) {
      std::string changed = text;
      changed[at] = c;
      Expected<Manifest> manifest = parseManifest(changed);
      if (!manifest) {
        ASSERT_FALSE(manifest.error().empty());
        ASSERT_EQ(manifest.error().find('\n'), std::string::npos);
      }
    }
}

TEST(Manifest, SaysWhereTheTextIsBroken) {
  EXPECT_EQ(errorOf("{\n  \"version\": 1,,\n"),
            "line 2, column 16: not valid JSON");
  EXPECT_EQ(errorOf(""), "line 1, column 1: not valid JSON: the text ends too "
                         "early");
}

TEST(Manifest, RefusesDeepNestingAndHugeText) {
  std::string deep(100000, '[');
  EXPECT_EQ(errorOf(deep), "the file nests deeper than 256 levels");
  std::string huge((16 << 20) + 1, ' ');
  EXPECT_EQ(errorOf(huge),
            "the file has 16777217 bytes; the limit is 16777216");
}

TEST(Manifest, ReadsProblemOptions) {
  Expected<Manifest> read = parseManifest(readInput("valid/options.json"));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->problemOptions,
            (std::map<std::string, int64_t>{{"b_block", 64}}));
}

TEST(Manifest, ReadsWhatWaitsAre) {
  Expected<Manifest> read = parseManifest(readInput("valid/debug-waits.json"));
  ASSERT_TRUE(read) << read.error();
  const std::optional<WaitTable> &waits = read->debugWaits;
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->variable, "fp8_debug_waits");
  EXPECT_EQ(waits->limitMs, 2000u);
  ASSERT_EQ(waits->roles.size(), 2u);
  EXPECT_EQ(waits->roles[1].name, "mma");
  EXPECT_EQ(waits->roles[1].firstWarp, 5u);
  ASSERT_EQ(waits->barriers.size(), 2u);
  EXPECT_EQ(waits->barriers[0].bytes, 32768u);
  EXPECT_EQ(waits->barriers[1].name, "empty");
  EXPECT_EQ(waits->barriers[1].offset, 1048u);
  EXPECT_EQ(waits->barriers[1].depth, 3u);
  EXPECT_EQ(waits->barriers[1].arrivals[0].how, "tcgen05.commit");
}

TEST(Manifest, TellsWhereStampsLie) {
  Expected<Manifest> read = parseManifest(readInput("valid/profile.json"));
  ASSERT_TRUE(read) << read.error();
  const std::optional<ProfileTable> &profile = read->profile;
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->variable, "fp8_profile");
  EXPECT_EQ(profile->bytes(), 4u * (4 * 16 + 48));
  ASSERT_EQ(profile->roles.size(), 2u);
  ASSERT_EQ(profile->barriers.size(), 2u);
  EXPECT_EQ(profile->barriers[1].offset, 1048u);
}
