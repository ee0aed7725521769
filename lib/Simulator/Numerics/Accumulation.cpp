// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products: exact, and as tensor cores form them. The inner loops
// vectorise.

#include "Numerics/Accumulation.h"

#include "Numerics/Formats.h"
#include "Numerics/Vectorised.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace fp8::sim;
using fp8::chip::SumRounding;
using fp8::chip::SumRule;

namespace {

constexpr uint32_t kMaxN = 256;
/// So many products of one sign, in units of 2^-25 of the largest exponent, fit
/// an int32_t: each is below 4 * 2^25, since a factor's fraction is below 2.
constexpr uint32_t kGroup = 16;

/// Where the largest exponent lies between these, products and units are
/// numbers of f32; between those of zeros and these are the extremes of bf16
/// and tf32.
constexpr int16_t kLeast = -100, kMost = 125;

FP8_VECTORISED
void addExact(double *__restrict sum, const float *__restrict a,
              const float *__restrict b, uint32_t n, uint32_t k,
              uint32_t pitch) {
  for (uint32_t j = 0; j < k; j += 4) {
    const float *b0 = b + size_t(j) * pitch, *b1 = b0 + pitch, *b2 = b1 + pitch,
                *b3 = b2 + pitch;
    double a0 = a[j], a1 = a[j + 1], a2 = a[j + 2], a3 = a[j + 3];
    for (uint32_t x = 0; x < n; ++x)
      sum[x] += a0 * b0[x] + a1 * b1[x] + a2 * b2[x] + a3 * b3[x];
  }
}

/// Of functions that are compiled with the instructions of their callers.
#define FP8_INLINED inline __attribute__((always_inline))

/// Numbers of columns that are taken at a time, in registers.
constexpr uint32_t kBytes = 32, kShorts = 32, kFloats = 16;
using Bytes __attribute__((vector_size(kBytes))) = int8_t;
using Shorts __attribute__((vector_size(kShorts * 2))) = int16_t;
using Ints __attribute__((vector_size(kFloats * 4))) = int32_t;
using Unsigned __attribute__((vector_size(kFloats * 4))) = uint32_t;
using Floats __attribute__((vector_size(kFloats * 4))) = float;

template <typename V, typename T>
FP8_INLINED void load(V &block, const T *from) {
  std::memcpy(&block, from, sizeof(block));
}
template <typename V, typename T>
FP8_INLINED void store(T *to, const V &block) {
  std::memcpy(to, &block, sizeof(block));
}

/// Raises `largest` to the largest exponent of a product.
FP8_INLINED void findLargest(int16_t *__restrict largest, Factors a, Factors b,
                             RowShape s) {
  uint32_t x = 0;
  for (; x + 2 * kShorts <= s.n; x += 2 * kShorts) {
    Shorts most, more, sum;
    load(most, largest + x);
    load(more, largest + x + kShorts);
    const int16_t *column = b.exponents + x;
    for (uint32_t j = 0; j < s.k; ++j, column += s.pitch) {
      load(sum, column);
      sum += a.exponents[j];
      most = most < sum ? sum : most;
      load(sum, column + kShorts);
      sum += a.exponents[j];
      more = more < sum ? sum : more;
    }
    store(largest + x, most);
    store(largest + x + kShorts, more);
  }
  for (; x < s.n; ++x)
    for (uint32_t j = 0; j < s.k; ++j)
      largest[x] =
          std::max(largest[x], int16_t(a.exponents[j] +
                                       b.exponents[size_t(j) * s.pitch + x]));
}

/// The same by short exponents.
FP8_INLINED void findLargestShort(int16_t *__restrict largest, Factors a,
                                  Factors b, RowShape s) {
  int8_t sums[kMaxN];
  uint32_t x = 0;
  for (; x + kBytes <= s.n; x += kBytes) {
    Bytes most, sum;
    const int8_t *column = b.shorts + x;
    load(most, column);
    most += a.shorts[0];
    for (uint32_t j = 0; j < s.k; ++j, column += s.pitch) {
      load(sum, column);
      sum += a.shorts[j];
      most = most < sum ? sum : most;
    }
    store(sums + x, most);
  }
  for (; x < s.n; ++x) {
    sums[x] = INT8_MIN;
    for (uint32_t j = 0; j < s.k; ++j)
      sums[x] = std::max(
          sums[x], int8_t(a.shorts[j] + b.shorts[size_t(j) * s.pitch + x]));
  }
  constexpr int least = 2 * (kShortBias + kLeastShort),
                special = kShortZero + kShortSpecial;
  for (x = 0; x < s.n; ++x) {
    const int16_t exponent = sums[x] < least ? kZeroExponent
                             : sums[x] >= special
                                 ? kSpecialExponent
                                 : int16_t(sums[x] - 2 * kShortBias);
    largest[x] = largest[x] < exponent ? exponent : largest[x];
  }
}

/// perUnit = 2^bits / 2^largest, or 0 where that is out of reach. Returns
/// whether it is anywhere.
FP8_INLINED bool findUnits(float *__restrict perUnit,
                           const int16_t *__restrict largest, uint32_t n,
                           int bits) {
  uint32_t outside = 0;
  for (uint32_t x = 0; x < n; ++x) {
    bool within = largest[x] >= kLeast && largest[x] <= kMost;
    outside |= !within;
    perUnit[x] =
        bitCast<float>(within ? uint32_t(bits - largest[x] + 127) << 23 : 0u);
  }
  return outside;
}

/// In units, each term cut off toward zero: the accumulators, and the products,
/// in two groups of at most kGroup. sum = both / perUnit, a power of two or 0.
FP8_INLINED void addUnits(double *__restrict sum,
                          const float *__restrict perUnit,
                          const float *__restrict before, Factors a, Factors b,
                          RowShape s) {
  auto join = [](float scale, int32_t first, int32_t second) {
    float unit = bitCast<float>((254u << 23) - bitCast<uint32_t>(scale));
    return (double(first) + double(second)) * double(unit);
  };
  const uint32_t half = std::min(s.k, kGroup);
  uint32_t x = 0;
  for (; x + 2 * kFloats <= s.n; x += 2 * kFloats) {
    const float *column = b.values + x;
    Floats scale, scale2, value;
    load(scale, perUnit + x);
    load(scale2, perUnit + x + kFloats);
    // Unsigned: infinities and NaN overflow.
    Unsigned units{}, units2{};
    auto add = [&](uint32_t j) __attribute__((always_inline)) {
      load(value, column);
      units +=
          Unsigned(__builtin_convertvector(value * a.values[j] * scale, Ints));
      load(value, column + kFloats);
      units2 +=
          Unsigned(__builtin_convertvector(value * a.values[j] * scale2, Ints));
      column += s.pitch;
    };
    int32_t first[2 * kFloats], second[2 * kFloats];
    for (uint32_t j = 0; j < half; ++j)
      add(j);
    store(first, units);
    store(first + kFloats, units2);
    load(value, before + x);
    units = Unsigned(__builtin_convertvector(value * scale, Ints));
    load(value, before + x + kFloats);
    units2 = Unsigned(__builtin_convertvector(value * scale2, Ints));
    for (uint32_t j = half; j < s.k; ++j)
      add(j);
    store(second, units);
    store(second + kFloats, units2);
    double *to = sum + x;
    const float *scales = perUnit + x;
    for (size_t y = 0; y < 2 * kFloats; ++y)
      to[y] = join(scales[y], first[y], second[y]);
  }
  for (; x < s.n; ++x) {
    uint32_t first = 0, second = uint32_t(int32_t(before[x] * perUnit[x]));
    for (uint32_t j = 0; j < s.k; ++j)
      (j < half ? first : second) += uint32_t(int32_t(
          b.values[size_t(j) * s.pitch + x] * a.values[j] * perUnit[x]));
    sum[x] = join(perUnit[x], int32_t(first), int32_t(second));
  }
}

/// Of columns whose units are out of reach, only perUnit = 0 and `largest` are
/// right. Returns whether there are any.
FP8_VECTORISED
bool addNear(double *__restrict sum, int16_t *__restrict largest,
             float *__restrict perUnit, const float *__restrict before,
             Factors a, Factors b, RowShape s, int bits) {
  if (a.shorts && b.shorts)
    findLargestShort(largest, a, b, s);
  else
    findLargest(largest, a, b, s);
  bool outside = findUnits(perUnit, largest, s.n, bits);
  addUnits(sum, perUnit, before, a, b, s);
  return outside;
}

void addCutOff(const SumRule &rule, double *sum, const float *before, Factors a,
               Factors b, RowShape s) {
  static thread_local int16_t largest[kMaxN];
  static thread_local float perUnit[kMaxN];
  findExponents(largest, before, s.n, s.least);
  if (!addNear(sum, largest, perUnit, before, a, b, s, rule.termBits))
    return;
  for (uint32_t x = 0; x < s.n; ++x)
    if (perUnit[x] == 0)
      sum[x] =
          largest[x] < kNoTerm && !std::signbit(before[x])
              ? 0
              : accumulateOne(rule, before[x], a, b.values + x, largest[x], s);
}

/// Toward zero, where the result is normal. Returns whether it is everywhere.
FP8_VECTORISED
bool cutOffRow(uint32_t *__restrict out, const double *__restrict sum,
               uint32_t n, uint64_t mask) {
  uint32_t subnormal = 0;
  for (uint32_t x = 0; x < n; ++x) {
    uint64_t bits = bitCast<uint64_t>(sum[x]);
    float value = float(bitCast<double>(bits & mask));
    out[x] = value != value ? 0x7fffffffu : bitCast<uint32_t>(value);
    uint64_t magnitude = bits & 0x7fffffffffffffffu;
    subnormal |= magnitude && magnitude < 0x3810000000000000u; // 2^-126
  }
  return !subnormal;
}

} // namespace

