// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tensor core adds up the products of one instruction.

#ifndef FP8_LIB_SIMULATOR_ACCUMULATION_H
#define FP8_LIB_SIMULATOR_ACCUMULATION_H

#include <cstdint>

namespace fp8::sim {

enum class Accumulation : uint8_t {
  Exact,  ///< in double, for the caller to round
  Hopper, ///< aligned to the largest term, and cut off
};

/// Bits behind the leading one of the largest term that Hopper keeps of every
/// term. A model, not calibrated on hardware: "around 14 bits" are what is
/// reported of its FP8 sums (DeepSeek-V3 technical report, 3.3.2).
constexpr int kHopperFractionBits = 13;

/// sum[x] += a[j] * b[j * pitch + x] for all j < k and x < n. `k` is a multiple
/// of 4, `n` at most 256.
void accumulateRow(Accumulation mode, double *sum, const double *a,
                   const double *b, uint32_t n, uint32_t k, uint32_t pitch);

} // namespace fp8::sim

#endif // FP8_LIB_SIMULATOR_ACCUMULATION_H
