// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of atoms, against the numbers that they stand for.

#include "Linear.h"

#include <gtest/gtest.h>

#include <random>

using namespace fp8::proof;

namespace {

int64_t divideDown(int64_t a, int64_t b) {
  return a / b - (a % b && (a < 0) != (b < 0));
}

class LinearTest : public testing::Test {
protected:
  LinearTest() {
    for (const char *name : {"x", "y"}) {
      Parameter parameter;
      parameter.name = name;
      table.getParameter(parameter);
    }
    x = atoms.getParameter(0);
    y = atoms.getParameter(1);
  }

  /// What the sum is worth, whose parameters have these values.
  int64_t evaluate(const Linear &sum, int64_t ofX, int64_t ofY) {
    Linear value = atoms.substitute(sum, {{x.terms[0].first, Linear(ofX)},
                                          {y.terms[0].first, Linear(ofY)}});
    EXPECT_TRUE(value.isConstant()) << atoms.print(value);
    return value.constant;
  }

  ExprTable table;
  AtomTable atoms{table};
  Linear x, y;
};

TEST_F(LinearTest, EqualSumsAreOneValue) {
  EXPECT_EQ(x + y, y + x);
  EXPECT_EQ(x + x - x * 2, Linear());
  EXPECT_EQ((x + Linear(3)) * 0, Linear());
  EXPECT_FALSE(x == y);
}

TEST_F(LinearTest, ProductsAreExpanded) {
  EXPECT_EQ(atoms.multiply(x + y, x - y),
            atoms.multiply(x, x) - atoms.multiply(y, y));
  EXPECT_EQ(atoms.multiply(x + Linear(2), Linear(3)), x * 3 + Linear(6));
  EXPECT_EQ(atoms.multiply(atoms.multiply(x, y), x),
            atoms.multiply(x, atoms.multiply(y, x)));
}

TEST_F(LinearTest, WhatTheDivisorDividesLeavesTheQuotient) {
  EXPECT_EQ(atoms.floorDivide(x * 8 + Linear(17), 8), x + Linear(2));
  EXPECT_EQ(atoms.floorDivide(x * 8 - Linear(1), 8), x - Linear(1));
  EXPECT_EQ(atoms.floorDivide(x * 8 + y, 8) - x, atoms.floorDivide(y, 8));
}

TEST_F(LinearTest, ExtremaOfSumsThatDifferByAConstantAreDecided) {
  EXPECT_EQ(atoms.getExtremum(x, x + Linear(1), true), x);
  EXPECT_EQ(atoms.getExtremum(x, x + Linear(1), false), x + Linear(1));
  EXPECT_EQ(atoms.getExtremum(x, y, true), atoms.getExtremum(y, x, true));
  EXPECT_FALSE(atoms.getExtremum(x, y, true) == atoms.getExtremum(x, y, false));
}

TEST_F(LinearTest, SumsAreWorthWhatTheyStandFor) {
  std::mt19937 random(0);
  auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int count = 0; count < 500; ++count) {
    int64_t a = draw(-9, 9), b = draw(-9, 9), c = draw(-20, 20),
            by = draw(1, 9), ofX = draw(0, 40), ofY = draw(0, 40);
    Linear sum = x * a + y * b + Linear(c);
    int64_t worth = a * ofX + b * ofY + c;
    EXPECT_EQ(evaluate(sum, ofX, ofY), worth);
    EXPECT_EQ(evaluate(atoms.multiply(sum, sum + x), ofX, ofY),
              worth * (worth + ofX));
    EXPECT_EQ(evaluate(atoms.floorDivide(sum, by), ofX, ofY),
              divideDown(worth, by));
    EXPECT_EQ(evaluate(atoms.getExtremum(sum, y, true), ofX, ofY),
              std::min(worth, ofY));
  }
}

TEST_F(LinearTest, AnswersAreFoundInsideOfAtoms) {
  Linear answer = atoms.getAnswer(5),
         inside = atoms.floorDivide(answer + x, 2) + y;
  EXPECT_TRUE(atoms.hasAnswers(inside));
  EXPECT_TRUE(atoms.isOfData(inside));
  EXPECT_FALSE(atoms.hasAnswers(atoms.floorDivide(x, 2)));
}

TEST_F(LinearTest, ScopeIsThatOfTheParameters) {
  Parameter parameter;
  parameter.name = "CTA's number";
  parameter.scope = Scope::Cta;
  Linear cta = atoms.getParameter(table[table.getParameter(parameter)].value);
  EXPECT_EQ(atoms.getScope(x + y, 2), Scope::Launch);
  EXPECT_EQ(atoms.getScope(cta + x, 2), Scope::Cta);
  // The clusters of 2 have numbers of their own.
  EXPECT_EQ(atoms.getScope(atoms.floorDivide(cta, 2), 2), Scope::Launch);
  EXPECT_EQ(atoms.getScope(atoms.floorDivide(cta, 2), 4), Scope::Cta);
  // Of what is computed from a CTA's number, a quotient tells CTAs apart.
  EXPECT_EQ(atoms.getScope(atoms.floorDivide(atoms.multiply(cta, x), 2), 2),
            Scope::Cta);
}

} // namespace
