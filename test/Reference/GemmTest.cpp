// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocked reference against one written straight from the definition.
#include "fp8/Reference/Gemm.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fp8::reference;

namespace {
struct Element {
  double value = 0, magnitude = 0;
};

double at(ElementType type, const std::vector<uint8_t> &operand, int64_t i) {
  double value;
  decode(type, operand.data(), i, 1, &value);
  return value;
}

Element byDefinition(const BlockwiseData &data, int64_t m, int64_t n) {
  Element result;
  for (int64_t block = 0; block * 128 < data.k; ++block) {
    long double dot = 0, size = 0;
    for (int64_t k = block * 128; k < std::min(data.k, block * 128 + 128);
         ++k) {
      double product = at(data.types.a, data.a, m * data.k + k) *
                       at(data.types.b, data.b, n * data.k + k);
      dot += product;
      size += std::fabs(product);
    }
    double scale = double(data.aScale[block * data.aScaleStride + m]) *
                   data.bScale[n / data.bBlock * data.kBlocks() + block];
    result.value += scale * double(dot);
    result.magnitude += std::fabs(scale) * double(size);
  }
  return result;
}

void compare(const BlockwiseData &data, int64_t rowBegin, int64_t rowEnd) {
  GemmReference reference = computeReference(data, rowBegin, rowEnd);
  ASSERT_EQ(reference.value.size(), size_t((rowEnd - rowBegin) * data.n));
  for (int64_t m = rowBegin; m < rowEnd; ++m)
    for (int64_t n = 0; n < data.n; ++n) {
      Element expected = byDefinition(data, m, n);
      double value = reference.value[reference.index(m, n)];
      double magnitude = reference.magnitude[reference.index(m, n)];
      if (!std::isfinite(expected.value)) {
        EXPECT_EQ(std::isnan(value), std::isnan(expected.value));
        if (std::isinf(expected.value)) {
          EXPECT_EQ(value, expected.value);
        }
        continue;
      }
      // Fused or not, the sum over blocks rounds at most once a block.
      ASSERT_NEAR(value, expected.value, 1e-13 * expected.magnitude)
          << m << ", " << n;
      ASSERT_NEAR(magnitude, expected.magnitude, 1e-4 * expected.magnitude);
    }
}
} // namespace

TEST(Gemm, MatchesTheDefinition) {
  compare(makeBlockwiseData(128, 128, 128, 1), 0, 128);
  compare(makeBlockwiseData(37, 150, 320, 2), 0, 37);
  compare(makeBlockwiseData(1, 576, 1024, 3), 0, 1);
  compare(makeBlockwiseData(3, 16, 16, 4), 0, 3);
}

TEST(Gemm, MultipliesOtherTypes) {
  constexpr ElementType e4m3 = ElementType::F8E4M3FN,
                        e5m2 = ElementType::F8E5M2, bf16 = ElementType::BF16,
                        f16 = ElementType::F16;
  for (OperandTypes types :
       {OperandTypes{e4m3, e5m2}, OperandTypes{e5m2, e4m3},
        OperandTypes{bf16, bf16}, OperandTypes{f16, f16}}) {
    compare(makeBlockwiseData(37, 150, 320, 2, DataKind::Normal, types), 0, 37);
    compare(makeBlockwiseData(40, 136, 264, 6, DataKind::Specials, types), 0,
            40);
    for (double value :
         computeReference(
             makeBlockwiseData(5, 130, 336, 0, DataKind::Ones, types))
             .value)
      ASSERT_EQ(value, 336);
  }
}

TEST(Gemm, TakesScalesOfFewerRowsOfB) {
  for (int64_t block : {1, 48, 64})
    compare(makeBlockwiseData(21, 150, 320, 9, DataKind::Normal, {}, block), 0,
            21);
}

TEST(Gemm, ComputesARangeOfRows) {
  compare(makeBlockwiseData(70, 48, 272, 5), 13, 66);
}

TEST(Gemm, CarriesSpecialValues) {
  compare(makeBlockwiseData(64, 256, 384, 6, DataKind::Specials), 0, 64);
}

TEST(Gemm, OnesGiveK) {
  GemmReference reference =
      computeReference(makeBlockwiseData(5, 130, 336, 0, DataKind::Ones));
  for (double value : reference.value)
    EXPECT_EQ(value, 336);
}

TEST(Gemm, EmptyKGivesZeros) {
  GemmReference reference = computeReference(makeBlockwiseData(4, 8, 0, 1));
  EXPECT_EQ(reference.value, std::vector<double>(32, 0.0));
}

TEST(Gemm, ContributionsAddUp) {
  BlockwiseData data = makeBlockwiseData(9, 140, 700, 8);
  GemmReference reference = computeReference(data);
  double sum = 0;
  for (double part : blockContributions(data, 7, 133))
    sum += part;
  size_t at = reference.index(7, 133);
  EXPECT_NEAR(sum, reference.value[at], 1e-13 * reference.magnitude[at]);
}