const SumRule &fp8::sim::getExactRule(const SumRule &rule) {
  static const std::vector<SumRule> rules = [] {
    std::vector<SumRule> exact(chip::getSumRules().begin(),
                               chip::getSumRules().end());
    for (SumRule &row : exact) {
      row.termBits = SumRule::kAllBits;
      row.resultBits = 23;
      row.rounding = SumRounding::NearestEven;
    }
    return exact;
  }();
  return rules[size_t(&rule - chip::getSumRules().begin())];
}

FP8_VECTORISED
void fp8::sim::findExponents(int16_t *exponents, const float *values,
                             size_t count, int least) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = bitCast<uint32_t>(values[i]) & 0x7fffffff;
    int exponent = int(bits >> 23) - 127;
    exponent = exponent < least ? least : exponent;
    exponent = bits ? exponent : kZeroExponent;
    exponents[i] = int16_t(bits < 0x7f800000 ? exponent : kSpecialExponent);
  }
}

FP8_VECTORISED
void fp8::sim::findShortExponents(int8_t *exponents, const float *values,
                                  size_t count, int least) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = bitCast<uint32_t>(values[i]) & 0x7fffffff;
    int exponent = int(bits >> 23) - 127;
    exponent = (exponent < least ? least : exponent) + kShortBias;
    exponent = bits ? exponent : kShortZero;
    exponents[i] = int8_t(bits < 0x7f800000 ? exponent : kShortSpecial);
  }
}

