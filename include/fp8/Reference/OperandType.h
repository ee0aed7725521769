// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types that A and B may have: their bits and what they hold.
#ifndef FP8_REFERENCE_OPERANDTYPE_H
#define FP8_REFERENCE_OPERANDTYPE_H

#include <cstdint>

namespace fp8::reference {

enum class OperandType { F8E4M3FN, F8E5M2, BF16, F16 };

/// The types of A and of B.
struct OperandTypes {
  OperandType a = OperandType::F8E4M3FN, b = OperandType::F8E4M3FN;
};

unsigned byteSize(OperandType type);
inline bool isFloat8(OperandType type) { return byteSize(type) == 1; }
/// f8E4M3FN has none.
bool hasInfinity(OperandType type);

/// The largest finite value: what a quantiser scales the largest value of a
/// block to.
float largestOf(OperandType type);

/// `count` elements of little-endian storage from `first` on, widened exactly.
void decode(OperandType type, const void *data, uint64_t first, uint64_t count,
            double *out);
/// Stores `value` rounded to nearest even; past the largest value 8 bits
/// saturate.
void encode(OperandType type, void *data, uint64_t element, float value);
/// Stores a NaN with that sign.
void encodeNaN(OperandType type, void *data, uint64_t element, bool negative);
/// Stores +infinity, in a type that has one.
void encodeInfinity(OperandType type, void *data, uint64_t element);

} // namespace fp8::reference

#endif // FP8_REFERENCE_OPERANDTYPE_H
