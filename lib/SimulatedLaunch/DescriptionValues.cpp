// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments, fields and variables of a launch description.
#include "DescriptionValues.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace fp8::simulated {
namespace {
using launch::JsonValue;

/// Of a struct: parameters have 32764 bytes at most (PTX ISA 8.1), but
/// variables may be larger.
constexpr int64_t kMostValueBytes = int64_t(1) << 26;
/// Of a column of pixels (cuTensorMapEncodeIm2col).
constexpr int64_t kMostPixels = 1024;

template <typename T>
std::vector<uint8_t> bytesOf(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// An integer of the type, as signed or as unsigned.
template <typename T>
std::vector<uint8_t> readInteger(const JsonValue &json) {
  using Limits = std::numeric_limits<T>;
  if constexpr (sizeof(T) == 8)
    return bytesOf(T(std::is_signed_v<T> ? uint64_t(json.integer())
                                         : json.unsignedInteger()));
  else
    return bytesOf(T(json.integer(Limits::min(), Limits::max())));
}

template <typename T>
std::vector<uint8_t> readFloat(const JsonValue &json) {
  double number = json.number();
  if (std::isfinite(number) && std::abs(number) > std::numeric_limits<T>::max())
    json.fail("the number is too large for its type");
  return bytesOf(T(number));
}

/// A scalar is an object of one key, its type as PTX spells it.
using ReadScalar = std::vector<uint8_t> (*)(const JsonValue &);
constexpr std::pair<std::string_view, ReadScalar> kScalars[] = {
    {"s8", readInteger<int8_t>},   {"u8", readInteger<uint8_t>},
    {"s16", readInteger<int16_t>}, {"u16", readInteger<uint16_t>},
    {"s32", readInteger<int32_t>}, {"u32", readInteger<uint32_t>},
    {"s64", readInteger<int64_t>}, {"u64", readInteger<uint64_t>},
    {"f32", readFloat<float>},     {"f64", readFloat<double>},
};

std::vector<uint8_t> readHex(const JsonValue &json) {
  std::string text = json.string();
  std::vector<uint8_t> bytes;
  for (char c : text) {
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      json.fail("expected hexadecimal digits, two for each byte");
    bytes.push_back(uint8_t(digit));
  }
  if (bytes.size() % 2)
    json.fail("an odd number of digits; a byte has two");
  for (size_t i = 0; i < bytes.size() / 2; ++i)
    bytes[i] = uint8_t(bytes[2 * i] << 4 | bytes[2 * i + 1]);
  bytes.resize(bytes.size() / 2);
  return bytes;
}

BufferPlace readPlace(const JsonValue &json, const Description &description) {
  BufferPlace place;
  place.buffer = json["buffer"].string();
  if (!description.findBuffer(place.buffer))
    json["buffer"].fail("there is no buffer '" +
                        JsonValue::printable(place.buffer) + "'");
  if (json.has("offset"))
    place.offset = uint64_t(json["offset"].integer(0, kMostBytes));
  return place;
}

template <typename T, size_t N>
void readNumbers(const JsonValue &json, size_t count, int64_t low, int64_t high,
                 std::array<T, N> &out) {
  size_t i = 0;
  for (const JsonValue &number : json.array(count))
    out[i++] = T(number.integer(low, high));
}

/// A choice of the table that `parse` knows; `what` names it.
template <typename T>
T readNamed(const JsonValue &json, const char *what,
            std::optional<T> (*parse)(std::string_view)) {
  std::string text = json.string();
  if (std::optional<T> found = parse(text))
    return *found;
  json.fail("'" + JsonValue::printable(text) + "' is no " + what +
            " that the simulator knows; docs/launch.schema.json lists them");
}

/// A map of pixels: the sizes of a column, and the corners of W, H and D.
void readIm2col(const JsonValue &json, sim::TensorMap &map) {
  json.expectObject({"lower_corner", "upper_corner", "channels", "pixels"}, {});
  if (map.rank < 3)
    json.fail("a tensor map of pixels has rank 3 to " +
              std::to_string(tensor::kMaxRank));
  map.mode = sim::TensorMapMode::Im2col;
  map.box = {uint32_t(json["channels"].integer(1, kMostPixels)),
             uint32_t(json["pixels"].integer(1, kMostPixels)), 1, 1, 1};
  readNumbers(json["lower_corner"], map.spatialDims(), INT16_MIN, INT16_MAX,
              map.lowerCorner);
  readNumbers(json["upper_corner"], map.spatialDims(), INT16_MIN, INT16_MAX,
              map.upperCorner);
}

void readTiling(const JsonValue &json, sim::TensorMap &map) {
  using tensor::Interleave, tensor::OobFill;
  if (json.has("im2col"))
    readIm2col(json["im2col"], map);
  else
    readNumbers(json["box"], map.rank, 1, tensor::kMaxBoxExtent, map.box);
  if (json.has("element_strides"))
    readNumbers(json["element_strides"], map.rank, 1, tensor::kMaxElementStride,
                map.elementStrides);
  if (json.has("swizzle"))
    map.swizzle = readNamed(json["swizzle"], "swizzle", sim::parseSwizzle);
  if (json.has("interleave"))
    map.interleave =
        json["interleave"].oneOf<Interleave>({{"none", Interleave::None},
                                              {"16B", Interleave::B16},
                                              {"32B", Interleave::B32}});
  if (json.has("oob_fill"))
    map.oobFill = json["oob_fill"].oneOf<OobFill>(
        {{"zero", OobFill::Zero}, {"nan", OobFill::NaN}});
}

PlacedMap readTensorMap(const JsonValue &json, const Description &description) {
  json.expectObject(
      {"dtype", "dims", "strides_bytes", json.has("im2col") ? "im2col" : "box"},
      {"buffer", "offset", "element_strides", "swizzle", "interleave",
       "oob_fill"});
  PlacedMap placed;
  if (json.has("buffer"))
    placed.place = readPlace(json, description);
  else if (json.has("offset"))
    json["offset"].fail("an offset needs a buffer");
  sim::TensorMap &map = placed.map;
  map.elementType =
      readNamed(json["dtype"], "element type of TMA", sim::parseElementType);
  size_t rank = json["dims"].array().size();
  if (rank < 1 || rank > size_t(tensor::kMaxRank))
    json["dims"].fail("a tensor map has rank 1 to " +
                      std::to_string(tensor::kMaxRank) + ", not " +
                      std::to_string(rank));
  map.rank = unsigned(rank);
  readNumbers(json["dims"], rank, 1, tensor::kMaxExtent, map.dims);
  readNumbers(json["strides_bytes"], rank - 1, 0, tensor::kStrideLimitBytes - 1,
              map.strides);
  readTiling(json, map);
  // Buffers are at least as aligned as a map must be.
  map.globalAddress = placed.place.offset;
  if (auto broken = map.validate())
    json.fail(*broken);
  return placed;
}

Value readStruct(const JsonValue &json, const Description &description) {
  json.expectObject({"bytes"}, {"file", "hex", "fields"});
  uint64_t size = uint64_t(json["bytes"].integer(1, kMostValueBytes));
  std::vector<uint8_t> bytes(size);
  Value value;
  if (json.has("hex")) {
    if (json.has("file"))
      json["hex"].fail("give either hex or file");
    bytes = readHex(json["hex"]);
    if (bytes.size() > size)
      json["hex"].fail("it has more than the struct's " + std::to_string(size) +
                       " bytes");
    bytes.resize(size);
  }
  if (json.has("file"))
    value.file = json["file"].nonEmptyString();
  value.content = std::move(bytes);
  if (json.has("fields"))
    value.fields = readFields(json["fields"], size, description);
  return value;
}
} // namespace

uint64_t sizeOf(const Value &value) {
  if (const auto *bytes = std::get_if<std::vector<uint8_t>>(&value.content))
    return bytes->size();
  return std::holds_alternative<PlacedMap>(value.content) ? sim::kTensorMapBytes
                                                          : sizeof(uint64_t);
}

std::vector<ValueField> readFields(const JsonValue &json, uint64_t bytes,
                                   const Description &description) {
  std::vector<ValueField> fields;
  for (const JsonValue &entry : json.array()) {
    entry.expectObject({"offset", "value"}, {});
    ValueField field;
    field.offset = uint64_t(entry["offset"].integer(0, kMostBytes));
    field.value = readValue(entry["value"], description);
    uint64_t size = sizeOf(field.value);
    if (field.offset > bytes || size > bytes - field.offset)
      entry["offset"].fail("a field of " + std::to_string(size) +
                           " bytes at offset " + std::to_string(field.offset) +
                           " is not in the " + std::to_string(bytes) +
                           " bytes that it belongs to");
    fields.push_back(std::move(field));
  }
  return fields;
}

Value readValue(const JsonValue &json, const Description &description) {
  Value value;
  if (json.has("buffer")) {
    json.expectObject({"buffer"}, {"offset"});
    value.content = readPlace(json, description);
    return value;
  }
  auto [kind, content] = json.onlyMember();
  if (kind == "tensor_map")
    value.content = readTensorMap(content, description);
  else if (kind == "struct")
    return readStruct(content, description);
  else if (kind == "hex")
    value.content = readHex(content);
  else {
    for (const auto &[name, read] : kScalars)
      if (name == kind) {
        value.content = read(content);
        return value;
      }
    json.fail("'" + JsonValue::printable(kind) +
              "' is no value; there are buffer, tensor_map, struct, hex, and "
              "the scalars s8 to u64, f32 and f64");
  }
  return value;
}

} // namespace fp8::simulated
