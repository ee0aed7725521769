// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker must pass what only rounding made different, and fail everything
// else, however small.
#include "fp8/Reference/Checker.h"
#include "fp8/Reference/Epilogue.h"
#include "fp8/Reference/Float8.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace fp8::reference;
using testing::HasSubstr;

namespace {
/// Of 8-bit operands it keeps 14 bits of sums.
constexpr KernelSums kHopper = {fp8::chip::MmaEngine::Warpgroup};

/// D as a correct kernel makes it: exact partial sums of a K block, rounded to
/// f32, promoted by f32 fused multiply-add, rounded to the output type.
/// `skipBlock` leaves out one K block.
std::vector<uint8_t> kernelResult(const BlockwiseData &data, ElementType type,
                                  int64_t skipBlock = -1) {
  std::vector<uint8_t> d(data.m * data.n * byteSize(type));
  float decoded[256];
  for (unsigned bits = 0; bits < 256; ++bits)
    decoded[bits] = decodeE4M3FN(uint8_t(bits));
  for (int64_t m = 0; m < data.m; ++m)
    for (int64_t n = 0; n < data.n; ++n) {
      float sum = 0;
      for (int64_t block = 0; block < data.kBlocks(); ++block) {
        if (block == skipBlock)
          continue;
        double dot = 0;
        for (int64_t k = block * 128; k < std::min(data.k, block * 128 + 128);
             ++k)
          dot += double(decoded[data.a[m * data.k + k]]) *
                 decoded[data.b[n * data.k + k]];
        float scale = data.aScale[block * data.aScaleStride + m] *
                      data.bScale[n / 128 * data.kBlocks() + block];
        sum = std::fma(scale, float(dot), sum);
      }
      store(type, d.data(), m * data.n + n, sum);
    }
  return d;
}

class Checker : public testing::TestWithParam<ElementType> {
protected:
  void SetUp() override { d = kernelResult(data, type); }
  CheckResult run() const {
    return check(data, reference, type, d.data(), data.n);
  }
  void swap(int64_t row, int64_t column, int64_t otherRow,
            int64_t otherColumn) {
    unsigned bytes = byteSize(type);
    auto at = [&](int64_t r, int64_t c) {
      return d.begin() + (r * data.n + c) * bytes;
    };
    std::swap_ranges(at(row, column), at(row, column) + bytes,
                     at(otherRow, otherColumn));
  }

  ElementType type = GetParam();
  BlockwiseData data = makeBlockwiseData(136, 144, 560, 42);
  GemmReference reference = computeReference(data);
  std::vector<uint8_t> d;
};
} // namespace

TEST_P(Checker, PassesRounding) {
  CheckResult result = run();
  EXPECT_TRUE(result.ok()) << result.str();
  EXPECT_EQ(result.elements, data.m * data.n);
  EXPECT_EQ(result.unspecified, 0);
  EXPECT_GT(result.maxBoundRatio, 0);
}

TEST_P(Checker, FailsOneWrongElement) {
  size_t at = reference.index(131, 7);
  double bound =
      ulpAt(type, reference.value[at]) + 0x1p-11 * reference.magnitude[at];
  store(type, d.data(), at, reference.value[at] + 2.1 * bound);
  CheckResult result = run();
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.wrong, 1);
  ASSERT_EQ(result.first.size(), 1u);
  EXPECT_EQ(result.first[0].row, 131);
  EXPECT_EQ(result.first[0].column, 7);
  EXPECT_THAT(result.str(), HasSubstr("d(131, 7), tile (1, 0) at (3, 7)"));
}

TEST_P(Checker, FailsSwappedRows) {
  for (int64_t column = 0; column < data.n; ++column)
    swap(64, column, 65, column);
  CheckResult result = run();
  EXPECT_GT(result.wrong, data.n);
  EXPECT_EQ(result.first[0].row, 64);
  // In bf16 too many elements of a tile are alike to tell where one belongs.
  if (type != ElementType::BF16) {
    EXPECT_THAT(result.str(), HasSubstr("this value is expected at (65, "));
  }
}

