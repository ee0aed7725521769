// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage, spacing and poison of D's types.
#include "fp8/Reference/OutputType.h"

#include "fp8/Reference/Float8.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fp8::reference {
namespace {
struct Properties {
  std::string_view name;
  unsigned bytes;
  int mantissaBits, lowestExponent, overflowExponent;
  uint32_t poison; // negative quiet NaN with a payload of our own
};

const Properties &propertiesOf(OutputType type) {
  static constexpr Properties e4m3{"f8E4M3FN", 1, 3, -6, 9, 0xff};
  static constexpr Properties bf16{"bf16", 2, 7, -126, 128, 0xffc5};
  static constexpr Properties f16{"f16", 2, 10, -14, 16, 0xfed5};
  static constexpr Properties f32{"f32", 4, 23, -126, 128, 0xffc5a5d5};
  switch (type) {
  case OutputType::F8E4M3FN:
    return e4m3;
  case OutputType::BF16:
    return bf16;
  case OutputType::F16:
    return f16;
  case OutputType::F32:
    break;
  }
  return f32;
}

/// To float, so that rounding to a narrower type afterwards is as good as
/// rounding once: what is inexact gets an odd last bit.
float roundToOdd(double value) {
  float narrow = static_cast<float>(value);
  if (!std::isfinite(value) || narrow == value)
    return narrow;
  if (std::fabs(narrow) > std::fabs(value))
    narrow = std::nextafter(narrow, 0.0f);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof(bits));
  bits |= 1;
  std::memcpy(&narrow, &bits, sizeof(bits));
  return narrow;
}
} // namespace

std::string_view name(OutputType type) { return propertiesOf(type).name; }
unsigned byteSize(OutputType type) { return propertiesOf(type).bytes; }
uint32_t poisonBits(OutputType type) { return propertiesOf(type).poison; }

uint32_t loadBits(OutputType type, const void *data, uint64_t element) {
  uint32_t bits = 0;
  unsigned bytes = byteSize(type);
  std::memcpy(&bits, static_cast<const char *>(data) + element * bytes, bytes);
  return bits;
}

double load(OutputType type, const void *data, uint64_t element) {
  uint32_t bits = loadBits(type, data, element);
  if (type == OutputType::F8E4M3FN)
    return decodeE4M3FN(static_cast<uint8_t>(bits));
  if (type == OutputType::F16)
    return decodeF16(static_cast<uint16_t>(bits));
  if (type == OutputType::BF16)
    return decodeBF16(static_cast<uint16_t>(bits));
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

void store(OutputType type, void *data, uint64_t element, double value) {
  uint32_t bits;
  if (type == OutputType::F32) {
    float narrow = static_cast<float>(value);
    std::memcpy(&bits, &narrow, sizeof(bits));
  } else if (type == OutputType::F8E4M3FN) {
    bits = encodeE4M3FN(roundToOdd(value));
  } else {
    bits = type == OutputType::F16 ? encodeF16(value) : encodeBF16(value);
  }
  unsigned bytes = byteSize(type);
  std::memcpy(static_cast<char *>(data) + element * bytes, &bits, bytes);
}

double roundTo(OutputType type, double value) {
  uint32_t storage = 0;
  store(type, &storage, 0, value);
  return load(type, &storage, 0);
}

double ulpAt(OutputType type, double value) {
  const Properties &properties = propertiesOf(type);
  int exponent = properties.lowestExponent;
  if (value != 0)
    exponent = std::max(exponent, std::ilogb(value));
  exponent = std::min(exponent, properties.overflowExponent - 1);
  return std::ldexp(1.0, exponent - properties.mantissaBits);
}

double saturate(OutputType type, double value) {
  constexpr double largest = 448;
  if (type != OutputType::F8E4M3FN || std::isnan(value))
    return value;
  return std::clamp(value, -largest, largest);
}

double overflowThreshold(OutputType type) {
  return std::ldexp(1.0, propertiesOf(type).overflowExponent);
}

void fillWithPoison(OutputType type, void *data, uint64_t elements) {
  uint32_t bits = poisonBits(type);
  unsigned bytes = byteSize(type);
  for (uint64_t i = 0; i < elements; ++i)
    std::memcpy(static_cast<char *>(data) + i * bytes, &bits, bytes);
}

} // namespace fp8::reference