// Of zeros, infinities, NaN, and where the largest exponent is extreme.
double fp8::sim::accumulateOne(const SumRule &rule, float before, Factors a,
                               const float *b, int largest, RowShape s,
                               int shift) {
  auto product = [&](uint32_t j) {
    return std::ldexp(double(a.values[j]) * double(b[size_t(j) * s.pitch]),
                      shift);
  };
  double exact = double(before);
  for (uint32_t j = 0; j < s.k; ++j)
    exact += product(j);
  if (rule.isExact() || !std::isfinite(exact) || largest < kNoTerm)
    return exact;
  int toUnits = rule.termBits - largest;
  double units = std::trunc(std::ldexp(double(before), toUnits));
  for (uint32_t j = 0; j < s.k; ++j)
    units += std::trunc(std::ldexp(product(j), toUnits));
  return std::ldexp(units, -toUnits) + 0.0; // what is cut off to -0 is 0
}

void fp8::sim::accumulateRow(const SumRule &rule, double *sum,
                             const float *before, Factors a, Factors b,
                             RowShape shape) {
  if (!rule.isExact())
    return addCutOff(rule, sum, before, a, b, shape);
  std::copy_n(before, shape.n, sum);
  addExact(sum, a.values, b.values, shape.n, shape.k, shape.pitch);
}

void fp8::sim::roundRow(const SumRule &rule, uint32_t *bits, const double *sum,
                        uint32_t n) {
  bool nearest = rule.rounding == SumRounding::NearestEven;
  uint64_t mask =
      nearest ? ~uint64_t(0) : ~((uint64_t(1) << (52 - rule.resultBits)) - 1);
  if (cutOffRow(bits, sum, n, mask) || nearest)
    return;
  for (uint32_t x = 0; x < n; ++x)
    if (std::fabs(sum[x]) < 0x1p-126)
      bits[x] = bitCast<uint32_t>(
          roundToFloat(bitCast<double>(bitCast<uint64_t>(sum[x]) & mask),
                       Rounding::TowardZero));
}
