// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products with scales, bit for bit against a model in integers.

#include "Numerics/ScaledSums.h"

#include "Numerics/Formats.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace fp8::sim;
using fp8::chip::MmaEngine;
using fp8::chip::ProductKind;
using fp8::chip::SumRule;

namespace {

constexpr uint32_t kColumns = 24;

/// A term: value = significand * 2^unit; what cuts it off is its exponent.
struct Term {
  __int128 significand;
  int unit;
  int exponent;
};

/// The significand of a number of f32 and the rest.
Term termOf(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  int stored = int(bits >> 23 & 255);
  int64_t fraction = bits & 0x7fffff;
  if (stored)
    fraction += 0x800000;
  int exponent = std::max(stored, 1) - 127;
  return {value < 0 ? -fraction : fraction, exponent - 23, exponent};
}

/// Cut off to `bits` behind the largest exponent, added, and cut off to f32.
float model(const std::vector<Term> &terms, int bits) {
  int largest = -100000;
  for (const Term &term : terms)
    largest = std::max(largest, term.exponent);
  if (largest == -100000)
    return 0;
  __int128 sum = 0;
  for (const Term &term : terms) {
    int shift = term.unit - (largest - bits);
    if (shift >= 0)
      sum += term.significand << shift;
    else if (shift > -100)
      sum += term.significand / (__int128(1) << -shift);
  }
  bool negative = sum < 0;
  __int128 size = negative ? -sum : sum;
  int unit = largest - bits, length = 0;
  while (size >> length)
    ++length;
  int last = std::max(unit + length - 24, -149);
  int drop = last - unit;
  if (drop > 0)
    size = drop > 100 ? 0 : size >> drop << drop;
  double value = std::ldexp(double(size), unit);
  return float(negative ? -value : value);
}

struct Draw {
  int lowScale, highScale;        ///< codes of UE8M0
  uint32_t lowBefore, highBefore; ///< codes of the accumulator
};
const Draw kDraws[] = {
    {120, 134, 0x3f800000, 0x42800000}, // near 1
    {100, 154, 0x20000000, 0x60000000}, // wide
    {0, 254, 0, 0x7f7fffff},            // all
    {0, 254, 0, 0},                     // no accumulator
    {60, 70, 0, 0x00ffffff},            // subnormal accumulators
    {0, 20, 0, 0x00ffffff},
    {240, 254, 0x70000000, 0x7f7fffff},
};

class ScaledSums : public testing::Test {
protected:
  std::mt19937 random{5};
  std::vector<float> before = std::vector<float>(kColumns);

  void drawBefore(const Draw &draw) {
    for (float &value : before) {
      uint32_t code = std::uniform_int_distribution<uint32_t>(
          draw.lowBefore, draw.highBefore)(random);
      value = bitCast<float>(code | uint32_t(random() % 2) << 31);
    }
  }
  int drawScale(const Draw &draw) {
    return std::uniform_int_distribution<int>(draw.lowScale,
                                              draw.highScale)(random);
  }

  /// How many of the columns the rule computes as the model with `bits`.
  uint32_t compare(const std::vector<double> &sum,
                   const std::vector<std::vector<Term>> &terms,
                   const SumRule &rule, int bits) {
    std::vector<uint32_t> got(kColumns);
    roundRow(rule, got.data(), sum.data(), kColumns);
    uint32_t same = 0;
    for (uint32_t x = 0; x < kColumns; ++x) {
      std::vector<Term> all = terms[x];
      if (before[x] != 0)
        all.push_back(termOf(before[x]));
      float want = model(all, bits);
      same += bitCast<float>(got[x]) == want;
    }
    return same;
  }

  /// One scale a row, e4m3.
  uint32_t oneScale(const Draw &draw, int bits) {
    const SumRule &rule = fp8::chip::getSumRule(MmaEngine::TensorMemory,
                                                ProductKind::ScaledFloat8);
    uint32_t k = uint32_t(rule.products);
    std::vector<float> a(k), b(k * kColumns);
    std::vector<int16_t> aExponents(k), bExponents(b.size()), scales(kColumns);
    auto fill = [&](std::vector<float> &values) {
      for (float &value : values)
        value =
            float(e4m3Table()[(random() & 0xff) % 0x7f | (random() % 2) << 7]);
    };
    fill(a);
    fill(b);
    drawBefore(draw);
    findExponents(aExponents.data(), a.data(), k, -6);
    findExponents(bExponents.data(), b.data(), b.size(), -6);
    int own = drawScale(draw) - 127;
    std::vector<std::vector<Term>> terms(kColumns);
    for (uint32_t x = 0; x < kColumns; ++x) {
      scales[x] = int16_t(drawScale(draw) - 127);
      for (uint32_t j = 0; j < k; ++j) {
        float other = b[j * kColumns + x];
        if (a[j] == 0 || other == 0)
          continue;
        // Integers of 2^-9, and exponents that are at least -6.
        auto exponent = [](float value) {
          return std::max(std::ilogb(value), -6);
        };
        terms[x].push_back(
            {__int128(a[j] * 512) * __int128(other * 512), own + scales[x] - 18,
             own + scales[x] + exponent(a[j]) + exponent(other)});
      }
    }
    std::vector<double> sum(kColumns);
    accumulateScaledRow(rule, sum.data(), before.data(),
                        {a.data(), aExponents.data()}, int16_t(own),
                        {b.data(), bExponents.data()}, scales.data(),
                        {kColumns, k, kColumns, kLeastF32});
    return compare(sum, terms, rule, bits);
  }

