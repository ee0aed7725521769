// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on numbers of which something is known, against arithmetic on the
// numbers that they may be.

#include "Evaluate.h"

#include <gtest/gtest.h>

#include <random>

using namespace fp8::prooftext;
using Op = CodeStep::Op;

namespace {

constexpr unsigned kWidth = 32;

/// A step of the op whose second and third sources are constants where it wants
/// them to be.
CodeStep makeStep(Op op, uint64_t second, uint64_t third) {
  CodeStep step;
  step.op = op;
  step.destination = 0;
  step.width = step.operandWidth = kWidth;
  Source reg{Source::Kind::Register, 1}, other{Source::Kind::Register, 2};
  bool isConstant =
      op == Op::ShiftLeft || op == Op::ShiftRight || op == Op::Extract;
  step.sources = {reg, isConstant ? Source{Source::Kind::Constant, 0, second}
                                  : other};
  if (op == Op::Extract)
    step.sources.push_back({Source::Kind::Constant, 0, third});
  if (op == Op::Select)
    step.sources.push_back({Source::Kind::Register, 3});
  return step;
}

/// What the op does to whole numbers.
uint64_t compute(Op op, uint64_t a, uint64_t b, uint64_t c) {
  switch (op) {
  case Op::Add:
    return a + b;
  case Op::Subtract:
    return a - b;
  case Op::Multiply:
    return a * b;
  case Op::And:
    return a & b;
  case Op::Or:
    return a | b;
  case Op::Xor:
    return a ^ b;
  case Op::ShiftLeft:
    return a << b;
  case Op::ShiftRight:
    return a >> b;
  case Op::Extract:
    return a >> b & ((uint64_t(1) << c) - 1);
  case Op::Select:
    return c & 1 ? a : b;
  case Op::Equal:
    return a == b;
  case Op::Divide:
    return b ? a / b : 0;
  case Op::Remainder:
    return b ? a % b : 0;
  case Op::Minimum:
    return a < b ? a : b;
  case Op::Maximum:
    return a < b ? b : a;
  case Op::LessEqual:
    return a <= b;
  default:
    return a < b;
  }
}

constexpr Op kOps[] = {
    Op::Add,    Op::Subtract,  Op::Multiply,   Op::And,     Op::Or,
    Op::Xor,    Op::ShiftLeft, Op::ShiftRight, Op::Extract, Op::Select,
    Op::Divide, Op::Remainder, Op::Minimum,    Op::Maximum, Op::Equal,
    Op::Less,   Op::LessEqual};

class Random {
public:
  uint64_t word() { return uint32_t(generator()); }
  /// What may be known of that number: all bits more often than chance would
  /// have it, and bounds that are close, or not.
  Number about(uint64_t whole) {
    uint64_t mask = getMask(kWidth),
             known = word() % 3 ? word() | word() | word() : mask;
    Number result = Number::constant(whole).restricted(known | ~mask);
    uint64_t below = word() >> word() % 32, above = word() >> word() % 32;
    if (word() % 2)
      result.range = {whole > below ? whole - below : 0,
                      std::min(whole + above, mask)};
    return result;
  }

private:
  std::mt19937_64 generator{7};
};

TEST(EvaluateTest, WhatIsKnownIsTrueOfTheNumber) {
  Random random;
  unsigned decided = 0, bounded = 0;
  for (unsigned turn = 0; turn < 20'000; ++turn)
    for (Op op : kOps) {
      bool shifts =
          op == Op::ShiftLeft || op == Op::ShiftRight || op == Op::Extract;
      uint64_t second = random.word() % 31, third = 1 + random.word() % 8;
      CodeStep step = makeStep(op, second, third);
      uint64_t whole[3] = {random.word() >> random.word() % 32,
                           random.word() >> random.word() % 32, random.word()};
      std::vector<Number> sources{random.about(whole[0]),
                                  random.about(whole[1])};
      if (shifts)
        sources[1] = Number::constant(whole[1] = second);
      if (op == Op::Extract)
        sources.push_back(Number::constant(whole[2] = third));
      if (op == Op::Select)
        sources.push_back(random.about(whole[2]));
      uint64_t mask = step.compares() ? 1 : getMask(kWidth),
               number = compute(op, whole[0], whole[1], whole[2]) & mask;
      Number result = evaluate(step, sources);
      Range range = result.range;
      decided += (result.known & mask) == mask;
      bounded += range.low > 0 || range.high < mask;
      ASSERT_EQ((number ^ result.value) & result.known & mask, 0u)
          << "op " << int(op) << " of " << whole[0] << ", " << whole[1];
      ASSERT_TRUE(step.compares() ||
                  (range.low <= number && number <= range.high))
          << "op " << int(op) << " of " << whole[0] << ", " << whole[1]
          << " is " << number << ", from " << range.low << " to " << range.high;
    }
  EXPECT_GT(decided, 20'000u);
  EXPECT_GT(bounded, 20'000u);
}

TEST(EvaluateTest, NoMoreBitsAreKnownThanMayBe) {
  Random random;
  for (unsigned turn = 0; turn < 20'000; ++turn)
    for (Op op : kOps) {
      CodeStep step = makeStep(op, random.word() % 31, 1 + random.word() % 8);
      std::vector<Number> sources;
      std::vector<uint64_t> mayBeKnown;
      for (const Source &source : step.sources) {
        sources.push_back(source.kind == Source::Kind::Constant
                              ? Number::constant(source.value)
                              : random.about(random.word()));
        sources.back().range = {};
        mayBeKnown.push_back(sources.back().known);
      }
      uint64_t mask = step.compares() ? 1 : getMask(kWidth);
      ASSERT_EQ(evaluate(step, sources).known & mask &
                    ~getMayBeKnown(step, mayBeKnown),
                0u)
          << "op " << int(op);
    }
}

/// What is known of a number of which it is known that it is less than 8.
Number makeRemainder() { return {0, ~uint64_t(7), {0, 7}}; }

TEST(NumberTest, ANumberThatIsNotAnyOfItsRangeIsNone) {
  std::optional<Number> number = makeRemainder();
  for (uint64_t other = 0; other < 7; ++other) {
    EXPECT_FALSE(*number == Number::constant(7));
    number = number->without(Number::constant(other), kWidth);
    ASSERT_TRUE(number);
  }
  EXPECT_TRUE(*number == Number::constant(7));
  EXPECT_FALSE(number->without(Number::constant(7), kWidth));
  // In the middle of a range there is no bound.
  EXPECT_TRUE(makeRemainder().without(Number::constant(3), kWidth) ==
              makeRemainder());
  EXPECT_FALSE(makeRemainder().intersected(Number::constant(8)));
}

TEST(NumberTest, ARangeIsKeptIfItsBitsAre) {
  EXPECT_EQ(makeRemainder().restricted(0xff).range.high, 7u);
  EXPECT_EQ(makeRemainder().restricted(3).range.high, ~uint64_t(0));
}

TEST(EvaluateTest, OtherBitsDoNotMatter) {
  Random random;
  for (unsigned turn = 0; turn < 20'000; ++turn)
    for (Op op : kOps) {
      uint64_t second = random.word() % 31, third = 1 + random.word() % 8;
      bool shifts =
          op == Op::ShiftLeft || op == Op::ShiftRight || op == Op::Extract;
      CodeStep step = makeStep(op, second, third);
      uint64_t demanded = random.word() >> random.word() % 32,
               a = random.word(), b = shifts ? second : random.word(),
               c = op == Op::Extract ? third : random.word();
      if (step.compares())
        demanded = 1;
      uint64_t asked = getDemanded(step, 0, demanded),
               other = (a & asked) | (random.word() & ~asked);
      ASSERT_EQ(compute(op, a, b, c) & demanded,
                compute(op, other, b, c) & demanded)
          << "op " << int(op);
    }
}

} // namespace
