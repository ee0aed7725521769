// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tensor core adds up the products of one instruction.

#ifndef FP8_LIB_SIMULATOR_NUMERICS_ACCUMULATION_H
#define FP8_LIB_SIMULATOR_NUMERICS_ACCUMULATION_H

#include <cstdint>

namespace fp8::sim {

enum class Accumulation : uint8_t {
  Exact,  ///< in double, for the caller to round
  Hopper, ///< aligned to the term of the largest exponent, and cut off
};

/// Bits behind the leading one that Hopper keeps of the term of the largest
/// exponent, of every term at that place, and of their sum. Measured on an H200
/// (docs/Numerics.md).
constexpr int kHopperFractionBits = 13;

/// The rows and columns of a product, and 2 to the exponents that the numbers'
/// formats store; exponents only where the mode is Hopper.
struct Factors {
  const double *values;
  const double *powers;
};
/// 2 to the exponent of `value` in a format whose least is 2 to `least`, which
/// subnormal numbers have too. 0 has none: 0.
double powerOf(double value, double least);

/// sum[x] += a[j] * b[j * pitch + x] for all j < k and x < n. `k` is a multiple
/// of 4, `n` at most 256.
void accumulateRow(Accumulation mode, double *sum, Factors a, Factors b,
                   uint32_t n, uint32_t k, uint32_t pitch);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_NUMERICS_ACCUMULATION_H
