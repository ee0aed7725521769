// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that are candidates on every MMA engine.

#include "Candidates.h"
#include "fp8/Chip/Machine.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fp8;

SmallVector<int64_t> Candidates::getTileNs() {
  // Fine steps where they make one wave of two, coarse ones where each further
  // part of the columns costs registers.
  SmallVector<int64_t> columns;
  for (int64_t n = 16; n <= 256; n += n < 64 ? 8 : n < 96 ? 16 : 32)
    columns.push_back(n);
  return columns;
}

void Candidates::addDivided(int64_t tileM, int64_t tileN,
                            ArrayRef<int64_t> by) const {
  constexpr int64_t kLeastBlocks = 4;
  GemmConfig config;
  config.tileM = tileM;
  config.tileN = tileN;
  // Extents and batches below 2^31 can have more tiles than can be counted.
  double tiles = double(extents.batch) * llvm::divideCeil(extents.m, tileM) *
                 llvm::divideCeil(extents.n, tileN);
  for (int64_t k : by) {
    config.cluster.k = k;
    if (tiles * k <= chip.machine->multiprocessors &&
        extents.k >= k * kLeastBlocks * gemm::kScaleBlock)
      add(config);
  }
}

void Candidates::addSwapped(ArrayRef<int64_t> tileNs, int64_t step) const {
  constexpr int64_t kRows = 64,   // of an MMA
      kShare = 8;                 // rows that a CTA gets of a sum, at least
  constexpr int64_t kMost = 1024; // with more rows nothing was gained
  if (extents.m > kMost)
    return;
  bool isShort = extents.m < kRows;
  for (int64_t tileM = isShort ? 8 : kRows + 8; tileM < 2 * kRows; tileM += 8) {
    if (tileM == kRows)
      continue;
    // The rows of a tile if all rows of tiles were equally high. A tile is the
    // least of a multiple if no smaller one makes as few rows of tiles.
    int64_t rows =
        llvm::divideCeil(extents.m, llvm::divideCeil(extents.m, tileM));
    auto isLeast = [&](int64_t multiple) {
      return int64_t(llvm::alignTo(rows, multiple)) == tileM;
    };
    bool isWhole =
        isShort
            ? tileM < kRows && tileM <= int64_t(llvm::alignTo(extents.m, step))
            : isLeast(8) || isLeast(16) || isLeast(step);
    SmallVector<int64_t> by;
    for (int64_t k : divisors)
      if (tileM % (kShare * k) == 0 && (isWhole || isLeast(kShare * k)))
        by.push_back(k);
    for (int64_t tileN : tileNs) {
      GemmConfig config;
      config.tileM = tileM;
      config.tileN = tileN;
      if (isWhole)
        add(config);
      addDivided(tileM, tileN, by);
    }
  }
}
