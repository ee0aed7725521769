// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products whose blocks have scales (PTX ISA 9.7.16.10.7), by the rules
// of fp8/Chip/SumRule.h.

#ifndef FP8_LIB_SIMULATOR_NUMERICS_SCALEDSUMS_H
#define FP8_LIB_SIMULATOR_NUMERICS_SCALEDSUMS_H

#include "Numerics/Accumulation.h"

namespace fp8::sim {

/// A scale: its value, and the exponent that its format stores;
/// kSpecialExponent if it is NaN.
struct Scale {
  double value;
  int16_t exponent;
};
/// All codes of UE8M0: 2^(code - 127), or NaN for 255.
const Scale *ue8m0Scales();
/// Of UE4M3: e4m3 without its sign; bit 7 is ignored.
const Scale *ue4m3Scales();

/// sum[x] = before[x] + 2^(aScale + bScales[x]) * the products of row a and
/// column x of b. The exponents of the scales count for those of the terms.
void accumulateScaledRow(const chip::SumRule &rule, double *sum,
                         const float *before, Factors a, int16_t aScale,
                         Factors b, const int16_t *bScales, RowShape shape);

/// Scales of blocks of SumRule::perTerm elements; those of the next block are
/// `pitch` behind.
struct BlockScales {
  const double *values;
  const int16_t *exponents;
  uint32_t pitch;
};

/// sum[x] = before[x] + over the blocks of k, the product of the scales times
/// the exact sum of products. A term is such a block, and its exponent that of
/// its scales. Sums of a block of products must be exact in f32.
void accumulateBlocks(const chip::SumRule &rule, double *sum,
                      const float *before, const float *a, BlockScales aScales,
                      const float *b, BlockScales bScales, RowShape shape);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_NUMERICS_SCALEDSUMS_H
