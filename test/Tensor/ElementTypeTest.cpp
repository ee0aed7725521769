// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types.
#include "fp8/Tensor/ElementType.h"

#include <gtest/gtest.h>
#include <limits>

using namespace fp8::tensor;

TEST(ElementType, RowsAreInTheOrderOfTheEnum) {
  for (ElementType type : kElementTypes)
    EXPECT_EQ(parseElementType(spelling(type)), type) << spelling(type);
  EXPECT_EQ(parseElementType("f7"), std::nullopt);
}

TEST(ElementType, FormatsHaveTheirNumbers) {
  const FloatFormat &e4m3 = *floatFormat(ElementType::F8E4M3FN),
                    &e5m2 = *floatFormat(ElementType::F8E5M2),
                    &half = *floatFormat(ElementType::F16),
                    &single = *floatFormat(ElementType::F32);
  EXPECT_EQ(e4m3.largest(), 448);
  EXPECT_EQ(e4m3.lowestExponent(), -6);
  EXPECT_EQ(e4m3.overflowExponent(), 9);
  EXPECT_EQ(e5m2.largest(), 57344);
  EXPECT_EQ(e5m2.lowestExponent(), -14);
  EXPECT_EQ(e5m2.overflowExponent(), 16);
  EXPECT_EQ(half.largest(), 65504);
  EXPECT_EQ(single.largest(), std::numeric_limits<float>::max());
  EXPECT_EQ(single.overflowExponent(), 128);
  EXPECT_EQ(floatFormat(ElementType::F64)->largest(),
            std::numeric_limits<double>::max());
  EXPECT_EQ(floatFormat(ElementType::I8), nullptr);
}

TEST(ElementType, FormatsFillTheirBytes) {
  for (ElementType type : kElementTypes)
    if (const FloatFormat *format = floatFormat(type)) {
      EXPECT_EQ(1 + format->exponentBits + format->mantissaBits,
                int(8 * byteSize(type)))
          << spelling(type);
    }
}

TEST(ElementType, ListsReadAsSentences) {
  EXPECT_EQ(ElementTypes(ElementType::F32).str("or"), "f32");
  EXPECT_EQ(ElementTypes(ElementType::F32, ElementType::BF16).str("or"),
            "f32 or bf16");
  ElementTypes three(ElementType::BF16, ElementType::F16, ElementType::F32);
  EXPECT_EQ(three.str("and"), "bf16, f16 and f32");
  EXPECT_EQ(three.str(), "bf16, f16, f32");
  EXPECT_TRUE(three.contains(ElementType::F32));
  EXPECT_FALSE(three.contains(ElementType::F8E4M3FN));
}
