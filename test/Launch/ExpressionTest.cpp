// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of manifest expressions: exact, or an error.
#include "fp8/Launch/Expression.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace fp8::launch;
using Kind = Expression::Kind;

namespace {
constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
constexpr int64_t highest = std::numeric_limits<int64_t>::max();

std::string evaluate(const Expression &expression) {
  Expected<int64_t> value = expression.evaluate({}, {});
  return value ? std::to_string(*value) : value.error();
}

std::string apply(Kind kind, std::vector<int64_t> operands) {
  std::vector<Expression> expressions;
  for (int64_t operand : operands)
    expressions.push_back(Expression::constant(operand));
  return evaluate(Expression::operation(kind, expressions));
}
} // namespace

TEST(Expression, Arithmetic) {
  EXPECT_EQ(apply(Kind::Add, {3, -5}), "-2");
  EXPECT_EQ(apply(Kind::Sub, {3, -5}), "8");
  EXPECT_EQ(apply(Kind::Mul, {3, -5}), "-15");
  EXPECT_EQ(apply(Kind::Min, {3, -5}), "-5");
  EXPECT_EQ(apply(Kind::Max, {3, -5}), "3");
}

TEST(Expression, DivisionRoundsAsItsNameSays) {
  for (int64_t x = -9; x <= 9; ++x)
    for (int64_t y : {-4, -3, -1, 1, 3, 4}) {
      double exact = double(x) / double(y);
      EXPECT_EQ(apply(Kind::FloorDiv, {x, y}),
                std::to_string(int64_t(std::floor(exact))));
      EXPECT_EQ(apply(Kind::CeilDiv, {x, y}),
                std::to_string(int64_t(std::ceil(exact))));
      EXPECT_EQ(apply(Kind::Rem, {x, y}), std::to_string(x % y));
    }
}

TEST(Expression, Comparisons) {
  for (int64_t x : {-1, 0, 1})
    for (int64_t y : {-1, 0, 1}) {
      EXPECT_EQ(apply(Kind::Eq, {x, y}), std::to_string(x == y));
      EXPECT_EQ(apply(Kind::Ne, {x, y}), std::to_string(x != y));
      EXPECT_EQ(apply(Kind::Lt, {x, y}), std::to_string(x < y));
      EXPECT_EQ(apply(Kind::Le, {x, y}), std::to_string(x <= y));
      EXPECT_EQ(apply(Kind::Gt, {x, y}), std::to_string(x > y));
      EXPECT_EQ(apply(Kind::Ge, {x, y}), std::to_string(x >= y));
    }
}

TEST(Expression, LogicTakesTruthValuesOnly) {
  EXPECT_EQ(apply(Kind::And, {1, 0}), "0");
  EXPECT_EQ(apply(Kind::And, {1, 1}), "1");
  EXPECT_EQ(apply(Kind::Or, {1, 0}), "1");
  EXPECT_EQ(apply(Kind::Or, {0, 0}), "0");
  EXPECT_EQ(apply(Kind::And, {1, 2}),
            "and(1, 2) needs truth values, which are 0 or 1");
  EXPECT_EQ(apply(Kind::Select, {1, 5, 6}), "5");
  EXPECT_EQ(apply(Kind::Select, {0, 5, 6}), "6");
  EXPECT_EQ(apply(Kind::Select, {7, 5, 6}),
            "select needs a truth value, 0 or 1, but got 7");
}

TEST(Expression, SelectComputesOnlyWhatItChooses) {
  Expression broken = Expression::operation(
      Kind::FloorDiv, {Expression::constant(1), Expression::constant(0)});
  EXPECT_EQ(evaluate(Expression::operation(
                Kind::Select,
                {Expression::constant(1), Expression::constant(4), broken})),
            "4");
}

TEST(Expression, OverflowAndDivisionByZeroAreErrors) {
  EXPECT_EQ(apply(Kind::Add, {highest, 1}),
            "add(9223372036854775807, 1) overflows 64 bits");
  EXPECT_EQ(apply(Kind::Sub, {lowest, 1}),
            "sub(-9223372036854775808, 1) overflows 64 bits");
  EXPECT_EQ(apply(Kind::Mul, {highest, 2}),
            "mul(9223372036854775807, 2) overflows 64 bits");
  for (Kind kind : {Kind::FloorDiv, Kind::CeilDiv, Kind::Rem}) {
    std::string name(operatorName(kind));
    EXPECT_EQ(apply(kind, {5, 0}), name + "(5, 0) divides by zero");
    EXPECT_EQ(apply(kind, {lowest, -1}),
              name + "(-9223372036854775808, -1) overflows 64 bits");
  }
  EXPECT_EQ(apply(Kind::CeilDiv, {highest, 2}), "4611686018427387904");
}

TEST(Expression, ReadsArgumentsAndDevice) {
  std::vector<ArgumentValue> arguments{
      {ElementType::F32, {3, 5}, {8, 1}, 0x1000}};
  DeviceProperties device;
  device.multiprocessorCount = 132;
  auto value = [&](const Expression &expression) {
    return *expression.evaluate(arguments, device);
  };
  EXPECT_EQ(value(Expression::dim(0, 1)), 5);
  EXPECT_EQ(value(Expression::stride(0, 0)), 8);
  EXPECT_EQ(value(Expression::multiprocessorCount()), 132);
  EXPECT_EQ(
      Expression::operation(Kind::Add, {Expression::stride(0, 1),
                                        Expression::multiprocessorCount()})
          .str({"x"}),
      "add(x.strides[1], multiprocessor_count)");
}
