// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows the sum, and results in e4m3.
#include "fp8/Reference/Epilogue.h"
#include "fp8/Reference/Checker.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace fp8::reference;

namespace {
/// One row of sums 1, 2, 3, each of magnitude 10.
GemmReference sums() {
  GemmReference reference;
  reference.rowEnd = 1;
  reference.n = 3;
  reference.value = {1, 2, 3};
  reference.magnitude = {10, 10, 10};
  return reference;
}
} // namespace

TEST(Epilogue, AddsResidualAndBiasThenScales) {
  GemmReference reference = sums();
  Epilogue epilogue;
  epilogue.c = {8, -8, 0};
  epilogue.bias = {0, 0, -5};
  epilogue.beta = -0.5;
  epilogue.scale = -2;
  applyEpilogue(epilogue, reference);
  EXPECT_EQ(reference.value, (std::vector<double>{6, -12, 4}));
  EXPECT_EQ(reference.magnitude, (std::vector<double>{28, 28, 30}));
}

TEST(Epilogue, DoesNotReadAResidualThatIsTimesZero) {
  GemmReference reference = sums();
  Epilogue epilogue;
  epilogue.c = {std::nan(""), std::nan(""), std::nan("")};
  epilogue.beta = 0;
  applyEpilogue(epilogue, reference);
  EXPECT_EQ(reference.value, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(reference.magnitude, (std::vector<double>{10, 10, 10}));
}

TEST(Epilogue, AppliesAFunctionBeforeTheScale) {
  GemmReference reference = sums();
  Epilogue epilogue;
  epilogue.bias = {-2, -2, -2};
  epilogue.scale = -2;
  epilogue.function = Elementwise::Relu;
  applyEpilogue(epilogue, reference);
  EXPECT_EQ(reference.value, (std::vector<double>{0, 0, -2}));
  EXPECT_EQ(reference.magnitude, (std::vector<double>{24, 24, 24}));

  reference = sums();
  epilogue = Epilogue();
  epilogue.function = Elementwise::Silu;
  applyEpilogue(epilogue, reference);
  for (int i = 0; i < 3; ++i) {
    double x = i + 1;
    EXPECT_NEAR(reference.value[i], x / (1 + std::exp(-x)), 1e-14);
    EXPECT_DOUBLE_EQ(reference.magnitude[i], 1.1 * 10 + 0.5 * x);
  }

  // What is infinite leaves no room for anything but what becomes of it.
  reference = sums();
  reference.value[1] = -std::numeric_limits<double>::infinity();
  reference.magnitude[1] = std::numeric_limits<double>::infinity();
  epilogue.function = Elementwise::Relu;
  applyEpilogue(epilogue, reference);
  EXPECT_EQ(reference.value, (std::vector<double>{1, 0, 3}));
  EXPECT_EQ(reference.magnitude, (std::vector<double>{10, 0, 10}));
}

TEST(Epilogue, FunctionsKeepNaN) {
  double infinity = std::numeric_limits<double>::infinity();
  for (Elementwise function : {Elementwise::None, Elementwise::Relu,
                               Elementwise::Abs, Elementwise::Silu}) {
    EXPECT_TRUE(std::isnan(applyElementwise(function, std::nan(""))));
    EXPECT_EQ(applyElementwise(function, infinity), infinity);
  }
  EXPECT_EQ(applyElementwise(Elementwise::Relu, -infinity), 0);
  EXPECT_EQ(applyElementwise(Elementwise::Abs, -infinity), infinity);
  EXPECT_TRUE(std::isnan(applyElementwise(Elementwise::Silu, -infinity)));
}

TEST(Epilogue, LeavesWhatIsAbsent) {
  GemmReference reference = sums();
  applyEpilogue(Epilogue(), reference);
  EXPECT_EQ(reference.value, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(reference.magnitude, (std::vector<double>{10, 10, 10}));
}

TEST(Epilogue, MakesAddendsThatTheTypeHolds) {
  for (ElementType type :
       {ElementType::BF16, ElementType::F16, ElementType::F32}) {
    std::vector<double> values = makeAddend(type, 100, 3, 16);
    EXPECT_EQ(values, makeAddend(type, 100, 3, 16));
    EXPECT_NE(values, makeAddend(type, 100, 3, 17));
    for (double value : values)
      EXPECT_EQ(value, roundTo(type, value));
  }
}

TEST(E4M3Output, RoundsOnceAndSaturates) {
  constexpr ElementType type = ElementType::F8E4M3FN;
  EXPECT_EQ(roundTo(type, 1.0625), 1); // a tie, to even
  // Above a tie by less than f32 can tell.
  EXPECT_EQ(roundTo(type, 1.0625 + 0x1p-40), 1.125);
  EXPECT_EQ(roundTo(type, 1e9), 448);
  EXPECT_EQ(saturate(type, -std::numeric_limits<double>::infinity()), -448);
  EXPECT_TRUE(std::isnan(saturate(type, std::nan(""))));
  EXPECT_EQ(saturate(ElementType::BF16, 1e9), 1e9);
  EXPECT_EQ(ulpAt(type, 448), 32);
  EXPECT_EQ(ulpAt(type, 0), 0x1p-9);
}

TEST(E4M3Output, IsCheckedAgainstWhatTheTypeCanHold) {
  constexpr ElementType type = ElementType::F8E4M3FN;
  BlockwiseData data = makeBlockwiseData(1, 3, 0, 0);
  GemmReference reference = sums();
  reference.value = {1e6, -std::numeric_limits<double>::infinity(), 3};
  uint8_t d[3];
  auto store = [&](double first, double second) {
    fp8::reference::store(type, d, 0, first);
    fp8::reference::store(type, d, 1, second);
    fp8::reference::store(type, d, 2, 3);
  };
  store(448, -448);
  EXPECT_TRUE(check(data, reference, type, d, 3).ok());
  store(384, -448);
  EXPECT_FALSE(check(data, reference, type, d, 3).ok());
  store(448, std::nan(""));
  EXPECT_EQ(check(data, reference, type, d, 3).wrong, 1);
  fillWithPoison(type, d, 3);
  EXPECT_EQ(check(data, reference, type, d, 3).unwritten, 3);
}
