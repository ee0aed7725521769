// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding into, and reading, small floating-point formats.

#include "Numerics/Formats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using namespace fp8::sim;

float fp8::sim::addInMemory(float old, float value, bool flushes) {
  auto taken = [&](float number) {
    return flushes && std::fpclassify(number) == FP_SUBNORMAL
               ? std::copysign(0.0f, number)
               : number;
  };
  float sum = taken(taken(old) + taken(value));
  return std::isnan(sum) ? bitCast<float>(uint32_t(0x7fffffff)) : sum;
}

double fp8::sim::decodeFloat(FloatFormat format, uint32_t bits) {
  uint32_t mantissaMask = (1u << format.mantissaBits) - 1;
  uint32_t exponentMask = (1u << format.exponentBits) - 1;
  uint32_t mantissa = bits & mantissaMask;
  uint32_t exponent = bits >> format.mantissaBits & exponentMask;
  double sign =
      bits >> (format.mantissaBits + format.exponentBits) & 1 ? -1 : 1;
  int bias = int(exponentMask >> 1);
  if (exponent == exponentMask && format.hasNaN) {
    if (format.hasInfinity)
      return mantissa ? std::numeric_limits<double>::quiet_NaN()
                      : sign * std::numeric_limits<double>::infinity();
    if (mantissa == mantissaMask)
      return std::numeric_limits<double>::quiet_NaN();
  }
  auto powerOfTwo = [](int power) {
    return bitCast<double>(uint64_t(1023 + power) << 52);
  };
  const uint32_t hidden = exponent ? mantissaMask + 1 : 0;
  return sign * double(mantissa + hidden) *
         powerOfTwo(std::max(int(exponent), 1) - bias -
                    int(format.mantissaBits));
}

/// Rounds a non-negative number to an integer.
static double roundInteger(double value, Rounding rounding, bool negative) {
  double floor = std::floor(value);
  double rest = value - floor;
  switch (rounding) {
  case Rounding::NearestEven:
    if (rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2) != 0))
      return floor + 1;
    return floor;
  case Rounding::TowardZero:
    return floor;
  case Rounding::Down:
    return negative && rest > 0 ? floor + 1 : floor;
  case Rounding::Up:
    return !negative && rest > 0 ? floor + 1 : floor;
  }
  return floor;
}

/// What is normal in the format, and stays so when it is rounded to the
/// nearest. Nothing of other values.
static std::optional<uint32_t> encodeNormal(FloatFormat format, double value) {
  uint64_t bits = bitCast<uint64_t>(value), magnitude = bits << 1 >> 1;
  uint64_t bias = (1u << (format.exponentBits - 1)) - 1;
  unsigned cut = 52 - format.mantissaBits;
  uint64_t least = (1024 - bias) << 52, // the exponent of normal numbers
      beyond = (1023 + bias) << 52;     // the largest one, which has exceptions
  if (magnitude < least || magnitude >= beyond)
    return std::nullopt;
  uint64_t odd = magnitude >> cut & 1;
  uint64_t rounded =
      (magnitude + ((uint64_t(1) << (cut - 1)) - 1) + odd) >> cut;
  uint64_t code = rounded - ((1023 - bias) << format.mantissaBits);
  uint32_t sign = uint32_t(bits >> 63)
                  << (format.mantissaBits + format.exponentBits);
  return sign | uint32_t(code);
}

/// `round`: of the magnitude in units of its last bit, to an integer.
/// `cutsOverflow`: what is beyond the range is cut off to the largest number.
template <typename F>
static uint32_t encode(FloatFormat format, double value, bool saturate,
                       bool cutsOverflow, F round) {
  uint32_t mantissaMask = (1u << format.mantissaBits) - 1;
  uint32_t exponentMask = (1u << format.exponentBits) - 1;
  int bias = int(exponentMask >> 1);
  uint32_t sign = uint32_t(std::signbit(value))
                  << (format.mantissaBits + format.exponentBits);
  uint32_t infinity = exponentMask << format.mantissaBits;
  // PTX's canonical NaNs: all mantissa bits set and a positive sign.
  uint32_t nan = infinity | mantissaMask;
  uint32_t largest = format.hasInfinity ? infinity - 1
                     : format.hasNaN    ? nan - 1
                                        : nan;
  if (std::isnan(value))
    return nan;
  uint32_t overflow = saturate             ? sign | largest
                      : format.hasInfinity ? sign | infinity
                                           : nan | sign;
  if (std::isinf(value))
    return overflow;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  uint64_t bits = uint64_t(
      round(std::ldexp(magnitude, int(format.mantissaBits) - exponent)));
  if (bits > mantissaMask) // normal: the hidden bit carries into the exponent,
                           // and so does a rounding overflow
    bits += uint64_t(exponent + bias - 1) << format.mantissaBits;
  if (bits > largest)
    return cutsOverflow ? sign | largest : overflow;
  return sign | uint32_t(bits);
}

