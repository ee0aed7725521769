// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on ranges of numbers without a sign.

#include "Ranges.h"

#include <algorithm>

using namespace fp8::prooftext;
using Op = CodeStep::Op;

namespace {

/// Bounds of a result before it is cut off.
struct WideRange {
  __int128 low, high;
};

} // namespace

/// The bits below `width` of numbers of a range. All of these numbers must have
/// the same ones above, or the bits may be any.
static Range cutOff(const WideRange &range, unsigned width) {
  uint64_t mask = getMask(width);
  if (range.low >> width != range.high >> width)
    return {0, mask};
  return {uint64_t(range.low) & mask, uint64_t(range.high) & mask};
}

/// Numbers of the range have the same sign: less is less with it, too.
static bool areOfOneSign(const Range &a, const Range &b, unsigned width) {
  uint64_t largest = getMask(width) >> 1;
  return a.high <= largest && b.high <= largest;
}

static Range evaluateExtreme(const CodeStep &step, const Range &a,
                             const Range &b) {
  if (step.isSigned && !areOfOneSign(a, b, step.width))
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  if (step.op == Op::Minimum)
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

static Range evaluateRemainder(const Range &a, const Range &b) {
  if (b.low == 0)
    return {};
  if (a.high < b.low)
    return a;
  return {0, std::min(a.high, b.high - 1)};
}

static Range evaluateShift(const CodeStep &step, const Range &a,
                           const Number &by) {
  Range bits = by.getRange(32);
  if (bits.low != bits.high || bits.low >= step.width)
    return {};
  if (step.op == Op::ShiftLeft)
    return cutOff({__int128(a.low) << bits.low, __int128(a.high) << bits.low},
                  step.width);
  if (step.isSigned && a.high > getMask(step.width) >> 1)
    return {};
  return {a.low >> bits.low, a.high >> bits.low};
}

Range fp8::prooftext::evaluateRange(const CodeStep &step,
                                    const std::vector<Number> &sources) {
  std::vector<Range> s;
  s.reserve(sources.size());
  for (const Number &source : sources) {
    s.push_back(source.getRange(step.width));
    if (s.back().isEmpty())
      return {};
  }
  auto wide = [&](size_t n) { return WideRange{s[n].low, s[n].high}; };
  switch (step.op) {
  case Op::Move:
    return s[0];
  case Op::Add:
    return cutOff({wide(0).low + wide(1).low, wide(0).high + wide(1).high},
                  step.width);
  case Op::Subtract:
    return cutOff({wide(0).low - wide(1).high, wide(0).high - wide(1).low},
                  step.width);
  case Op::Divide:
    return s[1].low ? Range{s[0].low / s[1].high, s[0].high / s[1].low}
                    : Range{};
  case Op::Remainder:
    return evaluateRemainder(s[0], s[1]);
  case Op::And:
    // A mask of low bits may leave the number as it is, or less by the same.
    if (s[1].low == s[1].high && upTo(s[1].low) == s[1].low)
      return cutOff(wide(0), __builtin_popcountll(s[1].low));
    if (s[1].low == s[1].high && !(upTo(s[0].high) & ~s[1].low))
      return s[0];
    return {0, std::min(s[0].high, s[1].high)};
  case Op::Or:
    return {std::max(s[0].low, s[1].low), upTo(s[0].high | s[1].high)};
  case Op::ShiftLeft:
  case Op::ShiftRight:
    return evaluateShift(step, s[0], sources[1]);
  case Op::Extract:
    if (auto count = sources[2].get(0xffffffff))
      return {0, getMask(*count)};
    return {};
  case Op::Minimum:
  case Op::Maximum:
    return evaluateExtreme(step, s[0], s[1]);
  case Op::Select:
    if (auto condition = sources[2].get(1))
      return *condition ? s[0] : s[1];
    return {std::min(s[0].low, s[1].low), std::max(s[0].high, s[1].high)};
  default:
    return {};
  }
}

std::optional<bool> fp8::prooftext::compareRanges(const CodeStep &step,
                                                  const Number &first,
                                                  const Number &second) {
  Range a = first.getRange(step.operandWidth),
        b = second.getRange(step.operandWidth);
  if (!a.isFew() || !b.isFew())
    return std::nullopt;
  bool areApart = a.high < b.low || b.high < a.low;
  if (step.op == Op::Equal || step.op == Op::NotEqual)
    return areApart ? std::optional(step.op == Op::NotEqual) : std::nullopt;
  if (step.isSigned && !areOfOneSign(a, b, step.operandWidth))
    return std::nullopt;
  bool isLess = step.op == Op::Less || step.op == Op::LessEqual,
       isStrict = step.op == Op::Less || step.op == Op::Greater;
  if (!isLess)
    std::swap(a, b);
  // Now: is a less than b, or not more?
  if (isStrict ? a.high < b.low : a.high <= b.low)
    return true;
  if (isStrict ? a.low >= b.high : a.low > b.high)
    return false;
  return std::nullopt;
}
