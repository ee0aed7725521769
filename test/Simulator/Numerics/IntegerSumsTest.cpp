// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of integers against those of floating-point numbers, and which of them
// are not known to lose no bit.

#include "Numerics/IntegerSums.h"

#include "Numerics/Accumulation.h"
#include "Numerics/Formats.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <random>

using namespace fp8::sim;
using fp8::chip::MmaEngine;
using fp8::chip::ProductKind;
using fp8::chip::SumRule;

namespace {

constexpr uint32_t kColumns = 96, kBlocks = kColumns / kIntegerBlock;
constexpr uint32_t kAll = (1u << kBlocks) - 1;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const SumRule &rule() {
  return fp8::chip::getSumRule(MmaEngine::TensorMemory, ProductKind::Float8);
}

/// A row of A, columns of B, and accumulators; all 0 at first.
struct Row {
  std::vector<float> a = std::vector<float>(kIntegerTerms),
                     b = std::vector<float>(kIntegerTerms * kColumns),
                     before = std::vector<float>(kColumns);

  float &at(uint32_t j, uint32_t x) { return b[j * kColumns + x]; }

  std::vector<uint32_t> expected() const {
    std::vector<int16_t> aExponents(a.size()), bExponents(b.size());
    findExponents(aExponents.data(), a.data(), a.size(), -14);
    findExponents(bExponents.data(), b.data(), b.size(), -14);
    std::vector<double> sum(kColumns);
    std::vector<uint32_t> bits(kColumns);
    accumulateRow(rule(), sum.data(), before.data(),
                  {a.data(), aExponents.data()}, {b.data(), bExponents.data()},
                  {kColumns, kIntegerTerms, kColumns, kLeastF32});
    roundRow(rule(), bits.data(), sum.data(), kColumns);
    return bits;
  }

  /// The blocks of `n` columns from `first` on that may lose a bit. The others
  /// are as expected.
  uint32_t lost(uint32_t first = 0, uint32_t n = kColumns) const {
    auto columns = std::make_unique<IntegerColumns>();
    IntegerRow row;
    findIntegers(row, a.data());
    findIntegers(*columns, b.data(), kColumns, kColumns);
    std::vector<uint32_t> bits(n), all = expected();
    uint32_t lost =
        addIntegers(rule(), bits.data(), &before[first],
                    {a.data(), &b[first], row, *columns, first, n, kColumns});
    for (uint32_t x = 0; x < n; ++x)
      if (!(lost >> (x / kIntegerBlock) & 1)) {
        EXPECT_EQ(bits[x], all[first + x]) << "column " << first + x;
      }
    return lost;
  }
};

/// A number of e4m3, or of e5m2.
float read(uint32_t code, bool e5m2) {
  return float(e5m2 ? e5m2Table()[code] : e4m3Table()[code]);
}

/// Rounds toward zero into e4m3.
float toE4M3(double value) {
  return read(encodeFloat(kE4M3, value, Rounding::TowardZero, true), false);
}

/// How many of 300 rows' blocks are known; `fill` draws a row.
uint32_t countKnown(const std::function<void(Row &, std::mt19937 &)> &fill) {
  std::mt19937 random(3);
  uint32_t known = 0;
  for (int n = 0; n < 300; ++n) {
    Row row;
    fill(row, random);
    known += kBlocks - uint32_t(__builtin_popcount(row.lost()));
  }
  return known;
}

} // namespace

TEST(IntegerSums, AreOfOneRule) {
  for (const SumRule &other : fp8::chip::getSumRules())
    EXPECT_EQ(hasIntegerSums(other), &other == &rule());
  EXPECT_FALSE(hasIntegerSums(getExactRule(rule())));
}

TEST(IntegerSums, AgreeAndAreKnownWhereNumbersAreNormal) {
  // Accumulators as they are behind no, one, three and twenty such products.
  const std::pair<int, uint32_t> cases[] = {
      {0, 870}, {1, 780}, {3, 780}, {20, 650}};
  for (const auto &[products, least] : cases) {
    auto fill = [n = products](Row &row, std::mt19937 &random) {
      std::normal_distribution<double> normal;
      for (float &a : row.a)
        a = toE4M3(normal(random) * 150);
      for (float &b : row.b)
        b = toE4M3(normal(random) * 100);
      for (float &c : row.before)
        c = float(int64_t(normal(random) * 15000 * std::sqrt(32. * n) * 64)) /
            64;
    };
    EXPECT_GE(countKnown(fill), least) << products;
  }
}

