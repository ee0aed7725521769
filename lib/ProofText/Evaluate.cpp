// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on numbers of which some bits are known. `getMayBeKnown` bounds
// what `evaluate` finds out, and both treat the same cases.

#include "Evaluate.h"

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

static Bits evaluateComparison(const CodeStep &step, const Bits &a,
                               const Bits &b) {
  uint64_t mask = getMask(step.operandWidth);
  auto x = a.get(mask), y = b.get(mask);
  if (x && y)
    return Bits::constant(compare(step, *x, *y));
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
    return s[1] ? s[0] / s[1] : 0;
  case Op::Remainder:
    return s[1] ? s[0] % s[1] : 0;
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

static Bits evaluateWhole(const CodeStep &step, const std::vector<Bits> &s) {
  std::vector<uint64_t> values;
  for (const Bits &source : s) {
    auto value = source.get(getMask(step.width));
    if (!value)
      return {};
    values.push_back(*value);
  }
  return Bits::constant(compute(step, values));
}

Bits fp8::prooftext::evaluate(const CodeStep &step,
                              const std::vector<Bits> &s) {
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
  if (step.compares())
    return whole(step.operandWidth) ? all : 0;
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
  case Op::Remainder:
  case Op::Minimum:
  case Op::Maximum:
    return whole(step.width) ? all : 0;
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

/// All bits up to the highest one.
static uint64_t upTo(uint64_t bits) {
  return bits ? getMask(64 - __builtin_clzll(bits)) : 0;
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
  default:
    return ~uint64_t(0);
  }
}
