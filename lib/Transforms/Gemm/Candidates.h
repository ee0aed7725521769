// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles that the chooser ranks, as far as the MMA engines agree on them.
#ifndef FP8_LIB_TRANSFORMS_GEMM_CANDIDATES_H
#define FP8_LIB_TRANSFORMS_GEMM_CANDIDATES_H

#include "GemmSchedule.h"

namespace mlir::fp8 {

/// Hands the candidates of a GEMM to a sink. What it is made from must outlive
/// it.
class Candidates {
public:
  /// `divisors` are the numbers of CTAs that may divide K.
  Candidates(CandidateSink add, const chip::Chip &chip,
             const GemmExtents &extents, ArrayRef<int64_t> divisors)
      : add(add), chip(chip), extents(extents), divisors(divisors) {}

  /// Tile N's from 16 to 256 that are worth ranking.
  static SmallVector<int64_t> getTileNs();

  /// Tiles of that size for which CTAs divide K, where they leave
  /// multiprocessors free and each CTA keeps some blocks.
  void addDivided(int64_t tileM, int64_t tileN) const {
    addDivided(tileM, tileN, divisors);
  }
  /// Tiles of fewer rows than an MMA has, with these columns: where the result
  /// has fewer, or where larger tiles leave more rows beyond M. Their rows are
  /// up to M rounded up to a multiple of `step`. With K divided they are
  /// shares of eight rows, too.
  void addSwapped(ArrayRef<int64_t> tileNs, int64_t step) const;

private:
  void addDivided(int64_t tileM, int64_t tileN, ArrayRef<int64_t> by) const;

  CandidateSink add;
  const chip::Chip &chip;
  const GemmExtents &extents;
  ArrayRef<int64_t> divisors;
};

} // namespace mlir::fp8

#endif // FP8_LIB_TRANSFORMS_GEMM_CANDIDATES_H
