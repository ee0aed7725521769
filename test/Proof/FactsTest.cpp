// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from facts.

#include "Linear.h"

#include <gtest/gtest.h>

using namespace fp8::proof;

namespace {

class FactsTest : public testing::Test {
protected:
  Linear add(const char *name, std::optional<int64_t> below = std::nullopt) {
    Parameter parameter;
    parameter.name = name;
    parameter.below = below;
    return atoms.getParameter(table[table.getParameter(parameter)].value);
  }

  ExprTable table;
  AtomTable atoms{table};
  Linear x = add("x"), y = add("y");
  Facts facts{atoms};
};

TEST_F(FactsTest, NothingIsKnownButBounds) {
  EXPECT_TRUE(facts.implies(x));
  EXPECT_TRUE(facts.implies(x + y * 3));
  EXPECT_FALSE(facts.implies(x - Linear(1)));
  EXPECT_FALSE(facts.implies(x - y));
}

TEST_F(FactsTest, FactsAddUp) {
  facts.add(x - y);
  facts.add(y - Linear(3));
  EXPECT_TRUE(facts.implies(x - Linear(3)));
  EXPECT_FALSE(facts.implies(x - Linear(4)));
  EXPECT_FALSE(facts.isKnownZero(x - y));
  facts.add(y - x);
  EXPECT_TRUE(facts.isKnownZero(x - y));
}

TEST_F(FactsTest, SumsAreWholeNumbers) {
  facts.add(x * 2 - y * 2 - Linear(1));
  EXPECT_TRUE(facts.implies(x - y - Linear(1)));
}

TEST_F(FactsTest, QuotientsAreRoundedDown) {
  Linear quotient = atoms.floorDivide(x, 8), rest = x - quotient * 8;
  EXPECT_TRUE(facts.implies(rest));
  EXPECT_TRUE(facts.implies(Linear(7) - rest));
  EXPECT_FALSE(facts.implies(Linear(6) - rest));
  facts.add(rest - Linear(1));
  EXPECT_TRUE(facts.implies(x - Linear(1)));
}

TEST_F(FactsTest, ParametersHaveBounds) {
  Linear number = add("number", table[1].value);
  EXPECT_TRUE(facts.implies(y - number - Linear(1)));
  EXPECT_FALSE(facts.implies(y - number - Linear(2)));
}

TEST_F(FactsTest, WhatIsKnownOfAnswersIsForgotten) {
  Linear answer = atoms.getAnswer(0);
  facts.add(answer - Linear(5));
  facts.add(x - Linear(5));
  EXPECT_TRUE(facts.implies(answer - Linear(4)));
  facts.forgetAnswers();
  EXPECT_FALSE(facts.implies(answer - Linear(4)));
  EXPECT_TRUE(facts.implies(x - Linear(4)));
}

TEST_F(FactsTest, EqualFactsAreShared) {
  Facts others{atoms};
  facts.add(x - Linear(1));
  others.add(x - Linear(1));
  EXPECT_EQ(facts.getKey(), others.getKey());
  others.add(y - Linear(1));
  EXPECT_NE(facts.getKey(), others.getKey());
  EXPECT_TRUE(others.implies(y - Linear(1)));
  EXPECT_FALSE(facts.implies(y - Linear(1)));
}

TEST_F(FactsTest, AFactThatIsAddedLaterCounts) {
  EXPECT_FALSE(facts.implies(x - Linear(1)));
  facts.add(x - Linear(2));
  EXPECT_TRUE(facts.implies(x - Linear(1)));
}

} // namespace
