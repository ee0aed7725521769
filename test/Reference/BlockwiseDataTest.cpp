// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test operands: deterministic, full range, and no two scales alike.
#include "fp8/Reference/BlockwiseData.h"
#include "fp8/Reference/Float8.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace fp8::reference;

namespace {
uint64_t hash(const std::vector<uint8_t> &bytes) {
  uint64_t value = 0xcbf29ce484222325;
  for (uint8_t byte : bytes)
    value = (value ^ byte) * 0x100000001b3;
  return value;
}
} // namespace

TEST(BlockwiseData, HasTheShapesOfTheOperands) {
  BlockwiseData data = makeBlockwiseData(101, 200, 320, 7);
  EXPECT_EQ(data.a.size(), 101u * 320);
  EXPECT_EQ(data.b.size(), 200u * 320);
  EXPECT_EQ(data.aScaleStride, 104);
  EXPECT_EQ(data.aScale.size(), 3u * 104);
  EXPECT_EQ(data.bScale.size(), 2u * 3);
  EXPECT_TRUE(std::isnan(data.aScale[101])) << "padding must not be read";
}

TEST(BlockwiseData, QuantisesFewerRowsOfB) {
  BlockwiseData data =
      makeBlockwiseData(16, 200, 320, 7, DataKind::Normal, {}, /*bBlock=*/64);
  EXPECT_EQ(data.bScale.size(), 4u * 3);
  EXPECT_EQ(data.bScaleAt(63, 2), data.bScale[2]);
  EXPECT_EQ(data.bScaleAt(64, 2), data.bScale[3 + 2]);
  data = makeBlockwiseData(16, 200, 320, 7, DataKind::Normal, {}, /*bBlock=*/1);
  EXPECT_EQ(data.bScale.size(), 200u * 3);
  std::set<float> distinct(data.bScale.begin(), data.bScale.end());
  EXPECT_EQ(distinct.size(), data.bScale.size());
  for (int64_t row = 0; row < 200; ++row) {
    float amax = 0;
    for (int64_t k = 0; k < scaleBlock; ++k)
      amax = std::max(amax, std::fabs(decodeE4M3FN(data.b[row * 320 + k])));
    ASSERT_EQ(amax, 448) << "each row is a block of its own";
  }
}

TEST(BlockwiseData, IsTheSameEverywhereAndDiffersBySeed) {
  BlockwiseData data = makeBlockwiseData(64, 32, 256, 1);
  EXPECT_EQ(hash(data.a), 5362049791772333508u);
  EXPECT_EQ(data.aScale[0], 0x1.9b7efcp-5f);
  EXPECT_NE(makeBlockwiseData(64, 32, 256, 2).a, data.a);
  EXPECT_NE(makeBlockwiseData(64, 32, 256, 2).aScale[0], data.aScale[0]);
}

TEST(BlockwiseData, EveryBlockUsesTheFullRangeAndLooksNormal) {
  BlockwiseData data = makeBlockwiseData(256, 128, 1024, 3);
  double sum = 0, squares = 0, fourth = 0;
  for (int64_t row = 0; row < data.m; ++row)
    for (int64_t block = 0; block < 8; ++block) {
      float amax = 0;
      for (int64_t k = 0; k < scaleBlock; ++k) {
        float value = decodeE4M3FN(data.a[row * data.k + block * 128 + k]);
        ASSERT_FALSE(std::isnan(value));
        amax = std::max(amax, std::fabs(value));
        sum += value;
        squares += double(value) * value;
        fourth += std::pow(double(value), 4);
      }
      ASSERT_EQ(amax, 448);
    }
  double count = double(data.m) * data.k;
  EXPECT_NEAR(sum / std::sqrt(squares * count), 0, 0.01);
  EXPECT_NEAR(fourth * count / (squares * squares), 3, 0.4) << "kurtosis";
}

