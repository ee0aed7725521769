// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem that the tensor core kernels here solve: D = A.B^T, e4m3 to f32.
#ifndef FP8_TEST_SIMULATOR_FOREIGN_GEMM_H
#define FP8_TEST_SIMULATOR_FOREIGN_GEMM_H

#include "Foreign.h"

namespace fp8::sim::test {

struct GemmProblem {
  GemmProblem(uint32_t m, uint32_t n, uint32_t k);

  uint32_t m, n, k;
  std::vector<uint8_t> a, b;
  std::vector<double> sums, magnitudes;

  /// The largest error of `d` relative to the sum of magnitudes.
  double worstError(const std::vector<float> &d) const;

  /// Launches with maps of boxes of `boxA` and `boxB` rows of 128 bytes; D goes
  /// to `d`.
  Report run(const std::string &text, uint32_t boxA, uint32_t boxB,
             const LaunchConfig &config, std::vector<float> &d, uint64_t seed,
             Completion completion) const;
};

} // namespace fp8::sim::test

#endif // FP8_TEST_SIMULATOR_FOREIGN_GEMM_H