TEST_P(Checker, FailsATransposedCoreTile) {
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < i; ++j)
      swap(128 + i, 136 + j, 128 + j, 136 + i);
  CheckResult result = run();
  EXPECT_FALSE(result.ok());
  EXPECT_GT(result.wrong, 40);
}

TEST_P(Checker, FailsADroppedBlock) {
  d = kernelResult(data, type, 3);
  CheckResult result = run();
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.str(), HasSubstr("K block 3 seems to be missing"));
}

TEST_P(Checker, FailsAnUnwrittenElement) {
  fillWithPoison(type, d.data() + (5 * data.n + 143) * byteSize(type), 1);
  CheckResult result = run();
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.unwritten, 1);
  EXPECT_TRUE(std::isinf(result.maxBoundRatio));
  EXPECT_TRUE(std::isinf(result.relativeError));
  EXPECT_THAT(result.str(), HasSubstr("d(5, 143), tile (0, 1) at (5, 15): not "
                                      "written"));
}

TEST_P(Checker, FailsAFewZeroedElements) {
  for (int64_t i = 0; i < 6; ++i)
    store(type, d.data(), 1000 + i, 0);
  CheckResult result = run();
  EXPECT_GE(result.wrong, 5) << "one of them may be near zero by chance";
  EXPECT_THAT(result.str(), HasSubstr("zero"));
}

TEST_P(Checker, FailsSwappedScalesOfTwoRows) {
  BlockwiseData swapped = data;
  std::swap(swapped.aScale[2 * data.aScaleStride + 10],
            swapped.aScale[2 * data.aScaleStride + 11]);
  d = kernelResult(swapped, type);
  EXPECT_FALSE(run().ok());
}

TEST_P(Checker, FailsABiasWithinEveryElementBound) {
  // Each element within its own bound, all in one direction: the whole shows.
  for (int64_t i = 0; i < data.m * data.n; ++i)
    store(type, d.data(), i,
          reference.value[i] + 0.3 * 0x1p-11 * reference.magnitude[i]);
  CheckResult result = run();
  EXPECT_EQ(result.wrong, 0);
  EXPECT_GT(result.frobenius, result.frobeniusFloor);
  EXPECT_FALSE(result.ok());
}

TEST_P(Checker, RespectsTheRowStride) {
  int64_t stride = data.n + 8;
  unsigned bytes = byteSize(type);
  std::vector<uint8_t> padded(data.m * stride * bytes);
  fillWithPoison(type, padded.data(), data.m * stride);
  for (int64_t row = 0; row < data.m; ++row)
    std::copy_n(d.begin() + row * data.n * bytes, data.n * bytes,
                padded.begin() + row * stride * bytes);
  EXPECT_TRUE(check(data, reference, type, padded.data(), stride).ok());
}

TEST_P(Checker, WantsSpecialValuesExactly) {
  data = makeBlockwiseData(64, 256, 512, 9, DataKind::Specials);
  reference = computeReference(data);
  d = kernelResult(data, type);
  CheckResult result = run();
  EXPECT_TRUE(result.ok()) << result.str();
  int64_t nans = 0, infinities = 0;
  for (int64_t i = 0; i < data.m * data.n; ++i) {
    nans += std::isnan(reference.value[i]);
    infinities += std::isinf(reference.value[i]);
  }
  ASSERT_GT(nans, 0);
  ASSERT_GT(infinities, 0);
  for (int64_t i = 0; i < data.m * data.n; ++i)
    if (!std::isfinite(reference.value[i]))
      store(type, d.data(), i, 1.0);
  EXPECT_EQ(run().wrong, nans + infinities);
}

INSTANTIATE_TEST_SUITE_P(Types, Checker,
                         testing::Values(ElementType::BF16, ElementType::F16,
                                         ElementType::F32),
                         [](const auto &info) {
                           return std::string(spelling(info.param));
                         });