TEST(BlockwiseData, ValuesOf16BitsAreRoundedAsTheyAre) {
  for (ElementType type : {ElementType::BF16, ElementType::F16}) {
    BlockwiseData data =
        makeBlockwiseData(64, 72, 520, 3, DataKind::Normal, {type, type});
    ASSERT_EQ(data.a.size(), 2u * 64 * 520);
    ASSERT_EQ(data.b.size(), 2u * 72 * 520);
    std::vector<double> a(64 * 520);
    decode(type, data.a.data(), 0, a.size(), a.data());
    double epsilon = type == ElementType::BF16 ? 0x1p-8 : 0x1p-11;
    double squares = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      float exact = nearNormalAt(3, 1, i);
      ASSERT_LE(std::fabs(a[i] - exact), epsilon * std::fabs(exact));
      squares += a[i] * a[i];
    }
    EXPECT_NEAR(squares / a.size(), 1, 0.02) << "variance";
  }
}

TEST(BlockwiseData, BlocksOfE5M2UseItsFullRange) {
  BlockwiseData data =
      makeBlockwiseData(8, 8, 256, 3, DataKind::Normal,
                        {ElementType::F8E5M2, ElementType::F8E4M3FN});
  for (int64_t start = 0; start < 8 * 256; start += scaleBlock) {
    float amax = 0;
    for (int64_t i = start; i < start + scaleBlock; ++i)
      amax = std::max(amax, std::fabs(decodeE5M2(data.a[i])));
    EXPECT_EQ(amax, 57344);
  }
}

TEST(BlockwiseData, ScalesSpanSixBinadesAndNeighboursDiffer) {
  BlockwiseData data = makeBlockwiseData(512, 2048, 7168, 11);
  auto [low, high] =
      std::minmax_element(data.aScale.begin(), data.aScale.end());
  EXPECT_GE(*high / *low, 64);
  auto [lowB, highB] =
      std::minmax_element(data.bScale.begin(), data.bScale.end());
  EXPECT_GE(*highB / *lowB, 64);
  std::set<float> distinct(data.bScale.begin(), data.bScale.end());
  EXPECT_EQ(distinct.size(), data.bScale.size());

  for (int64_t block = 0; block < data.kBlocks(); ++block)
    for (int64_t row = 0; row < 128; ++row)
      for (int64_t other = 0; other < row; ++other) {
        float x = data.aScale[block * data.aScaleStride + row];
        float y = data.aScale[block * data.aScaleStride + other];
        ASSERT_GT(std::fabs(x - y), 0.015 * std::min(x, y));
      }
}

TEST(BlockwiseData, SpecialsHoldEveryKind) {
  BlockwiseData data = makeBlockwiseData(128, 256, 512, 5, DataKind::Specials);
  EXPECT_NE(std::count(data.a.begin(), data.a.end(), 0x7f), 0);
  EXPECT_NE(std::count(data.b.begin(), data.b.end(), 0x7f), 0);
  auto has = [&](auto predicate) {
    return std::any_of(data.aScale.begin(), data.aScale.end(), predicate);
  };
  EXPECT_TRUE(has([](float x) { return std::isnan(x); }));
  EXPECT_TRUE(has([](float x) { return x == INFINITY; }));
  EXPECT_TRUE(has([](float x) { return x == 0; }));
  EXPECT_TRUE(has([](float x) { return x < 0; }));
  EXPECT_TRUE(has([](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }));
}

TEST(BlockwiseData, EmptySizesAreFine) {
  for (auto kind : {DataKind::Normal, DataKind::Specials, DataKind::Ones}) {
    EXPECT_TRUE(makeBlockwiseData(0, 16, 16, 1, kind).a.empty());
    EXPECT_TRUE(makeBlockwiseData(16, 0, 16, 1, kind).b.empty());
    EXPECT_TRUE(makeBlockwiseData(16, 16, 0, 1, kind).aScale.empty());
  }
}
