// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch descriptions as they are read: what they say, and each rule broken
// once, with the place in the JSON.

#include "fp8/SimulatedLaunch/Description.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>

using namespace fp8;
using namespace fp8::simulated;
using nlohmann::json;

namespace {

std::string read(const std::string &name) {
  std::ifstream file(std::string(FP8_INPUTS) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

json whole() { return json::parse(read("whole.json")); }

std::string problemOf(const json &description) {
  auto parsed = parseDescription(description.dump());
  return parsed ? "nothing" : parsed.error();
}

template <typename T>
T scalar(const Value &value) {
  const auto &bytes = std::get<std::vector<uint8_t>>(value.content);
  EXPECT_EQ(bytes.size(), sizeof(T));
  T number;
  std::memcpy(&number, bytes.data(), sizeof(T));
  return number;
}

} // namespace

TEST(Description, SaysLaunchAndBuffers) {
  auto parsed = parseDescription(whole().dump());
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->entry, "k");
  EXPECT_EQ(parsed->config.grid, (std::array<uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(parsed->config.cluster[0], 2u);
  EXPECT_EQ(parsed->config.dynamicSharedBytes, 1024u);
  EXPECT_TRUE(parsed->config.programmatic);
  EXPECT_TRUE(parsed->cooperative);
  const BufferSpec &a = *parsed->findBuffer("a");
  EXPECT_EQ(a.bytes, 2048u);
  EXPECT_EQ(a.contents, Contents::Zeros);
  EXPECT_EQ(a.access, launch::Access::Read);
  const BufferSpec &table = *parsed->findBuffer("table");
  EXPECT_EQ(table.contents, Contents::Poison);
  ASSERT_EQ(table.fields.size(), 2u);
  EXPECT_EQ(std::get<BufferPlace>(table.fields[0].value.content).offset, 32u);
  EXPECT_EQ(std::get<PlacedMap>(table.fields[1].value.content).place.buffer,
            "");
  EXPECT_EQ(parsed->findBuffer("r")->bytes, 1u);
  EXPECT_EQ(parsed->findBuffer("r")->seed, 7u);
  EXPECT_EQ(parsed->findBuffer("f")->contents, Contents::File);
  EXPECT_EQ(parsed->findBuffer("given")->contents, Contents::Given);
  EXPECT_EQ(parsed->expected[0].dtype, tensor::ElementType::BF16);
  EXPECT_EQ(parsed->expected[0].frobenius, 0.5);
  EXPECT_EQ(parsed->expected[0].max, 2);
}

TEST(Description, SaysValues) {
  auto parsed = parseDescription(whole().dump());
  ASSERT_TRUE(parsed) << parsed.error();
  const std::vector<Value> &values = parsed->arguments;
  EXPECT_EQ(scalar<int8_t>(values[1]), -128);
  EXPECT_EQ(scalar<uint64_t>(values[2]), ~uint64_t(0));
  EXPECT_TRUE(std::isnan(scalar<float>(values[3])));
  EXPECT_EQ(scalar<uint16_t>(values[4]), 0xff00);
  const sim::TensorMap &map = std::get<PlacedMap>(values[5].content).map;
  EXPECT_EQ(map.rank, 2u);
  EXPECT_EQ(map.swizzle, sim::Swizzle::B128Atom32);
  EXPECT_EQ(map.elementStrides[1], 2u);
  EXPECT_EQ(map.oobFill, tensor::OobFill::NaN);
  EXPECT_EQ(values[6].fields[0].offset, 16u);
  EXPECT_EQ(values[6].fields[0].value.file, "s.bin");
  EXPECT_EQ(scalar<uint16_t>(parsed->variables.at("v")), 65535);
}

TEST(Description, NeedsLittle) {
  EXPECT_EQ(problemOf(json::parse(R"({"version": 1, "grid": [1, 1, 1],
    "block": [32, 1, 1], "arguments": []})")),
            "nothing");
}

// schema.test holds the schema to the same descriptions.
TEST(Description, NamesThePlaceOfTheBrokenRule) {
  json cases = json::parse(read("broken.json"));
  ASSERT_GE(cases.size(), 30u);
  for (const json &broken : cases) {
    json description = whole();
    description[json::json_pointer(broken["at"].get<std::string>())] =
        broken["value"];
    EXPECT_EQ(problemOf(description), broken["message"]) << broken["at"];
  }
  EXPECT_EQ(parseDescription("{").error(),
            "line 1, column 1: not valid JSON: the text ends too early");
}
