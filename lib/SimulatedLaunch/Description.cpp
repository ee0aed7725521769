// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the launch description.
#include "fp8/SimulatedLaunch/Description.h"

#include "DescriptionValues.h"

#include <limits>

namespace fp8::simulated {
namespace {
using launch::Access, launch::JsonError, launch::JsonValue;

constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();

std::array<uint32_t, 3> readExtents(const JsonValue &json, int64_t most) {
  std::array<uint32_t, 3> extents{};
  size_t i = 0;
  for (const JsonValue &extent : json.array(3))
    extents[i++] = uint32_t(extent.integer(1, most));
  return extents;
}

tensor::ElementType readDtype(const JsonValue &json) {
  std::string text = json.string();
  if (auto type = tensor::parseElementType(text))
    return *type;
  json.fail("'" + JsonValue::printable(text) + "' is not one of " +
            tensor::kElementTypes.str());
}

/// The extent of the buffer by `bytes`, or by `dtype` and `shape`.
void readExtent(const JsonValue &json, BufferSpec &buffer) {
  if (json.has("dtype"))
    buffer.dtype = readDtype(json["dtype"]);
  if (json.has("bytes") && json.has("shape"))
    json["bytes"].fail("give either bytes or shape");
  if (json.has("bytes"))
    buffer.bytes = uint64_t(json["bytes"].integer(0, kMostBytes));
  if (!json.has("shape"))
    return;
  if (!buffer.dtype)
    json["shape"].fail("a shape needs dtype");
  buffer.bytes = tensor::byteSize(*buffer.dtype);
  for (const JsonValue &extent : json["shape"].array()) {
    buffer.shape.push_back(extent.integer(0, kMostBytes));
    if (__builtin_mul_overflow(buffer.bytes, uint64_t(buffer.shape.back()),
                               &buffer.bytes) ||
        buffer.bytes > uint64_t(kMostBytes))
      json["shape"].fail("the buffer would have more than " +
                         std::to_string(kMostBytes) + " bytes");
  }
}

void readFill(const JsonValue &json, BufferSpec &buffer) {
  if (json.isObject()) {
    json.expectObject({"random"}, {});
    buffer.contents = Contents::Random;
    buffer.seed = uint64_t(
        json["random"].integer(0, std::numeric_limits<int64_t>::max()));
    if (!buffer.dtype)
      json.fail("random contents need dtype");
    return;
  }
  buffer.contents = json.oneOf<Contents>(
      {{"zeros", Contents::Zeros}, {"poison", Contents::Poison}});
}

/// All but its fields, which may name buffers that follow.
BufferSpec readBuffer(const JsonValue &json, const Description &description) {
  json.expectObject({"name"}, {"dtype", "shape", "bytes", "file", "fill",
                               "access", "fields"});
  BufferSpec buffer;
  buffer.name = json["name"].nonEmptyString();
  if (description.findBuffer(buffer.name))
    json["name"].fail("another buffer has the name '" +
                      JsonValue::printable(buffer.name) +
                      "'; names must be unique");
  readExtent(json, buffer);
  bool sized = json.has("bytes") || json.has("shape");
  if (json.has("file")) {
    if (json.has("fill"))
      json["fill"].fail("give either file or fill");
    buffer.contents = Contents::File;
    buffer.file = json["file"].nonEmptyString();
  }
  if (json.has("fill")) {
    if (!sized)
      json["fill"].fail("a buffer that is filled needs bytes, or dtype and "
                        "shape");
    readFill(json["fill"], buffer);
  }
  if (json.has("access"))
    buffer.access =
        json["access"].oneOf<Access>({{"read", Access::Read},
                                      {"write", Access::Write},
                                      {"readwrite", Access::ReadWrite}});
  return buffer;
}

void readBuffers(const JsonValue &json, Description &description) {
  uint64_t total = 0;
  for (const JsonValue &entry : json.array()) {
    description.buffers.push_back(readBuffer(entry, description));
    total += description.buffers.back().bytes;
    if (total > uint64_t(kMostBytes))
      entry.fail("the buffers together would have more than " +
                 std::to_string(kMostBytes) + " bytes");
  }
  size_t i = 0;
  for (const JsonValue &entry : json.array()) {
    BufferSpec &buffer = description.buffers[i++];
    if (!entry.has("fields"))
      continue;
    if (!buffer.bytes)
      entry["fields"].fail("a buffer with fields needs bytes, or dtype and "
                           "shape");
    buffer.fields = readFields(entry["fields"], buffer.bytes, description);
  }
}

Expectation readExpectation(const JsonValue &json,
                            const Description &description) {
  json.expectObject({"buffer", "file"}, {"dtype", "mask", "tolerance"});
  Expectation expected;
  expected.buffer = json["buffer"].string();
  const BufferSpec *buffer = description.findBuffer(expected.buffer);
  if (!buffer)
    json["buffer"].fail("there is no buffer '" +
                        JsonValue::printable(expected.buffer) + "'");
  if (json.has("dtype"))
    expected.dtype = readDtype(json["dtype"]);
  else if (buffer->dtype)
    expected.dtype = *buffer->dtype;
  else
    json.fail("missing key 'dtype', which the buffer does not have either");
  expected.file = json["file"].nonEmptyString();
  if (json.has("mask"))
    expected.mask = json["mask"].nonEmptyString();
  if (!json.has("tolerance"))
    return expected;
  json["tolerance"].expectObject({}, {"frobenius", "max"});
  auto bound = [&](const char *key) {
    JsonValue number = json["tolerance"][key];
    if (!(number.number() >= 0))
      number.fail("a tolerance is not negative");
    return number.number();
  };
  if (json["tolerance"].has("max"))
    expected.max = bound("max");
  if (json["tolerance"].has("frobenius"))
    expected.frobenius = bound("frobenius");
  else if (expected.max)
    expected.frobenius = std::numeric_limits<double>::infinity();
  return expected;
}

Description readDescription(const JsonValue &json) {
  json.expectObject({"version", "grid", "block", "arguments"},
                    {"$schema", "entry", "cluster", "shared_memory_bytes",
                     "programmatic", "cooperative", "buffers", "variables",
                     "expected"});
  json["version"].integer(1, 1);
  Description description;
  if (json.has("entry"))
    description.entry = json["entry"].nonEmptyString();
  sim::LaunchConfig &config = description.config;
  config.grid = readExtents(json["grid"], kMostExtent);
  config.block = readExtents(json["block"], 1024);
  if (json.has("cluster"))
    config.cluster = readExtents(json["cluster"], 16);
  if (json.has("shared_memory_bytes"))
    config.dynamicSharedBytes =
        uint64_t(json["shared_memory_bytes"].integer(0, kMostExtent));
  if (json.has("programmatic"))
    config.programmatic = json["programmatic"].boolean();
  if (json.has("cooperative"))
    description.cooperative = json["cooperative"].boolean();
  if (json.has("buffers"))
    readBuffers(json["buffers"], description);
  for (const JsonValue &argument : json["arguments"].array())
    description.arguments.push_back(readValue(argument, description));
  if (json.has("variables"))
    for (const auto &[name, value] : json["variables"].members())
      description.variables[name] = readValue(value, description);
  if (json.has("expected"))
    for (const JsonValue &expected : json["expected"].array())
      description.expected.push_back(readExpectation(expected, description));
  return description;
}
} // namespace

const BufferSpec *Description::findBuffer(const std::string &name) const {
  for (const BufferSpec &buffer : buffers)
    if (buffer.name == name)
      return &buffer;
  return nullptr;
}

launch::Expected<Description> parseDescription(std::string_view text) {
  try {
    nlohmann::json json = launch::parseJson(text);
    return readDescription(JsonValue(json, ""));
  } catch (const JsonError &error) {
    return launch::Error{error.message};
  }
}

} // namespace fp8::simulated