  /// A scale for 16 elements of e2m1.
  uint32_t fourScales(const Draw &draw, bool ue8m0, int bits) {
    const SumRule &rule = fp8::chip::getSumRule(MmaEngine::TensorMemory,
                                                ProductKind::ScaledFloat4);
    uint32_t k = uint32_t(rule.products), perTerm = uint32_t(rule.perTerm),
             blocks = k / perTerm;
    const Scale *codes = ue8m0 ? ue8m0Scales() : ue4m3Scales();
    std::vector<float> a(k), b(k * kColumns);
    for (auto *values : {&a, &b})
      for (float &value : *values)
        value = float(decodeFloat(kE2M1, random() % 16));
    drawBefore(draw);
    std::vector<double> aScales(blocks), bScales(blocks * kColumns);
    std::vector<int16_t> aExponents(blocks), bExponents(bScales.size());
    auto fill = [&](std::vector<double> &values,
                    std::vector<int16_t> &exponents) {
      for (size_t n = 0; n < values.size(); ++n) {
        const Scale &scale =
            codes[ue8m0 ? uint32_t(drawScale(draw)) : random() % 0x7f];
        values[n] = scale.value;
        exponents[n] = scale.exponent;
      }
    };
    fill(aScales, aExponents);
    fill(bScales, bExponents);
    std::vector<std::vector<Term>> terms(kColumns);
    for (uint32_t x = 0; x < kColumns; ++x)
      for (uint32_t block = 0; block < blocks; ++block) {
        int64_t quarters = 0;
        for (uint32_t j = block * perTerm; j < (block + 1) * perTerm; ++j)
          quarters += int64_t(a[j] * 2) * int64_t(b[j * kColumns + x] * 2);
        uint32_t at = block * kColumns + x;
        if (aScales[block] == 0 || bScales[at] == 0)
          continue;
        // Significands of scales are multiples of an eighth.
        int exponent = aExponents[block] + bExponents[at];
        auto eighths = [](double scale, int of) {
          return int64_t(std::ldexp(scale, 3 - of));
        };
        terms[x].push_back(
            {__int128(quarters) * eighths(aScales[block], aExponents[block]) *
                 eighths(bScales[at], bExponents[at]),
             exponent - 8, exponent});
      }
    std::vector<double> sum(kColumns);
    accumulateBlocks(rule, sum.data(), before.data(), a.data(),
                     {aScales.data(), aExponents.data(), 1}, b.data(),
                     {bScales.data(), bExponents.data(), kColumns},
                     {kColumns, k, kColumns, kLeastF32});
    return compare(sum, terms, rule, bits);
  }
};

} // namespace

TEST_F(ScaledSums, OneScaleARow) {
  for (const Draw &draw : kDraws)
    for (int repeat = 0; repeat < 60; ++repeat)
      ASSERT_EQ(oneScale(draw, 25), kColumns)
          << draw.lowScale << " " << draw.lowBefore;
}

TEST_F(ScaledSums, BlocksOf16) {
  for (const Draw &draw : kDraws)
    for (bool ue8m0 : {true, false})
      for (int repeat = 0; repeat < 60; ++repeat)
        ASSERT_EQ(fourScales(draw, ue8m0, 35), kColumns)
            << draw.lowScale << " " << draw.lowBefore << " " << ue8m0;
}

TEST_F(ScaledSums, ABitMoreOrLessIsSeen) {
  uint32_t fewer = 0, more = 0, all = 60 * kColumns;
  for (int repeat = 0; repeat < 60; ++repeat) {
    fewer += oneScale(kDraws[0], 24);
    more += oneScale(kDraws[0], 26);
  }
  EXPECT_LT(fewer, all * 9 / 10);
  EXPECT_LT(more, all * 9 / 10);
  fewer = more = 0;
  for (int repeat = 0; repeat < 60; ++repeat) {
    fewer += fourScales(kDraws[1], true, 34);
    more += fourScales(kDraws[1], true, 36);
  }
  EXPECT_LT(fewer, all);
  EXPECT_LT(more, all);
}

TEST_F(ScaledSums, Scales) {
  EXPECT_EQ(ue8m0Scales()[127].value, 1);
  EXPECT_EQ(ue8m0Scales()[0].value, std::ldexp(1.0, -127));
  EXPECT_EQ(ue8m0Scales()[254].exponent, 127);
  EXPECT_TRUE(std::isnan(ue8m0Scales()[255].value));
  EXPECT_EQ(ue4m3Scales()[0x38].value, 1);
  EXPECT_EQ(ue4m3Scales()[0xb8].value, 1); // bit 7 is ignored
  EXPECT_EQ(ue4m3Scales()[1].value, std::ldexp(1.0, -9));
  EXPECT_EQ(ue4m3Scales()[1].exponent, -6);
  EXPECT_TRUE(std::isnan(ue4m3Scales()[0x7f].value));
}