TEST(CheckerFloor, OneFlippedRoundingOfASmallResultIsRight) {
  BlockwiseData data = makeBlockwiseData(4, 8, 16, 1);
  GemmReference reference = computeReference(data);
  std::vector<uint8_t> d(32 * 2);
  int64_t largest = 0;
  for (int64_t i = 0; i < 32; ++i) {
    store(ElementType::BF16, d.data(), i, reference.value[i]);
    if (std::fabs(reference.value[i]) > std::fabs(reference.value[largest]))
      largest = i;
  }
  auto flip = [&](int64_t element) {
    double rounded = load(ElementType::BF16, d.data(), element);
    double ulp = ulpAt(ElementType::BF16, rounded);
    bool up = reference.value[element] > rounded;
    store(ElementType::BF16, d.data(), element, rounded + (up ? ulp : -ulp));
  };
  flip(largest);
  CheckResult result = check(data, reference, ElementType::BF16, d.data(), 8);
  EXPECT_TRUE(result.ok()) << result.str();
  EXPECT_GT(result.frobenius, frobeniusFloor(ElementType::BF16));
  for (int64_t i = 0; i < 32; ++i)
    if (i != largest)
      flip(i);
  EXPECT_FALSE(check(data, reference, ElementType::BF16, d.data(), 8).ok());
}

namespace {
/// D in f32 as wgmma on sm_90a forms its sums: of 32 products and the sum so
/// far, each is cut off at 2^-13 of the largest, as is their sum.
std::vector<uint8_t> resultOf14Bits(const BlockwiseData &data) {
  auto cut = [](double value, int exponent) {
    return std::ldexp(std::trunc(std::ldexp(value, 13 - exponent)),
                      exponent - 13);
  };
  std::vector<uint8_t> d(data.m * data.n * 4);
  for (int64_t m = 0; m < data.m; ++m)
    for (int64_t n = 0; n < data.n; ++n) {
      float sum = 0;
      double terms[33] = {};
      for (int64_t k = 0; k < data.k; ++k) {
        terms[1 + k % 32] = double(decodeE4M3FN(data.a[m * data.k + k])) *
                            decodeE4M3FN(data.b[n * data.k + k]);
        if (k % 32 != 31)
          continue;
        double largest = 0, next = 0;
        for (double term : terms)
          largest = std::max(largest, std::fabs(term));
        for (double term : terms)
          next += cut(term, std::ilogb(largest));
        terms[0] = next == 0 ? 0 : cut(next, std::ilogb(next));
        if (k % 128 != 127)
          continue;
        float scale = data.aScale[k / 128 * data.aScaleStride + m] *
                      data.bScale[n / 128 * data.kBlocks() + k / 128];
        sum = std::fma(scale, float(terms[0]), sum);
        terms[0] = 0;
      }
      store(ElementType::F32, d.data(), m * data.n + n, sum);
    }
  return d;
}
} // namespace

TEST(CheckerFloor, FewElementsMayErrByMoreThanMany) {
  constexpr KernelSums sums = kHopper;
  double floor = frobeniusFloor(ElementType::F32, 0, sums);
  struct Shape {
    int64_t m, n, k;
    unsigned beyond; ///< of 100 seeds, how many are beyond F at least
  };
  for (Shape shape : {Shape{1, 1, 128, 10}, Shape{4, 4, 256, 3},
                      Shape{65, 1, 1024, 1}, Shape{24, 16, 256, 0}}) {
    unsigned beyond = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      BlockwiseData data = makeBlockwiseData(shape.m, shape.n, shape.k, seed);
      GemmReference reference = computeReference(data);
      std::vector<uint8_t> d = resultOf14Bits(data);
      CheckResult result =
          check(data, reference, ElementType::F32, d.data(), data.n, sums);
      EXPECT_TRUE(result.ok()) << seed << ": " << result.str();
      beyond += result.frobenius > floor;
      // A K block left out is a fault of every size.
      d = kernelResult(data, ElementType::F32, 0);
      EXPECT_FALSE(
          check(data, reference, ElementType::F32, d.data(), data.n, sums)
              .ok());
    }
    EXPECT_GE(beyond, shape.beyond) << shape.m;
  }
}

