// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products whose blocks have scales. The inner loops vectorise.

#include "Numerics/ScaledSums.h"

#include "Numerics/Formats.h"
#include "Numerics/Vectorised.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace fp8::sim;
using fp8::chip::SumRule;

namespace {

constexpr uint32_t kMaxN = 256, kMaxBlocks = 4;
/// Exponents of terms and units fit a double by far.
constexpr int kMostExponent = 600;

/// scaled = before / 2^shift where both are normal numbers of f32, or before
/// is 0. Returns whether that is so everywhere.
FP8_VECTORISED
bool scaleDown(float *__restrict scaled, uint8_t *__restrict done,
               const float *__restrict before, int16_t aScale,
               const int16_t *__restrict bScales, uint32_t n) {
  uint32_t left = 0;
  for (uint32_t x = 0; x < n; ++x) {
    int shift = aScale + bScales[x];
    uint32_t bits = bitCast<uint32_t>(before[x]);
    int exponent = int(bits >> 23 & 255);
    bool zero = (bits & 0x7fffffff) == 0;
    bool normal = (exponent >= 1) & (exponent <= 254) &
                  (exponent - shift >= 1) & (exponent - shift <= 254);
    uint32_t moved = bits - (uint32_t(shift) << 23);
    bool near = (shift > -300) & (shift < 300);
    bool good = near & (zero | normal);
    scaled[x] = bitCast<float>(good & normal ? moved : 0u);
    done[x] = good;
    left |= !good;
  }
  return !left;
}

/// sum *= 2^shift.
FP8_VECTORISED
void scaleUp(double *__restrict sum, int16_t aScale,
             const int16_t *__restrict bScales, uint32_t n) {
  for (uint32_t x = 0; x < n; ++x)
    sum[x] *= bitCast<double>(uint64_t(1023 + aScale + bScales[x]) << 52);
}

/// dot = the products of a block, in f32.
FP8_VECTORISED
void addBlock(float *__restrict dot, const float *__restrict a,
              const float *__restrict b, uint32_t n, uint32_t k,
              uint32_t pitch) {
  for (uint32_t x = 0; x < n; ++x)
    dot[x] = 0;
  for (uint32_t j = 0; j < k; j += 4) {
    const float *b0 = b + size_t(j) * pitch, *b1 = b0 + pitch, *b2 = b1 + pitch,
                *b3 = b2 + pitch;
    float a0 = a[j], a1 = a[j + 1], a2 = a[j + 2], a3 = a[j + 3];
    for (uint32_t x = 0; x < n; ++x)
      dot[x] += a0 * b0[x] + a1 * b1[x] + a2 * b2[x] + a3 * b3[x];
  }
}

/// A block becomes a term.
FP8_VECTORISED
void scaleBlock(double *__restrict term, int16_t *__restrict largest,
                const float *__restrict dot, double aScale, int16_t aExponent,
                const double *__restrict bScales,
                const int16_t *__restrict bExponents, uint32_t n) {
  for (uint32_t x = 0; x < n; ++x) {
    term[x] = double(dot[x]) * (aScale * bScales[x]);
    int16_t exponent = int16_t(aExponent + bExponents[x]);
    largest[x] = largest[x] < exponent ? exponent : largest[x];
  }
}

/// perUnit = 2^(bits - largest), or 1 where that is out of reach; sum = the
/// accumulator, cut off. Returns whether it is in reach everywhere.
FP8_VECTORISED
bool beginUnits(double *__restrict sum, double *__restrict perUnit,
                const float *__restrict before,
                const int16_t *__restrict largest, uint32_t n, int bits) {
  uint32_t outside = 0;
  for (uint32_t x = 0; x < n; ++x) {
    int exponent = largest[x];
    bool within = (exponent > -kMostExponent) & (exponent < kMostExponent);
    perUnit[x] =
        bitCast<double>(uint64_t(1023 + (within ? bits - exponent : 0)) << 52);
    sum[x] = std::trunc(double(before[x]) * perUnit[x]);
    outside |= !within;
  }
  return !outside;
}

/// sum /= perUnit; what is cut off to -0 is 0.
FP8_VECTORISED
void endUnits(double *__restrict sum, const double *__restrict perUnit,
              uint32_t n) {
  for (uint32_t x = 0; x < n; ++x)
    sum[x] = sum[x] * bitCast<double>((uint64_t(2046) << 52) -
                                      bitCast<uint64_t>(perUnit[x])) +
             0.0;
}

/// sum += the term, cut off.
FP8_VECTORISED
void addTerm(double *__restrict sum, const double *__restrict term,
             const double *__restrict perUnit, uint32_t n) {
  for (uint32_t x = 0; x < n; ++x)
    sum[x] += std::trunc(term[x] * perUnit[x]);
}

template <typename F>
std::array<Scale, 256> makeScales(F value) {
  std::array<Scale, 256> scales;
  for (uint32_t code = 0; code < 256; ++code)
    scales[code] = value(code);
  return scales;
}

} // namespace

