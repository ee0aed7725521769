// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tensor core adds up the products of one instruction: by the rules of
// fp8/Chip/SumRule.h.

#ifndef FP8_LIB_SIMULATOR_NUMERICS_ACCUMULATION_H
#define FP8_LIB_SIMULATOR_NUMERICS_ACCUMULATION_H

#include "fp8/Chip/SumRule.h"

#include <cstddef>
#include <cstdint>

namespace fp8::sim {

/// Of a row of the chips' table: what adds the same terms exactly, and rounds
/// to the nearest.
const chip::SumRule &getExactRule(const chip::SumRule &rule);

/// The rows or columns of a product, and the exponents that the formats of the
/// numbers store. Rules that cut no term off need no exponents.
struct Factors {
  const float *values;
  const int16_t *exponents;
  const int8_t *shorts = nullptr; ///< instead of `exponents`, of both factors
};

/// Exponents of 0, and of infinities and NaN: their sums with others, too, are
/// less than kNoTerm, and more than any number's.
inline constexpr int16_t kZeroExponent = -3000, kSpecialExponent = 10000,
                         kNoTerm = -2000;

/// The exponents of `count` numbers of a format whose least exponent is
/// `least`, which subnormal numbers have too.
void findExponents(int16_t *exponents, const float *values, size_t count,
                   int least);

/// The same in a byte each, of formats whose exponents are kLeastShort to 15:
/// the exponent + kShortBias, kShortZero of 0, kShortSpecial of infinities and
/// NaN. A sum of two is less than 2 * (kShortBias + kLeastShort) if one is of
/// 0, and at least kShortZero + kShortSpecial if one is special.
inline constexpr int kLeastShort = -14, kShortBias = -20, kShortZero = -64,
                     kShortSpecial = 55;
void findShortExponents(int8_t *exponents, const float *values, size_t count,
                        int least);

/// A row of n sums, at most 256, of k products each, at most 32 and a multiple
/// of 4. Row j + 1 of B is `pitch` elements behind row j. Accumulators that are
/// subnormal have the exponent `least`.
struct RowShape {
  uint32_t n, k, pitch;
  int least;
};

/// sum[x] = before[x] + the products a[j] * b[j * pitch + x]. The terms are cut
/// off as the rule says; the sums are not rounded yet.
void accumulateRow(const chip::SumRule &rule, double *sum, const float *before,
                   Factors a, Factors b, RowShape shape);

/// One such sum, by the definition, whose products are multiplied by 2^shift;
/// `b`: its column; `largest`: the largest exponent of its terms.
double accumulateOne(const chip::SumRule &rule, float before, Factors a,
                     const float *b, int largest, RowShape shape,
                     int shift = 0);

/// The bits of the sums, rounded to f32 as the rule says. NaN is 0x7fffffff.
void roundRow(const chip::SumRule &rule, uint32_t *bits, const double *sum,
              uint32_t n);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_NUMERICS_ACCUMULATION_H
