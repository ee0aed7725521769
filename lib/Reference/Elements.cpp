// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements in storage, by the format of their type.
#include "fp8/Reference/Elements.h"

#include "fp8/Reference/Float8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace fp8::reference {
namespace {
using Values = std::array<double, 256>;

/// The values of all codes of a type of 8 bits.
const Values &valuesOf(ElementType type) {
  auto make = [](ElementType type) {
    Values values;
    for (unsigned bits = 0; bits < 256; ++bits)
      values[bits] = decodeBits(type, bits);
    return values;
  };
  static const Values e4m3 = make(ElementType::F8E4M3FN),
                      e5m2 = make(ElementType::F8E5M2),
                      powers = make(ElementType::F8E8M0FNU);
  return type == ElementType::F8E4M3FN ? e4m3
         : type == ElementType::F8E5M2 ? e5m2
                                       : powers;
}

void storeBits(ElementType type, void *data, uint64_t element, uint32_t bits) {
  unsigned bytes = byteSize(type);
  std::memcpy(static_cast<uint8_t *>(data) + element * bytes, &bits, bytes);
}
} // namespace

uint32_t loadBits(ElementType type, const void *data, uint64_t element) {
  uint32_t bits = 0;
  unsigned bytes = byteSize(type);
  std::memcpy(&bits, static_cast<const char *>(data) + element * bytes, bytes);
  return bits;
}

double load(ElementType type, const void *data, uint64_t element) {
  return decodeBits(type, loadBits(type, data, element));
}

void store(ElementType type, void *data, uint64_t element, double value) {
  storeBits(type, data, element, encodeBits(type, value));
}

void decode(ElementType type, const void *data, uint64_t first, uint64_t count,
            double *out) {
  if (!isFloat8(type)) {
    for (uint64_t i = 0; i < count; ++i)
      out[i] = load(type, data, first + i);
    return;
  }
  const Values &values = valuesOf(type);
  const uint8_t *codes = static_cast<const uint8_t *>(data) + first;
  for (uint64_t i = 0; i < count; ++i)
    out[i] = values[codes[i]];
}

void storeNaN(ElementType type, void *data, uint64_t element, bool negative) {
  uint32_t sign = 1u << (8 * byteSize(type) - 1);
  storeBits(type, data, element, negative ? 2 * sign - 1 : sign - 1);
}

void storeInfinity(ElementType type, void *data, uint64_t element) {
  const tensor::FloatFormat &format = *floatFormat(type);
  storeBits(type, data, element,
            ((1u << format.exponentBits) - 1) << format.mantissaBits);
}

double roundTo(ElementType type, double value) {
  return decodeBits(type, encodeBits(type, value));
}

double ulpAt(ElementType type, double value) {
  const tensor::FloatFormat &format = *floatFormat(type);
  int exponent = format.lowestExponent();
  if (value != 0)
    exponent = std::max(exponent, std::ilogb(value));
  exponent = std::min(exponent, format.overflowExponent() - 1);
  return std::ldexp(1.0, exponent - format.mantissaBits);
}

double saturate(ElementType type, double value) {
  const tensor::FloatFormat &format = *floatFormat(type);
  if (!format.saturates || std::isnan(value))
    return value;
  return std::clamp(value, -format.largest(), format.largest());
}

uint32_t poisonBits(ElementType type) {
  // Negative quiet NaNs with a payload of our own; conversions give positive
  // ones.
  switch (byteSize(type)) {
  case 1:
    return 0xff;
  case 2:
    return type == ElementType::F16 ? 0xfed5 : 0xffc5;
  default:
    return 0xffc5a5d5;
  }
}

void fillWithPoison(ElementType type, void *data, uint64_t elements) {
  for (uint64_t i = 0; i < elements; ++i)
    storeBits(type, data, i, poisonBits(type));
}

} // namespace fp8::reference
