// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of which some bits, and bounds, are known.

#ifndef FP8_LIB_PROOFTEXT_NUMBER_H
#define FP8_LIB_PROOFTEXT_NUMBER_H

#include <cstdint>
#include <optional>

namespace fp8::prooftext {

/// The bits below `width`.
inline uint64_t getMask(unsigned width) {
  return width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

/// All bits up to the highest one.
inline uint64_t upTo(uint64_t bits) {
  return bits ? getMask(64 - __builtin_clzll(bits)) : 0;
}

/// Which bits of a sum are known where `known` bits of both operands are: those
/// below the first unknown one.
inline uint64_t getLowRun(uint64_t known) {
  return known == ~uint64_t(0) ? known : (known ^ (known + 1)) >> 1;
}

/// Numbers that are few enough to tell each apart. What bounds a loop's turns,
/// and is among so few, bounds the states of the loop.
constexpr uint64_t kFewNumbers = 64;

/// The numbers from `low` to `high`.
struct Range {
  uint64_t low = 0, high = ~uint64_t(0);

  bool isEmpty() const { return low > high; }
  bool isFew() const { return high - low < kFewNumbers; }
  Range intersected(const Range &other) const {
    return {low > other.low ? low : other.low,
            high < other.high ? high : other.high};
  }
};

/// A number of 64 bits; those that are not known are 0 in `value`. It is in
/// `range`, too, if it is taken without a sign.
struct Number {
  uint64_t value = 0, known = 0;
  Range range = {};

  static Number constant(uint64_t value) {
    return {value, ~uint64_t(0), {value, value}};
  }
  /// What is known of the bits of `mask`. Bounds are kept if they are of few
  /// numbers and about no other bits, or a small one below: others would only
  /// tell states apart.
  Number restricted(uint64_t mask) const {
    Number result{value & mask, known & mask};
    bool isSmall = range.low > 0 && range.low < kFewNumbers,
         isBounded = range.isFew() && !(upTo(range.high) & ~mask);
    if (result.known != mask && (isBounded || (isSmall && !range.isFew())))
      result.range = range;
    return result;
  }
  /// The bits of `mask` as a number, if all of them are known.
  std::optional<uint64_t> get(uint64_t mask) const {
    if ((known & mask) != mask)
      return std::nullopt;
    return value & mask;
  }
  /// The bounds of the bits below `width` as a number.
  Range getRange(unsigned width) const {
    uint64_t mask = getMask(width);
    Range ofBits{value & mask, (value | ~known) & mask};
    return range.high <= mask ? ofBits.intersected(range) : ofBits;
  }
  /// What is known of a number that is both; none if none is.
  std::optional<Number> intersected(const Number &other) const {
    if ((value ^ other.value) & known & other.known)
      return std::nullopt;
    return Number{value | other.value, known | other.known,
                  range.intersected(other.range)}
        .tightened(64);
  }
  /// What is known of a number of that width that is this one and not the
  /// other; none if none is.
  std::optional<Number> without(const Number &other, unsigned width) const {
    Range its = getRange(width), others = other.getRange(width);
    if (others.low != others.high || !its.isFew())
      return *this;
    Number result = *this;
    result.range = {its.low + (its.low == others.low),
                    its.high - (its.high == others.low)};
    // 0 is not one less than the largest number.
    if (its.high == 0 && others.low == 0)
      return std::nullopt;
    return result.tightened(width);
  }
  bool operator==(const Number &other) const {
    return value == other.value && known == other.known &&
           range.low == other.range.low && range.high == other.range.high;
  }

private:
  /// The same, as a constant if it is one number; none if it is none.
  std::optional<Number> tightened(unsigned width) const {
    Range its = getRange(width);
    if (its.isEmpty())
      return std::nullopt;
    return its.low == its.high ? constant(its.low) : *this;
  }
};

/// A number of which something is known, and what it is besides: `offset` more
/// than what a step had computed when it was last taken.
struct Value {
  Number number = {};
  int32_t symbol = -1; ///< the step; -1: none
  uint32_t offset = 0;
};

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_NUMBER_H
