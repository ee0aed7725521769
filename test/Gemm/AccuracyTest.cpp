// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The floors of the checker.
#include "fp8/Gemm/Accuracy.h"
#include "fp8/Gemm/Operands.h"

#include <gtest/gtest.h>

using namespace fp8::gemm;
using fp8::tensor::ElementType;

TEST(Accuracy, EveryTypeOfDHasFloors) {
  for (ElementType type : getOperand(Operand::D).types) {
    const FrobeniusFloors *floors = frobeniusFloors(type);
    ASSERT_NE(floors, nullptr) << spelling(type);
    EXPECT_EQ(floors->type, type);
    EXPECT_LT(floors->float32, floors->fourteenBits);
    EXPECT_LE(floors->fourteenBits, floors->tanh);
  }
  EXPECT_EQ(frobeniusFloors(ElementType::I8), nullptr);
}
