// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading manifests: the good ones, and one clear error for each of the others.
#include "fp8/Launch/Manifest.h"

#include "ManifestInputs.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>

using namespace fp8::launch;

namespace {
std::string errorOf(const std::string &text) {
  Expected<Manifest> manifest = parseManifest(text);
  return manifest ? "no error" : manifest.error();
}

const std::map<std::string, std::string> errors{
    {"invalid/version-4", "version: version 4 is not supported; this reader "
                          "knows versions 1 to 3; read it with a newer fp8"},
    {"invalid/options-version",
     "problem_options: is of version 2, but the file says 1"},
    {"invalid/options-no-problem",
     "problem_options: needs the key 'problem' beside it"},
    {"invalid/options-text",
     "problem_options.b_block: expected an integer, found the string '64'"},
    {"invalid/programmatic-version",
     "launch.programmatic: is of version 2, but the file says 1"},
    {"invalid/programmatic-number",
     "launch.programmatic: expected true or false, found 1"},
    {"invalid/waits-version",
     "debug_waits: is of version 3, but the file says 2"},
    {"invalid/waits-no-variable", "debug_waits: missing key 'variable'"},
    {"invalid/waits-limit", "debug_waits.limit_ms: 0 is out of range; it must "
                            "be from 1 to 4294967295"},
    {"invalid/waits-role", "debug_waits.roles[1].warps: 0 is out of range; it "
                           "must be from 1 to 4294967295"},
    {"invalid/waits-offset", "debug_waits.barriers[0].offset: -8 is out of "
                             "range; it must be from 0 to 4294967295"},
    {"invalid/waits-arrival",
     "debug_waits.barriers[1].arrivals[0]: unknown key 'lane'"},
    {"invalid/version-text",
     "version: expected an integer, found the string '1'"},
    {"invalid/version-missing", "the top level: missing key 'version'"},
    {"invalid/unknown-key", "the top level: unknown key 'gird'"},
    {"invalid/unknown-nested-key", "launch: unknown key 'threads'"},
    {"invalid/missing-launch", "the top level: missing key 'launch'"},
    {"invalid/not-an-object",
     "the top level: expected an object, found an array"},
    {"invalid/kernel-empty", "kernel: must not be empty"},
    {"invalid/kernel-number", "kernel: expected a string, found 5"},
    {"invalid/dtype", "arguments[0].dtype: 'e4m3' is not one of f8E4M3FN, "
                      "f8E5M2, bf16, f16, f32, f64, i8, i16, i32, i64"},
    {"invalid/access", "arguments[0].access: 'rw' is not one of read, write, "
                       "readwrite"},
    {"invalid/shape-negative",
     "arguments[0].shape[0]: -1 is out of range; it must be from 0 to "
     "9223372036854775807"},
    {"invalid/shape-float",
     "arguments[0].shape[0]: expected an integer, found the number 1.5"},
    {"invalid/grid-two", "launch.grid: expected 3 elements, found 2"},
    {"invalid/grid-text", "launch.grid[1]: expected an expression: an integer "
                          "or an object with one key"},
    {"invalid/grid-operator", "launch.grid[1]: unknown operator 'pow'"},
    {"invalid/grid-operand-count",
     "launch.grid[1].add: expected 2 elements, found 1"},
    {"invalid/grid-two-keys",
     "launch.grid[1]: expected an object with one key, found 2 keys"},
    {"invalid/constant-too-big",
     "launch.grid[1]: 9223372036854775808 does not fit in 64 signed bits"},
    {"invalid/device", "launch.grid[1].device: 'warp_size' is not one of "
                       "multiprocessor_count"},
    {"invalid/block-zero",
     "launch.block[0]: 0 is out of range; it must be from 1 to 1024"},
    {"invalid/box-257",
     "parameters[0].box[0]: 257 is out of range; it must be from 1 to 256"},
    {"invalid/kind", "parameters[0].kind: 'texture' is not one of tensor_map, "
                     "pointer, scalar"},
    {"invalid/no-dims",
     "parameters[0].dims: a tensor map has 1 to 5 dimensions, found 0"},
    {"invalid/pointer-extra", "parameters[3]: unknown key 'offset'"},
    {"beyond-schema/unknown-argument",
     "launch.grid[0].dim[0]: no argument is named 'aa'"},
    {"beyond-schema/axis-past-rank",
     "launch.grid[0].dim[1]: argument 'a' has rank 2 and no axis 2"},
    {"beyond-schema/duplicate-argument",
     "arguments[1].name: another argument is named 'a' too; names must be "
     "unique"},
    {"beyond-schema/duplicate-key",
     "key 'chip' appears twice in one object; keys must be unique"},
    {"beyond-schema/strides-count",
     "arguments[0].strides: expected one stride for each of the 2 dimensions, "
     "found 1"},
    {"beyond-schema/box-rank",
     "parameters[0].box: expected 2 elements, found 1"},
    {"beyond-schema/too-many-threads",
     "launch.block: 2048 threads are above the limit of 1024 per block"},
    {"beyond-schema/cluster-not-portable",
     "launch.cluster: a cluster of 16 blocks is not portable (more than 8); "
     "set launch.non_portable_cluster"},
};
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
  EXPECT_EQ(manifest.arguments[4].dtype, DataType::BF16);
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
  EXPECT_EQ(map.swizzle, Swizzle::B128);
  EXPECT_EQ(map.box, (std::vector<uint32_t>{64, 32}));
  EXPECT_EQ(std::get<PointerSpec>(manifest.parameters[3]).argument, 3u);
  EXPECT_EQ(std::get<ScalarSpec>(manifest.parameters[5]).type, DataType::I32);
}

TEST(Manifest, AgreesWithTheExamples) {
  for (const char *directory : {"valid", "invalid", "beyond-schema"}) {
    unsigned count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(
             std::string(FP8_INPUTS) + "/" + directory)) {
      ++count;
      std::string name =
          std::string(directory) + "/" + entry.path().filename().string();
      EXPECT_EQ(bool(parseManifest(readInput(name))),
                directory == std::string("valid"))
          << name;
    }
    EXPECT_GE(count, 4u);
  }
}

TEST(Manifest, NamesThePlaceAndTheRule) {
  for (const auto &[name, message] : errors)
    EXPECT_EQ(errorOf(readInput(name + ".json")), message) << name;
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
