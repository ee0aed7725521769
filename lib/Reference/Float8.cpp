// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow floating-point conversions by one rounding routine.
#include "fp8/Reference/Float8.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fp8::reference {
namespace {
using Format = tensor::FloatFormat;

uint32_t signBit(const Format &format) {
  return 1u << (format.exponentBits + format.mantissaBits);
}

/// Codes without the sign are ranks among the non-negative numbers. Returns the
/// first that stands for no finite number.
uint32_t endOfNumbers(const Format &format) {
  uint32_t infinity = ((1u << format.exponentBits) - 1) << format.mantissaBits;
  return format.hasInfinity ? infinity : signBit(format) - 1;
}

/// |value| rounded to nearest even, as exponent and mantissa bits without an
/// upper limit: the caller deals with what is past its largest value.
uint64_t roundMagnitude(const Format &format, double magnitude) {
  uint64_t bits;
  std::memcpy(&bits, &magnitude, sizeof(bits));
  int exponent = static_cast<int>(bits >> 52) - 1023;
  if (exponent == -1023)
    return 0; // double subnormals are far below every half ulp here
  uint64_t significand = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  int lowest = format.lowestExponent();
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

// Powers of two: code c is 2^(c - 127), and the last code is NaN.
constexpr int powerBias = 127;
constexpr uint32_t powerNaN = 255;

double decodePower(uint32_t bits) {
  return bits == powerNaN ? NAN
                          : std::ldexp(1.0, static_cast<int>(bits) - powerBias);
}

/// The nearest power by its logarithm; the least one for zero and negative
/// numbers. No code stands for infinity, which becomes NaN.
uint32_t encodePower(double value) {
  if (std::isnan(value) || std::isinf(value))
    return powerNaN;
  if (value <= 0)
    return 0;
  int exponent;
  double fraction = std::frexp(value, &exponent); // from 0.5 to below 1
  exponent += fraction * fraction >= 0.5 ? 0 : -1;
  return static_cast<uint32_t>(std::clamp(exponent + powerBias, 0, 254));
}

} // namespace

double decodeBits(ElementType type, uint32_t bits) {
  if (type == ElementType::F8E8M0FNU)
    return decodePower(bits);
  const Format &format = *floatFormat(type);
  uint32_t magnitude = bits & (signBit(format) - 1);
  uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  int biased = static_cast<int>(magnitude >> format.mantissaBits);
  int lowest = format.lowestExponent() - format.mantissaBits;
  double value;
  if (magnitude >= endOfNumbers(format))
    value = mantissa ? NAN : INFINITY;
  else if (biased == 0)
    value = std::ldexp(mantissa, lowest);
  else
    value =
        std::ldexp(mantissa | 1u << format.mantissaBits, biased - 1 + lowest);
  return bits & signBit(format) ? -value : value;
}

uint32_t encodeBits(ElementType type, double value) {
  if (type == ElementType::F8E8M0FNU)
    return encodePower(value);
  const Format &format = *floatFormat(type);
  if (std::isnan(value))
    return signBit(format) - 1;
  uint64_t end = endOfNumbers(format);
  uint64_t magnitude =
      std::isinf(value) ? end : roundMagnitude(format, std::fabs(value));
  magnitude = std::min(magnitude, format.saturates ? end - 1 : end);
  return static_cast<uint32_t>(magnitude) |
         (std::signbit(value) ? signBit(format) : 0);
}

} // namespace fp8::reference
