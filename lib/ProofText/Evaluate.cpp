// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on numbers of which something is known. `getMayBeKnown` bounds the
// bits that `evaluate` finds out, and both treat the same cases.

#include "Evaluate.h"

#include "Ranges.h"

using namespace fp8::prooftext;
using Op = CodeStep::Op;

static int64_t extend(uint64_t value, unsigned width) {
  unsigned shift = width >= 64 ? 0 : 64 - width;
  return int64_t(value << shift) >> shift;
}

static bool compare(const CodeStep &step, uint64_t a, uint64_t b) {
  auto decide = [&](auto x, auto y) {
    switch (step.op) {
    case Op::Equal:
      return x == y;
    case Op::NotEqual:
      return x != y;
    case Op::Less:
      return x < y;
    case Op::LessEqual:
      return x <= y;
    case Op::Greater:
      return x > y;
    default:
      return x >= y;
    }
  };
  if (step.isSigned)
    return decide(extend(a, step.operandWidth), extend(b, step.operandWidth));
  return decide(a, b);
}

static Number evaluateComparison(const CodeStep &step, const Number &a,
                                 const Number &b) {
  uint64_t mask = getMask(step.operandWidth);
  auto x = a.get(mask), y = b.get(mask);
  if (x && y)
    return Number::constant(compare(step, *x, *y));
  if (auto result = compareRanges(step, a, b))
    return Number::constant(*result);
  return {};
}

/// The result where all bits of all sources are known.
static uint64_t compute(const CodeStep &step, const std::vector<uint64_t> &s) {
  auto least = [&](bool wantsFirst) { return wantsFirst ? s[0] : s[1]; };
  switch (step.op) {
  case Op::Multiply:
    return s[0] * s[1];
  case Op::MultiplyAdd:
    return s[0] * s[1] + s[2];
  case Op::Divide:
    return s[0] / s[1];
  case Op::Remainder:
    return s[0] % s[1];
  case Op::Minimum:
    return least(step.isSigned
                     ? extend(s[0], step.width) < extend(s[1], step.width)
                     : s[0] < s[1]);
  case Op::Maximum:
    return least(step.isSigned
                     ? extend(s[0], step.width) > extend(s[1], step.width)
                     : s[0] > s[1]);
  case Op::ShiftRight:
    return step.isSigned ? extend(s[0], step.width) >> (s[1] < 63 ? s[1] : 63)
           : s[1] < 64   ? s[0] >> s[1]
                         : 0;
  default:
    return 0;
  }
}

static Number evaluateWhole(const CodeStep &step,
                            const std::vector<Number> &s) {
  std::vector<uint64_t> values;
  values.reserve(s.size());
  for (const Number &source : s) {
    auto value = source.get(getMask(step.width));
    if (!value)
      return {};
    values.push_back(*value);
  }
  // What a quotient by 0 is, PTX does not say.
  bool divides = step.op == Op::Divide || step.op == Op::Remainder;
  if (divides && !values[1])
    return {};
  return Number::constant(compute(step, values));
}

static Number evaluateBits(const CodeStep &step, const std::vector<Number> &s) {
  auto shiftBy = [&](size_t n) { return s[n].get(0xffffffff); };
  if (step.compares())
    return evaluateComparison(step, s[0], s[1]);
  switch (step.op) {
  case Op::Move:
    return s[0];
  case Op::Add:
  case Op::Subtract: {
    uint64_t run = getLowRun(s[0].known & s[1].known),
             sum = step.op == Op::Add ? s[0].value + s[1].value
                                      : s[0].value - s[1].value;
    return {sum & run, run};
  }
  case Op::And: {
    uint64_t zeros = (s[0].known & ~s[0].value) | (s[1].known & ~s[1].value);
    return {s[0].value & s[1].value, (s[0].known & s[1].known) | zeros};
  }
  case Op::Or: {
    uint64_t known = (s[0].known & s[1].known) | s[0].value | s[1].value;
    return {(s[0].value | s[1].value) & known, known};
  }
  case Op::Xor: {
    uint64_t known = s[0].known & s[1].known;
    return {(s[0].value ^ s[1].value) & known, known};
  }
  case Op::Not:
    return {~s[0].value & s[0].known, s[0].known};
  case Op::ShiftLeft: {
    auto by = shiftBy(1);
    if (!by || *by >= 64)
      return {};
    return {s[0].value << *by, (s[0].known << *by) | getMask(*by)};
  }
  case Op::ShiftRight: {
    auto by = shiftBy(1);
    if (!by || *by >= 64 || step.isSigned)
      return evaluateWhole(step, s);
    uint64_t mask = getMask(step.width);
    return {(s[0].value & mask) >> *by, ((s[0].known & mask) | ~mask) >> *by};
  }
  case Op::Extract: {
    auto at = shiftBy(1), count = shiftBy(2);
    if (!at || !count || *at >= 32)
      return {};
    uint64_t mask = getMask(*count);
    return {s[0].value >> *at & mask, (s[0].known >> *at & mask) | ~mask};
  }
  case Op::Select: {
    auto condition = s[2].get(1);
    if (condition)
      return *condition ? s[0] : s[1];
    uint64_t same = s[0].known & s[1].known & ~(s[0].value ^ s[1].value);
    return {s[0].value & same, same};
  }
  case Op::Multiply:
  case Op::MultiplyAdd:
  case Op::Divide:
  case Op::Remainder:
  case Op::Minimum:
  case Op::Maximum:
    return evaluateWhole(step, s);
  default:
    return {};
  }
}

