// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of a blockwise-scaled FP8 GEMM, quantised as in practice; and
// operands of 16-bit GEMMs.
#ifndef FP8_REFERENCE_BLOCKWISEDATA_H
#define FP8_REFERENCE_BLOCKWISEDATA_H

#include "fp8/Gemm/Operands.h"
#include "fp8/Reference/Elements.h"

#include <cstdint>
#include <vector>

namespace fp8::reference {

/// Elements along K that share a scale, unless `kBlock` differs; also along N
/// for B, unless `bBlock` differs.
constexpr int64_t scaleBlock = gemm::kScaleBlock;

/// A (M,K) and B (N,K), of `types`, row-major, without padding; `aScale` f32
/// (ceil(K/kBlock), M) with rows of `aScaleStride` elements, M rounded up to a
/// multiple of 4, the padding NaN; `bScale` f32 (ceil(N/bBlock),
/// ceil(K/kBlock)).
struct BlockwiseData {
  int64_t m = 0, n = 0, k = 0;
  int64_t aScaleStride = 0;
  OperandTypes types;
  int64_t bBlock = scaleBlock; ///< rows of B that share a scale, 1 to 128
  int64_t kBlock = scaleBlock; ///< elements along K that do, 1 to 128
  std::vector<uint8_t> a, b;
  std::vector<float> aScale, bScale;

  int64_t kBlocks() const { return (k + kBlock - 1) / kBlock; }
  int64_t nBlocks() const { return (n + bBlock - 1) / bBlock; }
  /// The scale of B's row `n`, which is D's column.
  float bScaleAt(int64_t n, int64_t block) const {
    return bScale[n / bBlock * kBlocks() + block];
  }
};

enum class DataKind {
  /// Near-normal values, quantised per block: 1 x kBlock of A and bBlock x
  /// kBlock of B share a scale, amax / 448 (the largest value of the type).
  /// 16-bit values
  /// are rounded without scales. Each scale is then multiplied by a factor, so
  /// that the products follow a Kronecker sequence in row and block over 7
  /// binades around 2^-7. Any 16 products span at least six binades. Any two
  /// products of one K block less than 144 rows apart differ by at least 1.5 %,
  /// so that a swap is visible.
  Normal,
  /// Normal data with NaN in A and B, an infinity in A where its type has one,
  /// zero rows, and scales that are NaN, infinite, zero, negative and denormal,
  /// each in a few rows or blocks.
  Specials,
  /// Every element and every scale 1: D is K.
  Ones
};

/// Makes the same data for the same arguments on every machine. Sizes may be 0.
BlockwiseData makeBlockwiseData(int64_t m, int64_t n, int64_t k, uint64_t seed,
                                DataKind kind = DataKind::Normal,
                                OperandTypes types = {},
                                int64_t bBlock = scaleBlock,
                                int64_t kBlock = scaleBlock);

/// One near-normal value (mean 0, variance 1) of a stream of random values.
/// BlockwiseData uses the streams 1 to 15.
float nearNormalAt(uint64_t seed, uint64_t stream, uint64_t index);

} // namespace fp8::reference

#endif // FP8_REFERENCE_BLOCKWISEDATA_H
