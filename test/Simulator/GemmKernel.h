// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp-specialised e4m3 GEMM for sm_100a, written by hand: D(M,N) f32 =
// A(M,K) * B(N,K)^T, one 128x128 tile a CTA. Warps 0-3 are the epilogue, warp 4
// loads by TMA, warp 5 issues the MMAs. Two stages of input; two accumulators,
// a fresh one each 128 of K, added up in registers. The result leaves through
// shared memory and a TMA store.

#ifndef FP8_TEST_SIMULATOR_GEMMKERNEL_H
#define FP8_TEST_SIMULATOR_GEMMKERNEL_H

#include "Kernels.h"

namespace fp8::sim::test {

/// The PTX. Shared memory from the (1024-aligned) start: A stages 2 x 16 KiB, B
/// stages 2 x 16 KiB, D 4 x 4 KiB (one 32x32 f32 chunk a warp), then the
/// barriers.
std::string gemmKernel();

struct GemmRun {
  Report report;
  double worst = 0; ///< largest absolute difference from a double reference
  std::vector<float> d;
};

/// Runs `text` on random operands and compares.
GemmRun runGemm(const std::string &text, uint32_t m, uint32_t n, uint32_t k,
                Options options = {});

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_GEMMKERNEL_H