uint32_t fp8::sim::encodeFloat(FloatFormat format, double value,
                               Rounding rounding, bool saturate) {
  if (rounding == Rounding::NearestEven)
    if (std::optional<uint32_t> code = encodeNormal(format, value))
      return *code;
  bool negative = std::signbit(value);
  bool cutsOverflow = rounding == Rounding::TowardZero ||
                      (rounding == Rounding::Down && !negative) ||
                      (rounding == Rounding::Up && negative);
  return encode(format, value, saturate, cutsOverflow, [&](double magnitude) {
    return roundInteger(magnitude, rounding, negative);
  });
}

uint32_t fp8::sim::encodeStochastically(FloatFormat format, double value,
                                        uint32_t random, unsigned randomCount,
                                        bool saturate) {
  return encode(format, value, saturate, false, [&](double magnitude) {
    return std::floor(magnitude +
                      std::ldexp(double(random), -int(randomCount)));
  });
}

double fp8::sim::decodeScale(uint8_t code) {
  return code == 255 ? std::numeric_limits<double>::quiet_NaN()
                     : std::ldexp(1.0, int(code) - 127);
}

uint8_t fp8::sim::encodeScale(double value, Rounding rounding, bool saturate) {
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return 255;
  int code = 0;
  if (std::isinf(value)) {
    code = 255;
  } else if (magnitude > 0x1p-127) {
    int exponent = std::ilogb(magnitude);
    bool up = rounding == Rounding::Up && magnitude > std::ldexp(1, exponent);
    code = exponent + 127 + up;
  }
  return uint8_t(std::min(code, saturate ? 254 : 255));
}

double fp8::sim::fuseToOdd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double added = sum - product;
  const double error = (product - (sum - added)) + (c - added);
  const uint64_t bits = bitCast<uint64_t>(sum);
  if (!std::isfinite(sum) || error == 0 || bits & 1)
    return sum;
  const bool isFurther = std::signbit(error) == std::signbit(sum);
  return bitCast<double>(isFurther ? bits + 1 : bits - 1);
}

float fp8::sim::roundToFloat(double value, Rounding rounding) {
  float nearest = float(value);
  if (rounding == Rounding::NearestEven || std::isnan(value) ||
      double(nearest) == value)
    return nearest;
  bool up = rounding == Rounding::Up ||
            (rounding == Rounding::TowardZero && value < 0);
  float infinity = std::numeric_limits<float>::infinity();
  if (up)
    return double(nearest) < value ? std::nextafter(nearest, infinity)
                                   : nearest;
  return double(nearest) > value ? std::nextafter(nearest, -infinity) : nearest;
}

static std::array<double, 256> makeTable(FloatFormat format) {
  std::array<double, 256> table{};
  for (uint32_t i = 0; i < 256; ++i)
    table[i] = decodeFloat(format, i);
  return table;
}

const std::array<double, 256> &fp8::sim::e4m3Table() {
  static const std::array<double, 256> table = makeTable(kE4M3);
  return table;
}

const std::array<double, 256> &fp8::sim::e5m2Table() {
  static const std::array<double, 256> table = makeTable(kE5M2);
  return table;
}

uint16_t fp8::sim::doubleToF16(double value) {
  return uint16_t(encodeFloat(kF16, value, Rounding::NearestEven, false));
}
uint16_t fp8::sim::doubleToBF16(double value) {
  return uint16_t(encodeFloat(kBF16, value, Rounding::NearestEven, false));
}
