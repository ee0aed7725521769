// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small floating-point formats, exhaustively: every code, and every midpoint
// between neighbours.

#include "Numerics/Formats.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace fp8::sim;

namespace {

/// Checks that encoding inverts decoding and rounds midpoints to even, for all
/// finite non-negative codes in order.
void checkFormat(FloatFormat format, uint32_t largest) {
  for (uint32_t code = 0; code <= largest; ++code) {
    double value = decodeFloat(format, code);
    ASSERT_EQ(encodeFloat(format, value, Rounding::NearestEven, true), code);
    uint32_t sign = 1u << (format.exponentBits + format.mantissaBits);
    ASSERT_EQ(encodeFloat(format, -value, Rounding::NearestEven, true),
              code | sign);
    if (code == largest)
      break;
    double next = decodeFloat(format, code + 1), middle = (value + next) / 2;
    ASSERT_LT(value, next);
    ASSERT_EQ(encodeFloat(format, middle, Rounding::NearestEven, true),
              code + (code & 1));
    ASSERT_EQ(encodeFloat(format, std::nextafter(middle, 0),
                          Rounding::NearestEven, true),
              code);
    ASSERT_EQ(encodeFloat(format, std::nextafter(middle, next),
                          Rounding::NearestEven, true),
              code + 1);
    ASSERT_EQ(encodeFloat(format, middle, Rounding::TowardZero, true), code);
    ASSERT_EQ(encodeFloat(format, middle, Rounding::Up, true), code + 1);
    ASSERT_EQ(encodeFloat(format, -middle, Rounding::Down, true),
              (code + 1) | sign);
  }
}

} // namespace

TEST(Numerics, E4M3) {
  checkFormat(kE4M3, 0x7e);
  EXPECT_EQ(decodeFloat(kE4M3, 0x7e), 448.0);
  EXPECT_EQ(decodeFloat(kE4M3, 0x01), 0x1p-9);
  EXPECT_EQ(decodeFloat(kE4M3, 0x08), 0x1p-6);
  EXPECT_TRUE(std::isnan(decodeFloat(kE4M3, 0x7f)));
  EXPECT_TRUE(std::isnan(decodeFloat(kE4M3, 0xff)));
  EXPECT_EQ(encodeFloat(kE4M3, 1e9, Rounding::NearestEven, true), 0x7eu);
  EXPECT_EQ(encodeFloat(kE4M3, -INFINITY, Rounding::NearestEven, true), 0xfeu);
  EXPECT_EQ(encodeFloat(kE4M3, NAN, Rounding::NearestEven, true), 0x7fu);
}

TEST(Numerics, E5M2) {
  checkFormat(kE5M2, 0x7b);
  EXPECT_EQ(decodeFloat(kE5M2, 0x7b), 57344.0);
  EXPECT_TRUE(std::isinf(decodeFloat(kE5M2, 0x7c)));
  EXPECT_TRUE(std::isnan(decodeFloat(kE5M2, 0x7d)));
  EXPECT_EQ(encodeFloat(kE5M2, 1e9, Rounding::NearestEven, true), 0x7bu);
  EXPECT_EQ(encodeFloat(kE5M2, 1e9, Rounding::NearestEven, false), 0x7cu);
}

TEST(Numerics, F16) {
  checkFormat(kF16, 0x7bff);
  for (uint32_t code = 0; code < 0x10000; ++code) {
    double value = decodeFloat(kF16, code);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(f16ToFloat(uint16_t(code))));
    else
      ASSERT_EQ(double(f16ToFloat(uint16_t(code))), value);
  }
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00);
}

TEST(Numerics, BF16) {
  checkFormat(kBF16, 0x7f7f);
  EXPECT_EQ(floatToBF16(1.00390625f), 0x3f80);
  EXPECT_EQ(floatToBF16(1.01171875f), 0x3f82);
  EXPECT_EQ(floatToBF16(NAN), 0x7fff);
}

TEST(Numerics, FusedSumsAreRoundedToOdd) {
  const double next = 1 + 0x1p-52;
  EXPECT_EQ(fuseToOdd(1, 1, 0), 1);
  EXPECT_EQ(fuseToOdd(3, 5, -7), 8);
  EXPECT_EQ(fuseToOdd(1, 1, 0x1p-90), next);
  EXPECT_EQ(fuseToOdd(1, 1, -0x1p-90), 1 - 0x1p-53);
  EXPECT_EQ(fuseToOdd(1, -1, 0x1p-90), -1 + 0x1p-53);
  EXPECT_EQ(fuseToOdd(0x1p-90, -1, -1), -next);
  EXPECT_EQ(fuseToOdd(next, 1, 0x1p-90), next);
  EXPECT_EQ(fuseToOdd(INFINITY, 1, 1), INFINITY);
  EXPECT_TRUE(std::isnan(fuseToOdd(INFINITY, 1, -INFINITY)));
}

TEST(Numerics, DirectedRoundingToFloat) {
  double third = 1.0 / 3;
  EXPECT_LT(double(roundToFloat(third, Rounding::Down)), third);
  EXPECT_GT(double(roundToFloat(third, Rounding::Up)), third);
  EXPECT_EQ(roundToFloat(-third, Rounding::TowardZero),
            roundToFloat(-third, Rounding::Up));
  EXPECT_EQ(roundToFloat(0.5, Rounding::Up), 0.5f);
}