TEST(CheckerFloor, ManyElementsAreHeldToTheFloor) {
  BlockwiseData data = makeBlockwiseData(128, 128, 256, 3);
  std::vector<uint8_t> d = kernelResult(data, ElementType::F32);
  CheckResult result = check(data, computeReference(data), ElementType::F32,
                             d.data(), data.n, kHopper);
  double floor = frobeniusFloor(ElementType::F32, data.k, kHopper);
  EXPECT_GT(result.frobeniusFloor, floor);
  EXPECT_LT(result.frobeniusFloor, 1.15 * floor);
}

TEST(CheckerFloor, ASumThatCancelsErrsLikeOthers) {
  // 448 * 448 - 448 * 448 + 1, where 14 bits keep nothing of the 1.
  BlockwiseData data = makeBlockwiseData(1, 1, 128, 3, DataKind::Ones);
  std::fill_n(data.a.begin(), 128, uint8_t(0));
  data.a[0] = data.b[0] = data.b[1] = 0x7e, data.a[1] = 0xfe, data.a[2] = 0x38;
  GemmReference reference = computeReference(data);
  ASSERT_EQ(reference.value[0], 1);
  auto ok = [&](float value) {
    return check(data, reference, ElementType::F32, &value, 1, kHopper).ok();
  };
  EXPECT_TRUE(ok(0));
  EXPECT_FALSE(ok(1 + 448 * 448)) << "a lost product";
}

TEST(CheckerFloor, SumsOf14BitsRoundTheOtherWayMoreOften) {
  EXPECT_FALSE(sumsOf("sm_90a").rule({})->fillsFloat32());
  EXPECT_TRUE(sumsOf("sm_100a").rule({})->fillsFloat32());
  EXPECT_EQ(sumsOf("sm_30").rule({}), nullptr);
  BlockwiseData data = makeBlockwiseData(64, 128, 256, 3);
  GemmReference reference = computeReference(data);
  std::vector<uint8_t> d(64 * 128 * 4);
  auto storeScaled = [&](double factor) {
    for (int64_t i = 0; i < 64 * 128; ++i)
      store(ElementType::F32, d.data(), i, reference.value[i] * factor);
  };
  auto ok = [&](KernelSums sums) {
    return check(data, reference, ElementType::F32, d.data(), 128, sums).ok();
  };
  storeScaled(1 - 1.5e-4);
  EXPECT_FALSE(ok(KernelSums{}));
  EXPECT_TRUE(ok(kHopper));
  storeScaled(1 - 3e-4);
  EXPECT_FALSE(ok(kHopper));
  EXPECT_EQ(frobeniusFloor(ElementType::F16, 0, kHopper), 4e-4);
  // Sums of 16-bit products are kept in f32 everywhere.
  data.types = {ElementType::BF16, ElementType::BF16};
  storeScaled(1 - 1.5e-4);
  EXPECT_FALSE(ok(kHopper));
}

TEST(CheckerFloor, SumsOf14BitsHaveFloorsOfTheirOwn) {
  auto floorOf = [](ElementType type) {
    return frobeniusFloor(type, 128, kHopper);
  };
  EXPECT_EQ(floorOf(ElementType::BF16), 1e-3);
  EXPECT_EQ(floorOf(ElementType::F16), 4e-4);
  EXPECT_EQ(floorOf(ElementType::F32), 2e-4);
  EXPECT_EQ(floorOf(ElementType::F8E4M3FN), 4e-3);
  EXPECT_EQ(floorOf(ElementType::F8E5M2), 8e-3);
}

