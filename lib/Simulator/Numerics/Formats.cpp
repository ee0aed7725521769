// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding into, and reading, small floating-point formats.

#include "Numerics/Formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fp8::sim;

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
  if (exponent == 0)
    return sign *
           std::ldexp(double(mantissa), 1 - bias - int(format.mantissaBits));
  return sign * std::ldexp(double(mantissa + mantissaMask + 1),
                           int(exponent) - bias - int(format.mantissaBits));
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

uint32_t fp8::sim::encodeFloat(FloatFormat format, double value,
                               Rounding rounding, bool saturate) {
  uint32_t mantissaMask = (1u << format.mantissaBits) - 1;
  uint32_t exponentMask = (1u << format.exponentBits) - 1;
  int bias = int(exponentMask >> 1);
  bool negative = std::signbit(value);
  uint32_t sign = uint32_t(negative)
                  << (format.mantissaBits + format.exponentBits);
  uint32_t infinity = exponentMask << format.mantissaBits;
  // PTX's canonical NaNs: all mantissa bits set and a positive sign.
  uint32_t nan = infinity | mantissaMask;
  uint32_t largest = format.hasInfinity ? infinity - 1 : nan - 1;
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
  double scaled =
      roundInteger(std::ldexp(magnitude, int(format.mantissaBits) - exponent),
                   rounding, negative);
  uint64_t bits = uint64_t(scaled);
  if (bits > mantissaMask) // normal: the hidden bit carries into the exponent,
                           // and so does a rounding overflow
    bits += uint64_t(exponent + bias - 1) << format.mantissaBits;
  if (bits > largest) {
    bool towardZero = rounding == Rounding::TowardZero ||
                      (rounding == Rounding::Down && !negative) ||
                      (rounding == Rounding::Up && negative);
    return towardZero ? sign | largest : overflow;
  }
  return sign | uint32_t(bits);
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

uint16_t fp8::sim::floatToF16(float value) {
  return uint16_t(
      encodeFloat(kF16, double(value), Rounding::NearestEven, false));
}

uint16_t fp8::sim::floatToBF16(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t fp8::sim::doubleToF16(double value) {
  return uint16_t(encodeFloat(kF16, value, Rounding::NearestEven, false));
}
uint16_t fp8::sim::doubleToBF16(double value) {
  return uint16_t(encodeFloat(kBF16, value, Rounding::NearestEven, false));
}
