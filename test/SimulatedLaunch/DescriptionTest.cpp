// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch descriptions as they are read: what they say, and each rule broken
// once, with the place in the JSON.

#include "fp8/SimulatedLaunch/Description.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

using namespace fp8;
using namespace fp8::simulated;
using nlohmann::json;

namespace {

json whole() {
  return json::parse(R"({
    "version": 1, "entry": "k", "grid": [4, 2, 1], "block": [128, 1, 1],
    "cluster": [2, 1, 1], "shared_memory_bytes": 1024, "programmatic": true,
    "buffers": [
      {"name": "a", "dtype": "bf16", "shape": [16, 64], "fill": "zeros",
       "access": "read"},
      {"name": "table", "bytes": 256, "fill": "poison", "fields": [
        {"offset": 8, "value": {"buffer": "a", "offset": 32}},
        {"offset": 128, "value": {"tensor_map": {"dtype": "u8", "dims": [64],
          "strides_bytes": [], "box": [32]}}}]},
      {"name": "r", "dtype": "i8", "shape": [], "fill": {"random": 7}},
      {"name": "f", "file": "f.npy"},
      {"name": "given"}
    ],
    "arguments": [
      {"buffer": "a"}, {"s8": -128}, {"u64": 18446744073709551615},
      {"f32": "nan"}, {"hex": "00Ff"},
      {"tensor_map": {"buffer": "a", "offset": 128, "dtype": "bf16",
        "dims": [64, 16], "strides_bytes": [128], "box": [64, 8],
        "element_strides": [1, 2], "swizzle": "128B_ATOM_32B",
        "interleave": "none", "oob_fill": "nan"}},
      {"struct": {"bytes": 256, "hex": "01", "fields": [
        {"offset": 16, "value": {"struct": {"bytes": 8, "file": "s.bin"}}}]}}
    ],
    "variables": {"v": {"u16": 65535}},
    "expected": [{"buffer": "a", "file": "e.npy", "mask": "m.npy",
      "tolerance": {"frobenius": 0.5, "max": 2}}]
  })");
}

std::string problemOf(const json &description) {
  auto parsed = parseDescription(description.dump());
  return parsed ? "nothing" : parsed.error();
}

