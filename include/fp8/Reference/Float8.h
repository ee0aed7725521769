// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between numbers and the codes of floating-point types of up to
// 32 bits, bit exact.
#ifndef FP8_REFERENCE_FLOAT8_H
#define FP8_REFERENCE_FLOAT8_H

#include "fp8/Tensor/ElementType.h"

namespace fp8::reference {

using tensor::ElementType;

/// Exact.
double decodeBits(ElementType type, uint32_t bits);

/// Rounds once to nearest, ties to even. NaN becomes the canonical NaN (all
/// ones except the sign), as with cvt.rn. A value past the largest finite
/// number becomes infinite; in a type that saturates it becomes the largest
/// number with the same sign, as with cvt.rn.satfinite.
uint32_t encodeBits(ElementType type, double value);

inline float decodeE4M3FN(uint8_t bits) {
  return static_cast<float>(decodeBits(ElementType::F8E4M3FN, bits));
}
inline float decodeE5M2(uint8_t bits) {
  return static_cast<float>(decodeBits(ElementType::F8E5M2, bits));
}
inline float decodeF16(uint16_t bits) {
  return static_cast<float>(decodeBits(ElementType::F16, bits));
}
inline float decodeBF16(uint16_t bits) {
  return static_cast<float>(decodeBits(ElementType::BF16, bits));
}
inline uint8_t encodeE4M3FN(double value) {
  return static_cast<uint8_t>(encodeBits(ElementType::F8E4M3FN, value));
}
inline uint8_t encodeE5M2(double value) {
  return static_cast<uint8_t>(encodeBits(ElementType::F8E5M2, value));
}
inline uint16_t encodeF16(double value) {
  return static_cast<uint16_t>(encodeBits(ElementType::F16, value));
}
inline uint16_t encodeBF16(double value) {
  return static_cast<uint16_t>(encodeBits(ElementType::BF16, value));
}

} // namespace fp8::reference

#endif // FP8_REFERENCE_FLOAT8_H
