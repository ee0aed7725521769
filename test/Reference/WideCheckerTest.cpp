// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker on operands of 16 bits, whose sums are allowed less than those of
// 8 bits.
#include "fp8/Reference/Checker.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace fp8::reference;

namespace {
struct Case {
  ElementType operand;
  ElementType output;
};

/// Operands of a GEMM without scales.
BlockwiseData unscaledData(ElementType type) {
  BlockwiseData data =
      makeBlockwiseData(72, 80, 1096, 42, DataKind::Normal, {type, type});
  std::fill(data.aScale.begin(), data.aScale.end(), 1.0f);
  std::fill(data.bScale.begin(), data.bScale.end(), 1.0f);
  return data;
}

/// A and B widened.
struct Values {
  explicit Values(const BlockwiseData &data)
      : a(data.m * data.k), b(data.n * data.k) {
    decode(data.types.a, data.a.data(), 0, a.size(), a.data());
    decode(data.types.b, data.b.data(), 0, b.size(), b.data());
  }
  std::vector<double> a, b;
};

/// D as a tensor core makes it that adds 16 products at a time to an f32
/// accumulator, and truncates. `skip` is the first of 16 elements along K that
/// are left out.
std::vector<uint8_t> kernelResult(const BlockwiseData &data, ElementType type,
                                  int64_t skip = -1) {
  Values values(data);
  std::vector<uint8_t> d(data.m * data.n * byteSize(type));
  for (int64_t m = 0; m < data.m; ++m)
    for (int64_t n = 0; n < data.n; ++n) {
      float sum = 0;
      for (int64_t step = 0; step < data.k; step += 16) {
        if (step == skip)
          continue;
        double wide = sum;
        for (int64_t k = step; k < std::min(data.k, step + 16); ++k)
          wide += values.a[m * data.k + k] * values.b[n * data.k + k];
        sum = static_cast<float>(wide);
        if (std::fabs(sum) > std::fabs(wide))
          sum = std::nextafter(sum, 0.0f);
      }
      store(type, d.data(), m * data.n + n, sum);
    }
  return d;
}

class WideChecker : public testing::TestWithParam<Case> {
protected:
  CheckResult run() const {
    return check(data, reference, type, d.data(), data.n);
  }
  ElementType type = GetParam().output;
  BlockwiseData data = unscaledData(GetParam().operand);
  GemmReference reference = computeReference(data);
  std::vector<uint8_t> d = kernelResult(data, type);
};
} // namespace

TEST_P(WideChecker, PassesTruncatedSums) {
  CheckResult result = run();
  EXPECT_EQ(result.wrong, 0) << result.str();
  // The Frobenius floor of f32 is that of sums that are rounded.
  if (type != ElementType::F32) {
    EXPECT_TRUE(result.ok()) << result.str();
  }
}

TEST_P(WideChecker, FailsOneWrongElement) {
  size_t at = reference.index(70, 7);
  double bound = ulpAt(type, reference.value[at]) +
                 magnitudeFactor(data) * reference.magnitude[at];
  store(type, d.data(), at, reference.value[at] + 2.1 * bound);
  CheckResult result = run();
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.wrong, 1);
}

TEST_P(WideChecker, FailsSwappedRowsAndColumns) {
  unsigned bytes = byteSize(type);
  for (int64_t n = 0; n < data.n; ++n)
    std::swap_ranges(d.begin() + (64 * data.n + n) * bytes,
                     d.begin() + (64 * data.n + n + 1) * bytes,
                     d.begin() + (65 * data.n + n) * bytes);
  EXPECT_GT(run().wrong, data.n);
}

TEST_P(WideChecker, FailsATransposedCoreTile) {
  unsigned bytes = byteSize(type);
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < i; ++j)
      std::swap_ranges(d.begin() + ((8 + i) * data.n + 16 + j) * bytes,
                       d.begin() + ((8 + i) * data.n + 16 + j + 1) * bytes,
                       d.begin() + ((8 + j) * data.n + 16 + i) * bytes);
  EXPECT_GT(run().wrong, 40);
}

TEST_P(WideChecker, FailsOneDroppedInstruction) {
  d = kernelResult(data, type, 512);
  CheckResult result = run();
  EXPECT_FALSE(result.ok());
  EXPECT_GT(result.wrong, result.elements * 9 / 10);
}

TEST_P(WideChecker, FailsOneDroppedProduct) {
  Values values(data);
  int64_t m = 9, n = 21, k = 1000;
  while (std::fabs(values.a[m * data.k + k] * values.b[n * data.k + k]) < 1)
    ++k;
  size_t at = reference.index(m, n);
  double left =
      reference.value[at] - values.a[m * data.k + k] * values.b[n * data.k + k];
  store(type, d.data(), at, left);
  EXPECT_EQ(run().wrong, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Types, WideChecker,
    testing::Values(Case{ElementType::BF16, ElementType::BF16},
                    Case{ElementType::BF16, ElementType::F32},
                    Case{ElementType::F16, ElementType::F16},
                    Case{ElementType::F16, ElementType::F32}));

TEST(FrobeniusFloor, OfF32GrowsPastAKOf8192) {
  EXPECT_EQ(frobeniusFloor(ElementType::F32, 8192), 5e-7);
  EXPECT_EQ(frobeniusFloor(ElementType::F32, 4 * 8192), 1e-6);
  EXPECT_EQ(frobeniusFloor(ElementType::BF16, 4 * 8192), 2e-4);
}

TEST(MagnitudeFactor, GrowsWithTheInstructionsAlongK) {
  auto factor = [](int64_t k, ElementType a, ElementType b) {
    BlockwiseData data;
    data.k = k;
    data.types = {a, b};
    return magnitudeFactor(data);
  };
  constexpr ElementType bf16 = ElementType::BF16, e4m3 = ElementType::F8E4M3FN;
  EXPECT_EQ(factor(0, bf16, bf16), 0x1p-21);
  EXPECT_EQ(factor(16, bf16, bf16), 0x1p-21);
  EXPECT_EQ(factor(17, bf16, bf16), 0x1p-20);
  EXPECT_EQ(factor(4096, bf16, bf16), 0x1p-13);
  EXPECT_EQ(factor(int64_t(1) << 20, bf16, bf16), 0x1p-11);
  EXPECT_EQ(factor(16, e4m3, e4m3), 0x1p-11);
  EXPECT_EQ(factor(16, e4m3, ElementType::F8E5M2), 0x1p-11);
}