const Scale *fp8::sim::ue8m0Scales() {
  static const std::array<Scale, 256> scales = makeScales([](uint32_t code) {
    int exponent = int(code) - 127;
    return code == 255 ? Scale{std::numeric_limits<double>::quiet_NaN(),
                               kSpecialExponent}
                       : Scale{std::ldexp(1.0, exponent), int16_t(exponent)};
  });
  return scales.data();
}

const Scale *fp8::sim::ue4m3Scales() {
  static const std::array<Scale, 256> scales = makeScales([](uint32_t code) {
    double value = decodeFloat(kE4M3, code & 0x7f);
    if (std::isnan(value))
      return Scale{value, kSpecialExponent};
    int exponent = value == 0 ? kZeroExponent : std::max(std::ilogb(value), -6);
    return Scale{value, int16_t(exponent)};
  });
  return scales.data();
}

void fp8::sim::accumulateScaledRow(const SumRule &rule, double *sum,
                                   const float *before, Factors a,
                                   int16_t aScale, Factors b,
                                   const int16_t *bScales, RowShape s) {
  static thread_local float scaled[kMaxN];
  static thread_local uint8_t done[kMaxN];
  // What the scales do to all products, the inverse does to the accumulator.
  bool all = scaleDown(scaled, done, before, aScale, bScales, s.n);
  accumulateRow(rule, sum, scaled, a, b, s);
  scaleUp(sum, aScale, bScales, s.n);
  for (uint32_t x = 0; x < s.n && !all; ++x) {
    if (done[x])
      continue;
    int shift = aScale + bScales[x];
    if (shift >= kSpecialExponent / 2) {
      sum[x] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    int16_t own;
    findExponents(&own, &before[x], 1, s.least);
    int largest = own;
    for (uint32_t j = 0; j < s.k; ++j)
      largest =
          std::max(largest, a.exponents[j] +
                                b.exponents[size_t(j) * s.pitch + x] + shift);
    sum[x] = accumulateOne(rule, before[x], a, b.values + x, largest, s, shift);
  }
}

void fp8::sim::accumulateBlocks(const SumRule &rule, double *sum,
                                const float *before, const float *a,
                                BlockScales aScales, const float *b,
                                BlockScales bScales, RowShape s) {
  static thread_local int16_t largest[kMaxN];
  static thread_local float dot[kMaxN];
  static thread_local double terms[kMaxBlocks][kMaxN];
  static thread_local double perUnit[kMaxN];
  uint32_t perTerm = uint32_t(rule.perTerm), blocks = s.k / perTerm;
  findExponents(largest, before, s.n, s.least);
  for (uint32_t block = 0; block < blocks; ++block) {
    addBlock(dot, a + block * perTerm, b + size_t(block) * perTerm * s.pitch,
             s.n, perTerm, s.pitch);
    uint32_t at = block * aScales.pitch;
    scaleBlock(terms[block], largest, dot, aScales.values[at],
               aScales.exponents[at], bScales.values + block * bScales.pitch,
               bScales.exponents + block * bScales.pitch, s.n);
  }
  bool exact = rule.isExact();
  bool within =
      beginUnits(sum, perUnit, before, largest, s.n, rule.termBits) && !exact;
  for (uint32_t block = 0; block < blocks; ++block)
    addTerm(sum, terms[block], perUnit, s.n);
  endUnits(sum, perUnit, s.n);
  for (uint32_t x = 0; x < s.n && !within; ++x)
    if (exact || std::abs(largest[x]) >= kMostExponent) {
      sum[x] = double(before[x]);
      for (uint32_t block = 0; block < blocks; ++block)
        sum[x] += terms[block][x];
    }
}