/// What the reader says of the whole description with a value replaced.
std::string broken(const char *pointer, const char *value) {
  json description = whole();
  description[json::json_pointer(pointer)] = json::parse(value);
  return problemOf(description);
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

TEST(Description, NamesThePlaceOfTheBrokenRule) {
  const struct {
    const char *pointer, *value, *message;
  } cases[] = {
      {"/version", "2", "version: 2 is out of range; it must be 1"},
      {"/gird", "1", "the top level: unknown key 'gird'"},
      {"/grid/1", "0",
       "grid[1]: 0 is out of range; it must be from 1 to 2147483647"},
      {"/block", "[1, 1]", "block: expected 3 elements, found 2"},
      {"/cluster/0", "17",
       "cluster[0]: 17 is out of range; it must be from 1 to 16"},
      {"/buffers/0/name", "\"\"", "buffers[0].name: must not be empty"},
      {"/buffers/1/name", "\"a\"",
       "buffers[1].name: another buffer has the name 'a'; names must be "
       "unique"},
      {"/buffers/0/dtype", "\"f4\"",
       "buffers[0].dtype: 'f4' is not one of f8E4M3FN, f8E5M2, bf16, f16, f32, "
       "f64, i8, i16, i32, i64"},
      {"/buffers/0/bytes", "1", "buffers[0].bytes: give either bytes or shape"},
      {"/buffers/0/shape/0", "1000000000000",
       "buffers[0].shape: the buffer would have more than 1099511627776 bytes"},
      {"/buffers/3/fill", "\"zeros\"",
       "buffers[3].fill: give either file or fill"},
      {"/buffers/4/fill", "\"zeros\"",
       "buffers[4].fill: a buffer that is filled needs bytes, or dtype and "
       "shape"},
      {"/buffers/1/fill", "{\"random\": 1}",
       "buffers[1].fill: random contents need dtype"},
      {"/buffers/1/fields/0/offset", "249",
       "buffers[1].fields[0].offset: a field of 8 bytes at offset 249 is not "
       "in the 256 bytes that it belongs to"},
      {"/buffers/4/fields", "[]",
       "buffers[4].fields: a buffer with fields needs bytes, or dtype and "
       "shape"},
      {"/arguments/0/buffer", "\"b\"",
       "arguments[0].buffer: there is no buffer 'b'"},
      {"/arguments/0/offset", "-1",
       "arguments[0].offset: -1 is out of range; it must be from 0 to "
       "1099511627776"},
      {"/arguments/1/s8", "128",
       "arguments[1].s8: 128 is out of range; it must be from -128 to 127"},
      {"/arguments/1", "{\"int\": 1}",
       "arguments[1]: 'int' is no value; there are buffer, tensor_map, struct, "
       "hex, and the scalars s8 to u64, f32 and f64"},
      {"/arguments/1", "{}",
       "arguments[1]: expected an object with one key, found 0 keys"},
      {"/arguments/2/u64", "-1",
       "arguments[2].u64: expected an integer of at least 0, found -1"},
      {"/arguments/3/f32", "1e39",
       "arguments[3].f32: the number is too large for its type"},
      {"/arguments/3/f32", "\"one\"",
       "arguments[3].f32: 'one' is not one of nan, inf, -inf"},
      {"/arguments/4/hex", "\"0\"",
       "arguments[4].hex: an odd number of digits; a byte has two"},
      {"/arguments/4/hex", "\"0x\"",
       "arguments[4].hex: expected hexadecimal digits, two for each byte"},
      {"/arguments/5/tensor_map/dtype", "\"f8\"",
       "arguments[5].tensor_map.dtype: 'f8' is no element type of TMA that the "
       "simulator knows; docs/launch.schema.json lists them"},
      {"/arguments/5/tensor_map/swizzle", "\"96B\"",
       "arguments[5].tensor_map.swizzle: '96B' is no swizzle that the "
       "simulator knows; docs/launch.schema.json lists them"},
      {"/arguments/5/tensor_map/dims", "[1, 1, 1, 1, 1, 1]",
       "arguments[5].tensor_map.dims: a tensor map has rank 1 to 5, not 6"},
      {"/arguments/5/tensor_map/box", "[64]",
       "arguments[5].tensor_map.box: expected 2 elements, found 1"},
      {"/arguments/5/tensor_map/strides_bytes/0", "120",
       "arguments[5].tensor_map: tensor map's stride of dimension 1 is 120 "
       "bytes; the rule is a multiple of 16"},
      {"/arguments/5/tensor_map/offset", "8",
       "arguments[5].tensor_map: tensor map's global address is not a multiple "
       "of 16 bytes"},
      {"/arguments/6/struct/bytes", "0",
       "arguments[6].struct.bytes: 0 is out of range; it must be from 1 to "
       "1048576"},
      {"/arguments/6/struct/file", "\"x\"",
       "arguments[6].struct.hex: give either hex or file"},
      {"/arguments/6/struct/fields/0/offset", "255",
       "arguments[6].struct.fields[0].offset: a field of 8 bytes at offset 255 "
       "is not in the 256 bytes that it belongs to"},
      {"/variables/v", "3",
       "variables.v: expected an object with one key, found 3"},
      {"/expected/0/buffer", "\"z\"",
       "expected[0].buffer: there is no buffer 'z'"},
      {"/expected/0/buffer", "\"table\"",
       "expected[0]: missing key 'dtype', which the buffer does not have "
       "either"},
      {"/expected/0/tolerance/max", "-1",
       "expected[0].tolerance.max: a tolerance is not negative"},
  };
  for (const auto &[pointer, value, message] : cases)
    EXPECT_EQ(broken(pointer, value), message) << pointer;
  EXPECT_EQ(parseDescription("{").error(),
            "line 1, column 1: not valid JSON: the text ends too early");
}
