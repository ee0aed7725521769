// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on numbers of which some bits are known, against arithmetic on all
// the numbers that they may be.

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
  default:
    return a < b;
  }
}

constexpr Op kOps[] = {Op::Add,     Op::Subtract, Op::Multiply,  Op::And,
                       Op::Or,      Op::Xor,      Op::ShiftLeft, Op::ShiftRight,
                       Op::Extract, Op::Select,   Op::Equal,     Op::Less};

class Random {
public:
  uint64_t word() { return uint32_t(generator()); }
  /// Numbers that are whole more often than chance would have it.
  Bits bits() {
    uint64_t mask = getMask(kWidth),
             known = word() % 3 ? word() | word() | word() : mask;
    return Bits{word() & mask, ~uint64_t(0)}.restricted(known | ~mask);
  }

private:
  std::mt19937_64 generator{7};
};

TEST(EvaluateTest, KnownBitsAreThoseOfEveryNumber) {
  Random random;
  unsigned decided = 0;
  for (unsigned turn = 0; turn < 20'000; ++turn)
    for (Op op : kOps) {
      bool shifts =
          op == Op::ShiftLeft || op == Op::ShiftRight || op == Op::Extract;
      uint64_t second = random.word() % 31, third = 1 + random.word() % 8;
      CodeStep step = makeStep(op, second, third);
      std::vector<Bits> sources{random.bits(), shifts ? Bits::constant(second)
                                                      : random.bits()};
      if (op == Op::Extract)
        sources.push_back(Bits::constant(third));
      if (op == Op::Select)
        sources.push_back(random.bits());
      uint64_t mask = op == Op::Equal || op == Op::Less ? 1 : getMask(kWidth);
      Bits result = evaluate(step, sources).restricted(mask);
      decided += result.known == mask;
      std::vector<uint64_t> whole, mayBeKnown;
      for (const Bits &source : sources) {
        whole.push_back((source.value | (random.word() & ~source.known)) &
                        getMask(kWidth));
        mayBeKnown.push_back(source.known);
      }
      whole.resize(3);
      uint64_t number = compute(op, whole[0], whole[1], whole[2]);
      ASSERT_EQ(number & result.known, result.value)
          << "op " << int(op) << " of " << whole[0] << ", " << whole[1];
      ASSERT_EQ(result.known & ~getMayBeKnown(step, mayBeKnown), 0u)
          << "op " << int(op) << " knows more than it says";
    }
  EXPECT_GT(decided, 20'000u);
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
      if (op == Op::Equal || op == Op::Less)
        demanded = 1;
      uint64_t asked = getDemanded(step, 0, demanded),
               other = (a & asked) | (random.word() & ~asked);
      ASSERT_EQ(compute(op, a, b, c) & demanded,
                compute(op, other, b, c) & demanded)
          << "op " << int(op);
    }
}

} // namespace
