// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A's and B's types in memory: round trips, neighbours untouched, special
// values.
#include "fp8/Reference/Elements.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace fp8::reference;

class Operand : public testing::TestWithParam<ElementType> {
protected:
  double at(uint64_t element) const {
    double value;
    decode(type, data.data(), element, 1, &value);
    return value;
  }
  ElementType type = GetParam();
  double largest = floatFormat(type)->largest();
  std::vector<uint8_t> data = std::vector<uint8_t>(8 * byteSize(type), 0);
};

TEST_P(Operand, StoresAndLoads) {
  const float values[] = {1, -0.5f, 448, 0, -3, 0.875f, 2, -28};
  for (int i = 7; i >= 0; --i)
    store(type, data.data(), i, values[i]);
  double loaded[8];
  decode(type, data.data(), 0, 8, loaded);
  for (int i = 0; i < 8; ++i) {
    // e5m2 has two mantissa bits: 0.875 and 28 are exact in it, too.
    EXPECT_EQ(loaded[i], values[i]);
  }
  EXPECT_EQ(at(2), 448);
}

TEST_P(Operand, KnowsItsLargestValue) {
  store(type, data.data(), 3, largest);
  EXPECT_EQ(at(3), largest);
  store(type, data.data(), 3, largest * 1.5);
  if (isFloat8(type))
    EXPECT_EQ(at(3), largest);
  else
    EXPECT_TRUE(std::isinf(at(3)));
}

TEST_P(Operand, HasNaNsOfBothSignsAndItsInfinity) {
  for (bool negative : {false, true}) {
    storeNaN(type, data.data(), 5, negative);
    EXPECT_TRUE(std::isnan(at(5)));
    EXPECT_EQ(data[6 * byteSize(type) - 1] >> 7, negative);
  }
  EXPECT_EQ(at(4), 0);
  EXPECT_EQ(at(6), 0);
  if (floatFormat(type)->hasInfinity) {
    storeInfinity(type, data.data(), 5);
    EXPECT_EQ(at(5), INFINITY);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Operand,
                         testing::Values(ElementType::F8E4M3FN,
                                         ElementType::F8E5M2, ElementType::BF16,
                                         ElementType::F16));
