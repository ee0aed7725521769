// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands, the naive product, and the launch.
#include "Gemm.h"

#include "fp8/Reference/Float8.h"

#include <cmath>

using namespace fp8::sim;
using namespace fp8::sim::test;
using fp8::reference::decodeE4M3FN;

static double decoded(uint8_t code) {
  static const std::vector<double> table = [] {
    std::vector<double> values;
    for (unsigned i = 0; i < 256; ++i)
      values.push_back(decodeE4M3FN(uint8_t(i)));
    return values;
  }();
  return table[code];
}

GemmProblem::GemmProblem(uint32_t m, uint32_t n, uint32_t k)
    : m(m), n(n), k(k), a(m * k), b(n * k), sums(m * n), magnitudes(m * n) {
  // Any code but NaN, and not so large that sums leave f32's exact range.
  uint32_t state = 12345;
  auto next = [&] {
    state = state * 1664525 + 1013904223;
    return uint8_t((state >> 24 & 0x80) | ((state >> 16) % 0x60));
  };
  for (uint8_t &code : a)
    code = next();
  for (uint8_t &code : b)
    code = next();
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j)
      for (uint32_t l = 0; l < k; ++l) {
        double product = decoded(a[i * k + l]) * decoded(b[j * k + l]);
        sums[i * n + j] += product;
        magnitudes[i * n + j] += std::fabs(product);
      }
}

double GemmProblem::worstError(const std::vector<float> &d) const {
  double worst = 0;
  for (uint32_t i = 0; i < m * n; ++i) {
    double error = std::fabs(d[i] - sums[i]) / magnitudes[i];
    if (!(error <= worst))
      worst = error;
  }
  return worst;
}

Report GemmProblem::run(const std::string &text, uint32_t boxA, uint32_t boxB,
                        const LaunchConfig &config, std::vector<float> &d,
                        uint64_t seed, Completion completion) const {
  Launcher launcher(text);
  uint64_t aAddress = launcher.input("a", a);
  uint64_t bAddress = launcher.input("b", b);
  uint64_t dAddress = launcher.output<float>("d", m * n, NAN);
  auto map = [&](uint64_t address, uint32_t rows, uint32_t boxRows) {
    return KernelArgument::tensorMap(matrixMap(
        address, ElementType::U8, k, rows, k, 128, boxRows, Swizzle::B128));
  };
  Report report = launcher.run({map(aAddress, m, boxA), map(bAddress, n, boxB),
                                KernelArgument::value(dAddress),
                                KernelArgument::value<int32_t>(int(n)),
                                KernelArgument::value<int32_t>(int(k / 128))},
                               config, seed, completion);
  d = launcher.contents<float>(dAddress, m * n);
  return report;
}
