// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blockwise-scaled GEMM in float64.
#ifndef FP8_REFERENCE_GEMM_H
#define FP8_REFERENCE_GEMM_H

#include "fp8/Reference/BlockwiseData.h"

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace fp8::reference {

/// Rows [rowBegin, rowEnd) of the result, row-major with n columns.
struct GemmReference {
  int64_t rowBegin = 0, rowEnd = 0, n = 0;
  /// sum_kb aScale[kb,m] * bScale[n/bBlock,kb] * (A.B^T)_kb. The dot product of
  /// a K block of e4m3 values is exact; scaling and the sum over blocks are
  /// rounded to double.
  std::vector<double> value;
  /// sum_kb |aScale * bScale| * sum_k |a||b|, the sum without cancellation.
  /// Accurate to about 1e-5, which suffices for the bound.
  std::vector<double> magnitude;
  /// The values that an element with a doubtful sign (hasDoubtfulSign) may
  /// have: either infinity or NaN, after the epilogue.
  std::array<double, 3> ofInfinity = {std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};

  size_t index(int64_t row, int64_t column) const {
    return static_cast<size_t>((row - rowBegin) * n + column);
  }
};

/// NaN and infinities propagate as IEEE 754 says; K = 0 gives zeros.
GemmReference computeReference(const BlockwiseData &data, int64_t rowBegin,
                               int64_t rowEnd);
inline GemmReference computeReference(const BlockwiseData &data) {
  return computeReference(data, 0, data.m);
}

/// The scaled contribution of each K block to one element.
std::vector<double> blockContributions(const BlockwiseData &data, int64_t row,
                                       int64_t column);

/// True if an infinite scale multiplies a dot product of at most `share` of its
/// magnitude: inexact sums may then have the other sign, or be zero. False if a
/// block is NaN in any case, such as an infinite scale of zeros.
bool hasDoubtfulSign(const BlockwiseData &data, int64_t row, int64_t column,
                     double share);

} // namespace fp8::reference

#endif // FP8_REFERENCE_GEMM_H
