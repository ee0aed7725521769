// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small problem for the kernel naive of test/Run and test/Integration.
#ifndef FP8_TEST_RUNTIME_NAIVEPROBLEM_H
#define FP8_TEST_RUNTIME_NAIVEPROBLEM_H

#include "fp8-c/Common.h"

#include <array>
#include <vector>

/// Ones times ones, with M rows, N = 8, K = 16 and scales of 1, in the host's
/// memory. Each element of D will be 16.
struct NaiveProblem {
  explicit NaiveProblem(int64_t m = 4, int64_t dStride = n)
      : a(m * k, 0x38), b(n * k, 0x38), aScale(m, 1), bScale(1, 1),
        d(m * dStride, 7), shapes{{{m, k}, {1, m}, {n, k}, {1, 1}, {m, n}}},
        strides{{{k, 1}, {m, 1}, {k, 1}, {1, 1}, {dStride, 1}}} {
    const char *const types[] = {"f8E4M3FN", "f32", "f8E4M3FN", "f32", "bf16"};
    const void *const data[] = {a.data(), aScale.data(), b.data(),
                                bScale.data(), d.data()};
    for (size_t i = 0; i < arguments.size(); ++i)
      arguments[i] = {types[i], reinterpret_cast<uint64_t>(data[i]), 2,
                      shapes[i].data(), strides[i].data()};
  }
  NaiveProblem(const NaiveProblem &) = delete;

  static constexpr int64_t n = 8, k = 16;
  static constexpr uint16_t sixteen = 0x4180; ///< bf16
  std::vector<uint8_t> a, b;
  std::vector<float> aScale, bScale;
  std::vector<uint16_t> d;
  std::array<std::array<int64_t, 2>, 5> shapes, strides;
  std::array<Fp8Argument, 5> arguments; ///< a, a_scale, b, b_scale, d
};

#endif // FP8_TEST_RUNTIME_NAIVEPROBLEM_H