TEST(CheckerFloor, CoversWhatAnApproximateTanhErrsBy) {
  // tanh off by as much as it may be, up or down; the floors
  // of exact functions are not enough for it.
  BlockwiseData data = makeBlockwiseData(128, 256, 256, 3);
  GemmReference sums = computeReference(data), reference = sums;
  Epilogue silu;
  silu.function = Elementwise::Silu;
  applyEpilogue(silu, reference);
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::BF16,
                           ElementType::F16, ElementType::F32}) {
    std::vector<uint8_t> d(sums.value.size() * byteSize(type));
    auto excess = [&](double error) {
      for (size_t i = 0; i < sums.value.size(); ++i) {
        double half = sums.value[i] / 2;
        double tanh = std::tanh(half) * (1 + (i % 3 ? error : -error));
        store(type, d.data(), i, static_cast<float>(half * tanh + half));
      }
      CheckResult result = check(data, reference, type, d.data(), data.n);
      EXPECT_EQ(result.wrong, 0);
      return result.frobenius - result.frobeniusFloor;
    };
    EXPECT_LT(excess(0x1p-11), tanhFloor(type)) << static_cast<int>(type);
    EXPECT_GT(excess(0x1p-11), 0) << static_cast<int>(type);
  }
}

TEST(CheckerFloor, SumsOf14BitsMayMissTheSignOfAnInfinity) {
  // A dot product of 448 - 448 + 2^-9: of its magnitude, less than 2^-11.
  BlockwiseData data = makeBlockwiseData(1, 8, 128, 3);
  std::fill_n(data.a.begin(), 128, uint8_t(0));
  std::fill_n(data.b.begin(), 8 * 128, uint8_t(0));
  data.a[0] = 0x7e, data.a[1] = 0xfe, data.a[2] = 0x01;
  data.b[0] = data.b[1] = data.b[2] = 0x38;
  data.aScale[0] = std::numeric_limits<float>::infinity();
  GemmReference reference = computeReference(data);
  ASSERT_EQ(reference.value[0], std::numeric_limits<double>::infinity());
  std::vector<uint8_t> d(8 * 4);
  fillWithPoison(ElementType::F32, d.data(), 8);
  for (int64_t i = 0; i < 8; ++i)
    store(ElementType::F32, d.data(), i, std::nan(""));
  auto wrong = [&](KernelSums sums) {
    return check(data, reference, ElementType::F32, d.data(), 8, sums).wrong;
  };
  EXPECT_EQ(wrong(KernelSums{}), 1);
  EXPECT_EQ(wrong(kHopper), 0);
  // Either infinity, but no number.
  store(ElementType::F32, d.data(), 0, -INFINITY);
  EXPECT_EQ(wrong(kHopper), 0);
  store(ElementType::F32, d.data(), 0, 1.0);
  EXPECT_EQ(wrong(kHopper), 1);
  store(ElementType::F32, d.data(), 0, std::nan(""));
  data.a[1] = 0;
  reference = computeReference(data);
  EXPECT_EQ(wrong(kHopper), 1);
  // Of zeros alone it is NaN in any case: the other columns.
  for (int64_t i = 0; i < 8; ++i)
    store(ElementType::F32, d.data(), i, 1.0);
  EXPECT_EQ(wrong(kHopper), 8);
}

TEST(CheckerFloor, WhatFollowsTheSumMakesOfADoubtfulSign) {
  BlockwiseData data = makeBlockwiseData(1, 1, 128, 3);
  std::fill_n(data.a.begin(), 128, uint8_t(0));
  std::fill_n(data.b.begin(), 128, uint8_t(0));
  data.a[0] = 0x7e, data.a[1] = 0xfe, data.a[2] = 0x01;
  data.b[0] = data.b[1] = data.b[2] = 0x38;
  data.aScale[0] = std::numeric_limits<float>::infinity();
  GemmReference reference = computeReference(data);
  auto isRight = [&](ElementType type, double value) {
    uint8_t d[4];
    store(type, d, 0, value);
    return check(data, reference, type, d, 1, kHopper).wrong == 0;
  };
  // Saturated, either is a finite number.
  EXPECT_TRUE(isRight(ElementType::F8E4M3FN, 448));
  EXPECT_TRUE(isRight(ElementType::F8E4M3FN, -448));
  EXPECT_FALSE(isRight(ElementType::F8E4M3FN, 256));
  Epilogue epilogue;
  epilogue.function = Elementwise::Relu;
  applyEpilogue(epilogue, reference);
  EXPECT_TRUE(isRight(ElementType::F32, INFINITY));
  EXPECT_TRUE(isRight(ElementType::F32, 0));
  EXPECT_FALSE(isRight(ElementType::F32, -INFINITY));
}