TEST(IntegerSums, AgreeWhateverTheNumbers) {
  for (bool e5m2 : {false, true})
    countKnown([&](Row &row, std::mt19937 &random) {
      // Also infinities, NaN and zeros of both signs.
      const uint32_t range = random() % 128;
      auto draw = [&] {
        return read(random() % 4 ? random() % (range + 1) + random() % 2 * 128
                                 : random() % 2 * 128,
                    e5m2);
      };
      for (float &a : row.a)
        a = draw();
      for (float &b : row.b)
        b = draw();
      for (float &c : row.before)
        c = random() % 2 ? bitCast<float>(uint32_t(random())) : draw() * draw();
    });
}

TEST(IntegerSums, KnowZeros) {
  Row row;
  EXPECT_EQ(row.lost(), 0u);
  row.before[5] = 3;
  row.before[40] = -0.0f; // -0 + 0
  EXPECT_EQ(row.lost() & 2, 2u);
  row.before[40] = 0;
  row.a[0] = 2;
  row.at(0, 5) = -1.5f;
  EXPECT_EQ(row.lost(), 0u);
}

TEST(IntegerSums, LoseWhatIsCutOff) {
  // 15 * 2^-9 * 15 * 2^-9 beside 2^8: its last bit is 2^-18, the unit 2^-17.
  Row row;
  for (float &b : row.b)
    b = 1;
  row.a[0] = 256;
  row.a[1] = 15.0f / 512;
  EXPECT_EQ(row.lost(), 0u);
  row.at(1, 70) = 15.0f / 512;
  EXPECT_EQ(row.lost(), 4u);
  EXPECT_EQ(row.lost(64, 32), 1u);
  EXPECT_EQ(row.lost(32, 32), 0u);
}

TEST(IntegerSums, LoseSmallIntegersBesideALargeAccumulator) {
  Row row;
  row.a[0] = 1;
  for (float &b : row.b)
    b = 1;
  row.before[33] = 0x1p26f; // the unit is 2
  EXPECT_EQ(row.lost(), 2u);
  row.before[33] = 0x1p25f; // the unit of the integers is below 1
  EXPECT_EQ(row.lost(), 2u);
  row.before[33] = 0x1p4f;
  EXPECT_EQ(row.lost(), 0u);
}

TEST(IntegerSums, LoseBitsOfASmallAccumulator) {
  Row row;
  row.a[0] = 256;
  row.at(0, 0) = 256;
  row.before[0] = 1 + 0x1p-9f; // the unit is 2^-9
  EXPECT_EQ(row.lost(), 0u);
  row.before[0] = 1 + 0x1p-10f;
  EXPECT_EQ(row.lost(), 1u);
}

TEST(IntegerSums, LoseWhatDoesNotFit) {
  Row row;
  for (float &a : row.a)
    a = 448;
  for (float &b : row.b)
    b = -448;
  EXPECT_EQ(row.lost(), kAll);
}

TEST(IntegerSums, LeaveSmallFactors) {
  Row row;
  row.a[0] = row.a[31] = 1;
  row.a[7] = -0x1p-9f; // none of the row's integers
  for (uint32_t x = 0; x < kColumns; ++x) {
    row.at(0, x) = 1.5f;
    row.at(7, x) = 1;
    row.at(31, x) = x == 50 ? 0x1p-9f : x == 51 ? 448 : 1;
  }
  row.at(30, 51) = 0x1p-9f; // none of the column's
  EXPECT_EQ(row.lost(), 0u);
}

TEST(IntegerSums, DoNotKnowInfinitiesAndNaN) {
  Row row;
  row.a[3] = 1;
  row.at(3, 0) = 1;
  row.at(3, 64) = kInfinity;
  EXPECT_EQ(row.lost(), 4u);
  row.before[1] = -kInfinity;
  EXPECT_EQ(row.lost(), 5u);
  row.a[3] = std::nanf("");
  EXPECT_EQ(row.lost(), kAll);
}
