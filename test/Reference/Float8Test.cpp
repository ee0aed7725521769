// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow types: every code, and every float that matters, against a search over
// all values of the format.
#include "fp8/Reference/Float8.h"
#include "fp8/Reference/Elements.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace fp8::reference;

namespace {
float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Nearest even among the non-negative finite values of an 8-bit format, by
/// search; `largest` is the code of the greatest.
unsigned nearest(float (*decode)(uint8_t), unsigned largest, double magnitude) {
  unsigned best = 0;
  for (unsigned code = 1; code <= largest; ++code) {
    double distance = std::fabs(double(decode(uint8_t(code))) - magnitude);
    double bestDistance = std::fabs(double(decode(uint8_t(best))) - magnitude);
    if (distance < bestDistance || (distance == bestDistance && code % 2 == 0))
      best = code;
  }
  return best;
}

void checkFormat(float (*decode)(uint8_t), uint8_t (*encode)(double),
                 unsigned largest) {
  for (unsigned code = 0; code <= largest; ++code) {
    EXPECT_EQ(encode(decode(uint8_t(code))), code);
    EXPECT_EQ(encode(decode(uint8_t(code | 0x80))), code | 0x80);
  }
  // Every float with 11 mantissa bits, in all exponents: each rounding case,
  // ties and their neighbours included.
  for (uint32_t upper = 0; upper < 0x7f800000 >> 12; ++upper)
    for (uint32_t lower : {0u, 1u}) {
      float value = fromBits(upper << 12 | lower);
      if (value > decode(uint8_t(largest)) * 2 || value < 0x1p-20f)
        continue;
      ASSERT_EQ(encode(value), nearest(decode, largest, value)) << value;
      ASSERT_EQ(encode(-value), nearest(decode, largest, value) | 0x80);
    }
}
} // namespace

TEST(Float8, E4M3FNRoundTripsAndRoundsToNearestEven) {
  checkFormat(decodeE4M3FN, encodeE4M3FN, 0x7e);
}

TEST(Float8, E5M2RoundTripsAndRoundsToNearestEven) {
  checkFormat(decodeE5M2, encodeE5M2, 0x7b);
}

TEST(Float8, KnownE4M3FNValues) {
  EXPECT_EQ(decodeE4M3FN(0x7e), 448);
  EXPECT_EQ(decodeE4M3FN(0x38), 1);
  EXPECT_EQ(decodeE4M3FN(0x01), 0x1p-9f);
  EXPECT_EQ(decodeE4M3FN(0x08), 0x1p-6f);
  EXPECT_TRUE(std::isnan(decodeE4M3FN(0x7f)));
  EXPECT_TRUE(std::isnan(decodeE4M3FN(0xff)));
  EXPECT_EQ(encodeE4M3FN(464), 0x7e) << "the tie past the end saturates";
  EXPECT_EQ(encodeE4M3FN(1e30f), 0x7e);
  EXPECT_EQ(encodeE4M3FN(-INFINITY), 0xfe);
  EXPECT_EQ(encodeE4M3FN(NAN), 0x7f);
  EXPECT_EQ(encodeE4M3FN(-0.0f), 0x80);
  EXPECT_EQ(encodeE4M3FN(0x1p-10f), 0) << "a tie goes to even";
  EXPECT_EQ(encodeE4M3FN(0x1.000002p-10f), 1);
  EXPECT_EQ(encodeE4M3FN(1e-40f), 0);
}

TEST(Float8, KnownE5M2Values) {
  EXPECT_EQ(decodeE5M2(0x7b), 57344);
  EXPECT_TRUE(std::isinf(decodeE5M2(0x7c)));
  EXPECT_TRUE(std::isnan(decodeE5M2(0x7d)));
  EXPECT_EQ(decodeE5M2(0x01), 0x1p-16f);
  EXPECT_EQ(encodeE5M2(INFINITY), 0x7b);
}

TEST(Float8, F16AndBF16RoundTripEveryCode) {
  for (unsigned code = 0; code < 0x10000; ++code) {
    float half = decodeF16(uint16_t(code)), brain = decodeBF16(uint16_t(code));
    EXPECT_EQ(encodeF16(half), std::isnan(half) ? 0x7fff : code);
    EXPECT_EQ(encodeBF16(brain), std::isnan(brain) ? 0x7fff : code);
  }
}

TEST(Float8, BF16MatchesTheBitTrick) {
  // bf16 rounding of a float is integer arithmetic on its bits.
  for (uint64_t bits = 0; bits < 0x7f800000; bits += 9973) {
    uint32_t even = uint32_t(bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    ASSERT_EQ(encodeBF16(fromBits(uint32_t(bits))), even) << bits;
  }
}

TEST(Float8, F16RoundsOnceFromDouble) {
  double tie = 1 + 0x1p-11;
  EXPECT_EQ(encodeF16(tie), 0x3c00);
  EXPECT_EQ(encodeF16(tie + 0x1p-40), 0x3c01) << "via float it would be a tie";
  EXPECT_EQ(encodeF16(65519.9), 0x7bff);
  EXPECT_EQ(encodeF16(65520), 0x7c00);
  EXPECT_EQ(encodeF16(0x1p-25), 0) << "half of the smallest, to even";
  EXPECT_EQ(encodeF16(0x1.8p-24), 2);
}

TEST(ElementType, SpacingIsTheDistanceToTheNextValue) {
  for (ElementType type : {ElementType::BF16, ElementType::F16}) {
    unsigned infinity = type == ElementType::BF16 ? 0x7f80 : 0x7c00;
    for (uint16_t code = 0; code + 1u < infinity; ++code) {
      uint16_t next = code + 1;
      double value = load(type, &code, 0);
      ASSERT_EQ(ulpAt(type, value), load(type, &next, 0) - value) << code;
      ASSERT_EQ(ulpAt(type, -value), ulpAt(type, value));
    }
  }
  EXPECT_EQ(ulpAt(ElementType::F32, 1), 0x1p-23);
  EXPECT_EQ(ulpAt(ElementType::F32, 0), 0x1p-149);
}

TEST(ElementType, PoisonIsANaNThatNoConversionGives) {
  for (ElementType type :
       {ElementType::BF16, ElementType::F16, ElementType::F32}) {
    std::vector<uint8_t> data(3 * byteSize(type));
    fillWithPoison(type, data.data(), 3);
    EXPECT_TRUE(std::isnan(load(type, data.data(), 2)));
    store(type, data.data(), 1, NAN);
    EXPECT_NE(loadBits(type, data.data(), 1), poisonBits(type));
    EXPECT_EQ(loadBits(type, data.data(), 2), poisonBits(type));
  }
}
