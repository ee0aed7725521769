// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products against a model in integers, of each rule and format, and
// where numbers are extreme.

#include "Numerics/Accumulation.h"

#include "Numerics/Formats.h"

#include <climits>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace fp8::sim;
using fp8::chip::MmaEngine;
using fp8::chip::ProductKind;
using fp8::chip::SumRule;

namespace {

struct Format {
  const char *name;
  ProductKind kind;
  int exponentBits, mantissaBits;
  bool hasInfinity;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t codes() const { return 1u << (exponentBits + mantissaBits); }
  uint32_t largest() const {
    return hasInfinity ? (((1u << exponentBits) - 1) << mantissaBits) - 1
                       : codes() - 2;
  }
};
const Format kFormats[] = {
    {"e4m3", ProductKind::Float8, 4, 3, false},
    {"e5m2", ProductKind::Float8, 5, 2, true},
    {"f16", ProductKind::Float16, 5, 10, true},
    {"bf16", ProductKind::Float16, 8, 7, true},
    {"tf32", ProductKind::TF32, 8, 10, true},
};
const Format kF32 = {"f32", ProductKind::TF32, 8, 23, true};

/// A finite number as an integer: significand * 2^(exponent - bits).
struct Term {
  int64_t significand;
  int exponent;
  int bits;
};

Term read(const Format &format, uint32_t code, bool negative) {
  int64_t fraction = code & ((1u << format.mantissaBits) - 1);
  int stored = int(code >> format.mantissaBits);
  if (stored)
    fraction += int64_t(1) << format.mantissaBits;
  return {negative ? -fraction : fraction, std::max(stored, 1) - format.bias(),
          format.mantissaBits};
}

double valueOf(const Term &term) {
  return std::ldexp(double(term.significand), term.exponent - term.bits);
}

/// The sum of `terms`, by long division: cut off to `termBits`, then to
/// `resultBits`, with the least exponent of f32.
double model(const std::vector<Term> &terms, int termBits, int resultBits) {
  int largest = INT_MIN;
  for (const Term &term : terms)
    if (term.significand)
      largest = std::max(largest, term.exponent);
  if (largest == INT_MIN)
    return 0;
  int64_t units = 0;
  for (const Term &term : terms) {
    // In units of 2^(largest - termBits).
    int shift = term.exponent - term.bits - (largest - termBits);
    if (shift >= 0)
      units += term.significand * (int64_t(1) << shift);
    else if (shift > -62) // C++ divides toward zero
      units += term.significand / (int64_t(1) << -shift);
  }
  int unit = largest - termBits, size = 0;
  for (int64_t rest = std::abs(units); rest > 1; rest /= 2)
    ++size;
  int last = std::max(unit + size, -126) - resultBits;
  if (last > unit && last - unit < 62) {
    int64_t step = int64_t(1) << (last - unit);
    units = units / step * step;
  } else if (last > unit) {
    units = 0;
  }
  return std::ldexp(double(units), unit);
}

/// A row of columns, as many as the host takes at a time and more, whose
/// numbers are drawn from a range of codes.
struct Row {
  static constexpr uint32_t kColumns = 80;
  const SumRule &rule;
  const Format &a, &b;
  uint32_t k = uint32_t(rule.products);
  std::mt19937 random{7};
  std::vector<std::vector<Term>> terms =
      std::vector<std::vector<Term>>(kColumns);
  std::vector<float> aValues = std::vector<float>(k), bValues, before;
  std::vector<int16_t> aExponents = std::vector<int16_t>(k), bExponents;
  /// Of formats that have them.
  const bool isShort = a.exponentBits < 8 && b.exponentBits < 8;
  std::vector<int8_t> aShorts = std::vector<int8_t>(k), bShorts;

  Term draw(const Format &format, uint32_t low, uint32_t high) {
    uint32_t code = std::uniform_int_distribution<uint32_t>(low, high)(random);
    return read(format, code, random() % 2);
  }

  /// Codes as shares of all, from 0 to 1.
  void fill(double low, double high, uint32_t leastBefore,
            uint32_t mostBefore) {
    auto part = [](const Format &format, double share) {
      return uint32_t(share * format.largest());
    };
    bValues.assign(size_t(k) * kColumns, 0);
    bExponents.assign(bValues.size(), 0);
    bShorts.assign(bValues.size(), 0);
    before.clear();
    std::vector<Term> aTerms;
    for (uint32_t j = 0; j < k; ++j) {
      aTerms.push_back(draw(a, part(a, low), part(a, high)));
      aValues[j] = float(valueOf(aTerms[j]));
    }
    for (uint32_t x = 0; x < kColumns; ++x) {
      Term own = draw(kF32, leastBefore, mostBefore);
      before.push_back(float(valueOf(own)));
      terms[x] = {own};
      for (uint32_t j = 0; j < k; ++j) {
        Term of = draw(b, part(b, low), part(b, high));
        bValues[j * kColumns + x] = float(valueOf(of));
        terms[x].push_back({aTerms[j].significand * of.significand,
                            aTerms[j].exponent + of.exponent,
                            aTerms[j].bits + of.bits});
      }
    }
    findAllExponents();
  }

  void findAllExponents() {
    const int least[] = {1 - a.bias(), 1 - b.bias()};
    findExponents(aExponents.data(), aValues.data(), k, least[0]);
    findExponents(bExponents.data(), bValues.data(), bValues.size(), least[1]);
    findShortExponents(aShorts.data(), aValues.data(), k, least[0]);
    findShortExponents(bShorts.data(), bValues.data(), bValues.size(),
                       least[1]);
  }

