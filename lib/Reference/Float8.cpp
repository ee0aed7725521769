// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow floating-point conversions by one rounding routine.
#include "fp8/Reference/Float8.h"

#include <cmath>
#include <cstring>

namespace fp8::reference {
namespace {
/// A format with `exponentBits`, `mantissaBits` and the usual bias. Rounding
/// counts in units of the last place, so that the encoded magnitude of a finite
/// value is its rank among the non-negative ones.
struct Format {
  int exponentBits, mantissaBits;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
};
constexpr Format formatE4M3{4, 3}, formatE5M2{5, 2}, formatF16{5, 10},
    formatBF16{8, 7};

/// |value| rounded to nearest even, as exponent and mantissa bits without an
/// upper limit: the caller deals with what is past its largest value.
uint64_t roundMagnitude(Format format, double magnitude) {
  uint64_t bits;
  std::memcpy(&bits, &magnitude, sizeof(bits));
  int exponent = static_cast<int>(bits >> 52) - 1023;
  if (exponent == -1023)
    return 0; // double subnormals are far below every half ulp here
  uint64_t significand = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  int lowest = 1 - format.bias();
  int biased = exponent < lowest ? 0 : exponent + format.bias();
  int shift = 52 - format.mantissaBits + (biased ? 0 : lowest - exponent);
  if (shift > 54)
    return 0;
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // A carry out of the mantissa moves to the next exponent by itself.
  return biased ? kept + (uint64_t(biased - 1) << format.mantissaBits) : kept;
}

float decode(Format format, uint32_t bits, bool hasInfinity) {
  uint32_t magnitude = bits & (format.signBit() - 1);
  uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  int biased = static_cast<int>(magnitude >> format.mantissaBits);
  int highest = (1 << format.exponentBits) - 1;
  float value;
  if (hasInfinity && biased == highest)
    value = mantissa ? NAN : INFINITY;
  else if (!hasInfinity && magnitude == format.signBit() - 1)
    value = NAN;
  else if (biased == 0)
    value = std::ldexp(static_cast<float>(mantissa),
                       1 - format.bias() - format.mantissaBits);
  else
    value = std::ldexp(static_cast<float>(mantissa | 1u << format.mantissaBits),
                       biased - format.bias() - format.mantissaBits);
  return bits & format.signBit() ? -value : value;
}

uint8_t encodeSaturating(Format format, float value, uint32_t largest) {
  if (std::isnan(value))
    return 0x7f;
  uint64_t magnitude =
      std::isinf(value) ? largest : roundMagnitude(format, std::fabs(value));
  if (magnitude > largest)
    magnitude = largest;
  return static_cast<uint8_t>(magnitude |
                              (std::signbit(value) ? format.signBit() : 0));
}

uint16_t encodeIEEE(Format format, double value) {
  uint32_t infinity = ((1u << format.exponentBits) - 1) << format.mantissaBits;
  if (std::isnan(value))
    return 0x7fff;
  uint64_t magnitude =
      std::isinf(value) ? infinity : roundMagnitude(format, std::fabs(value));
  if (magnitude > infinity)
    magnitude = infinity;
  return static_cast<uint16_t>(magnitude |
                               (std::signbit(value) ? format.signBit() : 0));
}
} // namespace

float decodeE4M3FN(uint8_t bits) { return decode(formatE4M3, bits, false); }
float decodeE5M2(uint8_t bits) { return decode(formatE5M2, bits, true); }
float decodeF16(uint16_t bits) { return decode(formatF16, bits, true); }

float decodeBF16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint8_t encodeE4M3FN(float value) {
  return encodeSaturating(formatE4M3, value, 0x7e);
}
uint8_t encodeE5M2(float value) {
  return encodeSaturating(formatE5M2, value, 0x7b);
}
uint16_t encodeF16(double value) { return encodeIEEE(formatF16, value); }
uint16_t encodeBF16(double value) { return encodeIEEE(formatBF16, value); }

} // namespace fp8::reference
