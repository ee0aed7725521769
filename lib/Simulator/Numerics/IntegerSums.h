// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products of narrow formats, as integers. A rule that cuts off terms
// cuts few of these. Most factors are integers of 16 bits in a unit of their
// row or column, and the sum of their products is one of 32. The others are
// left, and multiplied one by one.

#ifndef FP8_LIB_SIMULATOR_NUMERICS_INTEGERSUMS_H
#define FP8_LIB_SIMULATOR_NUMERICS_INTEGERSUMS_H

#include "fp8/Chip/SumRule.h"

#include <array>
#include <cstdint>

namespace fp8::sim {

/// The products of a sum, and the columns that are added up together.
inline constexpr uint32_t kIntegerTerms = 32, kIntegerBlock = 32;

/// Whether the rule is of such sums. No factor has more than 4 bits from its
/// leading one to its last.
bool hasIntegerSums(const chip::SumRule &rule);

/// Factors of a row of A.
struct IntegerRow {
  std::array<int32_t, kIntegerTerms / 2> pairs; ///< of integers
  int32_t exponent;                             ///< of the largest factor
  uint32_t left; ///< bit j: factor j is left, and has the integer 0
};

/// Factors of B.
struct IntegerColumns {
  static constexpr uint32_t kMost = 256;
  /// As [pair][column][of the pair].
  alignas(64) std::array<int16_t, kIntegerTerms * kMost> values;
  std::array<int32_t, kMost> exponents; ///< of the largest factor of a column
  uint32_t count;                       ///< of columns
  /// By block of columns, bit j: row j is left there.
  std::array<uint32_t, kMost / kIntegerBlock> left;
};

/// Of 32 numbers.
void findIntegers(IntegerRow &row, const float *a);
/// Of `n` columns, whole blocks and at most kMost. Row j + 1 of B is `pitch`
/// elements behind row j.
void findIntegers(IntegerColumns &columns, const float *b, uint32_t n,
                  uint32_t pitch);

/// A row of `n` columns, whole blocks: the numbers, and the integers of them.
struct IntegerFactors {
  const float *a, *b;
  const IntegerRow &row;
  const IntegerColumns &columns;
  uint32_t first; ///< the column that b points to; it begins a block
  uint32_t n, pitch;
};

/// bits[x] = before[x] + the products of the row and column x, where no term
/// loses a bit, as accumulateRow and roundRow have it. Returns the blocks of
/// which that is not known, a bit each; what their bits are then has no
/// meaning.
uint32_t addIntegers(const chip::SumRule &rule, uint32_t *bits,
                     const float *before, const IntegerFactors &factors);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_NUMERICS_INTEGERSUMS_H
