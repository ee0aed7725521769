// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between the floating-point formats of PTX: e4m3 (finite only, NaN
// 0x7f), e5m2, f16, bf16, tf32, f32. PTX ISA 5.2.3 (alternate floating-point
// data formats) and 9.7.9 (cvt).

#ifndef FP8_LIB_SIMULATOR_NUMERICS_FORMATS_H
#define FP8_LIB_SIMULATOR_NUMERICS_FORMATS_H

#include <array>
#include <cstdint>
#include <cstring>

namespace fp8::sim {

enum class Rounding : uint8_t { NearestEven, TowardZero, Down, Up };

template <typename To, typename From>
inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes must agree");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// A small binary format: 1 sign bit, `exponentBits`, `mantissaBits`.
struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
  bool hasInfinity;   ///< false: e4m3, whose largest exponent holds numbers and
                      ///< one NaN
  bool hasNaN = true; ///< false: every code is a number
};
inline constexpr FloatFormat kE4M3{4, 3, false};
inline constexpr FloatFormat kE5M2{5, 2, true};
inline constexpr FloatFormat kE2M3{2, 3, false, false};
inline constexpr FloatFormat kE3M2{3, 2, false, false};
inline constexpr FloatFormat kE2M1{2, 1, false, false};
inline constexpr FloatFormat kF16{5, 10, true};
inline constexpr FloatFormat kBF16{8, 7, true};
/// The least exponent of normal numbers of f32.
inline constexpr int kLeastF32 = -126;

/// The value of `bits`, exactly.
double decodeFloat(FloatFormat format, uint32_t bits);

/// Rounds `value` into `format`. With `saturate`, what is beyond the range
/// becomes the largest finite number
/// (.satfinite); else infinity, or NaN where the format has none. Where it has
/// no NaN either, NaN too becomes the largest number.
uint32_t encodeFloat(FloatFormat format, double value, Rounding rounding,
                     bool saturate);
/// Rounds `value` stochastically: `random` is a fraction of 2^randomCount. It
/// is added below the last bit of the magnitude, and the rest is cut off.
uint32_t encodeStochastically(FloatFormat format, double value, uint32_t random,
                              unsigned randomCount, bool saturate);

/// ue8m0: a power of two, 2^(code - 127); 255 is NaN (PTX ISA 5.2.3).
double decodeScale(uint8_t code);
/// The nearest power of two in the direction: toward zero or up. Negative
/// numbers, too, become the smallest.
uint8_t encodeScale(double value, Rounding rounding, bool saturate);

/// a * b + c rounded to odd: between two doubles lies the odd one. What is then
/// rounded to 51 bits or fewer was rounded once. a * b must be a double.
double fuseToOdd(double a, double b, double c);

/// Rounds a double into f32 in the given direction.
float roundToFloat(double value, Rounding rounding);

/// All 256 values.
const std::array<double, 256> &e4m3Table();
const std::array<double, 256> &e5m2Table();

inline float f16ToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31;
  uint32_t mantissa = bits & 0x3ff;
  uint32_t stored = exponent == 31 ? 255 : exponent + 112;
  uint32_t subnormal = bitCast<uint32_t>(float(int32_t(mantissa)) * 0x1p-24f);
  return bitCast<float>(sign |
                        (exponent ? stored << 23 | mantissa << 13 : subnormal));
}
inline float bf16ToFloat(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}
/// To the nearest, without branches, so that loops vectorise.
inline uint16_t floatToF16(float value) {
  const uint32_t bits = bitCast<uint32_t>(value), sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t normal =
      (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  // The last bit of 0.5 is that of a subnormal number.
  const uint32_t subnormal =
      bitCast<uint32_t>(bitCast<float>(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
  const uint32_t bounded = finite < 0x7c00 ? finite : 0x7c00;
  return uint16_t(magnitude > 0x7f800000 ? 0x7fff : sign | bounded);
}
inline uint16_t floatToBF16(float value) {
  const uint32_t bits = bitCast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}
uint16_t doubleToF16(double value);
uint16_t doubleToBF16(double value);

/// old + value as memory adds two f32: each NaN is 0x7fffffff. With `flushes`,
/// as in global memory, subnormal numbers are taken and left as zeros of their
/// sign (PTX ISA 9.7.13.5; an H200 gives the same bits).
float addInMemory(float old, float value, bool flushes);

/// tf32 keeps 10 mantissa bits of an f32.
inline float truncateTF32(float value) {
  return bitCast<float>(bitCast<uint32_t>(value) & 0xffffe000u);
}

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_NUMERICS_FORMATS_H