/// The bits that are 0 in the result, whatever is known of the first source.
static uint64_t getZeros(const CodeStep &step) {
  if (step.sources[1].kind != Source::Kind::Constant || step.isSigned)
    return 0;
  uint64_t number = step.sources[1].value & getMask(step.width);
  if (step.op == Op::Minimum)
    return ~upTo(number);
  return step.op == Op::Remainder && number ? ~upTo(number - 1) : 0;
}

Number fp8::prooftext::evaluate(const CodeStep &step,
                                const std::vector<Number> &sources) {
  Number result = evaluateBits(step, sources);
  if (!result.known && step.sources.size() == 2)
    result.known = getZeros(step);
  result.range = evaluateRange(step, sources);
  return result;
}

uint64_t fp8::prooftext::getMayBeKnown(const CodeStep &step,
                                       const std::vector<uint64_t> &s) {
  uint64_t all = ~uint64_t(0);
  auto whole = [&](unsigned width) {
    for (uint64_t source : s)
      if ((source & getMask(width)) != getMask(width))
        return false;
    return true;
  };
  auto constant = [&](size_t n) -> std::optional<uint64_t> {
    if (step.sources[n].kind != Source::Kind::Constant)
      return std::nullopt;
    return step.sources[n].value;
  };
  // What is one of few numbers may be compared by its range.
  auto few = [&](uint64_t source) {
    return (~source & getMask(step.operandWidth)) < kFewNumbers;
  };
  if (step.compares())
    return few(s[0]) && few(s[1]) ? all : 0;
  switch (step.op) {
  case Op::Move:
  case Op::Not:
    return s[0];
  case Op::Add:
  case Op::Subtract:
    return getLowRun(s[0] & s[1]);
  case Op::And:
  case Op::Or: {
    // A constant adds its zeros, or its ones.
    uint64_t more[2];
    for (size_t i : {0, 1}) {
      auto value = constant(i);
      more[i] = !value ? s[i] : step.op == Op::And ? ~*value : *value;
    }
    return more[0] | more[1] | (s[0] & s[1]);
  }
  case Op::Xor:
    return s[0] & s[1];
  case Op::ShiftLeft:
    if (auto by = constant(1))
      return *by >= 64 ? 0 : (s[0] << *by) | getMask(*by);
    return s[1] ? all : 0;
  case Op::ShiftRight:
    if (auto by = constant(1); by && *by < 64 && !step.isSigned)
      return ((s[0] & getMask(step.width)) | ~getMask(step.width)) >> *by;
    return whole(step.width) ? all : 0;
  case Op::Extract: {
    auto at = constant(1), count = constant(2);
    if (!at || !count || *at >= 32)
      return 0;
    return (s[0] >> *at) | ~getMask(*count);
  }
  case Op::Select:
    return s[2] & 1 ? s[0] | s[1] : s[0] & s[1];
  case Op::Multiply:
  case Op::MultiplyAdd:
  case Op::Divide:
    return whole(step.width) ? all : 0;
  case Op::Maximum:
    // Of a bound below no bit follows: the lowest one stands for it.
    return whole(step.width) ? all : constant(1).has_value();
  case Op::Remainder:
  case Op::Minimum:
    return whole(step.width) ? all : getZeros(step);
  case Op::Elect:
  case Op::Vote:
  case Op::Broadcast:
  case Op::MapToCta:
  case Op::LoadShared:
  case Op::Event: // its outcome
    return all;
  default:
    return 0;
  }
}

uint64_t fp8::prooftext::getDemanded(const CodeStep &step, size_t number,
                                     uint64_t demanded) {
  if (!demanded)
    return 0;
  const auto &s = step.sources;
  auto constant = [&](size_t n) -> std::optional<uint64_t> {
    if (n >= s.size() || s[n].kind != Source::Kind::Constant)
      return std::nullopt;
    return s[n].value;
  };
  if (step.compares())
    return getMask(step.operandWidth);
  switch (step.op) {
  case Op::Move:
  case Op::Or:
  case Op::Xor:
  case Op::Not:
    return demanded;
  case Op::And: {
    auto mask = constant(1 - number);
    return mask ? demanded & *mask : demanded;
  }
  case Op::Add:
  case Op::Subtract:
    return upTo(demanded);
  case Op::ShiftLeft:
    if (auto by = constant(1); number == 0 && by && *by < 64)
      return demanded >> *by;
    return ~uint64_t(0);
  case Op::ShiftRight:
    if (auto by = constant(1); number == 0 && by && *by < 64 && !step.isSigned)
      return demanded << *by;
    return ~uint64_t(0);
  case Op::Extract:
    if (auto at = constant(1), count = constant(2);
        number == 0 && at && count && *at < 64)
      return (demanded & getMask(*count)) << *at;
    return ~uint64_t(0);
  case Op::Select:
    return number == 2 ? 1 : demanded;
  case Op::Maximum:
    // What bounds the result is the number; another source may count for ever.
    return constant(1 - number) ? 0 : ~uint64_t(0);
  default:
    return ~uint64_t(0);
  }
}
