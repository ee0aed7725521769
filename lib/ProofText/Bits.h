// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of which some bits are known.

#ifndef FP8_LIB_PROOFTEXT_BITS_H
#define FP8_LIB_PROOFTEXT_BITS_H

#include <cstdint>
#include <optional>

namespace fp8::prooftext {

/// The bits below `width`.
inline uint64_t getMask(unsigned width) {
  return width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

/// A number of 64 bits; those that are not known are 0 in `value`.
struct Bits {
  uint64_t value = 0, known = 0;

  static Bits constant(uint64_t value) { return {value, ~uint64_t(0)}; }
  Bits restricted(uint64_t mask) const { return {value & mask, known & mask}; }
  /// The bits of `mask` as a number, if all of them are known.
  std::optional<uint64_t> get(uint64_t mask) const {
    if ((known & mask) != mask)
      return std::nullopt;
    return value & mask;
  }
  bool operator==(const Bits &other) const {
    return value == other.value && known == other.known;
  }
};

/// A number of which some bits are known, and what it is besides: `offset` more
/// than what a step had computed when it was last taken.
struct Value {
  Bits bits = {};
  int32_t symbol = -1; ///< the step; -1: none
  uint32_t offset = 0;
};

/// Which bits of a sum are known where `known` bits of both operands are: those
/// below the first unknown one.
inline uint64_t getLowRun(uint64_t known) {
  return known == ~uint64_t(0) ? known : (known ^ (known + 1)) >> 1;
}

} // namespace fp8::prooftext

#endif // FP8_LIB_PROOFTEXT_BITS_H