TEST(CheckerOverflow, AllowsTheLargestValueOrInfinityAtTheEdge) {
  BlockwiseData data = makeBlockwiseData(1, 1, 16, 1, DataKind::Ones);
  data.aScale[0] = 65520.0f / 16; // rounds to infinity in f16
  GemmReference reference = computeReference(data);
  uint16_t infinity = 0x7c00, largest = 0x7bff, half = 0x7800;
  auto ok = [&](const uint16_t &d) {
    return check(data, reference, ElementType::F16, &d, 1).wrong == 0;
  };
  EXPECT_TRUE(ok(infinity));
  EXPECT_TRUE(ok(largest));
  EXPECT_FALSE(ok(half));
  data.aScale[0] = 1e6f;
  reference = computeReference(data);
  EXPECT_TRUE(ok(infinity));
  data.aScale[0] = 1;
  reference = computeReference(data);
  EXPECT_FALSE(ok(infinity));
}

TEST(CheckerOverflow, FailsAnInfinityWhereConversionsSaturate) {
  BlockwiseData data = makeBlockwiseData(1, 1, 16, 1, DataKind::Ones);
  data.aScale[0] = 65536.0f / 16; // past 57344, the largest of f8E5M2
  GemmReference reference = computeReference(data);
  uint8_t infinity = 0x7c, largest = 0x7b;
  auto ok = [&](const uint8_t &d) {
    return check(data, reference, ElementType::F8E5M2, &d, 1).wrong == 0;
  };
  EXPECT_TRUE(ok(largest));
  EXPECT_FALSE(ok(infinity));
}

TEST(CheckerOverflow, CountsSumsPastF32AsUnspecified) {
  BlockwiseData data = makeBlockwiseData(1, 1, 16, 1, DataKind::Ones);
  data.aScale[0] = 3e38f;
  GemmReference reference = computeReference(data);
  float d = INFINITY;
  CheckResult result = check(data, reference, ElementType::F32, &d, 1);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.unspecified, 1);
  fillWithPoison(ElementType::F32, &d, 1);
  EXPECT_FALSE(check(data, reference, ElementType::F32, &d, 1).ok());
}

TEST(CheckerBatch, AddsUpMatrices) {
  BlockwiseData data = makeBlockwiseData(16, 32, 256, 3);
  GemmReference reference = computeReference(data);
  auto judge = [&](const std::vector<uint8_t> &d) {
    return check(data, reference, ElementType::F32, d.data(), data.n);
  };
  std::vector<uint8_t> right = kernelResult(data, ElementType::F32),
                       wrong = right;
  store(ElementType::F32, wrong.data(), 5 * 32 + 7, 1e9);
  CheckResult all;
  all.merge(judge(right), 0);
  EXPECT_TRUE(all.ok()) << all.str();
  EXPECT_GT(all.frobeniusFloor, 0);
  all.merge(judge(wrong), 1);
  all.merge(judge(right), 2);
  EXPECT_FALSE(all.ok());
  EXPECT_EQ(all.elements, 3 * 16 * 32);
  EXPECT_EQ(all.wrong, 1);
  EXPECT_GT(all.frobenius, all.frobeniusFloor) << "a right matrix hides it not";
  EXPECT_THAT(all.str(), HasSubstr("d[1](5, 7)"));
}