  std::vector<uint32_t> sums() const {
    auto with = [&](const int8_t *shortA, const int8_t *shortB) {
      std::vector<double> sum(kColumns);
      std::vector<uint32_t> bits(kColumns);
      accumulateRow(rule, sum.data(), before.data(),
                    {aValues.data(), aExponents.data(), shortA},
                    {bValues.data(), bExponents.data(), shortB},
                    {kColumns, k, kColumns, kLeastF32});
      roundRow(rule, bits.data(), sum.data(), kColumns);
      return bits;
    };
    std::vector<uint32_t> bits = with(nullptr, nullptr);
    if (isShort) {
      EXPECT_EQ(with(aShorts.data(), bShorts.data()), bits);
    }
    return bits;
  }

  /// How many of the sums a model gives.
  uint32_t agree(int termBits, int resultBits) const {
    std::vector<uint32_t> got = sums();
    uint32_t count = 0;
    for (uint32_t x = 0; x < kColumns; ++x)
      count += bitCast<uint32_t>(
                   float(model(terms[x], termBits, resultBits))) == got[x];
    return count;
  }
};

struct Draw {
  double low, high;      ///< of the codes of A and B
  uint32_t before, most; ///< codes of the accumulator
};
const Draw kDraws[] = {
    {0.45, 0.55, 0x3f800000, 0x40800000}, // near 1
    {0.3, 0.7, 0x20000000, 0x60000000},   // wide
    {0, 1, 0, 0x7f7fffff},                // all
    {0, 1, 0, 0},                         // no accumulator
    {0, 0.01, 0, 0x34000000},             // subnormal, and small
    {0, 0.3, 0, 0x00ffffff},              // subnormal accumulators
    {0, 0, 0, 0x00ffffff},                // products of 0
};

} // namespace

TEST(Accumulation, FollowsTheRuleInEveryFormat) {
  for (const SumRule &rule : fp8::chip::getSumRules()) {
    bool coarse =
        rule.engine == MmaEngine::Warpgroup && rule.kind == ProductKind::Float8;
    int termBits = coarse ? 13 : 25, resultBits = coarse ? 13 : 23;
    for (const Format &a : kFormats)
      for (const Format &b : kFormats) {
        bool together = &a == &b || (a.kind == ProductKind::Float8 &&
                                     b.kind == ProductKind::Float8);
        if (a.kind != rule.kind || !together)
          continue;
        Row row{rule, a, b};
        for (const Draw &draw : kDraws)
          for (int repeat = 0; repeat < 40; ++repeat) {
            row.fill(draw.low, draw.high, draw.before, draw.most);
            ASSERT_EQ(row.agree(termBits, resultBits), Row::kColumns)
                << a.name << " " << b.name << " " << draw.low << ".."
                << draw.high << " to " << draw.most;
          }
      }
  }
}

TEST(Accumulation, ABitMoreOrLessIsSeen) {
  const SumRule &rule =
      fp8::chip::getSumRule(MmaEngine::TensorMemory, ProductKind::Float16);
  Row row{rule, kFormats[3], kFormats[3]};
  uint32_t total = 0, fewer = 0, more = 0;
  for (int repeat = 0; repeat < 40; ++repeat) {
    row.fill(0.4, 0.6, 0x3f800000, 0x40800000);
    total += row.agree(25, 23);
    fewer += row.agree(24, 23);
    more += row.agree(26, 23);
  }
  EXPECT_EQ(total, 40 * Row::kColumns);
  // Of these sums about a tenth tell.
  EXPECT_LT(fewer, total * 19 / 20);
  EXPECT_LT(more, total * 19 / 20);
}

TEST(Accumulation, WhatIsNoNumberStaysSo) {
  const SumRule &rule =
      fp8::chip::getSumRule(MmaEngine::TensorMemory, ProductKind::Float16);
  auto bitsWith = [&](const Format &format, float a, float b, float before) {
    uint32_t found = 0;
    for (uint32_t column : {5u, 70u}) {
      Row row{rule, format, format};
      row.fill(0.45, 0.55, 0x3f800000, 0x40800000);
      row.aValues[3] = a;
      row.bValues[3 * Row::kColumns + column] = b;
      row.before[column] = before;
      row.findAllExponents();
      uint32_t bits = row.sums()[column];
      EXPECT_TRUE(column == 5 || bits == found);
      found = bits;
    }
    return found;
  };
  for (const Format &format : {kFormats[2], kFormats[3]}) {
    EXPECT_EQ(bitsWith(format, INFINITY, 1, 0), 0x7f800000u);
    EXPECT_EQ(bitsWith(format, INFINITY, -1, 0), 0xff800000u);
    EXPECT_EQ(bitsWith(format, INFINITY, 0, 0), 0x7fffffffu);
    EXPECT_EQ(bitsWith(format, INFINITY, -INFINITY, 0), 0xff800000u);
    EXPECT_EQ(bitsWith(format, NAN, 1, 0), 0x7fffffffu);
    EXPECT_EQ(bitsWith(format, 1, 1, -INFINITY), 0xff800000u);
    EXPECT_EQ(bitsWith(format, INFINITY, 1, -INFINITY), 0x7fffffffu);
  }
  // Past the largest number: infinity, though toward zero.
  EXPECT_EQ(bitsWith(kFormats[3], 0x1p127f, 2, 0), 0x7f800000u);
  EXPECT_EQ(bitsWith(kFormats[3], 0x1p127f, 1, 0x1.fffffep127f), 0x7f800000u);
}

TEST(Accumulation, ZerosMakeZero) {
  const SumRule &rule =
      fp8::chip::getSumRule(MmaEngine::TensorMemory, ProductKind::Float8);
  Row row{rule, kFormats[0], kFormats[0]};
  row.fill(0, 0, 0, 0);
  row.before.assign(Row::kColumns, 0.f);
  for (uint32_t bits : row.sums())
    EXPECT_EQ(bits, 0u);
}
